// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/product.hpp>

namespace tcsolve::sparse {

Product::Product(Context& ctx, PatternView const& a, PatternView const& b,
                 ProductLimits const& limits)
    : inner_(a.cols), a_entries_(a.entries), b_entries_(b.entries) {
  if (a.cols != b.rows)
    throw ShapeError(cat("product: A is ", a.rows, " x ", a.cols, ", B is ", b.rows, " x ", b.cols,
                         "; A needs as many columns as B has rows"));
  Context::Entry const entry(ctx);
  made_ = ctx.visit([&](auto& on) { return product_pattern(on, ctx.arena(), a, b, limits); });
}

template <class T>
void Product::values(Context& ctx, CsrView<T> const& a, CsrView<T> const& b, T* c) const {
  pattern_there(ctx, "product", a), pattern_there(ctx, "product", b);
  require_planned("product, A", a, pattern().rows, inner_, a_entries_);
  require_planned("product, B", b, inner_, pattern().cols, b_entries_);
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { product_values(on, ctx.arena(), made_, a, b, c); });
}

template <class T>
CsrStorage<T> product(Context& ctx, CsrView<T> const& a, CsrView<T> const& b) {
  Product plan(ctx, a, b);
  Array<T> c(ctx.space(), static_cast<std::size_t>(plan.pattern().entries));
  plan.values(ctx, a, b, c.data());
  return stored(ctx, std::move(plan).release(), std::move(c));
}

#define TCSOLVE_PRODUCT(T)                                                                    \
  template void Product::values<T>(Context&, CsrView<T> const&, CsrView<T> const&, T*) const; \
  template CsrStorage<T> product<T>(Context&, CsrView<T> const&, CsrView<T> const&);
TCSOLVE_PRODUCT(double)
TCSOLVE_PRODUCT(float)

}  // namespace tcsolve::sparse
