// SPDX-License-Identifier: Apache-2.0
/// The matrix by diagonals (DIA; Saad 2003, section 3.4): for meshes and stencils on a grid, whose
/// rows all have their entries at the same few distances from the diagonal. Drawn with a matrix of
/// a 2 x 3 grid:
///
///           cols 0 1 2 3 4 5        offset   -2 -1  0  1  2       position i of a diagonal: row i
///     row 0    [ 4 1 2 . . . ]      i = 0     .  .  4  1  2       .  hole
///     row 1    [ 1 4 . 2 . . ]          1     .  1  4  .  2
///     row 2    [ 2 . 4 1 2 . ]          2     2  .  4  1  2
///     row 3    [ . 2 1 4 . 2 ]          3     2  1  4  .  2
///     row 4    [ . . 2 . 4 1 ]          4     2  .  4  1  .
///     row 5    [ . . . 2 1 4 ]          5     2  1  4  .  .
///
/// No column numbers, and x is read in runs as the values are. Where A = A^T, entry for entry, only
/// the diagonals on and below the main one are stored: (i, i + 2) is position i + 2 of diagonal -2,
/// which a product finds in the cache, since it reads it a little later anyway.
///
/// A hole is the value -0, which adds nothing; a row whose sum is NaN is added anew without holes,
/// so that an Inf in x reaches only rows that refer to it. An entry of -0 is stored as 0.
///
/// Bytes: diagonals (rows + 1, up to a multiple of 32) sizeof(value), of which a symmetric matrix
/// stores half.
#pragma once

#include <tcsolve/formats/csr.hpp>
#include <tcsolve/kernels/dia.hpp>

namespace tcsolve {

/// What the planner counts of a matrix for this format (Features::own).
struct DiaCounts {
  /// With an entry; entries of the longest row where even these are too many (dia_fits).
  Offset diagonals = 0;
  /// A = A^T, values and all; looked at only where diagonals are few (dia_fits).
  bool symmetric = false;
  bool operator==(DiaCounts const&) const = default;
};

/// A matrix by diagonals that owns its arrays in a Context's space.
template <class S>
class Dia {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws MatrixError where the diagonals
  /// have more than two positions for an entry (a small matrix is taken anyway). Cost: the matrix
  /// twice, of a square one three or four times to see that it is symmetric; a scan over rows +
  /// cols; three short messages to the host.
  Dia(Context&, CsrView<S> const& a, DiaTuning const& = {});

  DiaView<S> const& view() const { return arrays_.view; }
  DiaArrays<S> const& arrays() const { return arrays_; }
  /// Stored by its lower triangle.
  bool symmetric() const {
    return arrays_.stored < arrays_.view.distinct && arrays_.upper.size() == 0;
  }
  /// The values of a matrix in the Context's space with the same pattern, which is not looked at
  /// (formats/same_pattern.hpp does). Waits for the norm, and of a symmetric matrix for how
  /// they compare; when they no longer are symmetric, memory is taken for the upper diagonals.
  /// Throws ShapeError where extents or the number of entries differ; MemoryError, and then the new
  /// lower triangle is stored, mirrored: update again, or make another.
  void update_values(Context&, CsrView<S> const& a);
  /// ||A||_inf, taken as the values came.
  double norm_inf() const { return arrays_.norm; }
  /// Canonical CSR on the host, the matrix that went in.
  Csr<S> to_csr(Context&) const;
  /// What products read.
  std::size_t bytes() const {
    return arrays_.values.bytes() + arrays_.upper.bytes() + arrays_.diagonals.bytes();
  }
  /// Positions, holes included.
  Offset stored() const {
    return static_cast<Offset>(arrays_.values.size() + arrays_.upper.size());
  }

 private:
  DiaArrays<S> arrays_;
};

}  // namespace tcsolve
