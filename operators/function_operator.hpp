// SPDX-License-Identifier: Apache-2.0
/// A matrix-free operator: a user's callable is an operator like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// y = A x by calling f(ctx, x, y). x and y are vectors or blocks in the Context's space; on the
/// device f submits to the Context's stream. What f throws reaches the caller of solve unchanged.
template <class T>
class FunctionOperator final : public LinearOperator<T> {
 public:
  using Function = std::function<void(Context&, In<T>, Out<T>)>;
  struct Options {
    Function transposed = nullptr;  ///< y = A^T x, for the methods that need it
    bool capturable = false;        ///< f never waits for the device, so a graph may hold it
    /// Another number when f submits something else than before (LinearOperator::revision), where
    /// it is capturable: as an operator that f applies has it. None: always the same.
    std::function<std::uint64_t()> revision = nullptr;
    bool fixed = true;  ///< f is the same linear map on every call
    double norm_estimate = std::numeric_limits<double>::quiet_NaN();  ///< of ||A||_2, when known
    std::string name = "function";
  };

  FunctionOperator(Index rows, Index cols, Function f, Options options = {})
      : LinearOperator<T>(rows, cols), f_(std::move(f)), options_(std::move(options)) {}

  Traits traits() const override {
    return {.precision = {real_of<T>, real_of<T>, real_of<T>},
            .transpose = options_.transposed != nullptr,
            .fixed = options_.fixed,
            .capturable = options_.capturable,
            .isolates_nonfinite = false,
            .stops = false};
  }
  /// Nothing is known but the vectors.
  Cost cost(Index k) const override {
    return {0, double(sizeof(T)) * k * (double(this->rows()) + this->cols()), 1};
  }
  std::string name() const override { return options_.name; }
  double norm_estimate() const override { return options_.norm_estimate; }
  std::uint64_t revision() const override { return options_.revision ? options_.revision() : 0; }

 private:
  void do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const override {
    Function const& f = op == Op::none ? f_ : options_.transposed;
    if (alpha == T(1) && beta == T(0)) return f(ctx, x, y);
    auto scope = ctx.arena().scope();
    Out<T> product = scope.template vectors<T>(y.rows, y.cols);
    f(ctx, x, product);
    axpby<T, T>(ctx, alpha, product, beta, y);
  }
  Function f_;
  Options options_;
};

}  // namespace tcsolve
