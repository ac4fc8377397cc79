// SPDX-License-Identifier: Apache-2.0
/// Where sums end. A pass over vectors leaves parts: the sums of a thread block, of a chunk, of a
/// group of blocks. They become one here, whatever the pass is, and then the ranks' become one:
///
///     elements -> part 0 -+
///     elements -> part 1 -+-> add_parts(), in a fixed order -> sum of this rank -+
///        ..              -+                                        other ranks -+-> add_parts(),
///     elements -> part m -+                                                     in rank order
///                                                                                    |
///                                                                   finish(frame, sum), once
///
///   host    end_sums() of kernels/host/sums.hpp: both steps; one thread adds all parts
///   device  end_sum_by_warp() and end_sum_by_block() of kernels/cuda/sums.cuh: the first step.
///           Thread t of T adds parts t, t + T, ..; then the threads' sums are added. The second
///           step, within the same kernel, is sum_over_ranks() of kernels/cuda/rank_sums.cuh
///   loops   the exchanges of the persistent kernel and of a batch, whose parts are posts of other
///           blocks, call add_parts() themselves. The systems of a batch have one rank each
///
/// An operation says that it has sums by `sums` (kernels/operation.hpp), and by `maximum` that they
/// are maxima. scripts/check-layers holds that nobody else adds what other blocks have left.
#pragma once

#include <tcsolve/kernels/operation.hpp>

namespace tcsolve {

/// How parts become one where no operation says it.
struct Add {};
struct Largest {
  static constexpr bool maximum = true;
};

/// Sum, or maximum where NaN wins, of two partial results.
template <class V>
TCSOLVE_HD double combine(double a, double b) {
  if constexpr (OpTraits<V>::maximum)
    return (a != a || a > b) ? a : b;
  else
    return a + b;
}

/// total[k] of `width` sums, as it is, and part(b, k) for b = first, first + step, .. below count.
template <class V, class I, class Part>
TCSOLVE_HD void add_parts(Part const& part, I first, I count, I step, double* total, I width = 1) {
  for (I b = first; b < count; b += step)
    for (I k = 0; k < width; ++k) total[k] = combine<V>(total[k], part(b, k));
}

}  // namespace tcsolve
