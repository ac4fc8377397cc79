// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/weights.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

double smoother_weights(Context& ctx, CsrView<double> const& a, RowWeight kind, int level,
                        double* w) {
  Context::Entry const entry(ctx);
  auto const [norm, bad] =
      ctx.visit([&](auto& on) { return smoother_weights(on, ctx.arena(), a, kind, w); });
  if (bad == WeighedRows::none) return norm;
  if (level > 0)
    throw SetupError(cat("amg: the diagonal entry of row ", bad + 1, " of level ", level + 1,
                         " is not positive: A is not positive definite; use another preconditioner"
                         " with minres or gmres"));
  throw SetupError(
      cat("amg: the diagonal entry of row ", bad + 1,
          " is absent, zero, negative or out of range, and amg takes A, or its symmetric "
          "part, to be positive definite; use another preconditioner with minres or "
          "gmres"));
}

double norm_of_weighted(Context& ctx, CsrView<double> const& a, double const* w) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  auto* const norm = scope.take<double>(1);
  submit(ctx, WeightedRowSums{a.rows, a, w, norm});
  return read(ctx, norm);
}

}  // namespace tcsolve
