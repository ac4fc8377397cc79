// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/independent_set.hpp>

#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve::sparse {

template <class T>
IndependentSet independent_set(Context& ctx, CsrView<T> const& a, int distance, Edges edges) {
  PatternView const pattern = pattern_there(ctx, "independent set", a);
  if (a.rows != a.cols || distance < 1 || distance > 2)
    throw ShapeError(cat("independent set: the matrix is ", a.rows, " x ", a.cols,
                         ", the distance ", distance, "; needed are a square one, and 1 or 2"));
  Context::Entry const entry(ctx);
  auto const among = [&](PatternView const& back) {
    return ctx.visit(
        [&](auto& on) { return independent_set(on, ctx.arena(), pattern, back, distance); });
  };
  if (edges == Edges::symmetric) return among({});
  Transpose const back(ctx, a);
  return among(back.pattern().view());
}

template IndependentSet independent_set<double>(Context&, CsrView<double> const&, int, Edges);
template IndependentSet independent_set<float>(Context&, CsrView<float> const&, int, Edges);

}  // namespace tcsolve::sparse
