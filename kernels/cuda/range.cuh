// SPDX-License-Identifier: Apache-2.0
/// Where a product writes its rows, and what it adds up of them.
#pragma once

#include <cstdint>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

/// y_row = alpha v + beta y_row, v = sum times the row's scale where there is one; y is not read
/// when beta is 0.
template <class T>
struct Range {
  using Value = T;
  static constexpr bool dots = false;
  T alpha, beta;
  T* y;
  std::int64_t stride;
  T const* scale;
  template <class U>
  __device__ T write(Index row, U sum) const {
    T v = scale == nullptr ? T(sum) : T(sum) * scale[row];
    T& out = y[row * stride];
    return out = beta == T(0) ? alpha * v : alpha * v + beta * out;
  }
};

/// The same, and sigma = <x, y>: each thread adds up the rows that it writes, so which thread
/// writes a row must not depend on time. A stopped loop keeps its sigma.
template <class T>
struct DotRange : Range<T> {
  static constexpr bool dots = true;
  T const* x;
  double* sigma;
  LoopState const* state;
  Scratch scratch;
  mutable double sum = 0;
  template <class U>
  __device__ void write(Index row, U value) const {
    sum += double(x[row]) * double(Range<T>::write(row, value));
  }
  /// Every thread of the grid, after its last row; blocks of `threads`. One order of additions:
  /// warp, block, and the blocks by the last of them.
  template <int threads>
  __device__ void finish() const {
    __shared__ double warps[threads / 32];
    __shared__ bool last;
    auto block_sum = [&](double a) {
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) a += __shfl_xor_sync(~0u, a, offset);
      __syncthreads();  // the array may still be read
      if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = a;
      __syncthreads();
      double total = 0;
      for (int w = 0; w < threads / 32; ++w) total += warps[w];
      return total;
    };
    double total = block_sum(sum);
    if (threadIdx.x == 0) {
      scratch.partials[blockIdx.x] = total;
      __threadfence();  // the partial sum is visible before its ticket is
      last = atomicAdd(scratch.ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    double a = 0;
#pragma unroll 8
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += threads)
      a += __ldcg(scratch.partials + b);
    total = block_sum(a);
    if (threadIdx.x != 0) return;
    *scratch.ticket = 0;
    if (state == nullptr || state->stop == 0) *sigma = total;
  }
};

}  // namespace tcsolve::cuda
