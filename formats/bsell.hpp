// SPDX-License-Identifier: Apache-2.0
/// Sliced ELLPACK of dense blocks: BELLPACK of Choi, Singh and Vuduc (2010), in slices as those of
/// SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske and Bishop (2014), C = 32; for matrices with
/// several unknowns a node. Drawn with C = 2 and blocks of 2 x 2:
///
///           cols 0 1   2 3   4 5        slice 0   base 0, 2 steps
///     row 0    [ 5 1 | . . | . 2 ]                step 0            step 1
///     row 1    [ 1 6 | . . | 3 . ]      numbers   0       1         2       0       block column
///              -------------------      values    5       2         .       .       (0, 0) of each
///     row 2    [ . . | 2 . | . . ]                1       .         2       .       (0, 1)
///     row 3    [ . . | 4 7 | . . ]                1       4         3       .       (1, 0)
///                                                 6       7         .       .       (1, 1)
///                                       lane      0       1         0       1       .  hole
///
/// One column number for b b values. Lanes of a warp hold neighbouring block rows, so that each of
/// the b b values of a step is a run of 32. Block rows are sorted by the number of their blocks,
/// most first, within windows of sigma = 1024, where padding without would be more than 3 %;
/// `order` says where they came from. Numbers are counted from the slice's first block column in 16
/// bits, or, where these do not reach, they are the block columns in 32.
///
/// Rows and columns need not be multiples of b: what lies beyond is holes. A hole is the value -0,
/// which adds nothing; a row whose sum is NaN is added anew without holes, so that an Inf in x
/// reaches only rows that refer to it. An entry of -0 is stored as 0.
///
/// Bytes: positions sizeof(value) + 2 (or 4) for each b b of them + 16 a slice (+ 4 a block row
/// where they are sorted).
#pragma once

#include <tcsolve/formats/csr.hpp>
#include <tcsolve/kernels/bsell.hpp>

namespace tcsolve {

/// A matrix of dense blocks in slices that owns its arrays in a Context's space.
template <class S>
class Bsell {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws MatrixError where blocks have more
  /// than two positions for an entry (a small matrix is taken anyway), ShapeError for a tuning out
  /// of range, SizeError. Cost: the columns three times, the values once, a scan over slices, where
  /// no block is given a walk of every size through rows (of a large matrix through some, see
  /// count_blocks), where block rows are sorted the sort and another scan; a short message to the
  /// host for each of these.
  Bsell(Context&, CsrView<S> const& a, BsellTuning const& = {});

  BsellView<S> const& view() const { return arrays_.view; }
  BsellArrays<S> const& arrays() const { return arrays_; }
  /// The values of a matrix in the Context's space with the same pattern, which is not looked at
  /// (formats/same_pattern.hpp does). No memory is taken; waits for the norm. Cost: the
  /// values once, and, of block rows with holes, the old ones. Throws ShapeError where extents or
  /// the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);
  /// ||A||_inf, taken as the values came.
  double norm_inf() const { return arrays_.norm; }
  /// Canonical CSR on the host, the matrix that went in (+0 for -0).
  Csr<S> to_csr(Context&) const;
  /// What products read.
  std::size_t bytes() const {
    return arrays_.slices.bytes() + arrays_.numbers.bytes() + arrays_.values.bytes() +
           arrays_.order.bytes();
  }
  /// Positions, holes and padding included.
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  BsellArrays<S> arrays_;
};

}  // namespace tcsolve
