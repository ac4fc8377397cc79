// SPDX-License-Identifier: Apache-2.0
/// The product with a DASP matrix (formats/dasp/dasp.hpp).
#pragma once

#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/ops.hpp>
#include <tcsolve/formats/scaled_domain.hpp>
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {

/// How the product is made; the defaults are what was measured best (docs/formats/dasp.md).
struct DaspOptions {
  DaspTuning tuning;
  DaspUnitOf unit = DaspUnitOf::automatic;
};

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes   formats/dasp/dasp.hpp
///   memory  besides the matrix: a value for each unit of a long row and a ticket for each such
///           row; a copy of x where columns were scaled. One product runs at a time
///   bits    the same on every run
///   throws  what Dasp's constructor throws; Unsupported where half_products meets values that are
///           not half
template <class T, class S = T>
class DaspOperator final : public LinearOperator<T> {
 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  DaspOperator(Context& ctx, CsrView<S> const& a, DaspOptions const& = {});
  /// The matrix before it was scaled: its powers of two are undone in every product.
  DaspOperator(Context& ctx, NarrowCsr<S> const& a, DaspOptions const& = {});
  DaspOperator(Context& ctx, ScaledCsr<S> const& a, DaspOptions const& options = {})
      : DaspOperator(ctx, NarrowCsr<S>(ctx, a), options) {}

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
  std::string name() const override { return "dasp"; }
  double norm_estimate() const override { return norm_; }
  Dasp<S> const& matrix() const { return matrix_; }
  /// Unless its powers of two are undone in every product.
  bool sums_exactly() const override;
  int loop_num() const { return work_.loop_num; }

 private:
  DaspOperator(Context& ctx, CsrView<S> const& here, DaspOptions const&, bool);
  void measure(Context&);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  void undo_scale(Context&, NarrowCsr<S> const& a, Array<T> rows, ScaledDomain<T> cols);
  Dasp<S> matrix_;
  Array<T> parts_, row_scale_;
  Array<unsigned int> tickets_;
  ScaledDomain<T> domain_;
  DaspWork<T> work_;
  double norm_ = 0;
  Scaling scaling_ = Scaling::refuse;  // of values that come wider than S
};

}  // namespace tcsolve
