// SPDX-License-Identifier: Apache-2.0
/// The product with SELL-32: one pass that also makes <x, A x>, one thread a row.
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/formats/sell/sell.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  stored entries (sizeof(S) + 2) + 5 rows + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order
template <class T, class S = T>
class SellOperator final : public ConvertedOperator<T, S, Sell<S>> {
 public:
  SellOperator(Context& ctx, CsrView<S> const& a) : ConvertedOperator<T, S, Sell<S>>(ctx, a) {}

  Traits traits() const override;
  std::string name() const override { return "sell"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y,
                     SmoothingStep<T> const&) const override;
};

}  // namespace tcsolve
