// SPDX-License-Identifier: Apache-2.0
/// The product with a compressed SELL-C-sigma matrix (formats/csell.hpp): one thread a line.
#pragma once

#include <tcsolve/formats/csell.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  formats/csell.hpp + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order, the pieces of a long row one
///          after another
///   memory a value for each piece of a long row and column of y. One product runs at a time
template <class T, class S = T>
class CsellOperator final : public LinearOperator<T> {
 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  CsellOperator(Context& ctx, CsrView<S> const& a, CsellTuning const& = {});

  /// The same pattern with new values (LinearOperator). Cost: a copy and a pass for the norm.
  void update_values(Context&, CsrView<S> const& a);
  using LinearOperator<T>::update_values;

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "csell"; }
  /// ||A||_inf, taken once from the values.
  double norm_estimate() const override { return norm_; }
  Csell<S> const& matrix() const { return matrix_; }

 private:
  CsellOperator(Context& ctx, CsrView<S> const& here, CsellTuning const&, bool);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  Csell<S> matrix_;
  Array<T> parts_;  // of one column
  double norm_ = 0;
};

}  // namespace tcsolve
