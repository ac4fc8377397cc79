// SPDX-License-Identifier: Apache-2.0
/// The product with a DASP matrix (formats/dasp/dasp.hpp).
#pragma once

#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/ops.hpp>
#include <tcsolve/formats/scaled_operator.hpp>

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
class DaspOperator final : public ScaledOperator<T, S, Dasp<S>> {
  using Scaled = ScaledOperator<T, S, Dasp<S>>;

 public:
  /// Converts a canonical CSR matrix, in the Context's space or on the host (then it is copied
  /// there for the time of the conversion).
  DaspOperator(Context& ctx, CsrView<S> const& a, DaspOptions const& options = {})
      : Scaled(ctx, a, options.tuning) {
    prepare_work(ctx, options);
  }
  /// The matrix before it was scaled: its powers of two are undone in every product.
  DaspOperator(Context& ctx, NarrowCsr<S> const& a, DaspOptions const& options = {})
      : Scaled(ctx, a, options.tuning) {
    prepare_work(ctx, options);
  }
  DaspOperator(Context& ctx, ScaledCsr<S> const& a, DaspOptions const& options = {})
      : DaspOperator(ctx, NarrowCsr<S>(ctx, a), options) {}

  Traits traits() const override;
  std::string name() const override { return "dasp"; }
  int loop_num() const { return work_.loop_num; }

 private:
  void prepare_work(Context&, DaspOptions const&);
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  Array<T> parts_;
  Array<unsigned int> tickets_;
  DaspWork<T> work_;
};

}  // namespace tcsolve
