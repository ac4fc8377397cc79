// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/rows.hpp>

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
