// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/core/cuda/peers.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/distributed/peer_halo.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve::cuda {
namespace {

constexpr int block = block_size;

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

/// What goes to one neighbour.
struct Outgoing {
  double* landing;            ///< in room 0 of the receiver, for this sender
  std::int64_t room;          ///< doubles from there to room 1
  std::int64_t first, count;  ///< of `from`
  Flag *arrived, *taken;      ///< at the receiver; here
};
/// What comes from one.
struct Incoming {
  Flag *arrived, *taken;  ///< here; at the sender
};
template <class Link>
struct Links {
  int count;
  Link link[RankMail::most_ranks];

  void add(Link const& one) { link[count++] = one; }
};
/// What comes from all: the halo, or what returns of it, lies in each room as a whole.
struct Arrivals {
  double const* at;   ///< room 0
  std::int64_t room;  ///< doubles from there to room 1
  Links<Incoming> from;
};

/// Until the flag says `turn`, or a later one: who sends may be a turn ahead of who receives.
__device__ void wait_for(Flag const* flag, std::uint32_t turn, RankMail const& mail) {
  std::uint64_t began = 0;
  for (unsigned int looks = 1; static_cast<std::int32_t>(read(flag) - turn) < 0; ++looks)
    if (looks % 256 == 0 && gives_up(mail, began)) return;
}

template <class From>
__global__ void __launch_bounds__(block)
    send_kernel(__grid_constant__ Links<Outgoing> const links, From from, std::uint32_t const* last,
                LoopState const* state, Scratch scratch) {
  if (state != nullptr && state->stop != 0) return;
  std::uint32_t const turn = *last + 1;
  if (threadIdx.x < links.count) wait_for(links.link[threadIdx.x].taken, turn - 2, *scratch.mail);
  __syncthreads();
  std::int64_t const step = std::int64_t{gridDim.x} * block;
  for (int l = 0; l < links.count; ++l) {
    Outgoing const& link = links.link[l];
    double* const to = link.landing + turn % 2 * link.room;
    for (std::int64_t e = std::int64_t{blockIdx.x} * block + threadIdx.x; e < link.count; e += step)
      to[e] = from(link.first + e);
  }
  __threadfence_system();
  if (!last_block(scratch.ticket)) return;
  if (threadIdx.x < links.count) write(links.link[threadIdx.x].arrived, turn);
  if (threadIdx.x == 0) *scratch.ticket = 0;
}

/// op_kernel() (kernels/cuda/execute.cuh) of an operation of what arrives. Every block waits by
/// itself: what its threads read comes after the flags that some of them have seen, and before the
/// ticket that the last block has counted, which is before that one says `taken`.
template <class V>
__global__ void __launch_bounds__(block, resident<V>)
    receive_kernel(__grid_constant__ Arrivals const in, V op, std::uint32_t* last, LoopState* state,
                   RankMail const* mail, Scratch scratch) {
  using Traits = OpTraits<V>;
  static_assert(!Traits::prepares && !Traits::always && !Traits::afters);
  Frame frame{state, false};
  if (frame.stopped()) return;
  std::uint32_t const turn = *last + 1;
  if (threadIdx.x < in.from.count) wait_for(in.from.link[threadIdx.x].arrived, turn, *mail);
  __syncthreads();
  op.h = {in.at + turn % 2 * in.room};

  double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
  std::int64_t const stride = std::int64_t{gridDim.x} * block;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < op.n; i += stride)
    op.element(i, {}, sum);
  if constexpr (Traits::sums > 0) {
    block_combine<V>(sum);
    if (threadIdx.x == 0)
      for (int k = 0; k < Traits::sums; ++k) scratch.partials[k * gridDim.x + blockIdx.x] = sum[k];
  }

  if (!last_block(scratch.ticket)) return;
  if (threadIdx.x < in.from.count) write(in.from.link[threadIdx.x].taken, turn);
  if (threadIdx.x == 0) *last = turn, *scratch.ticket = 0;
  if constexpr (Traits::sums > 0) {
    for (int k = 0; k < Traits::sums; ++k)
      sum[k] = end_sum_of_thread<V, 4>(scratch.partials + k * gridDim.x, gridDim.x, block);
    block_combine<V>(sum);
    if (threadIdx.x != 0) return;
    sum_over_ranks<V>(scratch, state, sum);
    frame.lead = true;
    op.finish(frame, sum);
  }
}

/// One way, as it lies in the shared memory of a rank: flags, then two rooms for what comes.
struct Way {
  std::size_t at = 0;     ///< bytes from the beginning
  std::int64_t room = 0;  ///< doubles, in whole lines
  static constexpr std::size_t flags = std::size_t{2} * RankMail::most_ranks * sizeof(Flag);

  std::size_t end() const {
    return at + flags + 2 * static_cast<std::size_t>(room) * sizeof(double);
  }
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
double in_lines(double doubles) {
  constexpr double line = sizeof(Flag) / sizeof(double);
  return std::ceil(doubles / line) * line;
}

unsigned int blocks_for(Links<Outgoing> const& links) {
  std::int64_t most = 1;
  for (int l = 0; l < links.count; ++l) most = std::max(most, links.link[l].count);
  return static_cast<unsigned int>(std::min<std::int64_t>((most + block - 1) / block, 64));
}

}  // namespace

