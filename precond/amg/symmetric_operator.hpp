// SPDX-License-Identifier: Apache-2.0
/// y = alpha G x + beta y of a small, full and exactly symmetric matrix: the inverse of the
/// coarsest level.
#pragma once

#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/precond/amg/ops.hpp>

namespace tcsolve {

template <class T>
class SymmetricOperator final : public LinearOperator<T> {
 public:
  /// G: (rows x rows), in the Context's space.
  SymmetricOperator(Array<T> G, Index rows) : LinearOperator<T>(rows, rows), G_(std::move(G)) {}
  Traits traits() const override {
    return {.precision = {real_of<T>, Real::f64, Real::f64},
            .isolates_nonfinite = false,
            .operations = true};
  }
  Cost cost(Index k) const override {
    double const n = this->rows();
    return {2 * n * n * k, sizeof(T) * (n * n + 2 * n * k), 1};
  }
  std::string name() const override { return "inverse"; }
  T* values() { return G_.data(); }

 private:
  void do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const override {
    submit(ctx, SymmetricProduct<T>{y.size(), this->rows(), double(alpha), G_.data(), x,
                                    double(beta), y});
  }
  Array<T> G_;
};

}  // namespace tcsolve
