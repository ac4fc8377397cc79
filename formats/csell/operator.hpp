// SPDX-License-Identifier: Apache-2.0
/// The product with a compressed SELL-C-sigma matrix (formats/csell/csell.hpp): one thread a line.
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/csell/csell.hpp>
#include <tcsolve/formats/csell/ops.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  formats/csell/csell.hpp + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order, the pieces of a long row one
///          after another
///   memory a value for each piece of a long row and column of y. One product runs at a time
template <class T, class S = T>
class CsellOperator final : public ConvertedOperator<T, S, Csell<S>> {
 public:
  CsellOperator(Context& ctx, CsrView<S> const& a, CsellTuning const& tuning = {})
      : ConvertedOperator<T, S, Csell<S>>(ctx, a, tuning),
        parts_(ctx.space(), this->matrix().view().parts) {}

  Traits traits() const override;
  std::string name() const override { return "csell"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y,
                     SmoothingStep<T> const&) const override;
  Array<T> parts_;  // of one column
};

}  // namespace tcsolve
