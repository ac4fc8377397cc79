// SPDX-License-Identifier: Apache-2.0
/// How the threads of a block run a fused operation of a program: the part that the persistent loop
/// (solvers/loop/persistent.cu), whose team is the whole grid, and the batch
/// (solvers/loop/batch.cu), whose team is a block, have in common. An operation that needs another
/// way than element by element has an overload of run() in the team.cuh of its folder. A Team has
///
///     threads      of the block
///     begin, end   the rows of the block
///     memory       its TeamMemory
///     over_ranks   whether its sums go on over other ranks
///     exchange<V>(count, publish, meanwhile = {})   memory.part[k][warp] -> memory.total[k],
///                  k < count, over the whole team; with `publish` it sees what was written before;
///                  one thread calls meanwhile(), beside it
///
/// A sum that is this rank's alone stays with the blocks, as their parts, until an operation that
/// is spread over them takes it up: that saves an exchange.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/loop/instruction.hpp>
#include <tcsolve/kernels/loop/parts.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/kernels/sums.hpp>

namespace tcsolve::cuda {

template <int threads>
struct TeamMemory {
  double part[max_sums][threads / 32];
  double total[max_sums];
  double held;                                     // this block's part of a sum that waits
  int cached_rows;                                 // of the matrix in shared memory
  std::int32_t cancel;                             // the word of the host, as of the last exchange
  alignas(16) std::byte state[sizeof(LoopState)];  // shared memory has no constructors
};

extern __shared__ __align__(16) std::byte dynamic[];

template <class T>
__device__ T* at(int position) {
  return reinterpret_cast<T*>(dynamic + position);
}

/// Sum, or maximum, over the first `width` lanes; in lane 0.
template <class V, int width = 32>
__device__ double warp_combine(double a) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    a = combine<V>(a, __shfl_down_sync(~0u, a, offset));
  return a;
}

struct Nothing {
  __device__ void operator()() const {}
};

/// The one sum of this block is held, and in memory it is 0.
template <class Team>
__device__ void hold(Team& team) {
  constexpr int warps = Team::threads / 32;
  __syncthreads();
  if (threadIdx.x < 32) {
    double const a =
        warp_combine<Add, warps>(threadIdx.x < warps ? team.memory.part[0][threadIdx.x] : 0.0);
    if (threadIdx.x == 0) team.memory.held = a, team.memory.total[0] = 0;
  }
  __syncthreads();
}

/// From the sums of each thread to those of the team.
template <class V, int sums, class Team, class Meanwhile = Nothing>
__device__ void add_up(double const (&sum)[sums], Instruction const& in, Team& team,
                       Meanwhile const& meanwhile = {}) {
#pragma unroll
  for (int k = 0; k < sums; ++k) {
    double a = warp_combine<V>(sum[k]);
    if (threadIdx.x % 32 == 0) team.memory.part[k][threadIdx.x / 32] = a;
  }
  if constexpr (Team::over_ranks)
    if (in.alone != 0) {
      if (threadIdx.x == 0) meanwhile();
      return hold(team);
    }
  team.template exchange<V>(sums, in.publish, meanwhile);
}

