// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <tcsolve/core/cuda/peers.hpp>
#include <tcsolve/distributed/peer_halo.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve::cuda {
namespace {

constexpr int block = 256;

/// A word that one rank writes and another one waits for, on a line of its own.
struct alignas(128) Flag {
  std::uint32_t turn;
};
__device__ std::uint32_t read(Flag const* flag) {
  std::uint32_t turn;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(turn) : "l"(&flag->turn) : "memory");
  return turn;
}
__device__ void write(Flag* flag, std::uint32_t turn) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&flag->turn), "r"(turn) : "memory");
}

/// What is sent: doubles in a row, or the rows of a block that are named.
struct Dense {
  double const* from;
  __device__ double operator()(std::int64_t e) const { return from[e]; }
};
struct Named {
  Elements<double const> x;
  Index const* places;
  __device__ double operator()(std::int64_t e) const {
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols);
    return x[places[k] * cols + e - k * cols];
  }
};

/// What goes to one neighbour, or comes from it.
struct Link {
  double* landing;            ///< of the receiver, for this sender
  std::int64_t set;           ///< doubles of a set there
  std::int64_t first, count;  ///< of `from`, or `to`
  Flag *arrived, *taken;      ///< at the receiver; at the sender
};
struct Links {
  int count;
  Link link[RankMail::most_ranks];
};

template <class Ready>
__device__ void wait_until(RankMail const& mail, Ready const& ready) {
  std::uint64_t began = 0;
  for (unsigned int looks = 1; !ready(); ++looks)
    if (looks % 256 == 0 && gives_up(mail, began)) return;
}

template <class F>
__device__ void each(Link const& link, F const& f) {
  std::int64_t const step = std::int64_t{gridDim.x} * block;
  for (std::int64_t e = std::int64_t{blockIdx.x} * block + threadIdx.x; e < link.count; e += step)
    f(e);
}

template <class From>
__global__ void __launch_bounds__(block)
    send_kernel(__grid_constant__ Links const links, From from, std::uint32_t const* last,
                LoopState const* state, Scratch scratch) {
  if (state != nullptr && state->stop != 0) return;
  std::uint32_t const turn = *last + 1;
  if (threadIdx.x < links.count) {
    Flag const* const taken = links.link[threadIdx.x].taken;
    wait_until(*scratch.mail,
               [&] { return static_cast<std::int32_t>(read(taken) - (turn - 2)) >= 0; });
  }
  __syncthreads();
  for (int l = 0; l < links.count; ++l) {
    Link const& link = links.link[l];
    double* const to = link.landing + turn % 2 * link.set;
    each(link, [&](std::int64_t e) { to[e] = from(link.first + e); });
  }
  __threadfence_system();
  if (!last_block(scratch.ticket)) return;
  if (threadIdx.x < links.count) write(links.link[threadIdx.x].arrived, turn);
  if (threadIdx.x == 0) *scratch.ticket = 0;
}

__global__ void __launch_bounds__(block)
    receive_kernel(__grid_constant__ Links const links, double* to, std::uint32_t* last,
                   LoopState const* state, Scratch scratch) {
  if (state != nullptr && state->stop != 0) return;
  std::uint32_t const turn = *last + 1;
  if (threadIdx.x < links.count) {
    Flag const* const arrived = links.link[threadIdx.x].arrived;
    wait_until(*scratch.mail, [&] { return read(arrived) == turn; });
  }
  __syncthreads();
  for (int l = 0; l < links.count; ++l) {
    Link const& link = links.link[l];
    double const* const from = link.landing + turn % 2 * link.set;
    each(link, [&](std::int64_t e) { to[link.first + e] = __ldcg(from + e); });
  }
  if (!last_block(scratch.ticket)) return;
  if (threadIdx.x < links.count) write(links.link[threadIdx.x].taken, turn);
  if (threadIdx.x == 0) *last = turn, *scratch.ticket = 0;
}

/// One way, as it lies in the shared memory of a rank: flags, then two sets of what comes.
struct Way {
  std::size_t at = 0;    ///< bytes from the beginning
  std::int64_t set = 0;  ///< doubles
  static constexpr std::size_t flags = std::size_t{2} * RankMail::most_ranks * sizeof(Flag);

  std::size_t bytes() const { return flags + 2 * static_cast<std::size_t>(set) * sizeof(double); }
  Flag* arrived(std::byte* memory, int from) const {
    return reinterpret_cast<Flag*>(memory + at) + from;
  }
  Flag* taken(std::byte* memory, int by) const {
    return arrived(memory, RankMail::most_ranks + by);
  }
  double* landing(std::byte* memory) const {
    return reinterpret_cast<double*>(memory + at + flags);
  }
};

