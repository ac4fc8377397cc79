// SPDX-License-Identifier: Apache-2.0
/// BitTCF, the format of Acc-SpMM (Zhao et al. 2025, section 3.3): the columns that eight rows, a
/// window, have entries in are moved together, and cut to blocks of 8 x 8, each with a 64-bit
/// bitmap and packed values. Drawn with windows of two rows, blocks of 2 x 2 and bitmaps of four
/// bits, the lowest top left:
///
///         cols 0 1 2 3 4 5                columns 0 3   4 4
///     row 0  [ 5 . . 2 . . ]    window 0        [ 5 2 | . . ]    start    0 2 3
///     row 1  [ . . . 3 7 . ]                    [ . 3 | 7 . ]    columns  0 3  4 4  1 5
///            --------------             columns   1 5            bitmaps  1011  0100  1011
///     row 2  [ . 4 . . . 1 ]    window 1        [ 4 1 ]          offsets  0  3  4
///     row 3  [ . . . . . 6 ]                    [ . 6 ]          values   5 2 3  7  4 1 6
///
/// Entry (r, c) of a block is popcount(the bits below bit 8 r + c) behind the block's offset, and
/// its column is columns[8 block + c]. The last block of a window repeats its last column.
///
///     slots    the ascending columns of a block have the places c = 0 2 4 6 1 3 5 7: a lane takes
///              two neighbours, so that four lanes read rows of X that mostly follow each other
///
///     aside    columns of few entries may stand aside, row by row, for the CUDA cores (the split
///              of Libra, Shi et al. 2025); only of windows of at most `aside_window` entries, so
///              that no row has many of them
///     pieces   windows of many blocks are cut to pieces of 32, each the work of a warp (section
///              3.5), more of them where the numbers of blocks differ much: where
///              IBD = sum over windows |blocks - mean blocks| / windows is beyond 8
///
/// Bytes: 44 (blocks + 8) + sizeof(value) entries + 4 windows + (4 rows + 4 side entries where
/// there are side entries) + (4 windows + 8 pieces where there are pieces).
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// The place in a block of its k-th column.
TCSOLVE_HD int slot_of(int k) { return k < 4 ? 2 * k : 2 * k - 7; }

/// Part of a long window: the work of one warp.
struct alignas(8) BittcfPiece {
  std::uint32_t first, count;  ///< blocks
};

template <class S>
struct BittcfView {
  static constexpr int side = 8;  ///< rows of a window, rows and columns of a block
  static constexpr int columns =
      64;                           ///< of FP32 that are multiplied at a time, at most; 32 of FP64
  static constexpr int behind = 8;  ///< blocks without entries, in column 0, behind the last

  Index rows = 0, cols = 0, windows = 0, pieces = 0;
  Offset entries = 0, side_entries = 0, block_count = 0;
  std::uint32_t const* start = nullptr;  ///< (windows + 1) first block of each
  // Of each block, and of those behind.
  std::uint64_t const* bitmaps = nullptr;     ///< bit 8 r + c: entry (r, c) is stored
  std::uint32_t const* offsets = nullptr;     ///< values before its first
  std::int32_t const* column = nullptr;       ///< (8 each) by slots
  S const* values = nullptr;                  ///< packed, row by row in a block
  std::uint32_t const* side_start = nullptr;  ///< (rows + 1); null: there are no side entries
  std::int32_t const* side_columns = nullptr;
  S const* side_values = nullptr;
  std::uint32_t const* piece_start = nullptr;  ///< (windows + 1); null: there are no pieces
  BittcfPiece const* piece = nullptr;          ///< (pieces)
  Space space = Space::host;
};

struct BittcfTuning {
  int aside = 0;             ///< columns of at most this many entries of a window
  Index aside_window = 512;  ///< of windows of at most this many entries
  Index imbalance = 8;       ///< IBD beyond which pieces are cut wherever there are 32 blocks
  Index long_window = 256;   ///< blocks of a window beyond which it is always cut
  static constexpr int piece = 32;  ///< blocks of a piece
};

