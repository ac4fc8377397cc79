// SPDX-License-Identifier: Apache-2.0
/// Where sums end on a device (kernels/sums.hpp): every block leaves its part, the last one to
/// arrive, or a kernel after this one, adds them in a fixed order.
///
///   warp    lane l adds parts l, l + 32, .., then a tree over the lanes
///   block   thread t of T adds parts t, t + T, .., then the block's own sum
///   ahead   parts of a thread on their way at once, where many are left; beyond the last are zeros
#pragma once

#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/sums.hpp>

namespace tcsolve::cuda {

/// True in every thread of the block that is the last one to arrive; it sees what all have left.
__device__ inline bool last_block(unsigned int* ticket) {
  __shared__ bool last;
  __threadfence();  // this block's partial sums are visible before its ticket is
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// add_parts() of one sum from nothing, `ahead` parts at a time.
template <class V, int ahead, class I, class Part>
__device__ double add_parts_ahead(Part const& part, I first, I count, I step) {
  double total = 0;
  if constexpr (ahead == 1)
    add_parts<V, I>([&](I b, I) { return part(b); }, first, count, step, &total);
  else
    for (I b0 = first; b0 < count; b0 += ahead * step) {
      double p[ahead];
#pragma unroll
      for (int l = 0; l < ahead; ++l) p[l] = b0 + l * step < count ? part(b0 + l * step) : 0;
      add_parts<V>([&](int l, int) { return p[l]; }, 0, ahead, 1, &total);
    }
  return total;
}

/// The sum of `count` parts that other blocks have left, in every lane of a warp.
template <int ahead = 1>
__device__ double end_sum_by_warp(double const* parts, unsigned int count) {
  auto const left = [&](unsigned int b) { return __ldcg(parts + b); };
  return warp_sum(add_parts_ahead<Add, ahead>(left, threadIdx.x % 32, count, 32u));
}

/// What a thread of a block's `threads` adds of them; the sum over the threads is the sum.
template <class V, int ahead = 1>
__device__ double end_sum_of_thread(double const* parts, unsigned int count, unsigned int threads) {
  auto const left = [&](unsigned int b) { return __ldcg(parts + b); };
  return add_parts_ahead<V, ahead>(left, threadIdx.x, count, threads);
}

/// The same by the `threads` of a block: of_block(the sum of a thread) is their sum.
template <class V, int ahead = 1, class OfBlock>
__device__ double end_sum_by_block(double const* parts, unsigned int count, unsigned int threads,
                                   OfBlock const& of_block) {
  return of_block(end_sum_of_thread<V, ahead>(parts, count, threads));
}

}  // namespace tcsolve::cuda
