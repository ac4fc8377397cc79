// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/peer_halo.hpp>

#include <algorithm>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/peers.hpp>
#include <tcsolve/distributed/arrivals.cuh>
#include <tcsolve/distributed/packed_lists.hpp>

namespace tcsolve::cuda {
namespace {

/// A part of the memory of each rank, of the same size on all: what a rank has read of each other
/// one, two rooms for what comes.
struct Way {
  std::size_t at;     ///< bytes from the beginning
  std::int64_t room;  ///< values
  static constexpr std::size_t turns = RankMail::most_ranks * sizeof(Turn);

  std::size_t end() const { return at + turns + 2 * static_cast<std::size_t>(room) * sizeof(Post); }
  Turn* taken(std::byte* memory, int by) const { return reinterpret_cast<Turn*>(memory + at) + by; }
  Post* came(std::byte* memory) const { return reinterpret_cast<Post*>(memory + at + turns); }
};

std::int64_t in_lines(std::int64_t values) {
  constexpr std::int64_t line = sizeof(Turn) / sizeof(Post);
  return (values + line - 1) / line * line;
}

}  // namespace

class PeerHalo {
 public:
  PeerHalo(Device& on, Communicator& ranks, HaloPlan const& plan, Index cols) {
    int const me = ranks.rank(), count = ranks.ranks();
    std::int64_t most[2] = {};
    for (int r = 0; r < count; ++r) {
      most[0] = std::max(most[0], plan.halo_of(r) * cols);
      most[1] = std::max(most[1], plan.sent_of(r) * cols);
    }
    Way const forth{0, in_lines(most[0])}, back{forth.end(), in_lines(most[1])};
    memory_ = static_cast<Peers&>(*on.link).pool().take(ranks, back.end());
    std::byte* const here = memory_->of(me);

    // For this rank alone: where each value goes, whom to tell, the turns.
    std::vector<Post*> landing[2];
    std::vector<Turn*> told_to[2];
    std::size_t const values[2] = {
        plan.sent.size() * static_cast<std::size_t>(cols),
        static_cast<std::size_t>(plan.halo()) * static_cast<std::size_t>(cols)};
    PackedLists lists((values[0] + values[1]) * sizeof(Post*) +
                      2 * (plan.neighbours.size() + 1) * sizeof(Turn*));
    std::size_t goes[2], takes[2];
    for (int const k : {0, 1}) {
      Way const& way = k == 0 ? forth : back;
      landing[k].reserve(values[k]);
      Sending out{nullptr, way.room, way.taken(here, 0), 0, nullptr, on.link->mail()};
      Arriving in{way.came(here), way.room, nullptr, 0, nullptr, on.link->mail()};
      for (HaloPlan::Neighbour const& n : plan.neighbours) {
        std::byte* const there = memory_->of(n.rank);
        Index const goes_there = k == 0 ? n.sent_count : n.count,
                    comes_here = k == 0 ? n.count : n.sent_count;
        std::int64_t const place =
            k == 0 ? plan.first_of(n.rank, me) : plan.first_sent_of(n.rank, me);
        Post* const first = way.came(there) + place * cols;
        for (std::int64_t e = 0; e < std::int64_t{goes_there} * cols; ++e)
          landing[k].push_back(first + e);
        if (goes_there > 0) out.receivers |= 1u << n.rank;
        if (comes_here == 0) continue;
        told_to[k].push_back(way.taken(there, me));
        ++in.senders;
      }
      goes[k] = lists.add(landing[k]), takes[k] = lists.add(told_to[k]);
      ways_[k] = {out, in};
    }
    std::size_t const turns = lists.add(std::vector<std::uint32_t>{0, 0});
    lists_ = Array<std::byte>(on.space(), lists.bytes().size());
    for (int const k : {0, 1}) {
      auto* const turn = list_at<std::uint32_t>(lists_, turns) + k;
      ways_[k].out.goes = list_at<Post*>(lists_, goes[k]), ways_[k].out.turn = turn;
      ways_[k].in.takes = list_at<Turn*>(lists_, takes[k]), ways_[k].in.turn = turn;
    }
    BesideCaptures const beside;
    check(cudaMemcpyAsync(lists_.data(), lists.bytes().data(), lists.bytes().size(),
                          cudaMemcpyHostToDevice, on.memory_stream));
    check(cudaStreamSynchronize(on.memory_stream));
  }

  HaloWay const& way(bool back) const { return ways_[back]; }

 private:
  std::unique_ptr<SharedPool::Piece> memory_;
  Array<std::byte> lists_;
  HaloWay ways_[2];  // forth and back
};

std::shared_ptr<PeerHalo> make_peer_halo(Device& on, Communicator& ranks, HaloPlan const& plan,
                                         Index cols) {
  return std::make_shared<PeerHalo>(on, ranks, plan, cols);
}
HaloWay way_of(Device&, PeerHalo const& halo, bool back) { return halo.way(back); }

}  // namespace tcsolve::cuda