/// The arrays of a matrix, in one space.
template <class S>
struct BittcfArrays {
  BittcfView<S> view;  ///< its pointers are those of the arrays below
  Array<std::uint32_t> start, offsets, side_start, piece_start;
  Array<std::uint64_t> bitmaps;
  Array<std::int32_t> column, side_columns;
  Array<S> values, side_values;
  Array<BittcfPiece> piece;
};

// The conversion (build.hpp), the same pattern with new values, and the product, on each backend.
//
// spmm_bittcf: y = alpha A x + beta y, any number of columns in any layout.
//
//   parts   device: (8 pieces, BittcfView::columns; half of them in FP64), what the pieces come to
//   bytes   those of the matrix once for every 32 columns, of FP32 for every 64, and
//           k sizeof(T) (rows + cols)
//   error   of STYLE section 11, m = 2 + entries of the row; T = double: u_acc = 2^-53
//   float   device: values and x are rounded to TF32, u_in = 2^-11 (values of 16 bits are TF32
//           numbers and are not), and u_acc = 2^-23 on the matrix unit; side entries and x beside
//           them are not rounded. Host: sums in FP64, nothing is rounded
//   range   TF32 has the exponents of FP32, but what rounds beyond (1 - 2^-12) 2^128 is infinite
//   bits    the same on every run: side entries in order, then blocks in order, pieces in order
//   note    device: stored zeros of a block multiply x, so an Inf or NaN in x reaches every row of
//           a window that has its column
//   state   of the loop around it, or null: in a stopped one nothing happens
//
// spmm_gram_bittcf: y = alpha A x, G = x^T y, A square, on a device.
//
//   x, y    8 columns of FP64, row-major, each row aligned to 16 bytes
//   G       (8, 8), row-major
//   memory  gram_doubles_bittcf() of it; 0: x and y are no such blocks, or have no rows
//   bytes   those of the product, x once more from the caches, and 512 for every 32 rows, written
//           and read; gram() after a product reads 128 rows
//   error   of G: a sum of rows terms, added by fours, windows, thread blocks and groups of these
//   bits    the same on every run
//   state   of the loop around it, or null: in a stopped one nothing happens
namespace host {
/// Throws SizeError beyond 2^31 - 1 entries.
template <class S>
BittcfArrays<S> build_bittcf(Host&, Arena&, CsrView<S> const& a, BittcfTuning const&);
template <class S>
void refill_bittcf(Host&, Arena&, CsrView<S> const& a, BittcfArrays<S>&);
template <class S, class T>
void spmm_bittcf(Host&, LoopState*, T alpha, BittcfView<S> const& a, T* parts, In<T> x, T beta,
                 Out<T> y);
}  // namespace host
namespace cuda {
template <class S>
BittcfArrays<S> build_bittcf(Device&, Arena&, CsrView<S> const& a, BittcfTuning const&);
template <class S>
void refill_bittcf(Device&, Arena&, CsrView<S> const& a, BittcfArrays<S>&);
template <class S, class T>
void spmm_bittcf(Device&, LoopState*, T alpha, BittcfView<S> const& a, T* parts, In<T> x, T beta,
                 Out<T> y);
template <class S>
std::int64_t gram_doubles_bittcf(Device&, BittcfView<S> const& a, In<double> x, In<double> y);
template <class S>
void spmm_gram_bittcf(Device&, LoopState* state, double alpha, BittcfView<S> const& a,
                      double* parts, In<double> x, Out<double> y, double* G, double* memory);
}  // namespace cuda

/// A BitTCF matrix that owns its arrays in a Context's space.
template <class S>
class Bittcf {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two walks over each window by a warp, four scans,
  /// one wait for the device.
  Bittcf(Context&, CsrView<S> const& a, BittcfTuning const& = {});
  /// Values of the same pattern, which is not looked at. No memory is taken, nothing is waited for.
  /// Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  BittcfView<S> const& view() const { return arrays_.view; }
  BittcfArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  Offset stored() const { return view().entries; }

 private:
  BittcfArrays<S> arrays_;
};

}  // namespace tcsolve
