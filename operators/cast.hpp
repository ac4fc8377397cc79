// SPDX-License-Identifier: Apache-2.0
/// An operator on vectors of one type as an operator on those of another:
///
///     y = alpha op(A) x + beta y        x, y of T
///     u = (U) x,  w = op(A) u           A on vectors of U
///     y = alpha w + beta y
///
/// So a method of FP32 vectors takes a preconditioner in FP64, and whatever asks for FP64 vectors a
/// matrix that multiplies FP32 ones.
#pragma once

#include <memory>
#include <utility>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Cost: that of A, and x and y read and written once more in both types.
template <class T, class U>
class Cast final : public LinearOperator<T> {
 public:
  explicit Cast(OperatorPtr<U> A) : Cast(std::move(A), nullptr) {}
  /// One that gives A new values (update_values()).
  explicit Cast(std::shared_ptr<LinearOperator<U>> A) : Cast(A, A) {}

  void prepare(Context& ctx, Op op) const override { A_->prepare(ctx, op); }
  Traits traits() const override { return A_->traits(); }
  Cost cost(Index k) const override;
  std::string name() const override { return A_->name(); }
  std::string details() const override { return A_->details(); }
  double norm_estimate() const override { return A_->norm_estimate(); }
  double advance(Context& ctx, double n) const override { return A_->advance(ctx, n); }
  std::uint64_t revision() const override { return A_->revision(); }
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override {
    if constexpr (std::is_same_v<U, float>)
      return A_;
    else
      return nullptr;
  }

 private:
  Cast(OperatorPtr<U> A, std::shared_ptr<LinearOperator<U>> changes)
      : LinearOperator<T>(A->rows(), A->cols()), A_(std::move(A)), changes_(std::move(changes)) {}
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  OperatorPtr<U> A_;
  std::shared_ptr<LinearOperator<U>> changes_;
};

/// A on vectors of T: itself, what it has for them, or a Cast. Null for null.
template <class T>
OperatorPtr<T> on_vectors_of([[maybe_unused]] Context& ctx, OperatorPtr<double> A) {
  if constexpr (std::is_same_v<T, double>) {
    return A;
  } else {
    static_assert(std::is_same_v<T, float>);
    if (!A) return nullptr;
    if (auto floats = A->on_floats(ctx)) return floats;
    return std::make_shared<Cast<float, double>>(std::move(A));
  }
}

}  // namespace tcsolve