class PeerHalo {
 public:
  PeerHalo(Device& on, Communicator& ranks, HaloPlan const& plan, Index cols) {
    int const me = ranks.rank(), count = ranks.ranks();
    // Where what comes from each rank is to land here, halo and what returns of it, and the rooms.
    std::vector<double> mine(static_cast<std::size_t>(2 * count + 2), 0.0);
    for (HaloPlan::Neighbour const& n : plan.neighbours) {
      mine[static_cast<std::size_t>(2 * n.rank)] = double(n.first) * cols;
      mine[static_cast<std::size_t>(2 * n.rank + 1)] = double(n.first_sent) * cols;
    }
    mine[static_cast<std::size_t>(2 * count)] = in_lines(double(plan.halo()) * cols);
    mine[static_cast<std::size_t>(2 * count + 1)] = in_lines(double(plan.sent.size()) * cols);
    std::vector<double> all(mine.size() * static_cast<std::size_t>(count));
    ranks.gather(mine.data(), static_cast<std::int64_t>(mine.size()), all.data());
    auto const told = [&](int rank, int k) {
      return static_cast<std::int64_t>(
          all[static_cast<std::size_t>(rank) * mine.size() + static_cast<std::size_t>(k)]);
    };
    auto const way = [&](int rank, bool back) {
      Way const forth{0, told(rank, 2 * count)};
      return back ? Way{forth.end(), told(rank, 2 * count + 1)} : forth;
    };
    // Behind both: the turns of the last exchanges, forth and back, zeros like all of it.
    std::size_t const turns = way(me, true).end();
    memory_ = std::make_unique<SharedMemory>(on, ranks, turns + 2 * sizeof(std::uint32_t));
    std::byte* const here = memory_->of(me);
    turns_ = reinterpret_cast<std::uint32_t*>(here + turns);
    for (bool const back : {false, true}) {
      Way const ours = way(me, back);
      in_[back].at = ours.landing(here), in_[back].room = ours.room;
      for (HaloPlan::Neighbour const& n : plan.neighbours) {
        std::byte* const there = memory_->of(n.rank);
        Way const theirs = way(n.rank, back);
        std::int64_t const first = back ? n.first : n.first_sent,
                           goes = back ? n.count : n.sent_count,
                           comes = back ? n.sent_count : n.count;
        if (goes > 0)
          out_[back].add({theirs.landing(there) + told(n.rank, 2 * me + back), theirs.room,
                          first * cols, goes * cols, theirs.arrived(there, me),
                          ours.taken(here, n.rank)});
        if (comes > 0) in_[back].from.add({ours.arrived(here, n.rank), theirs.taken(there, me)});
      }
    }
  }

  template <class From>
  void send(Device& on, bool back, From const& from, LoopState const* state) {
    Links<Outgoing> const& links = out_[back];
    if (links.count == 0) return;
    Scratch scratch = on.scratch;
    scratch.mail = on.peers->mail();
    send_kernel<<<blocks_for(links), block, 0, on.stream>>>(links, from, turns_ + back, state,
                                                            scratch);
    check(cudaGetLastError());
  }
  /// It counts the turn, also of a rank that nothing comes to.
  template <class Op>
  void receive(Device& on, bool back, Op const& op, LoopState* state) {
    if (op.n == 0 && out_[back].count == 0 && in_[back].from.count == 0) return;
    // A wait that is in vain ends by the mail, also where sums are this rank's alone.
    receive_kernel<<<grid_for<Op>(on, op.n), block, 0, on.stream>>>(
        in_[back], op, turns_ + back, state, on.peers->mail(), on.scratch);
    check(cudaGetLastError());
  }

 private:
  std::unique_ptr<SharedMemory> memory_;
  Links<Outgoing> out_[2]{};  // forth and back
  Arrivals in_[2]{};
  std::uint32_t* turns_ = nullptr;  // on the device: of the last exchange, forth and back
};

std::shared_ptr<PeerHalo> make_peer_halo(Device& on, Communicator& ranks, HaloPlan const& plan,
                                         Index cols) {
  return std::make_shared<PeerHalo>(on, ranks, plan, cols);
}
void send(Device& on, PeerHalo& halo, In<double> x, Index const* places, LoopState const* state) {
  halo.send(on, false, Named{x, places}, state);
}
void send_back(Device& on, PeerHalo& halo, double const* from, LoopState const* state) {
  halo.send(on, true, Dense{from}, state);
}
template <class Op>
void receive(Device& on, PeerHalo& halo, bool back, Op const& op, LoopState* state) {
  halo.receive(on, back, op, state);
}
template void receive(Device&, PeerHalo&, bool, KeepHalo const&, LoopState*);
template void receive(Device&, PeerHalo&, bool, AddOuterRows const&, LoopState*);
template void receive(Device&, PeerHalo&, bool, AddOuterRowsDot const&, LoopState*);
template void receive(Device&, PeerHalo&, bool, OuterResidual const&, LoopState*);
template void receive(Device&, PeerHalo&, bool, AddReturned const&, LoopState*);

}  // namespace tcsolve::cuda
