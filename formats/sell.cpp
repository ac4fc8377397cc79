// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/sell.hpp>

#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/same_pattern.hpp>
#include <tcsolve/kernels/verbs/sell.hpp>

namespace tcsolve {

template <class S>
Sell<S>::Sell(Context& ctx, CsrView<S> const& a)
    : rows_(a.rows), cols_(a.cols), entries_(a.entries) {
  constexpr int C = SellView<S>::C;
  Space s = ctx.space();
  std::size_t count = (std::size_t(a.rows) + C - 1) / C;
  slices_ = Array<SellSlice>(s, count);
  lengths_ = Array<Index>(s, a.rows);
  sweep(ctx, SellMeasure<S>{static_cast<std::int64_t>(count), a, slices_.data(), lengths_.data()});
  auto slices = to_host(ctx, slices_);
  Offset stored = 0, deltas = 0, columns = 0;
  for (SellSlice& slice : slices) {
    Offset size = Offset{slice.width} * C;
    slice.values = std::exchange(stored, stored + size);
    slice.indices =
        slice.wide ? std::exchange(columns, columns + size) : std::exchange(deltas, deltas + size);
  }
  copy_bytes(ctx, slices_.data(), s, slices.data(), Space::host, slices_.bytes());
  values_ = Array<S>(s, stored);
  deltas_ = Array<std::uint16_t>(s, deltas);
  columns_ = Array<std::int32_t>(s, columns);
  sweep(ctx,
        SellFill<S>{a.rows, a, slices_.data(), deltas_.data(), columns_.data(), values_.data()});
  streams_ = bytes() > ctx.cache_bytes();
}

template <class S>
void Sell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("sell", view(), a);
  sweep(ctx, SellRefill<S>{rows_, a, slices_.data(), lengths_.data(), values_.data()});
}

template <class S>
SellView<S> Sell<S>::view() const {
  return {rows_,          cols_,           entries_,       slices_.data(), lengths_.data(),
          deltas_.data(), columns_.data(), values_.data(), streams_,       values_.space()};
}

template <class S>
Csr<S> Sell<S>::to_csr(Context& ctx) const {
  constexpr int C = SellView<S>::C;
  auto slices = to_host(ctx, slices_);
  auto lengths = to_host(ctx, lengths_);
  auto deltas = to_host(ctx, deltas_);
  auto columns = to_host(ctx, columns_);
  auto values = to_host(ctx, values_);
  Csr<S> a;
  a.rows = rows_, a.cols = cols_;
  for (Index i = 0; i < rows_; ++i) {
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
