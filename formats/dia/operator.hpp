// SPDX-License-Identifier: Apache-2.0
/// The product with diagonals: one pass that also makes <x, A x>.
#pragma once

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/formats/dia/dia.hpp>
#include <tcsolve/formats/dia/ops.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors and sums of T. No transpose.
///
///   bytes  stored positions sizeof(S), + k sizeof(T) (rows + cols)
///   bits   the same on every run: a row is added in storage order, in a persistent loop in as many
///          parts as threads share it
template <class T, class S = T>
class DiaOperator final : public ConvertedOperator<T, S, Dia<S>> {
 public:
  /// Throws MatrixError where diagonals do not pay (Dia).
  DiaOperator(Context& ctx, CsrView<S> const& a, DiaTuning const& tuning = {})
      : ConvertedOperator<T, S, Dia<S>>(ctx, a, tuning) {}

  Traits traits() const override;
  std::string name() const override { return "dia"; }
  /// Changes once new values are not symmetric any more: recorded products hold the old list of
  /// diagonals.
  std::uint64_t revision() const override { return this->matrix().symmetric() ? 0 : 1; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y,
                     SmoothingStep<T> const&) const override;
};

}  // namespace tcsolve
