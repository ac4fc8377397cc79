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
/// entry say where. Where that takes too many steps, column numbers have two bytes and reach
/// 65534, or they are the columns themselves.
///
/// A strip is a few slices that one warp multiplies, their steps end to end; their column numbers
/// are equally long. Two steps lie side by side for each lane, so that it reads them with one load:
///
///     strip    | slice 0: 5 steps            | slice 1: 6 steps                  |
///     pairs    | 0 1 | 2 3 | 4             5 | 6 7 | 8 9 | 10 - |   ends 5, 11
///     lane 0   | v v | v v | v    of slice 1: v | ...
///
/// Rows longer than max_length are cut into pieces, lines of their own, whose sums are added
/// afterwards: 256, or, so that small matrices have work for a whole device, less, down to 32.
/// Where padding would take more than 3 %, lines are sorted by length within windows of sigma =
/// 4096, and `order` says where y goes. Padding is holes; nothing that is read of x for them
/// counts, so that an Inf in x reaches only rows that refer to it.
///
/// Bytes: positions (sizeof(value) + 1, 2 or 4) + 4 for each 32 positions + 16 a strip + 4 a slice
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
  /// out of range. Cost: the columns twice, or three times where those of a slice are far
  /// apart, the values once, scans over rows and strips, a sort where lines are sorted, counts to
  /// the host.
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
  /// Positions, padding included.
  Offset stored() const {
    using View = CsellView<S>;
    return static_cast<Offset>(arrays_.values.size()) - Offset{View::slack} * View::C;
  }

 private:
  CsellArrays<S> arrays_;
};

}  // namespace tcsolve
