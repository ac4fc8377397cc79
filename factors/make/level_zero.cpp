// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/level_zero.hpp>

namespace tcsolve {

std::optional<LevelZero> level_zero(Context& ctx, PatternView const& a, Index most_levels) {
  Context::Entry const entry(ctx);
  if (a.rows != a.cols)
    throw ShapeError(cat("factors: the matrix is ", a.rows, " x ", a.cols, ", not square"));
  return ctx.visit([&](auto& on) { return level_zero(on, ctx.arena(), a, most_levels); });
}

bool has_small_diagonal(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return has_small_diagonal(on, ctx.arena(), a); });
}

}  // namespace tcsolve
