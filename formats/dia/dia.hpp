// SPDX-License-Identifier: Apache-2.0
/// The matrix by diagonals (DIA; Saad 2003, section 3.4): for meshes and stencils on a grid, whose
/// rows all have their entries at the same few distances from the diagonal. Drawn with a matrix of
/// a 2 x 3 grid:
///
///           cols 0 1 2 3 4 5        offset   -2 -1  0  1  2       position i of a diagonal: row i
///     row 0    [ 4 1 2 . . . ]      i = 0     .  .  4  1  2       .  padding
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
/// Padding is the value -0, which adds nothing; a row whose sum is NaN is added anew without
/// padding, so that an Inf in x reaches only rows that refer to it. An entry of -0 is stored as 0.
///
/// Bytes: diagonals (rows + 1, up to a multiple of 32) sizeof(value), of which a symmetric matrix
/// stores half.
#pragma once

#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/padding.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// Entry (i, i + offset) is values[start + min(i, last)]. A mirrored diagonal ends before position
/// `last`, which holds padding.
struct DiaDiagonal {
  Offset start;
  Index offset;
  Index last;
};
static_assert(sizeof(DiaDiagonal) == 16);

template <class S>
struct DiaView {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  Index distinct = 0;  ///< diagonals
  Index count = 0;  ///< of the list, a multiple of four: the last ones are padding from end to end
  DiaDiagonal const* diagonals = nullptr;  // (count), by ascending offset
  DiaDiagonal const* list = nullptr;       // the same on the host
  S const* values = nullptr;
  Space space = Space::host;
};

// ---- conversion ----
//
// Conversion to diagonals (formats/dia/dia.hpp). The products are operations (formats/dia/ops.hpp).
//
//   host    a row a task                                                            (Kokkos)
//   cuda    a thread a row, 32 rows of the matrix in shared memory
//   bytes   columns and values two to four times; 8 (rows + cols) of scratch

struct DiaTuning {
  bool symmetric = true;  ///< A = A^T is stored by its lower triangle
};

/// Positions of a stored diagonal: padding closes it, and the next one begins on a line of the
/// cache.
constexpr Offset dia_length(Index rows) { return (Offset{rows} + 1 + 31) / 32 * 32; }
/// Whether so many diagonals are worth it (padding_pays).
constexpr bool dia_fits(double diagonals, Index rows, Offset entries, double spare = 1 << 20) {
  return padding_pays(diagonals * double(dia_length(rows)), entries, spare);
}

/// The arrays of a matrix, in one space.
template <class S>
struct DiaArrays {
  DiaView<S> view;
  Index stored = 0;  ///< diagonals in `values`: all of them, or those with offset <= 0
  Array<DiaDiagonal> diagonals;
  std::vector<DiaDiagonal> list;  ///< the same on the host
  Array<Index> offsets;           ///< (distinct), ascending
  Array<S> values;                ///< (stored, dia_length(rows)), and a line of padding
  Array<S> upper;                 ///< the others, once the matrix is not symmetric
  double norm = 0;                ///< ||A||_inf, taken as the values came
};

namespace host {
template <class S>
Index count_diagonals(Host&, Arena&, CsrView<S> const& a);
/// Throws MatrixError where dia_fits() says no.
template <class S>
DiaArrays<S> build_dia(Host&, Arena&, CsrView<S> const& a, DiaTuning const&);
template <class S>
void refill_dia(Host&, Arena&, CsrView<S> const& a, DiaArrays<S>&);
}  // namespace host

namespace cuda {
template <class S>
Index count_diagonals(Device&, Arena&, CsrView<S> const& a);
template <class S>
DiaArrays<S> build_dia(Device&, Arena&, CsrView<S> const& a, DiaTuning const&);
template <class S>
void refill_dia(Device&, Arena&, CsrView<S> const& a, DiaArrays<S>&);
}  // namespace cuda

/// The diagonals with an entry, of a matrix in the Context's space.
template <class S>
Index count_diagonals(Context& ctx, CsrView<S> const& a) {
  return ctx.visit([&](auto& on) { return count_diagonals(on, ctx.arena(), a); });
}

// ---- storage ----

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
  /// (matrix/same_pattern.hpp does). Waits for the norm, and of a symmetric matrix for how
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
  /// Positions, padding included.
  Offset stored() const {
    return static_cast<Offset>(arrays_.values.size() + arrays_.upper.size());
  }

 private:
  DiaArrays<S> arrays_;
};

}  // namespace tcsolve
