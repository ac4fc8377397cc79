// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/product.hpp>

#include <algorithm>

#include <tcsolve/sparse/blocks.hpp>

namespace tcsolve::sparse {

std::optional<BlockFactors> factors_by_blocks(Context& ctx, PatternView const& a,
                                              PatternView const& b, ProductBlocks const& s) {
  if (s.scalar()) return std::nullopt;
  auto const stored = [](PatternView const& m, OwnedPattern const& blocks, Index r, Index c) {
    return double(m.entries) / std::max(1.0, double(blocks.entries) * r * c);
  };
  BlockFactors made{s, {}, blocks_of(ctx, b, s.inner, s.cols)};
  if (b.entries == 0 || stored(b, made.b, s.inner, s.cols) < 1) return std::nullopt;
  constexpr double half = 0.5;
  made.a = blocks_of(ctx, a, s.rows, s.inner);
  if (stored(a, made.a, s.rows, s.inner) < half) return std::nullopt;
  return made;
}

namespace {

/// That the limit allows, by the rows of B; a device has other things to wait for.
void require_worth(PatternView const& a, PatternView const& b, ProductLimits const& limits) {
  if (limits.for_an_entry == 0) return;
  double products = 0;
  for (Offset p = 0; p < a.entries; ++p) {
    Index const k = a.columns[p];
    products += static_cast<double>(b.offsets[std::int64_t{k} + 1] - b.offsets[k]);
  }
  if (products > limits.for_an_entry * std::max(1.0, double(a.entries)))
    throw SizeError(cat("a product of sparse matrices sums ", products, " products, for each of ",
                        a.entries, " entries more than ", limits.for_an_entry));
}

}  // namespace

Product::Product(Context& ctx, PatternView const& a, PatternView const& b,
                 ProductLimits const& limits, ProductBlocks const& blocks)
    : inner_(a.cols), a_entries_(a.entries), b_entries_(b.entries) {
  if (a.cols != b.rows)
    throw ShapeError(cat("product: A is ", a.rows, " x ", a.cols, ", B is ", b.rows, " x ", b.cols,
                         "; A needs as many columns as B has rows"));
  Context::Entry const entry(ctx);
  factors_ = factors_by_blocks(ctx, a, b, blocks);
  PatternView const left = factors_ ? factors_->a.view() : a,
                    right = factors_ ? factors_->b.view() : b;
  if (ctx.space() == Space::host) require_worth(left, right, limits);
  ProductLimits watched = limits;
  watched.cancel = ctx.cancel_flag();
  made_ =
      ctx.visit([&](auto& on) { return product_pattern(on, ctx.arena(), left, right, watched); });
  made_.limits.cancel = {};  // its deadline is that of this set-up
  if (factors_) entries_ = entries_of(ctx, made_.pattern.view(), blocks.rows, blocks.cols);
}

double Product::bytes() const {
  double sum = bytes_of(made_.pattern) + double(made_.order.bytes());
  if (factors_) sum += bytes_of(factors_->a) + bytes_of(factors_->b) + bytes_of(entries_);
  return sum;
}

template <class T>
void Product::values(Context& ctx, CsrView<T> const& a, CsrView<T> const& b, T* c) const {
  pattern_there(ctx, "product", a), pattern_there(ctx, "product", b);
  require_planned("product, A", a, pattern().rows, inner_, a_entries_);
  require_planned("product, B", b, inner_, pattern().cols, b_entries_);
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) {
    if (factors_)
      block_product_values(on, ctx.arena(), made_, *factors_, a, b.values, c);
    else
      product_values(on, ctx.arena(), made_, a, b, c);
  });
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
#undef TCSOLVE_PRODUCT

}  // namespace tcsolve::sparse
