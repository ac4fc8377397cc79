// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/triple_product.hpp>

namespace tcsolve::sparse {

template <class T>
void TripleProduct::values(Context& ctx, CsrView<T> const& a, CsrView<T> const& p, T* c,
                           T* pt_values) const {
  OwnedPattern const &pt = restriction_.pattern(), &ap = ap_.pattern();
  require_planned("triple product, P", p, pt.cols, pt.rows, pt.entries);
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  T* const of_pt = pt_values != nullptr
                       ? pt_values
                       : scope.template take<T>(static_cast<std::size_t>(pt.entries));
  T* const of_ap = scope.template take<T>(static_cast<std::size_t>(ap.entries));
  ap_.values(ctx, a, p, of_ap);
  restriction_.values(ctx, p.values, of_pt);
  c_.values(ctx, pt.with<T>(of_pt), ap.with<T>(of_ap), c);
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
