// SPDX-License-Identifier: Apache-2.0
/// Tiles of 16 x 16 with one byte an index: the matrix of TileSpMSpV (Ji et al. 2022, section
/// 3.2.1). Drawn with tiles of 4, of which those with two entries or more are stored:
///
///         0 1 2 3   4 5 6 7
///     0 [ 5 . . . | . . . 2 ]    tile row 0   start 0 1      column 0
///     1 [ . 7 . 3 | . . . . ]    tile 0       first 0        row_start 0 1 3 3
///     2 [ . . . . | . . . . ]                 places  00 11 13 30     (row and column)
///     3 [ 1 . . . | . . . . ]                 values   5  7  3  1
///                                the rest     row 0: 2 in column 7
///
/// A tile of few entries costs more than they do, so these stand aside, the rest, row by row. A
/// sparse x that lacks a tile of 16 elements is told by one look-up for a whole tile of A
/// (formats/tile16/operator.hpp).
///
/// Bytes: 24 a tile + (sizeof(value) + 1) an entry in one + (sizeof(value) + 4) an entry of the
/// rest
/// + rows / 4 + 4 rows where there is a rest. A tile pays from nine entries on.
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/sparse/spmspv.hpp>

namespace tcsolve {

template <class S>
struct Tile16View {
  static constexpr int side = 16;
  Index rows = 0, cols = 0, tile_rows = 0;
  Offset entries = 0, tiles = 0, packed = 0;  ///< packed: the entries in tiles
  std::uint32_t const* start = nullptr;       ///< (tile_rows + 1) first tile of each
  Index const* column = nullptr;              ///< (tiles) tile column
  std::uint32_t const* first = nullptr;       ///< (tiles + 1) values before its first
  std::uint8_t const* row_start = nullptr;    ///< (tiles, 16) entries of the tile before row r
  std::uint8_t const* places = nullptr;       ///< (packed) 16 r + c
  S const* values = nullptr;                  ///< (packed)
  std::uint32_t const* rest_start = nullptr;  ///< (rows + 1); null: there is no rest
  Index const* rest_columns = nullptr;        ///< (entries - packed)
  S const* rest_values = nullptr;             ///< (entries - packed)
  Space space = Space::host;
};

/// By bytes, to three of them: a tile of seven takes 31 beside its values, the same in the rest 28.
/// Not tuned on a device; other numbers are for studies (bench_spmv --sweep).
struct Tile16Tuning {
  int least = 7;  ///< a tile of fewer entries goes to the rest
};

/// The arrays of a matrix in tiles, in one space.
template <class S>
struct Tile16Arrays {
  Tile16View<S> view;
  Array<std::uint32_t> start, first, rest_start;
  Array<Index> column, rest_columns;
  Array<std::uint8_t> row_start, places;
  Array<S> values, rest_values;
};

// The conversion (build.hpp) and back, the same pattern with new values, and what products of
// sparse vectors need, on each backend.
namespace host {
template <class S>
Tile16Arrays<S> build_tile16(Host&, Arena&, CsrView<S> const& a, Tile16Tuning const&);
template <class S>
void refill_tile16(Host&, Arena&, CsrView<S> const& a, Tile16Arrays<S>&);
template <class S>
CsrArrays<S> entries_tile16(Host&, Arena&, Tile16View<S> const&);
template <class S>
StoredTilesBelow below_tile16(Host&, Arena&, Tile16View<S> const&);
template <class S, class T>
SparseProductNotes spmspv_tile16(Host&, Arena&, Tile16View<S> const&, TilesBelow const&,
                                 T const* sums, SparseProduct<T> const&,
                                 SparseVectorView<T> const& x, SparseVectorArrays<T>& y,
                                 SpmspvMemory<T>&);
}  // namespace host
namespace cuda {
template <class S>
Tile16Arrays<S> build_tile16(Device&, Arena&, CsrView<S> const& a, Tile16Tuning const&);
template <class S>
void refill_tile16(Device&, Arena&, CsrView<S> const& a, Tile16Arrays<S>&);
template <class S>
CsrArrays<S> entries_tile16(Device&, Arena&, Tile16View<S> const&);
template <class S>
StoredTilesBelow below_tile16(Device&, Arena&, Tile16View<S> const&);
template <class S, class T>
SparseProductNotes spmspv_tile16(Device&, Arena&, Tile16View<S> const&, TilesBelow const&,
                                 T const* sums, SparseProduct<T> const&,
                                 SparseVectorView<T> const& x, SparseVectorArrays<T>& y,
                                 SpmspvMemory<T>&);
}  // namespace cuda

/// A matrix in tiles that owns its arrays in a Context's space.
template <class S>
class Tile16 {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two walks over each tile row, three scans.
  Tile16(Context&, CsrView<S> const& a, Tile16Tuning const& = {});
  /// Values of the same pattern. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  Tile16View<S> const& view() const { return arrays_.view; }
  Tile16Arrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  /// A^T in tiles of the same tuning: made when it is first asked for, on the device where A lies
  /// there, and anew after update_values(). Of scratch, 2 (sizeof(S) + 4) + 24 bytes an entry.
  Tile16 const& transposed(Context&) const;
  /// Of A, and of A^T where that is kept.
  std::size_t bytes() const;
  std::size_t own_bytes() const;  ///< of A alone: what a product reads
  Offset stored() const { return view().entries; }

 private:
  CsrStorage<S> entries(Context&) const;
  Tile16Tuning tuning_;
  Tile16Arrays<S> arrays_;
  mutable std::unique_ptr<Tile16> transposed_;
};

}  // namespace tcsolve
