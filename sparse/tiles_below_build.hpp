// SPDX-License-Identifier: Apache-2.0
/// Which tile rows a tile column has entries in (sparse/spmspv.hpp), written once for both backends
/// (kernels/convert.hpp): (tile column, tile row) of each tile, sorted by the column, stably.
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/spmspv.hpp>
#include <tcsolve/sparse/tile_walk.hpp>

namespace tcsolve::sparse {

struct ColumnStarts {
  std::uint32_t const* sorted;
  std::int64_t n;
  Index* starts;
  TCSOLVE_HD void operator()(std::int64_t J) const {
    starts[J] = static_cast<Index>(first_not_below(sorted, n, static_cast<std::uint32_t>(J)));
  }
};
/// list(key, row) writes the tile column and the tile row of `count` tiles.
template <class On, class List>
StoredTilesBelow tiles_below(On& on, Index cols, std::int64_t count, List const& list) {
  constexpr int side = TilesBelow::side;
  StoredTilesBelow made;
  Index const columns = cols / side + (cols % side != 0);
  auto* const key = on.template take<std::uint32_t>(static_cast<std::size_t>(count));
  made.rows = Array<Index>(on.space(), static_cast<std::size_t>(count));
  made.starts = Array<Index>(on.space(), static_cast<std::size_t>(columns) + 1);
  list(key, made.rows.data());
  on.sort(key, made.rows.data(), count, static_cast<std::uint32_t>(columns));
  on.each(columns + std::int64_t{1}, ColumnStarts{key, count, made.starts.data()});
  made.view = {made.starts.data(), made.rows.data(), count};
  return made;
}

/// The tiles of a tile row of CSR are counted, then written. A row whose columns do not ascend has
/// a tile several times.
struct CountTiles {
  PatternView a;
  Index* count;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    TileWalk<TilesBelow::side, Warp> walk(warp, a, I);
    Index tiles = 0;
    while (walk.next()) ++tiles;
    warp.each([&](int lane) {
      if (lane == 0) count[I] = tiles;
    });
  }
};
struct ListTilesOfCsr {
  PatternView a;
  Index const* before;
  std::uint32_t* key;
  Index* row;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    TileWalk<TilesBelow::side, Warp> walk(warp, a, I);
    for (Index t = before[I]; walk.next(); ++t)
      warp.each([&](int lane) {
        if (lane == 0)
          key[t] = static_cast<std::uint32_t>(walk.column()), row[t] = static_cast<Index>(I);
      });
  }
};
template <class On>
StoredTilesBelow tiles_below_csr(On& on, PatternView const& a) {
  constexpr int side = TilesBelow::side;
  Index const tile_rows = a.rows / side + (a.rows % side != 0);
  auto* const count = on.template take<Index>(static_cast<std::size_t>(tile_rows) + 1);
  auto* const before = on.template take<Index>(static_cast<std::size_t>(tile_rows) + 1);
  on.clear(count + tile_rows, 1);
  on.each_warp(tile_rows, CountTiles{a, count});
  on.scan(count, before, tile_rows + std::int64_t{1}, Plus{});
  Index all = 0;
  on.read(before + tile_rows, &all, 1);
  return tiles_below(on, a.cols, all, [&](std::uint32_t* key, Index* row) {
    on.each_warp(tile_rows, ListTilesOfCsr{a, before, key, row});
  });
}

/// *all = 0 where columns of a row do not ascend.
struct LookForDescents {
  PatternView a;
  Index* all;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Offset k = a.offsets[i] + 1, end = a.offsets[i + 1]; k < end; ++k)
      if (a.columns[k - 1] >= a.columns[k]) return put(all, 0);
  }
};
template <class On>
bool rows_ascend(On& on, PatternView const& a) {
  Index all = 1;
  auto* const flag = on.template take<Index>(1);
  on.write(&all, flag, 1);
  on.each(a.rows, LookForDescents{a, flag});
  on.read(flag, &all, 1);
  return all != 0;
}

}  // namespace tcsolve::sparse