/// The elements of op that are this thread's, `sum` of them. Those that are spread go to the blocks
/// by warps. Of others several are loaded at once, where op loads apart: a block alone on its
/// multiprocessor waits for memory, the longer the less it has asked for.
template <class V, class Team, class C>
__device__ void each_element(V const& op, C const& c, Team const& team, double* sum) {
  constexpr int threads = Team::threads;
  if constexpr (OpFacts<V>::spread) {
    std::int64_t const warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    std::int64_t const step = std::int64_t{gridDim.x} * threads;
    std::int64_t i = warp * 32 + threadIdx.x % 32;
    if constexpr (joins_parts<V>)
      if (op.joins().parts != nullptr) {
        for (; i < op.n; i += step) op.part(i, c, sum);
        return;
      }
    for (; i < op.n; i += step) op.element(i, c, sum);
    return;
  }
  if (op.n == 0) return;
  std::int64_t i = team.begin + threadIdx.x;
  if constexpr (OpTraits<V>::loads_apart) {
    constexpr int ahead = sizeof(typename V::Loaded) <= 6 * sizeof(double) ? 4 : 2;
    if (team.end - team.begin > threads)
      for (; i < team.end; i += ahead * threads) {
        typename V::Loaded loaded[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          loaded[u] = op.load(i + u * threads < team.end ? i + u * threads : i, c);
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (i + u * threads < team.end) op.element(i + u * threads, loaded[u], c, sum);
      }
  }
  for (; i < team.end; i += threads) op.element(i, c, sum);
}

/// The parts of a block's own rows.
struct Joined {
  std::int64_t begin = 0, end = 0;
};
template <class V, class Team>
__device__ Joined parts_of(V const& op, Team const& team) {
  if constexpr (joins_parts<V>)
    if (op.joins().parts != nullptr)
      return {op.joins().first_part(team.begin), op.joins().first_part(team.end)};
  return {};
}

/// The operands by value: in registers they need not be read again after every store.
template <class V, class Team>
__device__ void run(V const op, Instruction const& in, Frame f, bool stopped, Team& team) {
  using Traits = OpTraits<V>;
  if constexpr (OpFacts<V>::spread && !Traits::finishes)
    if (blockIdx.x * 32 >= op.n) return;  // nothing for this block
  typename CoefficientsOf<V>::type c{};
  bool go = !stopped || Traits::always;
  if constexpr (Traits::prepares) go = go && op.prepare(f, c);
  if (go) {
    double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
    [[maybe_unused]] Joined const joined = parts_of(op, team);  // on its way meanwhile
    each_element(op, c, team, sum);
    if constexpr (OpFacts<V>::spread && Traits::sums > 0)
      if (threadIdx.x == 0) sum[0] += team.memory.held;
    if constexpr (Traits::meanwhiles)
      add_up<V>(sum, in, team, [&] { op.meanwhile({f.state, true, f.speaks}); });
    else if constexpr (Traits::sums > 0)
      add_up<V>(sum, in, team);
    if constexpr (Traits::finishes) {
      if constexpr (OpFacts<V>::spread && Traits::sums == 0)
        team.template exchange<Add>(0, true);  // its end is that of all blocks
      else if constexpr (Traits::prepares && Traits::sums == 0)
        __syncthreads();  // coefficients are read
      if (f.lead) op.finish(f, team.memory.total);
    }
    if constexpr (joins_parts<V>)
      if (joined.begin < joined.end) op.join(joined.begin + threadIdx.x, joined.end, Team::threads);
  }
  if constexpr (Traits::afters)
    if (f.lead) op.after(f);
  __syncthreads();
}

/// f(x), x as the product reads it.
template <class T, class F>
__device__ auto with_gathered(Instruction const& in, T const* x, F const& f) {
  if constexpr (std::is_same_v<T, double>)
    if (in.through.d != nullptr) return f(ThroughDiagonal<T>{x, in.through.d, in.through.alpha});
  return f(x);
}

__device__ inline int exponent_of(int power_of_two) { return __ffs(power_of_two) - 1; }

/// How a block shares out the rows of a product: `lanes` threads a row, each with `wide` of its
/// entries in flight and `group` rows at a time; a tree within the lanes. Which row a warp begins
/// with is the same for all its threads, so that they shuffle together.
template <class Team>
struct RowShare {
  static constexpr int group = 2, wide = 4;
  int lanes, shift;  // lanes = 2^shift: the device divides slowly
  int lane, stride;  // rows that the block does at once
  __device__ explicit RowShare(int lanes_)
      : lanes(lanes_),
        shift(exponent_of(lanes_)),
        lane(threadIdx.x & (lanes_ - 1)),
        stride(Team::threads >> shift) {}
  __device__ int first_of_warp() const { return static_cast<int>(threadIdx.x / 32 * 32) >> shift; }
  __device__ int in_warp() const { return static_cast<int>(threadIdx.x % 32) >> shift; }

  /// y_i from the sums of its lanes; adds <x_i, y_i> where x_i is given.
  template <class V, class T>
  __device__ void store(V const& op, std::int64_t i, bool inside, T sum, T own, double& dot) const {
    for (int offset = lanes >> 1; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(~0u, sum, offset, lanes);
    if (!inside || lane != 0) return;
    T y = op.beta == T(0) ? op.alpha * sum : op.alpha * sum + op.beta * op.y[i];
    op.y[i] = y;
    dot += double(own) * double(y);
  }
};

}  // namespace tcsolve::cuda
