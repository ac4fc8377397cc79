// SPDX-License-Identifier: Apache-2.0
/// Runs any fused operation on the device: one kernel, a grid fixed by n and the device, and one
/// reduction scheme (kernels/operation.hpp) for every sum in the package. Included by the files
/// that instantiate operations (device.cu of a folder), which say so of a list of them:
///
///     template struct Executes<CgOps<double>>;
///
///
///   grid   min(ceil(n / 256), 8 x multiprocessors) blocks of 256, thread t takes t, t + T, ...;
///          four times as many where an element is long, so that the last of them are even, but
///          of many rounds no more than run at once: neighbours in time are neighbours in memory
///   sum    thread, warp (shuffles), block, partials; the last block adds them in block order
///   bytes  the operation's operands once each
#pragma once

#include <tuple>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 256;

template <class V>
__device__ double warp_combine(double a) {
  for (int offset = 16; offset > 0; offset /= 2)
    a = combine<V>(a, __shfl_down_sync(0xffffffffu, a, offset));
  return a;
}

/// The block's sum in thread 0. Every thread of the block calls it.
template <class V>
__device__ double block_combine(double a) {
  __shared__ double warps[block_size / 32];
  a = warp_combine<V>(a);
  __syncthreads();  // the array may still be read by the call before
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = a;
  __syncthreads();
  a = threadIdx.x < block_size / 32 ? warps[threadIdx.x] : 0.0;
  return threadIdx.x < 32 ? warp_combine<V>(a) : a;
}

/// Blocks that a multiprocessor should hold: where elements are long few, with registers for many
/// loads on their way, instead of as many as there can be.
template <class V>
constexpr int resident = OpTraits<V>::long_elements ? 4 : 1;

template <class V>
__global__ void __launch_bounds__(block_size, resident<V>)
    op_kernel(V op, LoopState* state, Scratch scratch) {
  using Traits = OpTraits<V>;
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
  std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < op.n; i += stride)
    op.element(i, c, sum);

  for (int k = 0; k < Traits::sums; ++k) sum[k] = block_combine<V>(sum[k]);
  if constexpr (Traits::finishes) {
    if (gridDim.x > 1) {
      if (threadIdx.x == 0)
        for (int k = 0; k < Traits::sums; ++k)
          scratch.partials[k * gridDim.x + blockIdx.x] = sum[k];
      if (!last_block(scratch.ticket)) return;
      for (int k = 0; k < Traits::sums; ++k)
        sum[k] = end_sum_by_block<V>(scratch.partials + k * gridDim.x, gridDim.x, block_size,
                                     [](double a) { return block_combine<V>(a); });
    } else {
      __syncthreads();  // finish comes after every element
    }
    if (threadIdx.x == 0) {
      if (gridDim.x > 1) *scratch.ticket = 0;
      frame.lead = true;
      op.finish(frame, sum);
      if constexpr (Traits::afters) op.after(frame);
    }
  }
}

template <class V>
int grid_for(Device const& on, std::int64_t n) {
  using Traits = OpTraits<V>;
  std::int64_t blocks = (n + block_size - 1) / block_size, most = on.max_blocks;
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
