// SPDX-License-Identifier: Apache-2.0
/// `solver: auto` and `preconditioner: auto`: methods in turn, each going on from the best x of the
/// one before.
///
///     choices   by the facts of the matrix (api/choices.hpp)
///     setup     the first choice that can be set up
///     solve     until a choice converges, or no other is left, or the limits of the solve end it
///
/// A choice that has converged stays for the solves that follow.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/api/choices.hpp>
#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

struct AutoSolverParams {
  StoppingParams stopping{.max_iters = 100000};
  std::string check() const;
  static constexpr auto schema() { return std::tuple{include(&AutoSolverParams::stopping)}; }
};

class AutoSolver final : public Solver {
 public:
  using Params = AutoSolverParams;
  explicit AutoSolver(AutoSolverParams const& params = {}) : stopping_(params.stopping) {}

  /// The method, or the preconditioner, that is not to be chosen.
  void keep_solver(Block solver);
  void keep_preconditioner(Block preconditioner);

  /// Looks at the matrix that setup() will be about: its choices are made anew. The copy on the
  /// host that a device matrix needs is given back.
  void look(Context&, CsrView<double> const& a);
  /// What preconditioners are made of; it stays as long as it is used. `keep`: the one at work
  /// stays as it is at the next setup(), though the values are new.
  void take(System system, bool keep = false) {
    system_ = std::move(system);
    keep_ = keep;
  }

  /// The report of a solve that no x can bring to its tolerance, told without a solve
  /// (api/system_facts.hpp); nothing where that is open. b: in the order of look().
  std::optional<SolveReport> unsolvable(Context&, In<double> b) const;

  /// Vectors that span the nullspace of A, in the numbers of setup()'s operators; empty: none.
  void project(std::vector<std::vector<double>> nullspace) { nullspace_ = std::move(nullspace); }

  /// M: given by the caller; null: chosen. Throws SetupError with what each choice said where none
  /// can be set up, Unsupported before look() and take().
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) override;
  /// Throws OutOfTime where the last solve ended in a set-up and none ends within this one's time.
  SolveReport solve(In<double> b, Out<double> x) override;
  SolveReport approximate(In<double> b, Out<double> x) override;

  std::string name() const override { return "auto"; }
  SolverCost cost() const override;
  SolveLimits limits() const override {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  SolverNeeds needs() const override { return {.fixed_preconditioner = false}; }

  /// Whether the first choice runs as one kernel where a device does (solvers/loop/one_kernel.hpp).
  bool begins_as_one_kernel() const;

  /// The preconditioner at work; null: none.
  OperatorPtr<double> const& M() const { return M_; }
  std::vector<Choice> const& list() const { return list_; }

 private:
  bool next(Deadline until = Deadline::max());
  void begin(Choice const&);
  Block solver_block(Choice const&, bool limited = true) const;
  Block preconditioner_block(Choice const&) const;
  ChoiceReport told_of(Choice const&) const;

  StoppingParams stopping_;
  Block kept_solver_, kept_preconditioner_;
  std::vector<std::vector<double>> nullspace_;
  std::vector<Choice> list_;
  SystemFacts facts_;
  std::size_t at_ = 0;  // of list_; begun_: it is set up
  bool begun_ = false, definite_ = true, keep_ = false;
  bool late_ = false;        // a set-up did not end in time
  bool unsupported_ = true;  // what the set-ups failed of is the config's, not the matrix's
  System system_;
  Context* ctx_ = nullptr;
  OperatorPtr<double> A_, A_true_, given_M_, M_;
  std::unique_ptr<PreconditionerFactory> factory_;
  std::shared_ptr<Solver> solver_;
  std::vector<ChoiceReport> tried_;  // since the last report
  /// Of the choice at work; NaN: it has been told.
  double setup_seconds_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace tcsolve