unsigned int blocks_for(Links const& links) {
  std::int64_t most = 1;
  for (int l = 0; l < links.count; ++l) most = std::max(most, links.link[l].count);
  return static_cast<unsigned int>(std::min<std::int64_t>((most + block - 1) / block, 64));
}

}  // namespace

class PeerHalo {
 public:
  PeerHalo(Device& on, Communicator& ranks, HaloPlan const& plan, Index cols) {
    int const me = ranks.rank(), count = ranks.ranks();
    // Where what comes from each rank is to land here, halo and what returns of it, and the sets.
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
      return static_cast<std::int64_t>(
          all[static_cast<std::size_t>(rank) * mine.size() + static_cast<std::size_t>(k)]);
    };
    auto const way = [&](int rank, int back) {
      Way const forth{0, told(rank, 2 * count)};
      return back == 0 ? forth : Way{forth.bytes(), told(rank, 2 * count + 1)};
    };
    memory_ = std::make_unique<SharedMemory>(on, ranks, way(me, 1).at + way(me, 1).bytes());
    std::byte* const here = memory_->of(me);
    for (int back : {0, 1})
      for (HaloPlan::Neighbour const& n : plan.neighbours) {
        std::byte* const there = memory_->of(n.rank);
        Way const ours = way(me, back), theirs = way(n.rank, back);
        std::int64_t const first = std::int64_t{n.first} * cols,
                           size = std::int64_t{n.count} * cols;
        std::int64_t const first_sent = std::int64_t{n.first_sent} * cols,
                           size_sent = std::int64_t{n.sent_count} * cols;
        add(out_[back], {theirs.landing(there) + told(n.rank, 2 * me + back), theirs.set,
                         back == 0 ? first_sent : first, back == 0 ? size_sent : size,
                         theirs.arrived(there, me), ours.taken(here, n.rank)});
        add(in_[back], {ours.landing(here) + (back == 0 ? first : first_sent), ours.set,
                        back == 0 ? first : first_sent, back == 0 ? size : size_sent,
                        ours.arrived(here, n.rank), theirs.taken(there, me)});
      }
    turns_ = Array<std::uint32_t>(on.space(), 2);
    check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), on.stream));
  }

  template <class From>
  void send(Device& on, bool back, From const& from, LoopState const* state) {
    Links const& links = out_[back];
    if (links.count == 0) return;
    send_kernel<<<blocks_for(links), block, 0, on.stream>>>(links, from, turns_.data() + back,
                                                            state, scratch(on));
    check(cudaGetLastError());
  }
  void receive(Device& on, bool back, double* to, LoopState const* state) {
    if (out_[back].count == 0 && in_[back].count == 0) return;
    Links const& links = in_[back];
    receive_kernel<<<blocks_for(links), block, 0, on.stream>>>(links, to, turns_.data() + back,
                                                               state, scratch(on));
    check(cudaGetLastError());
  }

 private:
  static void add(Links& to, Link const& link) {
    if (link.count > 0) to.link[to.count++] = link;
  }
  /// With the mail, by which a wait ends that is in vain, also where sums are this rank's alone.
  static Scratch scratch(Device const& on) {
    Scratch scratch = on.scratch;
    scratch.mail = on.peers->mail();
    return scratch;
  }

  std::unique_ptr<SharedMemory> memory_;
  Links out_[2]{}, in_[2]{};    // forth and back
  Array<std::uint32_t> turns_;  // of the last exchange, forth and back
};

std::shared_ptr<PeerHalo> make_peer_halo(Device& on, Communicator& ranks, HaloPlan const& plan,
                                         Index cols) {
  return std::make_shared<PeerHalo>(on, ranks, plan, cols);
}
void send(Device& on, PeerHalo& halo, In<double> x, Index const* places, LoopState const* state) {
  halo.send(on, false, Named{x, places}, state);
}
void receive(Device& on, PeerHalo& halo, double* to, LoopState const* state) {
  halo.receive(on, false, to, state);
}
void send_back(Device& on, PeerHalo& halo, double const* from, LoopState const* state) {
  halo.send(on, true, Dense{from}, state);
}
void receive_back(Device& on, PeerHalo& halo, double* to, LoopState const* state) {
  halo.receive(on, true, to, state);
}

}  // namespace tcsolve::cuda
