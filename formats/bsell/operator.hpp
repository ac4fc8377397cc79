// SPDX-License-Identifier: Apache-2.0
/// The product with a matrix of dense blocks in slices: one pass that also makes <x, A x>.
#pragma once

#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/formats/bsell/ops.hpp>
#include <tcsolve/formats/converted_operator.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  formats/bsell/bsell.hpp + k sizeof(T) (rows + cols)
///   bits   the same on every run
template <class T, class S = T>
class BsellOperator final : public ConvertedOperator<T, S, Bsell<S>> {
 public:
  /// Throws what Bsell throws: MatrixError where blocks do not pay.
  BsellOperator(Context& ctx, CsrView<S> const& a, BsellTuning const& tuning = {})
      : ConvertedOperator<T, S, Bsell<S>>(ctx, a, tuning) {}

  Traits traits() const override;
  std::string name() const override { return "bsell"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y,
                     SmoothingStep<T> const&) const override;
};

}  // namespace tcsolve
