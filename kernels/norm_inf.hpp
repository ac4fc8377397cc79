// SPDX-License-Identifier: Apache-2.0
/// The infinity norm of a CSR matrix, for set-up.
///
///   host    a row a task                                                            (Kokkos)
///   cuda    some lanes a row; what a row has beyond 4096 entries, a warp for each 4096 more
///   bytes   values and offsets once
///   bits    the same on every run
#pragma once

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

namespace cuda {
/// value, one double in the device's memory, = ||A||_inf.
template <class S>
void norm_inf(Device&, Arena&, CsrView<S> const& a, double* value);
}  // namespace cuda

/// *value = max_i sum_j |a_ij|; NaN when an entry is. Both lie in the Context's space.
template <class S>
void norm_inf(Context& ctx, CsrView<S> const& a, double* value) {
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      norm_inf(on, ctx.arena(), a, value);
    else
      submit(ctx, MaxRowSum<S>{a.rows, a, value});
  });
}
/// The same for the host, which waits.
template <class S>
double norm_inf(Context& ctx, CsrView<S> const& a) {
  auto scope = ctx.arena().scope();
  double* value = scope.template take<double>(1);
  norm_inf(ctx, a, value);
  return read(ctx, value);
}

}  // namespace tcsolve
