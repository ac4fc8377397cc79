// SPDX-License-Identifier: Apache-2.0
/// A matrix rounded to a narrow type after scaling by powers of two, so that no value overflows to
/// infinity or underflows to zero (Higham, Pranesh and Zounon 2019, "Squeezing a matrix into half
/// precision", section 2; powers of two are exact).
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

enum class Scaling {
  powers_of_two,  ///< scale rows, then columns as well, if values leave the range of the type
  refuse          ///< throw MatrixError if values leave the range of the type
};

/// values_ij = round(a_ij 2^(rows_i + cols_j)); an empty list is all zeros.
template <class S>
struct ScaledCsr {
  Csr<S> matrix;
  std::vector<int> rows, cols;
};

/// Throws MatrixError, naming row and column, if a value would overflow to infinity or a nonzero
/// value would underflow to zero: without scaling for Scaling::refuse, else after the scalings
/// below. Rows are scaled if a value would be infinite, zero or subnormal; columns are scaled as
/// well only if row scaling does not suffice. Cost: matrix/narrow.hpp, on the host.
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
  NarrowCsr(Context&, CsrView<T> const& a, Beyond);
  /// The same with the values in `memory`, valid while the scope is open: allocates no values.
  template <class T>
  NarrowCsr(Context&, CsrView<T> const& a, Beyond, Arena::Scope& memory);
  NarrowCsr(Context&, ScaledCsr<S> const&);

  CsrView<S> const& view() const { return view_; }
  bool scaled() const { return rows_.size() > 0 || columns_.size() > 0; }
  /// The factors 2^-e of the rows (columns) as T; empty if all are 1. Throws MatrixError if a
  /// factor is out of T's range.
  template <class T>
  Array<T> undone_rows(Context&) const;
  template <class T>
  Array<T> undone_columns(Context&) const;
  /// ||A||_inf of the matrix before it was scaled.
  double unscaled_norm(Context&) const;
  /// Moves the values, which must not lie in an Arena::Scope, to a storage that owns a copy of the
  /// pattern.
  CsrStorage<S> owned(Context&) &&;

 private:
  template <class T>
  void narrow(Context&, CsrView<T> const& a, Beyond, S* values);

  std::shared_ptr<void const> pattern_;  // owns the pattern if it is not borrowed
  Array<S> values_;
  Array<std::int32_t> rows_, columns_;  // exponents
  CsrView<S> view_;
};

}  // namespace tcsolve
