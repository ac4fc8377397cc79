// SPDX-License-Identifier: Apache-2.0
/// A solver is again an operator: y = the inner solver's last iterate for A y = x, from zero
/// (Solver::approximate). It is not a fixed linear map, so the outer method is fgmres.
///
/// An inner solve obeys the cancel flag and the time limits of all solves around it. If one of
/// these ends it, or if it returns zero or a vector that is not finite for x != 0, the outer loop
/// ends before it uses the result, as `cancelled`, `time_limit` or `breakdown:inner_solver`.
#pragma once

#include <memory>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/precond/preconditioner.hpp>
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

struct SolverOperatorParams {
  Block solver;
  Block preconditioner{"jacobi"};
  std::string check() const;
  static constexpr auto schema() {
    using P = SolverOperatorParams;
    return std::tuple{
        field(&P::solver, "solver", block_of("solver"),
              "the inner solver: one to max_iters iterations, until its own residual meets rtol")
            .required(),
        field(&P::preconditioner, "preconditioner", block_of("preconditioner"),
              "preconditioner of the inner solver")};
  }
};

class SolverOperatorFactory final : public PreconditionerFactory {
 public:
  using Params = SolverOperatorParams;
  explicit SolverOperatorFactory(Params const& params) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  /// Of the inner method and its preconditioner.
  double bytes(Index rows, Offset entries) const override;
  MemoryNeed memory(Context&, System const&) const override;
  double most_bytes(Index rows, Offset entries) const override;
  double least_seconds(Context& ctx, System const& system) const override {
    return inner()->least_seconds(ctx, system);
  }
  bool is_fixed() const override { return false; }
  bool needs_definite() const override;
  bool needs_matrix() const override { return inner()->needs_matrix(); }
  bool goes_by_blocks() const override { return inner()->goes_by_blocks(); }
  bool bytes_are_all() const override { return inner()->bytes_are_all(); }

 private:
  std::unique_ptr<PreconditionerFactory> inner() const;
  double vector_bytes(Index rows) const;
  Params params_;
};

}  // namespace tcsolve
