// SPDX-License-Identifier: Apache-2.0
/// Bitmap blocks for many columns: 8 x 8 blocks with a 64-bit bitmap and packed values, multiplied
/// by the FP64 matrix unit, eight right-hand sides at a time. Drawn with 2 x 2 blocks, bitmaps of
/// four bits, the lowest top left; a block of a single entry stands aside:
///
///         cols 0 1   2 3
///     row 0  [ 5 . | . 2 ]    block row 0   blocks  column 0  bitmap 1001  offset 0
///     row 1  [ . 7 | 3 . ]                          column 1  bitmap 0110  offset 2
///            -----------                    values  5 7  2 3
///     row 2  [ . 4 | 1 6 ]    block row 1   blocks  column 1  bitmap 0011  offset 4
///     row 3  [ . . | . . ]                  values  1 6
///                             aside         row 2: 4 in column 1
///
/// Entry (r, c) of a block is popcount(the bits below bit 8 r + c) behind the block's offset. A
/// block costs four products of 8 x 4 by 4 x 8 whatever it holds, and eight rows of X; a few
/// entries cost less one by one.
///
/// Bytes: 16 blocks + sizeof(value) entries + 4 block rows + (4 rows + 4 side entries where there
/// are side entries). The layout of bitBSR (Chen and Yu 2024, section 4.2) without its pieces.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// An 8 x 8 block: 16 bytes, one load.
struct alignas(16) BitBlock {
  std::uint64_t bitmap;  ///< bit 8 r + c: entry (r, c) is stored; the lowest bit is top left
  std::int32_t column;   ///< block column
  std::uint32_t offset;  ///< values before its first
};

template <class S>
struct BitblockView {
  static constexpr int side = 8;  ///< rows and columns of a block

  Index rows = 0, cols = 0, block_rows = 0;
  Offset entries = 0, side_entries = 0;
  std::uint32_t const* start = nullptr;       ///< (block_rows + 1) first block of each
  BitBlock const* blocks = nullptr;           ///< those of a row by ascending column
  S const* values = nullptr;                  ///< packed
  std::uint32_t const* side_start = nullptr;  ///< (rows + 1); null: there are no side entries
  std::int32_t const* side_columns = nullptr;
  S const* side_values = nullptr;
  Space space = Space::host;
};

struct BitblockTuning {
  int aside = 2;  ///< blocks of at most this many entries become side entries
};

/// The arrays of a matrix, in one space.
template <class S>
struct BitblockArrays {
  BitblockView<S> view;  ///< its pointers are those of the arrays below
  Array<std::uint32_t> start, side_start;
  Array<BitBlock> blocks;
  Array<S> values, side_values;
  Array<std::int32_t> side_columns;
};

// The conversion (build.hpp), the same pattern with new values, and the product, on each backend.
//
// spmm_bitblock: y = alpha A x + beta y, any number of columns in any layout.
//
//   bytes   those of the matrix once for every 32 columns, k sizeof(T) (rows + cols)
//   error   of STYLE section 11 with u_acc = 2^-53, m = 2 + entries of the row, whatever T is
//   bits    the same on every run: side entries in order, then blocks in order
//   note    device, more than one column: stored zeros of a block multiply x, so an Inf or NaN in x
//           reaches every row of a block that covers its column
namespace host {
/// Throws SizeError beyond 2^31 - 1 entries.
template <class S>
BitblockArrays<S> build_bitblock(Host&, Arena&, CsrView<S> const& a, BitblockTuning const&);
template <class S>
void refill_bitblock(Host&, Arena&, CsrView<S> const& a, BitblockArrays<S>&);
template <class S, class T>
void spmm_bitblock(Host&, T alpha, BitblockView<S> const& a, In<T> x, T beta, Out<T> y);
}  // namespace host
namespace cuda {
template <class S>
BitblockArrays<S> build_bitblock(Device&, Arena&, CsrView<S> const& a, BitblockTuning const&);
template <class S>
void refill_bitblock(Device&, Arena&, CsrView<S> const& a, BitblockArrays<S>&);
template <class S, class T>
void spmm_bitblock(Device&, T alpha, BitblockView<S> const& a, In<T> x, T beta, Out<T> y);
}  // namespace cuda

/// A matrix of bitmap blocks that owns its arrays in a Context's space.
template <class S>
class Bitblock {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two walks over each block row by one thread, two
  /// scans, one wait for the device.
  Bitblock(Context&, CsrView<S> const& a, BitblockTuning const& = {});
  /// Values of the same pattern, which is not looked at. No memory is taken, nothing is waited for.
  /// Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  BitblockView<S> const& view() const { return arrays_.view; }
  BitblockArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  Offset stored() const { return view().entries; }

 private:
  BitblockArrays<S> arrays_;
};

}  // namespace tcsolve
