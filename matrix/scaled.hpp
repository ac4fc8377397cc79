// SPDX-License-Identifier: Apache-2.0
/// A matrix rounded to a narrow type after scaling by powers of two, which are exact:
///
///     b_ij = round(a_ij 2^(shift + rows_i + columns_j))
///
/// by the first of these that holds it (matrix/equilibrate_build.hpp, matrix/narrow_build.hpp):
///
///     D A D and a shift         A symmetric with diagonals that differ by more than 1/u, d_i such
///                               that the diagonal has one or two exponents; entries below
///                               u sqrt|a_ii a_jj| / 8 may become zero
///     nothing, a shift alone    the same entries of a symmetric A may become zero
///     rows, then columns        any other A (Higham, Pranesh and Zounon 2019, "Squeezing a matrix
///                               into half precision", section 2); entries below u/8 of the largest
///                               of their row and of their column may become zero
///
/// A and 2^s A become the same matrix.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

enum class Scaling {
  powers_of_two,  ///< scale the matrix if values leave the range of the type
  refuse          ///< throw MatrixError if values leave the range of the type
};

/// b on the host; an empty list is all zeros.
template <class S>
struct ScaledCsr {
  Csr<S> matrix;
  int shift = 0;
  std::vector<int> rows, cols;
};

/// Throws MatrixError, naming row and column, if a value would overflow to infinity or one that
/// matters would underflow to zero: without scaling for Scaling::refuse, else after the scalings
/// above. Cost: matrix/narrow.hpp, on the host.
template <class S>
ScaledCsr<S> scaled(Csr<double> const& a, Scaling);

constexpr Beyond beyond(Scaling scaling) {
  return scaling == Scaling::refuse ? Beyond::refuse : Beyond::scale;
}

/// The matrix of scaled() in a Context's space, with the same bits; formats convert from it. The
/// pattern is borrowed from A if A lies in that space, and A must then outlive it; else it is a
/// copy.
template <class S>
class NarrowCsr {
 public:
  /// Throws what scaled() throws; with Beyond::refuse_infinite what converted() throws.
  template <class T>
  NarrowCsr(Context&, CsrView<T> const& a, Beyond, KeptDiagonal = KeptDiagonal::stored);
  /// The same with the values in `memory`, valid while the scope is open: allocates no values.
  template <class T>
  NarrowCsr(Context&, CsrView<T> const& a, Beyond, KeptDiagonal, Arena::Scope& memory);
  template <class T>
  NarrowCsr(Context& ctx, CsrView<T> const& a, Beyond beyond, Arena::Scope& memory)
      : NarrowCsr(ctx, a, beyond, KeptDiagonal::stored, memory) {}

  CsrView<S> const& view() const { return view_; }
  bool scaled() const {
    return made_.shift != 0 || made_.row_exponents.size() > 0 || made_.column_exponents.size() > 0;
  }
  /// The powers of two, and what rounding has done.
  Narrowed const& powers() const { return made_; }
  Narrowed take_powers() { return std::move(made_); }
  /// ||A||_inf of the rounded matrix with its scaling undone.
  double unscaled_norm(Context&) const;
  /// Moves the values, which must not lie in an Arena::Scope, to a storage that owns a copy of the
  /// pattern.
  CsrStorage<S> owned(Context&) &&;

 private:
  template <class T>
  void narrow(Context&, CsrView<T> const& a, Beyond, KeptDiagonal, S* values);

  std::shared_ptr<void const> pattern_;  // owns the pattern if it is not borrowed
  Array<S> values_;
  Narrowed made_;
  CsrView<S> view_;
};

}  // namespace tcsolve
