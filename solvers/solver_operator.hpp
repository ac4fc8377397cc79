// SPDX-License-Identifier: Apache-2.0
/// A solver is again an operator: y = the inner solver's approximation of A^-1 x, from zero. It is
/// not a fixed linear map, so the outer method is fgmres.
#pragma once

#include <memory>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

class SolverOperator final : public LinearOperator<double> {
 public:
  /// `solver` has been set up with an operator of n rows and columns, in the Context of every
  /// application.
  SolverOperator(std::shared_ptr<Solver> solver, Index n)
      : LinearOperator<double>(n, n), solver_(std::move(solver)) {}

  Traits traits() const override {
    return {.fixed = false, .capturable = false, .isolates_nonfinite = false};
  }
  Cost cost(Index k) const override { return {0, 16.0 * k * rows(), 1}; }
  std::string name() const override { return cat("solver(", solver_->name(), ")"); }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  std::shared_ptr<Solver> solver_;
};

struct SolverOperatorParams {
  Block solver;
  Block preconditioner{"jacobi"};
  static constexpr auto schema() {
    using P = SolverOperatorParams;
    return std::tuple{field(&P::solver, "solver", block_of("solver"),
                            "the inner solver; its rtol and max_iters bound it")
                          .required(),
                      field(&P::preconditioner, "preconditioner", block_of("preconditioner"),
                            "preconditioner of the inner solver")};
  }
};

class SolverOperatorFactory final : public PreconditionerFactory {
 public:
  using Params = SolverOperatorParams;
  explicit SolverOperatorFactory(Params const& params) : params_(params) {}
  OperatorPtr<double> build(Context&, System const&) const override;

 private:
  Params params_;
};

}  // namespace tcsolve
