// SPDX-License-Identifier: Apache-2.0
/// Several sums over a warp at once: lanes exchange what they will not finish, so that 2^k sums
/// cost 2^k - 1 + (5 - k) shuffles of a double, not 5 * 2^k.
///
///     lane   0  1  2  3            a0 a1 of each lane, a warp of four
///     ->     a0 a0 | a1 a1         over pairs two apart: the lower two go on with a0
///     ->     a0 a0 | a1 a1         over neighbours: the totals
#pragma once

namespace tcsolve::cuda {

/// The total of a[lane / (32 / count)]. Uses up a; the order of the additions is fixed.
template <int count>
__device__ double warp_sums(double (&a)[count]) {
  static_assert(count >= 1 && count <= 32 && (count & (count - 1)) == 0);
  int lane = threadIdx.x % 32, offset = 16;
#pragma unroll
  for (int half = count / 2; half >= 1; half /= 2, offset /= 2) {
    bool upper = (lane & offset) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      double mine = upper ? a[i + half] : a[i], theirs = upper ? a[i] : a[i + half];
      a[i] = mine + __shfl_xor_sync(~0u, theirs, offset);
    }
  }
  double total = a[0];
#pragma unroll
  for (; offset > 0; offset /= 2) total += __shfl_xor_sync(~0u, total, offset);
  return total;
}

}  // namespace tcsolve::cuda
