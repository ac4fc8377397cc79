// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/transpose.hpp>

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

template void Transpose::values<double>(Context&, double const*, double*) const;
template void Transpose::values<float>(Context&, float const*, float*) const;
template CsrStorage<double> transposed<double>(Context&, CsrView<double> const&);
template CsrStorage<float> transposed<float>(Context&, CsrView<float> const&);

}  // namespace tcsolve::sparse
