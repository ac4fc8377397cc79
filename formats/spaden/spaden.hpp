// SPDX-License-Identifier: Apache-2.0
/// bitBSR, the format of Spaden (Chen and Yu 2024, "Bitmap-Based Sparse Matrix-Vector
/// Multiplication with Tensor Cores", section 4.2): 8 x 8 blocks, each a bitmap and its entries
/// packed. docs/formats/spaden.md draws a 16 x 16 matrix. Drawn with 2 x 2 blocks, bitmaps of four
/// bits, the lowest top left:
///
///         cols 0 1   2 3
///     row 0  [ 5 . | . 2 ]    block row 0   blocks  column 0  bitmap 1001  offset 0
///     row 1  [ . 7 | 3 . ]                          column 1  bitmap 0110  offset 2
///            -----------                    values  5 7  2 3
///     row 2  [ . 4 | . . ]    block row 1   no block: each has one entry
///     row 3  [ . . | . 9 ]    side          row 2: 4 in column 1;  row 3: 9 in column 3
///
/// Entry (r, c) of a block is popcount(the bits below bit 8 r + c) behind the block's offset. A
/// block of one or two entries costs more than the entries alone, so these stand aside, row by row.
///
/// Bytes: 16 blocks + sizeof(value) entries + (sizeof(value) + 4) side entries + rows / 2
/// + 4 rows where there are side entries. With f entries a block sizeof(value) + 16 / f an entry.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// An 8 x 8 block: 16 bytes, one load.
struct alignas(16) SpadenBlock {
  std::uint64_t bitmap;  ///< bit 8 r + c: entry (r, c) is stored; the lowest bit is top left
  std::int32_t column;   ///< block column
  std::uint32_t offset;  ///< values before its first; entry (r, c) is popcount(lower bits) further
};

/// Part of a long block row, or of the side entries of a long row: the work of one warp.
struct SpadenPiece {
  std::uint32_t first, count;  ///< blocks, or side entries
};

template <class S>
struct SpadenView {
  static constexpr int side_length = 8;  ///< rows and columns of a block

  Index rows = 0, cols = 0, block_rows = 0;
  Offset entries = 0, block_count = 0, side_entries = 0;
  std::uint32_t const* start = nullptr;       ///< (block_rows + 1) first block of each
  SpadenBlock const* blocks = nullptr;        ///< (block_count + 1)
  S const* values = nullptr;                  ///< packed; 16 bytes more than needed
  std::uint32_t const* side_start = nullptr;  ///< (rows + 1); null: there are no side entries
  S const* side_values = nullptr;
  std::int32_t const* side_columns = nullptr;
  // Long block rows and long rows of side entries, by warps of their own. Null: there are none.
  Index pieces = 0, side_pieces = 0;
  std::uint32_t const* piece_start = nullptr;       ///< (block_rows + 1)
  std::uint32_t const* side_piece_start = nullptr;  ///< (rows + 1)
  SpadenPiece const* piece = nullptr;               ///< (pieces + side_pieces)
  Space space = Space::host;
};

// ---- conversion ----
//
// Conversion to bitBSR, and y = alpha A x + beta y with it (Spaden: Chen and Yu 2024, section 4).
//
//   host    block by block, FP64 sums                                               (Kokkos)
//   cuda    eight lanes a block, lane r its row r; one, two or four such groups a block row. The
//           blocks and values of a warp are staged in shared memory by 16-byte loads; zeros are
//           neither stored nor loaded, the popcount of the lower bits says where a value is
//   bytes   blocks 16 + entries sizeof(S) + side entries (sizeof(S) + 4) + 4 rows (where there are
//           side entries) + rows / 2 + k sizeof(T) (cols + rows)
//   error   of STYLE section 11 with u_acc = 2^-53 or 2^-24, m = 2 + entries in the row
//   bits    the same on every run: a lane adds its blocks in order, groups and pieces are added in
//           a fixed order
//   note    only stored entries multiply x: an Inf in x reaches only rows that refer to it

/// Measured on an H200 (bench/spmv, docs/formats/spaden.md).
struct SpadenTuning {
  int side = 2;          ///< blocks of at most this many entries become side entries
  Index long_row = 512;  ///< blocks, or side entries, of a row beyond which it is cut to pieces
  Index piece = 128;     ///< blocks, or side entries, of a piece
  int groups = 0;        ///< groups of eight lanes on a block row: 1, 2, 4; 0: by the matrix
  Index share = 0;       ///< entries that one thread converts at a time; 0: by the space
};

/// The arrays of a bitBSR matrix, in one space.
template <class S>
struct SpadenArrays {
  SpadenView<S> view;  ///< extents and counts; its pointers are those of the arrays below
  Array<std::uint32_t> start, side_start, piece_start, side_piece_start;
  Array<SpadenBlock> blocks;
  Array<S> values, side_values;
  Array<std::int32_t> side_columns;
  Array<SpadenPiece> piece;
};

template <class T>
struct SpadenWork {
  T* parts = nullptr;         // (8 pieces + side_pieces)
  int groups = 4;             // SpadenTuning, not 0
  LoopState* loop = nullptr;  // around a product, or null: in a stopped one nothing happens
};

namespace host {
/// Throws SizeError beyond 2^31 - 1 entries.
template <class S>
SpadenArrays<S> build_spaden(Host&, Arena&, CsrView<S> const& a, SpadenTuning const&);
/// The values of a, which has the pattern that the arrays were built from.
template <class S>
void refill_spaden(Host&, Arena&, CsrView<S> const& a, SpadenArrays<S>&);
template <class S, class T>
void spmm_spaden(Host&, T alpha, SpadenView<S> const& a, SpadenWork<T> const&, In<T> x, T beta,
                 Out<T> y);
}  // namespace host

namespace cuda {
template <class S>
SpadenArrays<S> build_spaden(Device&, Arena&, CsrView<S> const& a, SpadenTuning const&);
template <class S>
void refill_spaden(Device&, Arena&, CsrView<S> const& a, SpadenArrays<S>&);
template <class S, class T>
void spmm_spaden(Device&, T alpha, SpadenView<S> const& a, SpadenWork<T> const&, In<T> x, T beta,
                 Out<T> y);
}  // namespace cuda

// ---- storage ----

/// A bitBSR matrix that owns its arrays in a Context's space.
template <class S>
class Spaden {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two walks over each block row, shared by as many
  /// threads as it takes, three scans, one wait for the device.
  Spaden(Context&, CsrView<S> const& a, SpadenTuning const& = {});

  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (matrix/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  SpadenView<S> const& view() const { return arrays_.view; }
  SpadenArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  Offset stored() const { return view().entries; }

 private:
  SpadenArrays<S> arrays_;
};

}  // namespace tcsolve
