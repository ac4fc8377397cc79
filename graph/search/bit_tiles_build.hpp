// SPDX-License-Identifier: Apache-2.0
/// Bit tiles of a pattern, written once for both backends (kernels/convert.hpp): a warp walks a
/// tile row twice, first to count, then to write.
#pragma once

#include <tcsolve/graph/search/bit_tiles.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/tile_walk.hpp>

namespace tcsolve::searching {

/// Of tile row I: the tiles that are stored, and of each row the edges that are not in one.
template <class W>
struct CountTiles {
  PatternView a;
  Index least;
  Index* tiles;
  Offset* rest;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    constexpr int side = BitTiles<W>::side;
    sparse::TileWalk<side, Warp> walk(warp, a, I);
    typename Warp::template Of<Offset> left[walk.lane_rows];
    warp.each([&](int lane) {
      for (int r = 0; r < walk.lane_rows; ++r) left[r][lane] = 0;
    });
    Index kept = 0;
    while (walk.next()) {
      if (walk.entries() >= least) {
        ++kept;
        continue;
      }
      warp.each([&](int lane) {
        for (int r = 0; r < walk.lane_rows; ++r)
          left[r][lane] += walk.end[r][lane] - walk.begin[r][lane];
      });
    }
    warp.each([&](int lane) {
      if (lane == 0) tiles[I] = kept;
      for (int r = 0; r < walk.lane_rows; ++r)
        if (std::int64_t const i = walk.row(I, lane, r); i < a.rows) rest[i] = left[r][lane];
    });
  }
};

template <class W>
struct WriteTiles {
  PatternView a;
  Index least;
  Index const* starts;
  Index* columns;
  W* words;
  OffsetsView rest_offsets;
  Index* rest;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    constexpr int side = BitTiles<W>::side;
    sparse::TileWalk<side, Warp> walk(warp, a, I);
    typename Warp::template Of<Offset> to[walk.lane_rows];
    warp.each([&](int lane) {
      for (int r = 0; r < walk.lane_rows; ++r) {
        std::int64_t const i = walk.row(I, lane, r);
        to[r][lane] = i < a.rows ? rest_offsets[i] : 0;
      }
    });
    std::int64_t tile = starts[I];
    while (walk.next()) {
      bool const kept = walk.entries() >= least;
      warp.each([&](int lane) {
        if (kept && lane == 0) columns[tile] = walk.column();
        for (int r = 0; r < walk.lane_rows; ++r) {
          W bits = 0;
          for (Offset k = walk.begin[r][lane]; k < walk.end[r][lane]; ++k) {
            if (kept)
              bits |= W{1} << (a.columns[k] % side);
            else
              rest[to[r][lane]++] = a.columns[k];
          }
          if (kept) words[tile * side + lane + 32 * r] = bits;
        }
      });
      tile += kept;
    }
  }
};

constexpr Index slice_tiles = 32;

struct CountSlices {
  Index const* starts;
  std::int64_t tile_rows;
  Index* count;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    count[I] = I < tile_rows ? (starts[I + 1] - starts[I] + slice_tiles - 1) / slice_tiles : 0;
  }
};
struct WriteSlices {
  Index const *starts, *before;
  Index *row, *begin;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    Index slice = before[I];
    for (Index t = starts[I]; t < starts[I + 1]; t += slice_tiles, ++slice)
      row[slice] = static_cast<Index>(I), begin[slice] = t;
  }
};

template <class W, class On>
BitTileArrays<W> build_bit_tiles(On& on, PatternView const& a, Index least) {
  BitTileArrays<W> made;
  made.view.rows = a.rows;
  std::int64_t const n = a.rows, tile_rows = made.view.tile_rows();
  auto const counted = static_cast<std::size_t>(tile_rows) + 1;
  auto* const count = on.template take<Index>(counted);
  auto* const length = on.template take<Offset>(static_cast<std::size_t>(n) + 1);
  auto* const offsets = on.template take<Offset>(static_cast<std::size_t>(n) + 1);
  on.clear(count + tile_rows, 1);
  on.clear(length + n, 1);
  on.each_warp(tile_rows, CountTiles<W>{a, least, count, length});
  made.starts = Array<Index>(on.space(), counted);
  on.scan(count, made.starts.data(), tile_rows + 1, Plus{});
  on.read(made.starts.data() + tile_rows, &made.view.tiles, 1);
  made.view.starts = made.starts.data();
  made.view.rest = a;
  if (made.view.tiles == 0) return made;

  auto const tiles = static_cast<std::size_t>(made.view.tiles);
  on.scan(length, offsets, n + 1, Plus{});
  made.rest = sparse::with_offsets(on, a.rows, a.cols, offsets);
  made.columns = Array<Index>(on.space(), tiles);
  made.words = Array<W>(on.space(), tiles * BitTiles<W>::side);
  on.each_warp(tile_rows,
               WriteTiles<W>{a, least, made.starts.data(), made.columns.data(), made.words.data(),
                             made.rest.offsets(), made.rest.columns.data()});
  auto* const slices = on.template take<Index>(counted);
  auto* const before = on.template take<Index>(counted);
  on.each(tile_rows + 1, CountSlices{made.starts.data(), tile_rows, slices});
  on.scan(slices, before, tile_rows + 1, Plus{});
  on.read(before + tile_rows, &made.view.slices, 1);
  made.slice_row = Array<Index>(on.space(), static_cast<std::size_t>(made.view.slices));
  made.slice_begin = Array<Index>(on.space(), static_cast<std::size_t>(made.view.slices));
  on.each(tile_rows,
          WriteSlices{made.starts.data(), before, made.slice_row.data(), made.slice_begin.data()});
  made.view.columns = made.columns.data(), made.view.words = made.words.data();
  made.view.slice_row = made.slice_row.data(), made.view.slice_begin = made.slice_begin.data();
  made.view.rest = made.rest.view();
  return made;
}

}  // namespace tcsolve::searching
