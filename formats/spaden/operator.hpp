// SPDX-License-Identifier: Apache-2.0
/// The product with a bitBSR matrix (formats/spaden/spaden.hpp).
#pragma once

#include <tcsolve/formats/scaled_domain.hpp>
#include <tcsolve/formats/spaden/ops.hpp>
#include <tcsolve/formats/spaden/spaden.hpp>
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes   formats/spaden/spaden.hpp
///   memory  besides the matrix: the parts of long rows; a copy of x where columns were scaled. One
///           product runs at a time
///   bits    the same on every run
///   throws  what Spaden's constructor throws
template <class T, class S = T>
class SpadenOperator final : public LinearOperator<T> {
 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  SpadenOperator(Context& ctx, CsrView<S> const& a, SpadenTuning const& = {});
  /// The matrix before it was scaled: its powers of two are undone in every product.
  SpadenOperator(Context& ctx, NarrowCsr<S> const& a, SpadenTuning const& = {});
  SpadenOperator(Context& ctx, ScaledCsr<S> const& a, SpadenTuning const& tuning = {})
      : SpadenOperator(ctx, NarrowCsr<S>(ctx, a), tuning) {}

  /// The same pattern with new values (LinearOperator), as they are. Cost: a copy and a pass for
  /// the norm; with values that were scaled before, memory as well.
  void update_values(Context&, CsrView<S> const& a);
  /// The same with values that were scaled anew: not by the exponents of the matrix before.
  void update_values(Context&, NarrowCsr<S> const& a);
  void update_values(Context& ctx, ScaledCsr<S> const& a) {
    update_values(ctx, NarrowCsr<S>(ctx, a));
  }
  using LinearOperator<T>::update_values;

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "spaden"; }
  double norm_estimate() const override { return norm_; }
  Spaden<S> const& matrix() const { return matrix_; }
  /// Unless its powers of two are undone in every product.
  bool sums_exactly() const override;

 private:
  SpadenOperator(Context& ctx, CsrView<S> const& here, SpadenTuning const&, bool);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  void undo_scale(Context&, NarrowCsr<S> const& a, Array<T> rows, ScaledDomain<T> cols);
  Spaden<S> matrix_;
  Array<T> parts_, row_scale_;
  ScaledDomain<T> domain_;
  SpadenWork<T> work_;
  double norm_ = 0;
  Scaling scaling_ = Scaling::refuse;  // of values that come wider than S
};

}  // namespace tcsolve
