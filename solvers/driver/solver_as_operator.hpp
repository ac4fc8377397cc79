// SPDX-License-Identifier: Apache-2.0
/// A solver is again an operator: y = the inner solver's last iterate for A y = x, from zero
/// (Solver::approximate). It is not a fixed linear map, so the outer method is fgmres.
///
/// An inner solve obeys the cancel flag and the time limits of all solves around it. If one of
/// these ends it, or if it returns zero or a vector that is not finite for x != 0, the outer loop
/// ends before it uses the result, as `cancelled`, `time_limit` or `breakdown:inner_solver`.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

class SolverOperator final : public LinearOperator<double> {
 public:
  /// `solver` has been set up with an operator A of n rows and columns, in the Context of every
  /// application; norm_A is the size of ||A||, NaN when it is not known.
  SolverOperator(std::shared_ptr<Solver> solver, Index n,
                 double norm_A = std::numeric_limits<double>::quiet_NaN())
      : LinearOperator<double>(n, n), solver_(std::move(solver)), norm_A_(norm_A) {}

  Traits traits() const override {
    return {.fixed = false, .capturable = false, .isolates_nonfinite = false};
  }
  Cost cost(Index k) const override { return {0, 16.0 * k * rows(), 1}; }
  std::string name() const override { return cat("solver(", solver_->name(), ")"); }
  /// 1 / ||A||, which A^-1 is not smaller than.
  double norm_estimate() const override { return 1 / norm_A_; }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  void judge(Context&, LoopState* outer, SolveReport const&, In<double> solution) const;
  std::shared_ptr<Solver> solver_;
  double norm_A_;
};

}  // namespace tcsolve
