// SPDX-License-Identifier: Apache-2.0
/// `solver: auto` before a method is chosen: the keys of its solves, and what those ask who plan
/// one. It solves nothing: recipes do (api/recipe_run.hpp).
#pragma once

#include <tuple>

#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

struct AutoSolverParams {
  StoppingParams stopping{.max_iters = 100000};
  bool least_squares = false;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = AutoSolverParams;
    return std::tuple{include(&P::stopping),
                      field(&P::least_squares, "least_squares",
                            "accept a least-squares solution of a square system too (exit code 0), "
                            "which lsmr, the last choice for a singular one, may end in")};
  }
};

class AutoKeys final : public Solver {
 public:
  using Params = AutoSolverParams;
  explicit AutoKeys(AutoSolverParams const& params)
      : stopping_(params.stopping), least_squares_(params.least_squares) {}
  /// Of a square system.
  bool accepts_least_squares() const { return least_squares_; }

  /// The three throw Unsupported.
  void setup(Context&, OperatorPtr<double>, OperatorPtr<double>, OperatorPtr<double>) override {
    refuse();
  }
  SolveReport solve(In<double>, Out<double>) override { refuse(); }
  SolveReport approximate(In<double>, Out<double>) override { refuse(); }

  std::string name() const override { return "auto"; }
  Context* context() const override { return nullptr; }
  SolverCost cost() const override { return {.vectors = 60}; }  // of gmres
  SolveLimits limits() const override {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  StoppingParams const* stops_by() const override { return &stopping_; }
  SolverNeeds needs() const override { return {.fixed_preconditioner = false}; }

 private:
  [[noreturn]] static void refuse() {
    throw Unsupported("auto is no method, but a choice of one: ask a LinearSolver for it");
  }
  StoppingParams stopping_;
  bool least_squares_;
};

}  // namespace tcsolve
