// SPDX-License-Identifier: Apache-2.0
/// The recipes of a solve, a method and a preconditioner each, in the order in which they are
/// tried.
///
///     both named           that one recipe, whatever the matrix is
///     one of them `auto`   the named one with others, by the facts of the matrix
///     both `auto`          recipes() of these facts (api/recipes.hpp)
///
///     cg, jacobi    cg, ic    cg, direct    gmres, ilu    ...
///       |            |            |
///     failed      refused        at()         to come
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/api/parts.hpp>
#include <tcsolve/api/recipes.hpp>
#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/precond/system.hpp>

namespace tcsolve {

class RecipeList {
 public:
  using Story = std::vector<ChoiceReport>;

  /// Of options that have been read, and what was made of them. Both outlive it.
  RecipeList(SolverOptions const& options, SolverParts const& parts);

  /// Solver and preconditioner are named: nothing is chosen, and what fails is the caller's to
  /// know as it is.
  bool is_named() const { return !parts_.chooses(); }
  /// The list of a matrix in the Context's space, where something is chosen. `host`: of it, which
  /// is asked where the diagonal has zeros.
  void look(Context&, CsrView<double> const& a, HostMatrix& host);
  /// That of a matrix of several ranks. It stays the same for new values.
  void look(Context&, DistributedMatrix const& a);
  /// As before look().
  void forget();
  /// No matrix was looked at, and one has to be.
  bool empty() const { return list_.empty(); }
  /// The report of a solve that no x can bring to its tolerance, told without a solve
  /// (api/system_facts.hpp); nothing where that is open. b: in the order of look().
  std::optional<SolveReport> unsolvable(Context&, In<double> b, StoppingParams const& keys) const;

  // ---- what comes next ----
  /// Goes to the first recipe from the one at hand on that may be tried; null: none is left.
  Recipe const* upcoming();
  Recipe const& at() const { return list_[at_].recipe; }
  std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = std::min(place, list_.size() - 1); }
  void pass() { ++at_; }
  /// The recipe at hand cannot be set up with these values.
  void refuse() { list_[at_++].refused = true; }
  /// A solve begins, after set-ups that failed.
  void begin_solve(Story const& story);
  void note(ChoiceReport const& told) { singular_ = singular_ || ends_as_if_singular(told); }
  /// The recipe at hand has failed so. Where the list is of older values, the matrix is looked at
  /// again; true where its list is another one, which begins anew without that recipe.
  bool relist_after(Stop failure, Context&, System&);
  /// Where the recipe at hand is an incomplete factorisation and so is the next, complete factors
  /// that are to come come next if are_better(next, complete).
  void prefer_complete(std::function<bool(Recipe const&, Recipe const&)> const& are_better);

  // ---- new values ----
  /// A has others now: what was refused may be tried again.
  void new_values();
  /// The matrix is looked at again after 2, 4, 8, ... new values. True where its list is another
  /// one, which begins anew.
  bool relist_if_due(Context&, System&);
  /// Looks again, where the values are new, and begins anew.
  void restart(Context&, System&);

  // ---- what a recipe is ----
  /// The keys that solves stop by: those of the method that is named, or of auto.
  StoppingParams keys() const;
  /// Those of a recipe in a solve by `keys` that has taken so many iterations; tolerance: of the
  /// residual, where x0 has given it.
  StoppingParams stopping_of(Recipe const&, StoppingParams const& keys, Index spent = 0,
                             std::optional<double> tolerance = std::nullopt) const;
  /// The method, to stop by stopping_of(). One that has rules of its own keeps them.
  std::unique_ptr<Solver> method_of(Recipe const&) const;
  Block preconditioner_block(Recipe const&) const;
  /// What a report says of a recipe before it has run: with the limits of the whole solve.
  /// M: the caller's; null: the recipe's.
  ChoiceReport told_of(Recipe const&, LinearOperator<double> const* M) const;
  /// The message for `last`, the report that the recipes of a story ended with.
  std::string closing(SolveReport const& last, Story const&) const;

  // ---- facts ----
  /// The largest of the list: what formats are chosen for.
  SolverCost cost() const;
  /// Whether the first recipe runs as one kernel where a device does (solvers/loop/one_kernel.hpp).
  bool begins_as_one_kernel() const;
  /// A, as given or as it was found; nothing where that is not known of the values at hand.
  std::optional<bool> symmetric() const { return symmetric_; }
  FactorRates const& rates() const { return rates_; }

 private:
  struct Entry {
    Recipe recipe;
    bool refused = false;  // it cannot be set up with the values at hand
    bool operator==(Entry const& other) const { return recipe == other.recipe; }
  };
  using Entries = std::vector<Entry>;

  Entries entries_for(Context&, CsrView<double> const& a, HostMatrix& host);
  Entries entries_by(Context&, MatrixFacts facts);
  bool look_again(Context&, System&);
  bool admits(Entry const&) const;
  Block solver_block(Recipe const&) const;

  SolverOptions const& options_;
  SolverParts const& parts_;
  Entries list_;
  std::size_t at_ = 0;
  SystemFacts facts_;
  bool uneven_rows_ = false;  // each is to be met by itself
  std::optional<bool> symmetric_;
  FactorRates rates_;
  mutable std::optional<bool> one_kernel_;
  bool definite_ = true;             // no method has found that A is not
  bool singular_ = false;            // what failed in the solve at hand fails so of a singular A
  bool stale_ = false;               // the list is of older values
  bool ranks_ = false;               // it is of several ranks
  int values_ = 0, look_after_ = 2;  // new values since the last look, and at which to look again
};

}  // namespace tcsolve
