// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/tile16/tile16.hpp>

#include <algorithm>

#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Tile16<S>::Tile16(Context& ctx, CsrView<S> const& a, Tile16Tuning const& tuning) {
  if (tuning.least < 1 || tuning.least > 257)
    throw ShapeError(cat("tile16: least = ", tuning.least, " is outside [1, 257]"));
  arrays_ = ctx.visit([&](auto& on) { return build_tile16(on, ctx.arena(), a, tuning); });
}

template <class S>
void Tile16<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("tile16", view(), a);
  ctx.visit([&](auto& on) { refill_tile16(on, ctx.arena(), a, arrays_); });
}

template <class S>
std::size_t Tile16<S>::bytes() const {
  Tile16Arrays<S> const& m = arrays_;
  return m.start.bytes() + m.first.bytes() + m.rest_start.bytes() + m.column.bytes() +
         m.rest_columns.bytes() + m.row_start.bytes() + m.places.bytes() + m.values.bytes() +
         m.rest_values.bytes();
}

template <class S>
Csr<S> Tile16<S>::to_csr(Context& ctx) const {
  auto const start = to_host(ctx, arrays_.start), first = to_host(ctx, arrays_.first),
             rest_start = to_host(ctx, arrays_.rest_start);
  auto const column = to_host(ctx, arrays_.column),
             rest_columns = to_host(ctx, arrays_.rest_columns);
  auto const places = to_host(ctx, arrays_.places);
  auto const values = to_host(ctx, arrays_.values), rest_values = to_host(ctx, arrays_.rest_values);
  constexpr Index side = Tile16View<S>::side;
  Csr<S> out;
  out.rows = view().rows, out.cols = view().cols;
  std::vector<std::vector<std::pair<Index, S>>> rows(side);
  for (Index I = 0; I < view().tile_rows; ++I) {
    for (auto& row : rows) row.clear();
    for (std::uint32_t t = start[I]; t < start[I + 1]; ++t)
      for (std::uint32_t k = first[t]; k < first[t + 1]; ++k)
        rows[places[k] / side].emplace_back(column[t] * side + places[k] % side, values[k]);
    for (Index r = 0; r < side && I * side + r < out.rows; ++r) {
      auto& row = rows[r];
      if (!rest_start.empty())
        for (auto k = rest_start[I * side + r]; k < rest_start[I * side + r + 1]; ++k)
          row.emplace_back(rest_columns[k], rest_values[k]);
      std::ranges::sort(row, {}, [](auto const& entry) { return entry.first; });
      for (auto const& [j, v] : row) out.columns.push_back(j), out.values.push_back(v);
      out.offsets.push_back(out.entries());
    }
  }
  return out;
}

#define TCSOLVE_INSTANTIATE(S) template class Tile16<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
