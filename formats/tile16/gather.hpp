// SPDX-License-Identifier: Apache-2.0
/// A row of tiles against a sparse vector (sparse/spmspv_build.hpp): Algorithm 4 of Ji et al. 2022.
#pragma once

#include <tcsolve/formats/tile16/lines.hpp>

namespace tcsolve::spmspv {

template <class S, class T, class Add>
TCSOLVE_HD void gather(Tile16View<S> const& a, std::int64_t i, SparseVectorView<T> const& x,
                       Add& add) {
  constexpr int side = Tile16View<S>::side;
  int const r = static_cast<int>(i % side), parts = x.side / side;
  std::uint32_t const end = a.start[i / side + 1];
  for (std::uint32_t t = a.start[i / side]; t < end; ++t) {
    Index const column = a.column[t], at = x.place[column / parts];
    if (at < 0) continue;
    int const shift = column % parts * side;
    auto const there = static_cast<std::uint32_t>(x.there[at] >> shift) & 0xffffu;
    if (there == 0) continue;
    T const* const values = x.values + std::int64_t{at} * x.side + shift;
    Tile16Row const row = row_of(a, t, r);
    for (std::uint32_t k = row.begin; k < row.end; ++k)
      if (int const c = a.places[k] & 15; (there >> c & 1) != 0) add(T(a.values[k]), values[c]);
  }
  if (a.rest_start == nullptr) return;
  for (std::uint32_t k = a.rest_start[i]; k < a.rest_start[i + 1]; ++k)
    if (Index const j = a.rest_columns[k]; x.has(j)) add(T(a.rest_values[k]), x[j]);
}

}  // namespace tcsolve::spmspv
