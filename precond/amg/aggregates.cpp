// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/aggregates.hpp>

#include <utility>

#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/independent_set.hpp>

namespace tcsolve {

Aggregates aggregates(Context& ctx, sparse::OwnedPattern const& strong) {
  Context::Entry const entry(ctx);
  // Symmetric, or of a symmetric matrix but for couplings that rounding has put near the threshold.
  CsrView<double> const graph = strong.with<double>(nullptr);
  sparse::IndependentSet const roots =
      sparse::independent_set(ctx, graph, 2, sparse::Edges::symmetric);
  ctx.cancel_flag().check();
  LeftNodes left = ctx.visit([&](auto& on) {
    return aggregate_around(on, ctx.arena(), strong.view(), roots.numbers.data());
  });
  sparse::Filter const between(ctx, graph, left.keep.data());
  sparse::IndependentSet const more = sparse::independent_set(
      ctx, between.pattern().with<double>(nullptr), 2, sparse::Edges::symmetric);
  return ctx.visit([&](auto& on) {
    return aggregate_left(on, ctx.arena(), strong.view(), between.pattern().view(),
                          more.numbers.data(), std::move(left));
  });
}

}  // namespace tcsolve
