// SPDX-License-Identifier: Apache-2.0
/// DASP: rows by length, their entries in blocks that fit the matrix unit (Lu and Liu 2023,
/// "DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General Sparse Matrix-Vector
/// Multiplication", section 3.2). docs/formats/dasp.md draws a 16 x 16 matrix.
///
///     long    more than 256 entries   units of up to 32 blocks, as many as the row needs
///     medium  5 to 256                sorted by decreasing length, stably; 8 rows are a unit
///     short   1 to 4                  pieced to lines of 4: 1 & 3, 2 & 2, 4 (or 3 and a zero)
///     single  what is left of 1       value, column
///     empty   0                       named, so that y is written
///
/// A block is 8 lines of 4 slots, one for each lane of a warp. Drawn with lines of 2 slots, 2 lines
/// a block, a medium unit of rows a (5 entries) and b (4):
///
///     row a  a0 a1 | a2 a3 | a4       block 0       block 1       irregular
///     row b  b0 b1 | b2 b3 |          a0 a1 b0 b1   a2 a3 b2 b3   a4       (a third block would be
///                                                                           filled by 1/4 < 3/4)
///     stored, two blocks interleaved:  a0 a2  a1 a3  b0 b2  b1 b3
///
/// Column numbers lie in the same order, 16-bit distances to the smallest of the unit where that
/// reaches, else 32 bits. Padding holds 0 and the last column of its row, by which it is known
/// again: columns ascend within a row.
///
/// Bytes: slots (sizeof(value) + 2, or + 4) + irregular and single entries (sizeof(value) + 4)
/// + 4 rows + 4 medium rows + 16 units.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/formats/csr.hpp>
#include <tcsolve/kernels/dasp.hpp>

namespace tcsolve {

/// A DASP matrix that owns its arrays in a Context's space.
template <class S>
class Dasp {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError beyond 2^31 - 1 entries,
  /// ShapeError for a tuning out of range. Cost: one sort of the rows by 9 bits, four scans over
  /// units, two passes over the entries.
  Dasp(Context&, CsrView<S> const& a, DaspTuning const& = {});

  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (formats/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  DaspView<S> const& view() const { return arrays_.view; }
  DaspArrays<S> const& arrays() const { return arrays_; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  std::size_t bytes() const;
  /// Values stored, padding included.
  Offset stored() const { return arrays_.blocks * view().block + entries_outside(); }
  /// Blocks of a medium row-block, on average: what LOOP_NUM goes by.
  double blocks_per_unit() const;

 private:
  Offset entries_outside() const { return view().irregular + view().singles(); }
  DaspArrays<S> arrays_;
};

}  // namespace tcsolve
