// SPDX-License-Identifier: Apache-2.0
/// Sliced blocks by lines (kernels/lines.hpp): a row of a block row.
#pragma once

#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(BsellView<S> const& a) {
  return std::int64_t{a.count} * a.block * BsellView<S>::C;
}
template <class S>
TCSOLVE_HD std::int64_t parts(BsellView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(BsellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = BsellView<S>::C;
  Index const b = a.block;
  int const lane = static_cast<int>(line % C);  // lanes lie side by side
  Index const r = static_cast<Index>(line / C % b);
  std::int64_t const s = line / C / b, place = s * C + lane;
  if (place >= a.block_rows) return {};
  std::int64_t const row = (a.order == nullptr ? place : std::int64_t{a.order[place]}) * b + r;
  if (row >= a.rows) return {};
  BsellSlice const slice = a.slices[s];
  S const* values = a.values + (Offset{slice.first} * b + r) * b * C + lane;
  for (Index j = 0; j < slice.steps; ++j, values += Offset{b} * b * C) {
    Index const column = a.column(slice, j, lane);
    for (Index c = 0; c < b; ++c) {
      S const value = values[c * C];
      if (!is_padding(value)) entry(column * b + c, value);
    }
  }
  return {static_cast<Index>(row), -1};
}

}  // namespace tcsolve
