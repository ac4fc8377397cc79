// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/prolongation.hpp>

#include <tcsolve/precond/amg/joined_pattern.hpp>

namespace tcsolve {

TentativePattern tentative_pattern(Context& ctx, Aggregates const& aggregates, Index block,
                                   Index vectors) {
  Context::Entry const entry(ctx);
  return ctx.visit(
      [&](auto& on) { return tentative_pattern(on, ctx.arena(), aggregates, block, vectors); });
}

void tentative_values(Context& ctx, TentativePattern const& T, double const* B, double* values,
                      double* coarse) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { tentative_values(on, ctx.arena(), T, B, values, coarse); });
}

void positive_diagonal(Context& ctx, CsrView<double> const& a, sparse::OwnedPattern const& filtered,
                       double* values, double* d) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { positive_diagonal(on, ctx.arena(), a, filtered, values, d); });
}

void smooth(Context& ctx, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { smooth(on, ctx.arena(), product, tentative, d, omega, p); });
}

std::optional<sparse::OwnedPattern> joined_pattern(Context& ctx, CsrView<double> const& f,
                                                   PatternView const& tentative) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return joined_pattern(on, ctx.arena(), f, tentative); });
}

void smooth_joined(Context& ctx, CsrView<double> const& f, CsrView<double> const& tentative,
                   double const* d, double omega, sparse::OwnedPattern const& pattern, double* p) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { smooth_joined(on, ctx.arena(), f, tentative, d, omega, pattern, p); });
}

}  // namespace tcsolve
