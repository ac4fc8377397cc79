// SPDX-License-Identifier: Apache-2.0
/// A matrix rounded to a narrow type after scaling by powers of two, so that nothing of it becomes
/// infinite or zero on the way (Higham, Pranesh and Zounon 2019, "Squeezing a matrix into half
/// precision", section 2; powers of two are exact).
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

enum class Scaling {
  powers_of_two,  ///< scale rows, then columns as well, where the range is left
  refuse          ///< throw instead
};

/// values_ij = round(a_ij 2^(rows_i + cols_j)); an empty list is all zeros.
template <class S>
struct ScaledCsr {
  Csr<S> matrix;
  std::vector<int> rows, cols;
};

/// Throws MatrixError, naming row and column, when a value would become infinite, or zero without
/// being zero: at once with Scaling::refuse, else when no scaling found here holds it. Rows are
/// scaled when a value would be infinite, zero or subnormal; columns as well only when rows do not
/// suffice. Cost: matrix/narrow.hpp, on the host.
template <class S>
ScaledCsr<S> scaled(Csr<double> const& a, Scaling);

constexpr Beyond beyond(Scaling scaling) {
  return scaling == Scaling::refuse ? Beyond::refuse : Beyond::scale;
}

/// The same in a Context's space, bit by bit: what formats are made of. The pattern is A's own
/// where A lies there, and A must outlive it; else a copy.
template <class S>
class NarrowCsr {
 public:
  /// Throws what scaled() throws; with Beyond::refuse_infinite what converted() throws.
  template <class T>
  NarrowCsr(Context&, CsrView<T> const& a, Beyond);
  /// The same with values in `memory`, for the time that it is open: no memory is taken.
  template <class T>
  NarrowCsr(Context&, CsrView<T> const& a, Beyond, Arena::Scope& memory);
  NarrowCsr(Context&, ScaledCsr<S> const&);

  CsrView<S> const& view() const { return view_; }
  bool scaled() const { return rows_.size() > 0 || columns_.size() > 0; }
  /// 2^-e of the rows, and of the columns, as T; empty where all are 1. Throws MatrixError where
  /// one is out of T's range.
  template <class T>
  Array<T> undone_rows(Context&) const;
  template <class T>
  Array<T> undone_columns(Context&) const;
  /// ||A||_inf of the matrix before it was scaled.
  double unscaled_norm(Context&) const;
  /// The values with a pattern of their own, where they lie in no other's memory.
  CsrStorage<S> owned(Context&) &&;

 private:
  template <class T>
  void narrow(Context&, CsrView<T> const& a, Beyond, S* values);

  std::shared_ptr<void const> pattern_;  // where it is no one else's
  Array<S> values_;
  Array<std::int32_t> rows_, columns_;  // exponents
  CsrView<S> view_;
};

}  // namespace tcsolve
