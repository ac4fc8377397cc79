// SPDX-License-Identifier: Apache-2.0
/// A solver of singular systems whose nullspace is known: A Z = 0.
///
///     symmetric A     b' = P b,  P = I - Z Z^T         the part of b that A can reach
///                     solve A x = b' with P M P        M cannot bring Z back
///                     x = P x                          of all solutions the shortest
///
/// Where A^T Z is not 0 (a nonsymmetric A; z^T A v of random v tells), b stays as it is and M
/// becomes P M. The report is about A x = b with the b that was given: where its part outside the
/// range of A exceeds the tolerance, a converged solve is `least_squares`, cause `inconsistent`: no
/// x does better.
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/projection.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

class ProjectedSolver final : public Solver {
 public:
  /// `vectors` span the nullspace, in the numbers of the operators that setup() is given.
  ProjectedSolver(std::shared_ptr<Solver> method, std::vector<std::vector<double>> vectors);

  /// Throws SetupError where ||A z|| > 1e-8 ||A|| for a unit vector z of the span, ShapeError where
  /// vectors do not suit A, and what the method's setup() throws.
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) override;
  SolveReport solve(In<double> b, Out<double> x) override;
  SolveReport approximate(In<double> b, Out<double> x) override;

  /// P M P or P M; null for null.
  OperatorPtr<double> projected(OperatorPtr<double> M) const;

  std::string name() const override { return method_->name(); }
  Context* context() const override { return ctx_; }
  SolverCost cost() const override;
  SolveLimits limits() const override { return method_->limits(); }
  SolverNeeds needs() const override { return method_->needs(); }
  Advice advice() const override { return method_->advice(); }

 private:
  void check(OperatorPtr<double> const& A);
  double length(In<double> v);
  void to(Out<double> there, In<double> v);
  void leave(Out<double> x);

  std::shared_ptr<Solver> method_;
  std::vector<std::vector<double>> given_;
  Context* ctx_ = nullptr;
  std::shared_ptr<Projection const> P_;
  bool left_ = true;  // A^T Z = 0 too
  Vector<double> b_, x_, t_;
};

}  // namespace tcsolve
