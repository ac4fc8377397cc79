// SPDX-License-Identifier: Apache-2.0
/// The edges of a graph as bits, in tiles of 32 x 32 or 64 x 64 (Ji et al. 2022, TileSpMSpV,
/// section 3.2.3); edges of tiles that have hardly any, the rest, are listed by vertices (3.2.1).
///
///     tiles of 4, at least 3 edges each        tile row 0    starts   0 1 2
///                                                            columns  0 1
///              0 1 2 3   4 5 6 7                             words    tile 0: 0010 0101 0010 0000
///     0      [ . 1 . . | . . . . ]                                    tile 1: 0011 0000 0000 0001
///     1      [ 1 . 1 . | . . . . ]             the rest      0: -  1: -  2: 6  3: -
///     2      [ . 1 . . | . . 1 . ]                           4 5: -  6: 2  7: -
///     3      [ . . . . | . . . . ]
///     4      [ . . . . | 1 1 . . ]             bit c of word r, the lowest is c = 0:
///     5      [ . . . . | . . . . ]             an edge from vertex 4 I + r to vertex 4 J + c
///     6      [ . . 1 . | . . . . ]
///     7      [ . . . . | 1 . . . ]
///
/// Bytes: a tile side sizeof(W) + 4, an edge of the rest 4, a vertex 4 or 8.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

template <class W>
struct BitTiles {
  static constexpr int side = 8 * sizeof(W);
  Index rows = 0;                      ///< vertices
  Index tiles = 0;                     ///< that are stored
  Index slices = 0;                    ///< pieces of tile rows, of at most 32 tiles
  Index const* starts = nullptr;       ///< (tile rows + 1)
  Index const* columns = nullptr;      ///< (tiles)
  W const* words = nullptr;            ///< (tiles, side)
  Index const* slice_row = nullptr;    ///< (slices)
  Index const* slice_begin = nullptr;  ///< (slices) its first tile
  PatternView rest;                    ///< the edges in no tile

  TCSOLVE_HD std::int64_t tile_rows() const { return (std::int64_t{rows} + side - 1) / side; }
};

/// The tiles of a pattern and their memory; the rest is the pattern itself where no tile is stored.
template <class W>
struct BitTileArrays {
  BitTiles<W> view;
  Array<Index> starts, columns, slice_row, slice_begin;
  Array<W> words;
  sparse::OwnedPattern rest;

  std::size_t bytes() const {
    return starts.bytes() + columns.bytes() + slice_row.bytes() + slice_begin.bytes() +
           words.bytes() + rest.columns.bytes() + rest.narrow_offsets.bytes() +
           rest.wide_offsets.bytes();
  }
};

// Tiles with at least `least` edges of a square pattern, which lies where the Context computes and
// stays there: the rest may be it.
namespace host {
template <class W>
BitTileArrays<W> build_bit_tiles(Host&, Arena&, PatternView const& a, Index least);
}
namespace cuda {
template <class W>
BitTileArrays<W> build_bit_tiles(Device&, Arena&, PatternView const& a, Index least);
}

}  // namespace tcsolve
