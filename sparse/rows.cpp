// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/rows.hpp>

#include <algorithm>
#include <vector>

#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

namespace {

template <class T>
void require_vector(Context const& ctx, char const* what, CsrView<T> const& a, Out<T> y) {
  pattern_there(ctx, what, a);
  if (!y.is_vector() || y.rows != a.rows || y.space != ctx.space())
    throw ShapeError(cat(what, ": the matrix has ", a.rows, " rows on the ", name(ctx.space()),
                         "; y is ", y.rows, " x ", y.cols, " on the ", name(y.space)));
}

}  // namespace

template <class T>
void row_sums(Context& ctx, CsrView<T> const& a, Out<T> y) {
  require_vector(ctx, "row sums", a, y);
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { sum_rows(on, ctx.arena(), a, Sizes::with_sign, y.data); });
}

template <class T>
void absolute_row_sums(Context& ctx, CsrView<T> const& a, Out<T> y) {
  require_vector(ctx, "absolute row sums", a, y);
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { sum_rows(on, ctx.arena(), a, Sizes::absolute, y.data); });
}

template <class T>
void diagonal(Context& ctx, CsrView<T> const& a, Out<T> y) {
  require_vector(ctx, "diagonal", a, y);
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { take_diagonal(on, ctx.arena(), a, y.data); });
}

#define TCSOLVE_ROWS(T)                                                    \
  template void row_sums<T>(Context&, CsrView<T> const&, Out<T>);          \
  template void absolute_row_sums<T>(Context&, CsrView<T> const&, Out<T>); \
  template void diagonal<T>(Context&, CsrView<T> const&, Out<T>);
TCSOLVE_ROWS(double)
TCSOLVE_ROWS(float)
#undef TCSOLVE_ROWS

}  // namespace tcsolve::sparse

namespace tcsolve {

template <class S, class T>
Index update_residual(Context& ctx, CsrView<S> const& a, std::span<Index const> rows, In<T> b,
                      In<T> x, Out<T> r) {
  sparse::pattern_there(ctx, "update_residual", a);
  auto const fits = [&](auto const& v, Index length) {
    return v.is_vector() && v.rows == length && v.space == ctx.space();
  };
  if (!fits(b, a.rows) || !fits(r, a.rows) || !fits(x, a.cols))
    throw ShapeError(cat("update_residual: the matrix is ", a.rows, " x ", a.cols, " on the ",
                         name(a.space), "; b is ", b.rows, " x ", b.cols, ", x ", x.rows, " x ",
                         x.cols, ", r ", r.rows, " x ", r.cols,
                         "; they are vectors where the matrix lies"));
  std::vector<Index> distinct(rows.begin(), rows.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (!distinct.empty() && (distinct.front() < 0 || distinct.back() >= a.rows))
    throw ShapeError(cat("update_residual: row ",
                         distinct.front() < 0 ? distinct.front() : distinct.back(),
                         " is outside [0, ", a.rows, ")"));
  Context::Entry const entry(ctx);
  Array<Index> const there = to_space(ctx, distinct.data(), distinct.size());
  ctx.visit([&](auto& on) { residual_of_rows(on, ctx.arena(), a, there.view(), b, x, r); });
  return static_cast<Index>(distinct.size());
}

#define TCSOLVE_RESIDUALS(S, T)                                                                    \
  template Index update_residual<S, T>(Context&, CsrView<S> const&, std::span<Index const>, In<T>, \
                                       In<T>, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_RESIDUALS)
#undef TCSOLVE_RESIDUALS

}  // namespace tcsolve
