// SPDX-License-Identifier: Apache-2.0
/// The product with ELL: one pass that also makes <x, A x>, one thread a row.
#pragma once

#include <tcsolve/formats/converted_operator.hpp>

#include "ell/ops.hpp"

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  rows x longest row x (sizeof(S) + 4) + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order
template <class T, class S = T>
class EllOperator final : public ConvertedOperator<T, S, Ell<S>> {
 public:
  EllOperator(Context& ctx, CsrView<S> const& a) : ConvertedOperator<T, S, Ell<S>>(ctx, a) {}

  Traits traits() const override;
  std::string name() const override { return "ell"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
};

}  // namespace tcsolve
