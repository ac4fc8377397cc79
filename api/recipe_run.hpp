// SPDX-License-Identifier: Apache-2.0
/// Recipes in turn (api/recipe_list.hpp), each from the best x of the one before: what a set-up, a
/// solve and new values do with a method and a preconditioner. A named solver is a list of one.
///
///     set_up        the first recipe that can be set up: its M, then its method with M
///     solve         until a recipe converges, or none is left, or a limit of the solve is met
///     take_values   M and the method at work take them, where `renew` says so
///
///     recipe_run.cpp     what is set up and renewed
///     recipe_solve.cpp   a solve: what a failure means for the next recipe
///
/// One recipe is at work at a time, and its M and method are all that is set up. What has converged
/// stays for the solves that follow. max_iters, time_limit and the tolerance are those of the
/// solve, not of each recipe. Nothing is set up but for a solve to go on with.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/api/recipe_list.hpp>
#include <tcsolve/api/setup_report.hpp>

namespace tcsolve {

/// What recipes are set up for.
struct RecipeSystem {
  System system;               ///< A, and what M is made of
  OperatorPtr<double> A_true;  ///< A itself, unless that is rounded
  OperatorPtr<double> M;       ///< the caller's; null: that of the recipe
  Framing framing;
};

class RecipeRun {
 public:
  using Clock = std::chrono::steady_clock;
  using Keys = std::optional<StoppingParams>;

  /// All but the Context belong to its owner. `report` hears of M and of renewals.
  RecipeRun(Context& ctx, SolverOptions const& options, SolverParts const& parts,
            SetupReport& report)
      : ctx_(ctx), options_(options), parts_(parts), report_(report), list_(options, parts) {}

  /// Methods that are set up from now on share work space with the one that is at work in `other`,
  /// which outlives this, is of the same Context, and never solves while this one does.
  void share_with(RecipeRun const& other) { lender_ = &other; }

  RecipeList& list() { return list_; }
  RecipeList const& list() const { return list_; }

  /// Throws what the set-up of a named recipe throws; SetupError with what each recipe said where
  /// none can be set up, Unsupported where that is the options' fault.
  void set_up(RecipeSystem of);
  /// The values of A are new, in its operators too: a preconditioner is updated where `renew` asks
  /// for it. Throws as set_up(); nothing is set up then.
  void take_values(System system);
  /// The same for operators that have changed otherwise: the preconditioner is made anew.
  void refresh(System system);
  /// The same A is stored in wider types, for a method of the options as they are now: M stays. A
  /// list of recipes goes on where it is.
  void widen(System system, OperatorPtr<double> A_true);
  /// Frees what is set up.
  void clear();
  bool ready() const { return ready_; }
  /// Of the recipe at work; null: none.
  OperatorPtr<double> const& M() const { return work_.made.M; }

  /// Within the time limit of the options. Where a preconditioner of older values fails, one is
  /// made anew and the solve goes on; of a named one the report says why that fails, and the old
  /// one stays. `seconds` and `setup_seconds` of the report are together those of the call.
  /// Where the last solve left nothing set up, this one begins with a set-up; if none ends within
  /// its time, the report says so and x stays. Throws SetupError where no recipe can be set up.
  /// keys: that the solve stops by; none: those of the options.
  SolveReport solve(In<double> b, Out<double> x, Keys const& keys);
  /// As many reports as columns. A block method takes them together, and any other, as recipes in
  /// turn, one by one.
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x, Keys const& keys);

 private:
  using Story = RecipeList::Story;
  /// M is null where none is needed; `owner` is null where it is the caller's.
  struct Made {
    std::unique_ptr<Preconditioner> owner;
    OperatorPtr<double> M;
  };
  /// The recipe that is set up.
  struct Work {
    Made made;
    std::shared_ptr<Solver> method;               // null: nothing is set up
    double setup_seconds = SolveReport::unknown;  // NaN: told
    bool old = false;                             // M is of values before the last
  };
  /// Complete factors that come next by their predicted seconds, and what their factory has found
  /// out for that.
  struct Weighed {
    Recipe recipe;
    std::unique_ptr<PreconditionerFactory> factory;
    std::shared_ptr<SetupNotes> notes;
  };
  /// The solve at hand.
  struct Account {
    StoppingParams keys;
    Index spent = 0;                  // iterations
    std::optional<double> tolerance;  // once x0 has given it, where it does
    double set_ups = 0;               // seconds
    double at_work = 0;               // seconds of the recipe at work, since it was set up
  };

  std::string name() const { return list_.is_named() ? work_.method->name() : "auto"; }

  // recipe_run.cpp
  Stop next();
  void require_next();
  void settle();
  void begin(Recipe const&);
  Made preconditioner_of(Recipe const&);
  void limit_method();
  std::unique_ptr<Solver> made_method(Recipe const&) const;
  void set_up_method(Solver&, Recipe const&) const;
  bool follow(bool keep, bool anew);
  bool keeps() const;
  void count_renewal(double seconds);
  std::string renew_beside();
  void tell_failure(Recipe const&, std::string const& why, double seconds);
  [[noreturn]] void throw_refusals(Story const&) const;

  // recipe_solve.cpp
  Stop begin_next(Story& story);
  void run(In<double> b, Out<double> x, Story& story, std::optional<SolveReport>& total);
  SolveReport solve_afresh(In<double> b, Out<double> x, SolveReport const& before);
  bool renews(SolveReport& total);
  bool widens(SolveReport& total);
  void log_renewal(std::string const& outcome) const;
  void note(Story& story, SolveReport const&);
  bool advance(SolveReport const&);
  void weigh();
  std::vector<SolveReport> solve_together(In<double> b, Out<double> x);

  Context& ctx_;
  SolverOptions const& options_;
  SolverParts const& parts_;
  SetupReport& report_;
  RecipeList list_;
  RecipeSystem of_;
  RecipeRun const* lender_ = nullptr;
  Work work_;
  Weighed weighed_;
  Renewal renewal_;
  Account account_;
  Story tried_;              // set-ups that failed, since the last report
  bool unsupported_ = true;  // what these failed of is the config's fault, not the matrix's
  bool ready_ = false;
};

}  // namespace tcsolve
