// SPDX-License-Identifier: Apache-2.0
/// `solver: auto` and `preconditioner: auto`: a list of recipes, a method and a preconditioner
/// each, run in turn. Each goes on from the best x of the one before.
///
///     look      the list, by the facts of the matrix (api/choices.hpp)
///     setup     the first recipe that can be set up
///     solve     until a recipe converges, or none is left, or a limit of the solve is met
///
///     recipes   cg, jacobi    cg, ic    cg, direct    gmres, ilu ...
///                  |            |
///                failed      at work: the only one that is set up; it owns M and the method
///
///     auto_solver.cpp   the list, and what is set up of it
///     auto_run.cpp      a solve: what a failure means for the next recipe
///
/// What has converged stays for the solves that follow. max_iters, time_limit and the tolerance are
/// those of the solve, not of each recipe. Nothing is set up but for a solve to go on with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/api/choices.hpp>
#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/precond/preconditioner.hpp>
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

class AutoSolver final : public Solver {
 public:
  using Params = AutoSolverParams;
  explicit AutoSolver(AutoSolverParams const& params = {})
      : stopping_(params.stopping), accepts_least_squares_(params.least_squares) {}

  /// The method, or the preconditioner, that is not to be chosen. The limits of the solve are then
  /// those of the method.
  void keep_solver(Block solver);
  void keep_preconditioner(Block preconditioner);

  /// What the caller knows of A, in the place of what its entries show.
  void say_symmetric(bool symmetric) { given_symmetric_ = symmetric; }

  /// Looks at the matrix that setup() will be about, on the host: the list is made anew.
  void look(Context&, CsrView<double> const& a);
  /// What preconditioners are made of; it stays as long as it is used. `keep`: the one at work
  /// stays as it is at the next setup(), though the values are new.
  void take(System system, bool keep = false) {
    system_ = std::move(system);
    if (fresh_) system_.symmetric = symmetric_;
    keep_ = keep;
  }

  /// The report of a solve that no x can bring to its tolerance, told without a solve
  /// (api/system_facts.hpp); nothing where that is open. b: in the order of look().
  std::optional<SolveReport> unsolvable(Context&, In<double> b) const;

  /// Of every recipe.
  void frame(Framing framing) override { framing_ = std::move(framing); }

