// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/triple_product.hpp>

#include <tcsolve/sparse/blocks.hpp>

namespace tcsolve::sparse {

void TripleProduct::plan_aggregates(Context& ctx, PatternView const& a, PatternView const& p,
                                    ProductLimits const& limits, ProductBlocks const& blocks) {
  if (a.rows != a.cols || a.cols != p.rows) return;  // the products say so
  if (p.entries > Offset{p.rows} * blocks.cols || limits.walked == 0) return;
  Context::Entry const entry(ctx);
  AggregateProduct plan;
  PatternView left = a, right = p, transposed = restriction_.pattern().view();
  if (!blocks.scalar()) {
    if (blocks.inner > most_node_rows || blocks.cols > most_node_vectors) return;
    plan.factors = factors_by_blocks(ctx, a, p, blocks);
    if (!plan.factors) return;
    left = plan.factors->a.view(), right = plan.factors->b.view();
    plan.pt = Transpose(ctx, plan.factors->b.with<double>(nullptr)).release();
    transposed = plan.pt.view();
  }
  ProductLimits watched = limits;
  watched.cancel = ctx.cancel_flag();
  std::optional<ProductPattern> made = ctx.visit([&](auto& on) {
    return aggregate_pattern(on, ctx.arena(), left, right, transposed, watched);
  });
  if (!made) return;
  plan.made = std::move(*made);
  plan.made.limits.cancel = {};  // its deadline is that of this set-up
  if (plan.factors)
    plan.entries = entries_of(ctx, plan.made.pattern.view(), blocks.cols, blocks.cols);
  aggregates_ = std::move(plan);
}

double TripleProduct::bytes() const {
  if (!aggregates_) return restriction_.bytes() + ap_->bytes() + c_->bytes();
  AggregateProduct const& by = *aggregates_;
  double sum = restriction_.bytes() + bytes_of(by.made.pattern) + double(by.made.order.bytes()) +
               bytes_of(by.pt) + bytes_of(by.entries);
  if (by.factors) sum += bytes_of(by.factors->a) + bytes_of(by.factors->b);
  return sum;
}

template <class T>
void TripleProduct::values(Context& ctx, CsrView<T> const& a, CsrView<T> const& p, T* c,
                           T* pt_values) const {
  OwnedPattern const& pt = restriction_.pattern();
  pattern_there(ctx, "triple product", a);
  require_planned("triple product, A", a, pt.cols, pt.cols, a_entries_);
  require_planned("triple product, P", p, pt.cols, pt.rows, pt.entries);
  Context::Entry const entry(ctx);
  if (aggregates_) {
    if (pt_values != nullptr) restriction_.values(ctx, p.values, pt_values);
    return ctx.visit(
        [&](auto& on) { aggregate_values(on, ctx.arena(), *aggregates_, a, p, pt.view(), c); });
  }
  OwnedPattern const& ap = ap_->pattern();
  auto scope = ctx.arena().scope();
  T* const of_pt = pt_values != nullptr
                       ? pt_values
                       : scope.template take<T>(static_cast<std::size_t>(pt.entries));
  T* const of_ap = scope.template take<T>(static_cast<std::size_t>(ap.entries));
  ap_->values(ctx, a, p, of_ap);
  restriction_.values(ctx, p.values, of_pt);
  c_->values(ctx, pt.with<T>(of_pt), ap.with<T>(of_ap), c);
}

template <class T>
CsrStorage<T> triple_product(Context& ctx, CsrView<T> const& a, CsrView<T> const& p) {
  TripleProduct plan(ctx, a, p);
  Array<T> c(ctx.space(), static_cast<std::size_t>(plan.pattern().entries));
  plan.values(ctx, a, p, c.data());
  return stored(ctx, std::move(plan).release(), std::move(c));
}

#define TCSOLVE_TRIPLE(T)                                                                        \
  template void TripleProduct::values<T>(Context&, CsrView<T> const&, CsrView<T> const&, T*, T*) \
      const;                                                                                     \
  template CsrStorage<T> triple_product<T>(Context&, CsrView<T> const&, CsrView<T> const&);
TCSOLVE_TRIPLE(double)
TCSOLVE_TRIPLE(float)
#undef TCSOLVE_TRIPLE

}  // namespace tcsolve::sparse
