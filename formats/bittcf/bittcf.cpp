// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bittcf/bittcf.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tcsolve/formats/bittcf/lines.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Bittcf<S>::Bittcf(Context& ctx, CsrView<S> const& a, BittcfTuning const& tuning) {
  if (tuning.aside < 0 || tuning.aside > 8)
    throw ShapeError(cat("bittcf: aside = ", tuning.aside, " is outside [0, 8]"));
  if (tuning.aside_window < 0 || tuning.imbalance < 0)
    throw ShapeError(cat("bittcf: aside_window = ", tuning.aside_window,
                         " and imbalance = ", tuning.imbalance, " must not be negative"));
  if (tuning.long_window < 1)
    throw ShapeError(cat("bittcf: long_window = ", tuning.long_window, " is not positive"));
  arrays_ = ctx.visit([&](auto& on) { return build_bittcf(on, ctx.arena(), a, tuning); });
}

template <class S>
void Bittcf<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("bittcf", view(), a);
  ctx.visit([&](auto& on) { refill_bittcf(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Bittcf<S>::bytes() const {
  BittcfArrays<S> const& m = arrays_;
  return m.start.bytes() + m.offsets.bytes() + m.bitmaps.bytes() + m.column.bytes() +
         m.values.bytes() + m.side_start.bytes() + m.side_columns.bytes() + m.side_values.bytes() +
         m.piece_start.bytes() + m.piece.bytes();
}

template <class S>
Csr<S> Bittcf<S>::to_csr(Context& ctx) const {
  auto const start = to_host(ctx, arrays_.start), offsets = to_host(ctx, arrays_.offsets),
             side_start = to_host(ctx, arrays_.side_start);
  auto const bitmaps = to_host(ctx, arrays_.bitmaps);
  auto const column = to_host(ctx, arrays_.column),
             side_columns = to_host(ctx, arrays_.side_columns);
  auto const values = to_host(ctx, arrays_.values), side_values = to_host(ctx, arrays_.side_values);
  BittcfView<S> here = view();
  here.start = start.data(), here.offsets = offsets.data(), here.bitmaps = bitmaps.data();
  here.column = column.data(), here.values = values.data();
  here.side_start = side_start.empty() ? nullptr : side_start.data();
  here.side_columns = side_columns.data(), here.side_values = side_values.data();
  Csr<S> out;
  out.rows = here.rows, out.cols = here.cols;
  std::vector<std::pair<Index, S>> row;
  auto const add = [&](Index c, S value) { row.emplace_back(c, value); };
  for (Index i = 0; i < here.rows; ++i) {
    row.clear();
    walk(here, i, add);
    std::ranges::sort(row, {}, &std::pair<Index, S>::first);
    for (auto const& [c, value] : row) {
      out.columns.push_back(c);
      out.values.push_back(value);
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

#define TCSOLVE_INSTANTIATE(S) template class Bittcf<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
