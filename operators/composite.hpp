// SPDX-License-Identifier: Apache-2.0
/// Operators made of operators: alpha A, A + B, A B, A^T, A + sigma I, I. Each holds its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// I: y = x.
template <class T>
class Identity final : public LinearOperator<T> {
 public:
  explicit Identity(Index n) : LinearOperator<T>(n, n) {}
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "identity"; }
  std::optional<Diagonal<T>> diagonal() const override { return Diagonal<T>{}; }
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override {
    return std::make_shared<Identity<float>>(this->rows());
  }
  double norm_estimate() const override { return 1; }
  bool sums_exactly() const override { return std::is_same_v<T, double>; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
};

/// alpha A.
template <class T>
class Scaled final : public LinearOperator<T> {
 public:
  Scaled(double alpha, OperatorPtr<T> A);
  void prepare(Context&, Op) const override;
  Traits traits() const override { return A_->traits(); }
  Cost cost(Index k) const override { return A_->cost(k); }
  std::string name() const override { return cat("scaled(", A_->name(), ")"); }
  std::optional<Diagonal<T>> diagonal() const override {
    auto D = A_->diagonal();
    if (D) D->alpha *= alpha_;
    return D;
  }
  double norm_estimate() const override;
  /// Where alpha is a power of two: a product with it is exact.
  bool sums_exactly() const override;

  double advance(Context& ctx, double n) const override { return A_->advance(ctx, n); }
  std::uint64_t revision() const override { return A_->revision(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const override;
  double alpha_;
  OperatorPtr<T> A_;
};

/// A + B. Throws ShapeError when their extents differ.
template <class T>
class Sum final : public LinearOperator<T> {
 public:
  Sum(OperatorPtr<T> A, OperatorPtr<T> B);
  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return cat("sum(", A_->name(), ", ", B_->name(), ")"); }
  double norm_estimate() const override { return A_->norm_estimate() + B_->norm_estimate(); }
  bool sums_exactly() const override { return A_->sums_exactly() && B_->sums_exactly(); }

  double advance(Context& ctx, double n) const override;
  std::uint64_t revision() const override { return A_->revision() + B_->revision(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  OperatorPtr<T> A_, B_;
};

/// A B, applied right to left. Throws ShapeError when A.cols() != B.rows().
template <class T>
class Product final : public LinearOperator<T> {
 public:
  Product(OperatorPtr<T> A, OperatorPtr<T> B);
  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return cat("product(", A_->name(), ", ", B_->name(), ")"); }
  double norm_estimate() const override { return A_->norm_estimate() * B_->norm_estimate(); }

  double advance(Context& ctx, double n) const override;
  std::uint64_t revision() const override { return A_->revision() + B_->revision(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  OperatorPtr<T> A_, B_;
};

/// A^T. Throws Unsupported when A offers no transpose.
template <class T>
class Transposed final : public LinearOperator<T> {
 public:
  explicit Transposed(OperatorPtr<T> A);
  void prepare(Context&, Op) const override;
  Traits traits() const override { return A_->traits(); }
  Cost cost(Index k) const override { return A_->cost(k); }
  std::string name() const override { return cat("transposed(", A_->name(), ")"); }
  double norm_estimate() const override { return A_->norm_estimate(); }

  double advance(Context& ctx, double n) const override { return A_->advance(ctx, n); }
  std::uint64_t revision() const override { return A_->revision(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  OperatorPtr<T> A_;
};

/// A + sigma I. Throws ShapeError when A is not square.
template <class T>
class Shifted final : public LinearOperator<T> {
 public:
  Shifted(OperatorPtr<T> A, double sigma);
  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override { return A_->cost(k); }
  std::string name() const override { return cat("shifted(", A_->name(), ")"); }
  double norm_estimate() const override;
  bool sums_exactly() const override { return A_->sums_exactly(); }

  double advance(Context& ctx, double n) const override { return A_->advance(ctx, n); }
  std::uint64_t revision() const override { return A_->revision(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  OperatorPtr<T> A_;
  double sigma_;
};

}  // namespace tcsolve
