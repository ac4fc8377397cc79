// SPDX-License-Identifier: Apache-2.0
/// Runs any column operation (kernels/column_operation.hpp) on the device. Included by the files
/// that instantiate them:
///
///     template struct ExecutesColumns<PseudoCgOps>;
///
///   thread t    column t % w, rows t / w, + 256 / w, ..: a block takes 256 / w rows at a time
///   sum         the threads of a column by halves, the blocks by the warps of the last one
///   bytes       the operands once each
#pragma once

#include <tuple>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/column_operation.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/op_list.hpp>

namespace tcsolve::cuda {

constexpr int column_block = 256, column_warps = column_block / 32;
constexpr int most_columns = 64;

unsigned int column_blocks(Device&, BlockShape const&);

namespace {

/// finish() of the columns of those threads that `go`, thread k of column k; the block's.
template <class V>
__device__ void finish_columns(V const& op, Frame frame, bool go, double const* total) {
  constexpr int sums = OpTraits<V>::sums;
  int const w = op.shape.w, column = threadIdx.x;
  frame.lead = true;
  if (go) {
    double mine[sums];
    for (int k = 0; k < sums; ++k) mine[k] = total[k * w + column];
    op.finish({frame, column}, mine);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    if constexpr (OpTraits<V>::afters) op.after(frame);
}

template <class V>
__global__ void __launch_bounds__(column_block)
    column_kernel(V op, LoopState* state, double* partials, Scratch scratch) {
  constexpr int sums = OpTraits<V>::sums;
  int const w = op.shape.w, rows = column_block / w;
  int const column = threadIdx.x % w, row = threadIdx.x / w;
  Frame frame{state, blockIdx.x == 0 && row == 0};
  typename V::Coefficients c{};
  bool const go = !frame.stopped() && row < rows && op.prepare({frame, column}, c);
  double sum[sums > 0 ? sums : 1] = {};
  if (go) {
    std::int64_t const step = std::int64_t{gridDim.x} * rows;
    for (std::int64_t i = std::int64_t{blockIdx.x} * rows + row; i < op.shape.n; i += step)
      op.element(i * op.shape.ld + column, c, sum);
  }
  if constexpr (sums > 0) {
    __shared__ double part[sums][column_block];
    __shared__ double total[sums * most_columns];
    for (int k = 0; k < sums; ++k) part[k][threadIdx.x] = sum[k];
    __syncthreads();
    int half = 1;
    while (2 * half < rows) half *= 2;
    for (; rows > 1 && half > 0; half /= 2) {
      if (row < half && row + half < rows)
        for (int k = 0; k < sums; ++k) part[k][threadIdx.x] += part[k][threadIdx.x + half * w];
      __syncthreads();
    }
    if (row == 0)
      for (int k = 0; k < sums; ++k)
        partials[std::int64_t{k * w + column} * gridDim.x + blockIdx.x] = part[k][threadIdx.x];
    if (!last_block(scratch.ticket)) return;
    for (int e = threadIdx.x / 32; e < sums * w; e += column_warps) {
      double const s = end_sum_by_warp(partials + std::int64_t{e} * gridDim.x, gridDim.x);
      if (threadIdx.x % 32 == 0) total[e] = s;
    }
    __syncthreads();
    if (threadIdx.x == 0) *scratch.ticket = 0;
    if (!sum_over_ranks<V>(scratch, state, total, sums * w, [](int) { return true; })) return;
    finish_columns(op, frame, go && row == 0, total);
  }
}

/// The second half of an operation that is cut in two. One block.
template <class V>
__global__ void __launch_bounds__(column_block)
    finish_columns_kernel(V op, LoopState* state, Scratch scratch) {
  constexpr int sums = OpTraits<V>::sums;
  __shared__ double total[sums * most_columns];
  int const w = op.shape.w, column = threadIdx.x;
  if (!take_over_ranks<V>(scratch, state, total, sums * w, sums * w, [](int) { return true; }))
    return;
  Frame const frame{state, false};
  typename V::Coefficients c{};
  bool const go = column < w && !frame.stopped() && op.prepare({frame, column}, c);
  finish_columns(op, frame, go, total);
}

}  // namespace

template <class V>
void execute_columns(Device& on, LoopState* state, V const& op, double* partials) {
  if (op.shape.w == 0) return;
  column_kernel<<<column_blocks(on, op.shape), column_block, 0, on.stream>>>(op, state, partials,
                                                                             on.scratch);
  check(cudaGetLastError());
  if constexpr (OpTraits<V>::sums > 0)
    if (on.scratch.apart.cut()) {
      gather_sums(on, std::int64_t{OpTraits<V>::sums} * op.shape.w);
      finish_columns_kernel<<<1, column_block, 0, on.stream>>>(op, state, on.scratch);
      check(cudaGetLastError());
    }
}

/// Instantiates execute_columns() for each operation of a list (see Executes of execute.cuh).
template <class List>
struct ExecutesColumns;
template <class... V>
struct ExecutesColumns<OpList<V...>> {
  static auto all() { return std::tuple{&execute_columns<V>...}; }
};

}  // namespace tcsolve::cuda
