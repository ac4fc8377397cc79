// SPDX-License-Identifier: Apache-2.0
/// Runs any fused operation on the device: one kernel, a grid fixed by n and the device, and one
/// reduction scheme (kernels/operation.hpp) for every sum in the package. Included by the files
/// that instantiate operations (device.cu of a folder), which say so of a list of them:
///
///     template struct Executes<CgOps<double>>;
///
///   grid   blocks of 256, thread t takes t, t + T, ...; as many blocks as run at once, since a
///          second round of few leaves multiprocessors idle (5 to 14 % of a pass on an H100). Where
///          an element is long, more of them, so that the last ones are even, but of many rounds no
///          more than run at once: neighbours in time are neighbours in memory
///   loads  of two elements on their way where the operation loads apart (kernels/operation.hpp)
///   sum    thread, warp (shuffles), block, partials; the last block adds them in block order, then
///          those of other ranks, or a kernel after them (kernels/cuda/rank_sums.cuh)
///   bytes  the operation's operands once each
#pragma once

#include <algorithm>
#include <tuple>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 256;

/// The totals of the first 2 * `offset` lanes in lane 0; of several sums at once, so that the
/// shuffles of one hide those of another.
template <class V, int offset, int count>
__device__ void warp_combine(double (&a)[count]) {
#pragma unroll
  for (int o = offset; o > 0; o /= 2)
#pragma unroll
    for (int k = 0; k < count; ++k) a[k] = combine<V>(a[k], __shfl_down_sync(0xffffffffu, a[k], o));
}

/// The block's sums in thread 0. Every thread of the block calls it.
template <class V, int count>
__device__ void block_combine(double (&a)[count]) {
  constexpr int warps = block_size / 32;
  __shared__ double of_warp[count][warps];
  warp_combine<V, 16>(a);
  __syncthreads();  // the array may still be read by the call before
  if (threadIdx.x % 32 == 0)
    for (int k = 0; k < count; ++k) of_warp[k][threadIdx.x / 32] = a[k];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  for (int k = 0; k < count; ++k) a[k] = threadIdx.x < warps ? of_warp[k][threadIdx.x] : 0.0;
  warp_combine<V, warps / 2>(a);
}

/// Blocks that a multiprocessor should hold: where elements are long few, with registers for many
/// loads on their way, instead of as many as there can be.
template <class V>
constexpr int resident = OpTraits<V>::long_elements ? 4 : 1;

template <class V>
__global__ void __launch_bounds__(block_size, resident<V>)
    op_kernel(V op, LoopState* state, Scratch scratch) {
  using Traits = OpTraits<V>;
  static_assert(!Traits::meanwhiles || Traits::sums > 0);  // of which a barrier is a part
  Frame frame{state, blockIdx.x == 0 && threadIdx.x == 0};
  typename CoefficientsOf<V>::type c{};
  bool go = !frame.stopped() || Traits::always;
  if constexpr (Traits::prepares) go = go && op.prepare(frame, c);
  if (!go) {
    if constexpr (Traits::afters)
      if (frame.lead) op.after(frame);
    return;
  }

  double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
  std::int64_t const stride = std::int64_t{gridDim.x} * block_size;
  std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if constexpr (Traits::loads_apart)
    for (; i + stride < op.n; i += 2 * stride) {
      auto const here = op.load(i, c), there = op.load(i + stride, c);
      op.element(i, here, c, sum);
      op.element(i + stride, there, c, sum);
    }
  for (; i < op.n; i += stride) op.element(i, c, sum);

  if constexpr (Traits::sums > 0) block_combine<V>(sum);
  if constexpr (Traits::finishes) {
    auto const meanwhile = [&] {
      if constexpr (Traits::meanwhiles)
        if (threadIdx.x == block_size - 1) op.meanwhile({state, true});
    };
    if (gridDim.x > 1) {
      if (threadIdx.x == 0)
        for (int k = 0; k < Traits::sums; ++k)
          scratch.partials[k * gridDim.x + blockIdx.x] = sum[k];
      if (!last_block(scratch.ticket)) return;
      meanwhile();
      for (int k = 0; k < Traits::sums; ++k)
        sum[k] = end_sum_of_thread<V, 4>(scratch.partials + k * gridDim.x, gridDim.x, block_size);
      if constexpr (Traits::sums > 0) block_combine<V>(sum);
    } else {
      meanwhile();
      __syncthreads();  // finish comes after every element
    }
    if (threadIdx.x == 0) {
      if (gridDim.x > 1) *scratch.ticket = 0;
      if constexpr (Traits::sums > 0)
        if (!sum_over_ranks<V>(scratch, state, sum)) return;
      frame.lead = true;
      op.finish(frame, sum);
      if constexpr (Traits::afters) op.after(frame);
    }
  }
}

/// The second half of an operation that is cut in two. One thread.
template <class V>
__global__ void finish_kernel(V op, LoopState* state, Scratch scratch) {
  double sum[OpTraits<V>::sums];
  if (!take_over_ranks<V>(scratch, state, sum)) return;
  Frame const frame{state, true};
  op.finish(frame, sum);
  if constexpr (OpTraits<V>::afters) op.after(frame);
}

/// Blocks that a multiprocessor runs at once, of the kind of device that asks first.
template <class V>
int at_once() {
  static int const blocks = [] {
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, op_kernel<V>, block_size, 0));
    return each > 0 ? each : 1;
  }();
  return blocks;
}

template <class V>
int grid_for(Device const& on, std::int64_t n) {
  using Traits = OpTraits<V>;
  std::int64_t const blocks = (n + block_size - 1) / block_size;
  std::int64_t most = on.max_blocks;
  if (!Traits::long_elements && blocks > most / 8)
    most = std::min<std::int64_t>(most, at_once<V>() * on.properties.multiProcessorCount);
  if (Traits::long_elements) {
    std::int64_t const running = std::int64_t{resident<V>} * on.properties.multiProcessorCount;
    most = blocks >= 16 * running ? running : 4 * most;
  }
  return static_cast<int>(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

}  // namespace

template <class V>
void execute(Device& on, LoopState* state, V const& op) {
  if (op.n == 0 && !OpTraits<V>::finishes) return;
  // Scalar work alone (no element, no sum) needs one warp.
  int threads = op.n == 0 && OpTraits<V>::sums == 0 ? 32 : block_size;
  op_kernel<<<grid_for<V>(on, op.n), threads, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
  if constexpr (OpTraits<V>::sums > 0)
    if (on.scratch.apart.cut()) {
      gather_sums(on, OpTraits<V>::sums);
      finish_kernel<<<1, 1, 0, on.stream>>>(op, state, on.scratch);
      check(cudaGetLastError());
    }
}

/// Instantiates execute() for each operation of a list. A function with the addresses, not a
/// constant: nvcc compiles the kernels that functions launch, and none for the initialiser of a
/// constant that nothing reads, whose launch then fails on the device alone.
template <class List>
struct Executes;
template <class... V>
struct Executes<OpList<V...>> {
  static auto all() { return std::tuple{&execute<V>...}; }
};

}  // namespace tcsolve::cuda
