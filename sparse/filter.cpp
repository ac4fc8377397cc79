// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/filter.hpp>

namespace tcsolve::sparse {

template <class T>
void strong_entries(Context& ctx, CsrView<T> const& a, double theta, std::uint8_t* keep) {
  pattern_there(ctx, "strong entries", a);
  if (a.rows != a.cols)
    throw ShapeError(cat("strong entries: the matrix is ", a.rows, " x ", a.cols,
                         "; they are measured by the diagonal of a square one"));
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { mark_strong(on, ctx.arena(), a, theta, keep); });
}

Filter::Filter(Context& ctx, PatternView const& a, std::uint8_t const* keep, Lump lump) {
  Context::Entry const entry(ctx);
  made_ = ctx.visit([&](auto& on) { return filter_pattern(on, ctx.arena(), a, keep, lump); });
}

template <class T>
void Filter::values(Context& ctx, CsrView<T> const& a, T* to) const {
  pattern_there(ctx, "filter", a);
  require_planned("filter", a, pattern().rows, pattern().cols,
                  static_cast<Offset>(made_.keep.size()));
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { filter_values(on, ctx.arena(), made_, a, to); });
}

#define TCSOLVE_FILTER(T)                                                              \
  template void strong_entries<T>(Context&, CsrView<T> const&, double, std::uint8_t*); \
  template void Filter::values<T>(Context&, CsrView<T> const&, T*) const;
TCSOLVE_FILTER(double)
TCSOLVE_FILTER(float)
#undef TCSOLVE_FILTER

}  // namespace tcsolve::sparse
