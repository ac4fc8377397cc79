// SPDX-License-Identifier: Apache-2.0
/// The product with diagonals: one pass that also makes <x, A x>, one thread a row.
#pragma once

#include <tcsolve/formats/dia.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  stored positions sizeof(S), + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order
template <class T, class S = T>
class DiaOperator final : public LinearOperator<T> {
 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion). Throws MatrixError where diagonals do not pay (Dia).
  DiaOperator(Context& ctx, CsrView<S> const& a, DiaTuning const& = {});

  /// The same pattern with new values (LinearOperator). Cost: a copy, a comparison where A was
  /// symmetric, and a pass for the norm.
  void update_values(Context&, CsrView<S> const& a);
  using LinearOperator<T>::update_values;

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "dia"; }
  /// ||A||_inf, taken once from the stored values.
  double norm_estimate() const override { return norm_; }
  Dia<S> const& matrix() const { return matrix_; }

 private:
  DiaOperator(Context& ctx, CsrView<S> const& here, DiaTuning const&, bool);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  Dia<S> matrix_;
  double norm_ = 0;
};

}  // namespace tcsolve
