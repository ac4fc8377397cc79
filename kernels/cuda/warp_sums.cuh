// SPDX-License-Identifier: Apache-2.0
/// Several sums over a warp at once: lanes exchange what they will not finish, so that 2^k sums
/// take 2^k + 4 - k shuffles of a double, not 5 * 2^k.
///
///     lane   0  1  2  3            a0 a1 of each lane, in a warp of four
///     ->     a0 a0 | a1 a1         over pairs two apart: the lower two go on with a0
///     ->     a0 a0 | a1 a1         over neighbours: the totals
#pragma once

namespace tcsolve::cuda {

constexpr unsigned int all = 0xffffffffu;  ///< lanes of a warp

/// The total, in every lane.
template <class T>
__device__ T warp_sum(T v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(all, v, offset);
  return v;
}

/// The total of a[lane / (32 / count)], count a power of two; the order of the additions is fixed.
template <int offset = 16, int count>
__device__ double warp_sums(double const (&a)[count]) {
  if constexpr (count == 1) {
    double total = a[0];
#pragma unroll
    for (int o = offset; o > 0; o /= 2) total += __shfl_xor_sync(all, total, o);
    return total;
  } else {
    bool upper = (threadIdx.x & offset) != 0;
    double half[count / 2];
#pragma unroll
    for (int i = 0; i < count / 2; ++i) {
      double mine = upper ? a[i + count / 2] : a[i], theirs = upper ? a[i] : a[i + count / 2];
      half[i] = mine + __shfl_xor_sync(~0u, theirs, offset);
    }
    return warp_sums<offset / 2>(half);
  }
}

}  // namespace tcsolve::cuda
