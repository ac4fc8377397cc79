// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/peer_halo.hpp>

#include <algorithm>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/peers.hpp>
#include <tcsolve/distributed/arrivals.cuh>

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

std::int64_t in_lines(double values) {
  constexpr std::int64_t line = sizeof(Turn) / sizeof(Post);
  return (static_cast<std::int64_t>(values) + line - 1) / line * line;
}

}  // namespace

class PeerHalo {
 public:
  PeerHalo(Device& on, Communicator& ranks, HaloPlan const& plan, Index cols) {
    int const me = ranks.rank(), count = ranks.ranks();
    // Where what comes from each rank begins here, of the halo and of what returns; their sizes.
    std::vector<double> mine(static_cast<std::size_t>(2 * count + 2), 0.0);
    for (HaloPlan::Neighbour const& n : plan.neighbours) {
      mine[static_cast<std::size_t>(2 * n.rank)] = double(n.first) * cols;
      mine[static_cast<std::size_t>(2 * n.rank + 1)] = double(n.first_sent) * cols;
    }
    mine[static_cast<std::size_t>(2 * count)] = double(plan.halo()) * cols;
    mine[static_cast<std::size_t>(2 * count + 1)] = double(plan.sent.size()) * cols;
    std::vector<double> all(mine.size() * static_cast<std::size_t>(count));
    ranks.gather(mine.data(), static_cast<std::int64_t>(mine.size()), all.data());
    auto const told = [&](int rank, int k) {
      return all[static_cast<std::size_t>(rank) * mine.size() + static_cast<std::size_t>(k)];
    };
    double most[2] = {};
    for (int r = 0; r < count; ++r)
      for (int back : {0, 1}) most[back] = std::max(most[back], told(r, 2 * count + back));
    Way const forth{0, in_lines(most[0])}, back{forth.end(), in_lines(most[1])};
    // Behind both, for this rank alone: where each value goes, whom to tell, the turns.
    std::size_t const values =
        (plan.sent.size() + static_cast<std::size_t>(plan.halo())) * static_cast<std::size_t>(cols);
    std::size_t const goes = back.end(), takes = goes + values * sizeof(Post*),
                      turns = takes + 2 * plan.neighbours.size() * sizeof(Turn*);
    memory_ = std::make_unique<SharedMemory>(on, ranks, turns + 2 * sizeof(std::uint32_t));
    std::byte* const here = memory_->of(me);

    std::vector<Post*> landing;
    std::vector<Turn*> told_to;
    for (int const k : {0, 1}) {
      Way const& way = k == 0 ? forth : back;
      auto* const turn = reinterpret_cast<std::uint32_t*>(here + turns) + k;
      Sending out{reinterpret_cast<Post**>(here + goes) + landing.size(),
                  way.room,
                  way.taken(here, 0),
                  0,
                  turn,
                  on.link->mail()};
      Arriving in{way.came(here),
                  way.room,
                  reinterpret_cast<Turn**>(here + takes) + told_to.size(),
                  0,
                  turn,
                  on.link->mail()};
      for (HaloPlan::Neighbour const& n : plan.neighbours) {
        std::byte* const there = memory_->of(n.rank);
        Index const goes_there = k == 0 ? n.sent_count : n.count,
                    comes_here = k == 0 ? n.count : n.sent_count;
        Post* const first = way.came(there) + static_cast<std::int64_t>(told(n.rank, 2 * me + k));
        for (std::int64_t e = 0; e < std::int64_t{goes_there} * cols; ++e)
          landing.push_back(first + e);
        if (goes_there > 0) out.receivers |= 1u << n.rank;
        if (comes_here == 0) continue;
        told_to.push_back(way.taken(there, me));
        ++in.senders;
      }
      ways_[k] = {out, in};
    }
    BesideCaptures const beside;
    auto const upload = [&](std::size_t at, auto const& list) {
      check(cudaMemcpyAsync(here + at, list.data(), list.size() * sizeof(list[0]),
                            cudaMemcpyHostToDevice, on.memory_stream));
    };
    upload(goes, landing);
    upload(takes, told_to);
    check(cudaStreamSynchronize(on.memory_stream));
  }

  HaloWay const& way(bool back) const { return ways_[back]; }

 private:
  std::unique_ptr<SharedMemory> memory_;
  HaloWay ways_[2];  // forth and back
};

std::shared_ptr<PeerHalo> make_peer_halo(Device& on, Communicator& ranks, HaloPlan const& plan,
                                         Index cols) {
  return std::make_shared<PeerHalo>(on, ranks, plan, cols);
}
HaloWay way_of(Device&, PeerHalo const& halo, bool back) { return halo.way(back); }

}  // namespace tcsolve::cuda
