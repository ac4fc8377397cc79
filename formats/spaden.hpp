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
#include <tcsolve/formats/csr.hpp>
#include <tcsolve/kernels/spaden.hpp>

namespace tcsolve {

/// A bitBSR matrix that owns its arrays in a Context's space.
template <class S>
class Spaden {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: two walks over each block row, shared by as many
  /// threads as it takes, three scans, one wait for the device.
  Spaden(Context&, CsrView<S> const& a, SpadenTuning const& = {});

  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (formats/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  SpadenView<S> const& view() const { return arrays_.view; }
  SpadenArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;

 private:
  SpadenArrays<S> arrays_;
};

}  // namespace tcsolve
