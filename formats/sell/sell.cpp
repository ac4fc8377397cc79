// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/sell/sell.hpp>

#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Sell<S>::Sell(Context& ctx, CsrView<S> const& a) {
  arrays_ = ctx.visit([&](auto& on) { return build_sell(on, ctx.arena(), a); });
  arrays_.view.streams = bytes() > ctx.cache_bytes();
}

template <class S>
void Sell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("sell", view(), a);
  ctx.visit([&](auto& on) { refill_sell(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Sell<S>::bytes() const {
  SellArrays<S> const& m = arrays_;
  return m.slices.bytes() + m.lengths.bytes() + m.deltas.bytes() + m.columns.bytes() +
         m.values.bytes();
}

template <class S>
Csr<S> Sell<S>::to_csr(Context& ctx) const {
  constexpr int C = SellView<S>::C;
  auto slices = to_host(ctx, arrays_.slices);
  auto lengths = to_host(ctx, arrays_.lengths);
  auto deltas = to_host(ctx, arrays_.deltas);
  auto columns = to_host(ctx, arrays_.columns);
  auto values = to_host(ctx, arrays_.values);
  Csr<S> a;
  a.rows = view().rows, a.cols = view().cols;
  for (Index i = 0; i < a.rows; ++i) {
    SellSlice const& slice = slices[i / C];
    for (Index j = 0; j < lengths[i]; ++j) {
      Offset at = Offset{j} * C + i % C;
      a.columns.push_back(slice.wide ? columns[slice.indices + at]
                                     : slice.base + deltas[slice.indices + at]);
      a.values.push_back(values[slice.values + at]);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

template class Sell<double>;
template class Sell<float>;
template class Sell<half>;
template class Sell<bfloat16>;

}  // namespace tcsolve
