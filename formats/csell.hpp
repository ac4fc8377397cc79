// SPDX-License-Identifier: Apache-2.0
/// SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske and Bishop (2014), C = 32, with column numbers
/// as small differences along the steps. Drawn with C = 4 and differences of at most 3 instead of
/// 254, a 5-point stencil on a grid of 3 columns:
///
///              columns        step 0 1 2 3 4     stored: column - base
///     row 4    1 3 4 5 7      base 1 3 4 5 7     0 0 0 0 0
///     row 5    2 4 5 8                           1 1 1 3 -    - padding
///     row 6    3 6 7 9                           2 3 3 - 2    - hole: 9 is too far from 5
///     row 7    4 6 7 8 10                        3 3 3 3 3
///
/// A step takes from each line its next entry, if that lies within 254 columns of the least one;
/// else the line has a hole there and waits for its neighbours. Rows that are alike, as those
/// of meshes and stencils, stay side by side so, and one base for each step and a byte for each
/// entry say where. A slice in which that takes too many steps puts the j-th entries of its lines
/// in step j, with 16-bit differences, or with 32-bit columns; its neighbours do not care.
///
/// Four steps lie side by side for each lane (FP64 values: two), so that it reads them with one
/// load of up to 16 bytes; the steps that are left over follow one by one. A row of
/// more than 256 entries is cut into pieces, lines of their own, whose sums are added afterwards.
/// Where padding would take more than 3 %, lines are sorted by length within windows of sigma =
/// 4096, and `order` says where y goes. Padding is holes; what is read of x for them is dropped, so
/// that an Inf in x reaches only rows that refer to it.
///
/// Bytes: positions (sizeof(value) + 1, 2 or 4) + 4 for each 32 positions + 32 for each 32 lines
/// (+ 4 a line where there is an order).
#pragma once

#include <tcsolve/formats/csr.hpp>
#include <tcsolve/kernels/csell.hpp>

namespace tcsolve {

/// A compressed SELL-C-sigma matrix that owns its arrays in a Context's space.
template <class S>
class Csell {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws SizeError, ShapeError for a tuning
  /// out of range. Cost: the columns twice, the values once, scans over rows and slices, a sort of
  /// the lines where they are sorted, and a few counts to the host.
  Csell(Context&, CsrView<S> const& a, CsellTuning const& = {});

  CsellView<S> const& view() const { return arrays_.view; }
  CsellArrays<S> const& arrays() const { return arrays_; }
  /// The values of a matrix in the Context's space with the same pattern: the entries of each row
  /// in the same columns, which is not looked at (formats/same_pattern.hpp does). No memory is
  /// taken, nothing is waited for. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  /// What products read.
  std::size_t bytes() const;
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  CsellArrays<S> arrays_;
};

}  // namespace tcsolve