  /// M: given by the caller; null: chosen. A setup() without a look() before it is one of new
  /// values: what is at work takes them, and the matrix is looked at again where that fails, and
  /// after 2, 4, 8, ... of them. Throws SetupError with what each recipe said where none can be set
  /// up, Unsupported before look() and take().
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) override;
  /// `seconds` and `setup_seconds` of the report are together those of the call. Where the last
  /// solve left nothing set up, this one begins with a set-up; if none ends within its time, the
  /// report says so and x stays. Throws SetupError where no recipe can be set up any more.
  SolveReport solve(In<double> b, Out<double> x) override;
  SolveReport approximate(In<double> b, Out<double> x) override;

  std::string name() const override { return "auto"; }
  Context* context() const override { return ctx_; }
  SolverCost cost() const override;
  SolveLimits limits() const override {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  StoppingParams const* stops_by() const override {
    return !kept_solver_ || kept_keys_ ? &stopping_ : nullptr;
  }
  /// The method at work goes by them from its next solve on.
  void stop_by(StoppingParams const& stopping) override;
  SolverNeeds needs() const override { return {.fixed_preconditioner = false}; }
  /// Those of the method that is kept; FP64 where it is chosen.
  Real vectors() const override;

  /// Whether the first recipe runs as one kernel where a device does (solvers/loop/one_kernel.hpp).
  bool begins_as_one_kernel() const;

  /// The preconditioner at work; null: none.
  OperatorPtr<double> const& M() const { return work_.M; }
  /// It is of values before those of the last setup().
  bool is_old() const { return work_.old; }

 private:
  struct Recipe {
    Choice choice;
    bool refused = false;  // it cannot be set up with the values at hand
    bool operator==(Recipe const& other) const { return choice == other.choice; }
  };
  /// What is left of the limits of a solve for a method.
  struct Share {
    Index iterations = 0;
    std::optional<double> tolerance;  // of the residual; none: by the method's keys
    StoppingParams keys;              // that these take the place of
    bool operator==(Share const&) const = default;
  };
  /// The recipe that is set up. M is null where none is needed; `owned` is null where it is the
  /// caller's.
  struct Work {
    std::unique_ptr<Preconditioner> owned;
    OperatorPtr<double> M;
    std::shared_ptr<Solver> method;               // null: nothing is set up
    Share share;                                  // that the method was made for
    double setup_seconds = SolveReport::unknown;  // NaN: told
    bool old = false;
  };
  /// A recipe that comes next by its predicted seconds, and what its factory has found out for it.
  struct Weighed {
    Choice choice;
    std::unique_ptr<PreconditionerFactory> factory;
    std::shared_ptr<SetupNotes> notes;
  };
  using Story = std::vector<ChoiceReport>;

  std::vector<Recipe> recipes_for(Context&, CsrView<double> const& a);
  bool look_again();
  void take_new_values();
  bool admits(Recipe const& r) const {
    return !r.refused && (definite_ || !r.choice.definite) &&
           (!r.choice.least_squares || seems_singular());
  }
  /// With a nullspace that is given, the system that is left is not.
  bool seems_singular() const {
    return framing_.nullspace.empty() && (facts_.is_singular() || found_singular_);
  }
  void set_up(Solver&, Choice const&) const;
  Stop next();
  void begin(Choice const&);
  void make_method(Choice const&);
  void work_within(Share const&);
  ChoiceReport told_of(Choice const&) const;
  void tell_failure(Choice const&, std::string const& why, double seconds);
  [[noreturn]] void throw_refusals(Story const&) const;

  SolveReport run(In<double> b, Out<double> x, Story& story);
  SolveReport solve_afresh(In<double> b, Out<double> x, SolveReport const& before);
  void note(Story& story, SolveReport const&, bool again);
  bool tries_again(SolveReport const&, ChoiceReport const& told) const;
  bool advance(SolveReport const&);
  void weigh();

  Share share_of(Choice const&) const;
  StoppingParams stopping_of(Choice const&, Share const&) const;
  Block solver_block(Choice const&, Share const&) const;
  Block preconditioner_block(Choice const&) const;

  StoppingParams stopping_;
  bool accepts_least_squares_ = false;
  Block kept_solver_, kept_preconditioner_;
  bool kept_keys_ = false;               // the solver that is kept stops by stopping_
  std::optional<bool> given_symmetric_;  // what the caller says of A
  Framing framing_;
  SystemFacts facts_;
  bool uneven_rows_ = false;  // each is to be met by itself
  bool symmetric_ = false;    // A, when it was looked at
  FactorRates rates_;
  std::vector<Recipe> list_;
  std::size_t at_ = 0;  // of list_: at work, or where the next set-up begins
  Work work_;
  Weighed weighed_;
  bool definite_ = true;             // no method has found that A is not
  bool found_singular_ = false;      // what failed in the solve at hand fails so of a singular A
  bool fresh_ = false;               // looked at since the last setup()
  bool stale_ = false;               // the list is of older values
  bool unsupported_ = true;          // what set-ups failed of is the config's, not the matrix's
  int values_ = 0, look_after_ = 2;  // new values since the last look, and at which to look again
  bool keep_ = false;
  System system_;
  Context* ctx_ = nullptr;
  OperatorPtr<double> A_, A_true_, given_M_;
  Story tried_;                      // set-ups that failed, since the last report
  double setting_up_ = 0;            // seconds of set-ups in the solve at hand
  Index spent_ = 0;                  // iterations of the solve at hand
  std::optional<double> tolerance_;  // of the solve at hand, once x0 has given it
};

}  // namespace tcsolve
