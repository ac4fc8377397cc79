// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/transpose.hpp>

#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::sparse {

Transpose::Transpose(Context& ctx, PatternView const& a) {
  Context::Entry const entry(ctx);
  made_ = ctx.visit([&](auto& on) { return transpose_pattern(on, ctx.arena(), a); });
}

template <class T>
void Transpose::values(Context& ctx, T const* from, T* to) const {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { transpose_values(on, ctx.arena(), made_, from, to); });
}

template <class T>
CsrStorage<T> transposed(Context& ctx, CsrView<T> const& a) {
  Transpose plan(ctx, a);
  Array<T> values(ctx.space(), static_cast<std::size_t>(a.entries));
  plan.values(ctx, a.values, values.data());
  return stored(ctx, std::move(plan).release(), std::move(values));
}

#define TCSOLVE_INSTANTIATE(T)                                      \
  template void Transpose::values<T>(Context&, T const*, T*) const; \
  template CsrStorage<T> transposed<T>(Context&, CsrView<T> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::sparse
