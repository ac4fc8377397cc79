// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/recipe_list.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <tcsolve/api/auto_keys.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>

namespace tcsolve {
namespace {

std::optional<bool> given_symmetry(SolverOptions const& options) {
  if (options.symmetric == Symmetry::automatic) return std::nullopt;
  return options.symmetric == Symmetry::yes;
}

/// Those of the host are kept: a table of costs is copied for each answer.
FactorRates factor_rates(Context const& ctx) {
  if (ctx.device() != nullptr) return CostTable::shipped(ctx).factors;
  static FactorRates const of_the_host = CostTable::host().factors;
  return of_the_host;
}

}  // namespace

RecipeList::RecipeList(SolverOptions const& options, SolverParts const& parts)
    : options_(options), parts_(parts) {
  forget();
}

void RecipeList::forget() {
  list_.clear();
  if (is_named()) list_.push_back({Recipe{}});
  at_ = 0;
  facts_ = {};
  uneven_rows_ = stale_ = ranks_ = false;
  symmetric_ = given_symmetry(options_);
  one_kernel_.reset();
  definite_ = true;
  values_ = 0;
  look_after_ = 2;
}

auto RecipeList::entries_for(Context& ctx, CsrView<double> const& a, HostMatrix& host) -> Entries {
  MatrixFacts const f = given_symmetry(options_) ? row_facts(ctx, a) : matrix_facts(ctx, a);
  bool const may_be_singular = f.square() && f.zero_diagonal > 0;
  facts_ = may_be_singular ? SystemFacts(host.of(ctx, a), ctx.cancel_flag())
                           : SystemFacts(f.square() ? f.rows : 0);
  return entries_by(ctx, f);
}

auto RecipeList::entries_by(Context& ctx, MatrixFacts f) -> Entries {
  if (auto const given = given_symmetry(options_); given && f.square()) f.symmetric = *given;
  symmetric_ = f.symmetric;
  uneven_rows_ = f.square() && f.uneven_rows();
  if (uneven_rows_ && keys().baseline == Baseline::automatic && parts_.chooses_method)
    ctx.log(Severity::note,
            cat("auto: rows of A are from ", figure_text(f.least_row), " to ",
                figure_text(f.largest_row), " in size; each is to be met (baseline: rows)"));
  bool const on_device = ctx.space() != Space::host;
  bool const direct_first =
      on_device && direct_comes_first(f) && !ctx.communicator().agree(!cudss().there);
  std::vector<Recipe> list;
  if (!parts_.chooses_method)
    list = recipes_for(f, on_device, parts_.method->needs(), rates_);
  else if (!parts_.chooses_preconditioner)
    list = recipes_with(f, *parts_.preconditioner);
  else
    list = recipes(f, on_device, direct_first, rates_);
  if (ranks_)
    list = for_ranks(std::move(list), f, ctx.communicator().ranks(), sums_by_messages(ctx));
  auto const* const chooser = dynamic_cast<AutoKeys const*>(parts_.method.get());
  bool const accepted = chooser != nullptr && chooser->accepts_least_squares();
  Entries entries;
  for (Recipe& recipe : list) {
    if (recipe.least_squares && accepted)
      recipe.solver.insert(recipe.solver.rfind('}'), ", least_squares: true");
    entries.push_back({std::move(recipe)});
  }
  return entries;
}

void RecipeList::look(Context& ctx, CsrView<double> const& a, HostMatrix& host) {
  if (is_named()) return;
  rates_ = factor_rates(ctx);
  list_ = entries_for(ctx, a, host);
}

void RecipeList::look(Context& ctx, DistributedMatrix const& a) {
  if (is_named()) return;
  rates_ = factor_rates(ctx);
  ranks_ = true;
  list_ = entries_by(ctx, matrix_facts(ctx, a));
}

std::optional<SolveReport> RecipeList::unsolvable(Context& ctx, In<double> b,
                                                  StoppingParams const& keys) const {
  if (!parts_.chooses_method || !options_.nullspace.empty() || !facts_.has_empty_rows())
    return std::nullopt;
  auto const here = to_host(ctx, b.data, b.space, static_cast<std::size_t>(b.rows));
  return facts_.unsolvable(here.data(), keys, parts_.method->name());
}

// ---- what comes next ----

/// With a nullspace that is given, the system that is left is not singular.
bool RecipeList::admits(Entry const& e) const {
  bool const singular = options_.nullspace.empty() && (facts_.is_singular() || singular_);
  return !e.refused && (definite_ || !e.recipe.definite) && (singular || !e.recipe.least_squares);
}

Recipe const* RecipeList::upcoming() {
  while (at_ < list_.size() && !admits(list_[at_])) ++at_;
  return at_ < list_.size() ? &list_[at_].recipe : nullptr;
}

void RecipeList::begin_solve(Story const& story) {
  singular_ = std::ranges::any_of(story, ends_as_if_singular);
}

bool RecipeList::relist_after(Stop failure, Context& ctx, System& system) {
  if (failure == Stop::indefinite_operator) definite_ = false;
  Recipe const failed = at();
  if (!look_again(ctx, system)) return false;
  for (Entry& e : list_) e.refused = e.refused || e.recipe == failed;
  return true;
}

void RecipeList::prefer_complete(
    std::function<bool(Recipe const&, Recipe const&)> const& are_better) {
  auto const next = std::find_if(list_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, list_.end(),
                                 [this](Entry const& e) { return admits(e); });
  if (!at().incomplete || next == list_.end() || !next->recipe.incomplete) return;
  auto const complete = std::find_if(
      next, list_.end(), [this](Entry const& e) { return e.recipe.complete && admits(e); });
  if (complete != list_.end() && are_better(next->recipe, complete->recipe))
    std::rotate(next, complete, complete + 1);
}

// ---- new values ----

void RecipeList::new_values() {
  for (Entry& e : list_) e.refused = false;
  stale_ = true;
  symmetric_ = given_symmetry(options_);
}

/// Makes the list of the values at hand; true where it is another one, which begins anew.
bool RecipeList::look_again(Context& ctx, System& system) {
  if (is_named() || !std::exchange(stale_, false) || ranks_) return false;
  values_ = 0;
  look_after_ = std::min(2 * look_after_, 1 << 20);
  HostMatrix once;
  Entries list = entries_for(ctx, system.matrix, host_side(system, once));
  system.symmetric = symmetric_;
  if (list == list_) return false;
  list_ = std::move(list);
  at_ = 0;
  return true;
}

bool RecipeList::relist_if_due(Context& ctx, System& system) {
  if (is_named() || ++values_ < look_after_) return false;
  bool const again =
      !definite_ && std::ranges::any_of(list_, [](Entry const& e) { return e.recipe.definite; });
  definite_ = true;  // as far as is known of these values
  if (!look_again(ctx, system) && !again) return false;
  at_ = 0;
  return true;
}

void RecipeList::restart(Context& ctx, System& system) {
  definite_ = true;
  look_again(ctx, system);
  at_ = 0;
}

// ---- what a recipe is ----

StoppingParams RecipeList::keys() const {
  if (StoppingParams const* const own = parts_.method->stops_by()) return *own;
  SolveLimits const limits = parts_.method->limits();  // of one that has rules of its own
  constexpr double most = std::numeric_limits<int>::max();
  return {.max_iters = static_cast<int>(std::min(limits.iterations, most)),
          .time_limit = limits.seconds};
}

StoppingParams RecipeList::stopping_of(Recipe const& recipe, StoppingParams const& keys,
                                       Index spent, std::optional<double> tolerance) const {
  StoppingParams stopping = keys;
  if (is_named()) return stopping;
  stopping.max_iters = std::min(stopping.max_iters - spent, recipe.most_iterations);
  stopping.patience = recipe.patience;
  // Or the first choice has all iterations of the keys, and the others are never tried.
  bool const takes_all = stopping.max_iters < recipe.most_iterations && list_.size() > 1 &&
                         recipe == list_.front().recipe;
  if (takes_all && recipe.patience.steps == 0) {
    int const quarter = std::max(50, stopping.max_iters / 4);
    stopping.patience = {.steps = quarter, .gain = 0.5, .from = quarter};
  }
  if (tolerance) {
    stopping.baseline = Baseline::absolute;
    stopping.atol = *tolerance;
  }
  if (!parts_.chooses_method) return stopping;
  if (recipe.window > 0 && stopping.stagnation_window < 0)
    stopping.stagnation_window = recipe.window;
  if (stopping.baseline == Baseline::automatic)
    stopping.baseline = uneven_rows_ ? Baseline::rows : Baseline::rhs;
  return stopping;
}

/// With the keys of the whole solve.
Block RecipeList::solver_block(Recipe const& recipe) const {
  if (!parts_.chooses_method) return options_.solver;
  StoppingParams stopping = stopping_of(recipe, keys());
  stopping.max_iters = keys().max_iters;
  stopping.patience = {};  // no key
  return read_text(solver_registries().solvers, recipe.solver, stopping);
}

std::unique_ptr<Solver> RecipeList::method_of(Recipe const& recipe) const {
  auto method = make<SolverRegistry>(solver_block(recipe));
  if (method->stops_by() != nullptr) method->stop_by(stopping_of(recipe, keys()));
  return method;
}

Block RecipeList::preconditioner_block(Recipe const& recipe) const {
  if (!parts_.chooses_preconditioner) return options_.preconditioner;
  return read_text(solver_registries().preconditioners, recipe.preconditioner);
}

ChoiceReport RecipeList::told_of(Recipe const& recipe, LinearOperator<double> const* M) const {
  ChoiceReport told;
  told.solver_block = solver_block(recipe);
  told.solver = told.solver_block.type();
  if (M == nullptr) told.preconditioner_block = preconditioner_block(recipe);
  told.preconditioner = M != nullptr ? M->name() : told.preconditioner_block.type();
  bool const known = M != nullptr || !parts_.chooses_preconditioner;
  told.label = cat(parts_.chooses_method ? brief(recipe.solver) : told.solver, " with ",
                   known ? told.preconditioner : brief(recipe.preconditioner));
  return told;
}

std::string RecipeList::closing(SolveReport const& last, Story const& story) const {
  bool const minimised = at_ < list_.size() && at().least_squares;
  return facts_.closing(last, story, minimised);
}

// ---- facts ----

SolverCost RecipeList::cost() const {
  if (!parts_.chooses_method) return parts_.method->cost();
  SolverCost most;
  std::string const* before = nullptr;
  for (Entry const& e : list_) {
    if (e.recipe.least_squares) continue;  // the last resort, for which no format is chosen
    // Recipes of one method stand together, and its cost is that of its text.
    if (before != nullptr && *before == e.recipe.solver) continue;
    before = &e.recipe.solver;
    SolverCost const cost = method_of(e.recipe)->cost();
    most.vectors = std::max(most.vectors, cost.vectors);
    most.transpose = most.transpose || cost.transpose;
  }
  return most;
}

bool RecipeList::begins_as_one_kernel() const {
  if (one_kernel_) return *one_kernel_;
  Recipe const& first = list_.front().recipe;
  // runs_as_one_kernel() sets the method up, so it gets an instance of its own.
  auto const method = method_of(first);
  auto const M = make<PreconditionerRegistry>(preconditioner_block(first));
  bool const plain = M->is_identity();
  one_kernel_ = (plain || options_.nullspace.empty()) &&
                runs_as_one_kernel(*method, plain ? nullptr : M.get());
  return *one_kernel_;
}

}  // namespace tcsolve
