// SPDX-License-Identifier: Apache-2.0
/// A polynomial in M A as preconditioner: a fixed number of steps of the Chebyshev iteration
/// (Saad 2003, Algorithm 12.1). A and the inner M symmetric positive definite.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <tcsolve/precond/over_ranks.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {

/// On vectors of T. bytes per application: degree products with A and M and 9 n values each.
template <class T>
class ChebyshevIteration : public LinearOperator<T> {
 public:
  /// Of the eigenvalues of M A that it covers.
  struct Interval {
    double low, high;
  };
  ChebyshevIteration(OperatorPtr<T> A, OperatorPtr<T> M, int degree, Interval covered)
      : LinearOperator<T>(A->rows(), A->cols()),
        A_(std::move(A)),
        M_(std::move(M)),
        degree_(degree),
        low_(covered.low),
        high_(covered.high) {}

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "chebyshev"; }
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override { return A_->revision() + M_->revision(); }
  double lambda_max() const { return high_; }
  /// The same polynomial, of A and M on FP32 vectors, each as it is stored for them. Null where A
  /// has none, since a cast around all of it is less than one around each product, and where A is
  /// of a size beyond 2^+-60, since what lies between M and A would near the ends of their range.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  OperatorPtr<T> A_, M_;
  int degree_;
  double low_, high_;
};

/// For the eigenvalues that Lanczos finds.
class Chebyshev final : public ChebyshevIteration<double> {
 public:
  Chebyshev(Context&, OperatorPtr<double> A, OperatorPtr<double> M,
            ChebyshevParams const& params = {});
};

class ChebyshevFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = ChebyshevParams;
  explicit ChebyshevFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  /// With its inner preconditioner.
  double bytes(Index rows, Offset entries) const override {
    return 5 * 8.0 * rows + inner()->bytes(rows, entries);
  }
  /// Its own vectors are the Context's workspace.
  MemoryNeed memory(Context& ctx, System const& system) const override {
    return inner()->memory(ctx, system);
  }
  double most_bytes(Index rows, Offset entries) const override {
    return inner()->most_bytes(rows, entries);
  }
  double least_seconds(Context& ctx, System const& system) const override {
    return inner()->least_seconds(ctx, system);
  }
  bool is_fixed() const override { return inner()->is_fixed(); }
  bool bytes_are_all() const override { return inner()->bytes_are_all(); }
  bool needs_definite() const override { return true; }
  bool needs_matrix() const override { return inner()->needs_matrix(); }
  bool goes_by_blocks() const override { return inner()->goes_by_blocks(); }
  bool over_ranks() const override { return tcsolve::over_ranks(*inner()); }

 private:
  std::unique_ptr<PreconditionerFactory> inner() const {
    return make_smoother(params_.preconditioner);
  }
  Params params_;
};

}  // namespace tcsolve
