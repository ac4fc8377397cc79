// SPDX-License-Identifier: Apache-2.0
/// Panels by lines (kernels/lines.hpp): rows, and segments of long ones, stage by stage.
#pragma once

#include <tcsolve/formats/tiled/tiled.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(TiledView<S> const& a) {
  return a.lines;
}
template <class S>
TCSOLVE_HD std::int64_t parts(TiledView<S> const& a) {
  return a.parts;
}

/// place(stage, slot) for each place that a line has, padding too, in the order of its entries.
template <class S, class F>
TCSOLVE_HD void walk_places(TiledView<S> const& a, std::int64_t line, F& place) {
  constexpr int chunk = TiledView<S>::chunk, group = TiledView<S>::group;
  std::int64_t const panel = line / a.panel_rows, slices = a.slices();
  std::int64_t const slice = line % a.panel_rows / TiledView<S>::height;
  int const within = static_cast<int>(line % TiledView<S>::height);
  for (std::int64_t t = a.stage_start[panel]; t < a.stage_start[panel + 1]; ++t) {
    std::uint32_t const* const at = a.start + t * slices + slice;
    for (std::uint32_t c = at[0]; c < at[1]; ++c)
      for (int j = 0; j < chunk; ++j) place(t, std::int64_t{c} * group + within * chunk + j);
  }
}

template <class S>
TCSOLVE_HD bool is_padding(TiledView<S> const& a, std::int64_t slot) {
  return a.columns != nullptr ? a.columns[slot] < 0 : a.local[slot] == 0;
}

template <class S, class F>
struct TiledEntries {
  TiledView<S> a;
  F& entry;
  TCSOLVE_HD void operator()(std::int64_t stage, std::int64_t slot) const {
    if (is_padding(a, slot)) return;
    entry(a.columns != nullptr ? a.columns[slot] : a.map[a.map_start[stage] + a.local[slot] - 1],
          a.values[slot]);
  }
};

template <class S, class F>
TCSOLVE_HD LineOwner walk(TiledView<S> const& a, std::int64_t line, F& entry) {
  TiledEntries<S, F> const each{a, entry};
  walk_places(a, line, each);
  std::int32_t const to = a.target == nullptr ? static_cast<Index>(line) : a.target[line];
  if (to < 0) return {-1, ~to};
  return {to, -1};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(TiledView<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(TiledView<S> const& a, std::int64_t k, F& part) {
  for (std::int64_t p = a.long_start[k]; p < a.long_start[k + 1]; ++p) part(p);
  return a.long_row[k];
}

}  // namespace tcsolve
