// SPDX-License-Identifier: Apache-2.0
/// Tiles by lines (kernels/lines.hpp): a row, its tiles first, then its rest.
#pragma once

#include <tcsolve/formats/tile16/tile16.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

/// Where row r of a tile begins and ends among the packed entries.
struct Tile16Row {
  std::uint32_t begin, end;
};
template <class S>
TCSOLVE_HD Tile16Row row_of(Tile16View<S> const& a, std::uint32_t tile, int r) {
  std::uint8_t const* const before = a.row_start + std::int64_t{tile} * a.side;
  std::uint32_t const first = a.first[tile];
  return {first + before[r], r + 1 < a.side ? first + before[r + 1] : a.first[tile + 1]};
}

template <class S>
TCSOLVE_HD std::int64_t lines(Tile16View<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(Tile16View<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(Tile16View<S> const& a, std::int64_t i, F& entry) {
  int const r = static_cast<int>(i % a.side);
  std::uint32_t const end = a.start[i / a.side + 1];
  for (std::uint32_t t = a.start[i / a.side]; t < end; ++t) {
    Index const column = a.column[t] * a.side;
    Tile16Row const row = row_of(a, t, r);
    for (std::uint32_t k = row.begin; k < row.end; ++k)
      entry(column + (a.places[k] & 15), a.values[k]);
  }
  if (a.rest_start != nullptr)
    for (std::uint32_t k = a.rest_start[i]; k < a.rest_start[i + 1]; ++k)
      entry(a.rest_columns[k], a.rest_values[k]);
  return {static_cast<Index>(i), -1};
}

}  // namespace tcsolve
