// SPDX-License-Identifier: Apache-2.0
/// What is set up of a list of recipes, and renewed.
#include <tcsolve/api/recipe_run.hpp>

#include <cmath>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>

namespace tcsolve {
namespace {

/// The pair a_ij, a_ji that differs most, over sqrt(|a_ii a_jj|).
struct WorstPair {
  Index i = 0, j = 0;
  double upper = 0, lower = 0, off = 0;
};
WorstPair worst_pair(CsrView<double> const& a) {
  Csr<double> const mirrored = transpose(a);
  CsrView<double> const t = mirrored.view();
  WorstPair worst;
  for (Index i = 0; i < a.rows; ++i) {
    double const scale = row_scale(a, i);
    Offset k = a.offsets[i], l = t.offsets[i];
    Offset const k_end = a.offsets[i + 1], l_end = t.offsets[i + 1];
    while (k < k_end || l < l_end) {
      Index const j =
          l == l_end || (k < k_end && a.columns[k] <= t.columns[l]) ? a.columns[k] : t.columns[l];
      double const upper = k < k_end && a.columns[k] == j ? a.values[k++] : 0.0,
                   lower = l < l_end && t.columns[l] == j ? t.values[l++] : 0.0;
      if (j <= i || upper == lower) continue;
      double const off = std::abs(upper - lower) / (scale * row_scale(a, j));
      if (off > worst.off) worst = {i, j, upper, lower, off};
    }
  }
  return worst;
}

/// M's set-up has looked whether A is symmetric, and says no where the method takes it to be.
/// Halves that differ as single precision rounds them are left to the method.
void require_symmetric(Context& ctx, Solver const& method, LinearOperator<double> const* M,
                       RecipeSystem const& of) {
  if (!method.needs().symmetric) return;
  std::optional<HierarchyFacts> const facts = hierarchy_facts(M);
  if (!facts || facts->symmetric) return;
  constexpr double rounding = 1e-6;
  WorstPair const w = with_host(ctx, of.system, worst_pair);
  if (!(w.off > rounding)) return;
  auto const given = [&](Index row) {
    return (of.framing.order ? of.framing.order->old_numbers()[std::size_t(row)] : row) + 1;
  };
  Index const i = given(w.i), j = given(w.j);
  throw SetupError(cat("'solver.type' is ", method.name(), ", which takes A to be symmetric, and ",
                       "row ", i, " has ", w.upper, " in column ", j, " where row ", j, " has ",
                       w.lower, " in column ", i, "; take `solver: bicgstab` or gmres"));
}

}  // namespace

void RecipeRun::clear() {
  ready_ = false;
  work_ = {};
  of_ = {};
  weighed_ = {};
  tried_.clear();
  list_.forget();
}

void RecipeRun::set_up(RecipeSystem of) {
  if (list_.empty())
    throw Unsupported(
        "auto looks at the entries of the matrix, and here there are none to be seen; name a "
        "solver and a preconditioner");
  of_ = std::move(of);
  of_.system.symmetric = list_.symmetric();
  list_.begin_solve({});
  require_next();
  settle();
  ready_ = true;
}

/// The first recipe from the one at hand on that can be set up, outside of a solve.
void RecipeRun::require_next() {
  unsupported_ = true;
  Stop const ended = next();
  if (ended != Stop::running) list_.go_to(0);
  switch (ended) {
    case Stop::running: return;
    case Stop::cancelled: throw Cancelled();
    case Stop::time_limit: throw OutOfTime();
    default: throw_refusals(tried_);
  }
}

void RecipeRun::settle() {
  report_.preconditioner = M() ? M()->details() : "";
  ctx_.synchronize();
}

void RecipeRun::throw_refusals(Story const& story) const {
  std::string text = "auto: no choice could be set up";
  for (ChoiceReport const& t : story) text += "; " + t.text();
  if (unsupported_ && !story.empty()) throw Unsupported(text);
  throw SetupError(text);
}

void RecipeRun::tell_failure(Recipe const& recipe, std::string const& why, double seconds) {
  ChoiceReport failed = list_.told_of(recipe, of_.M.get());
  failed.outcome = why;
  failed.setup_seconds = seconds;
  ctx_.log(Severity::note, cat("auto: ", failed.text()));
  list_.note(failed);
  tried_.push_back(std::move(failed));
}

/// Frees what is at work and sets up the first recipe from the one at hand on that admits it:
/// Stop::running. Else what kept it from that: time_limit or cancelled, where a recipe may be tried
/// again, or setup_failed, when none is left. What a named recipe throws passes through.
Stop RecipeRun::next() {
  bool too_long = false;
  work_ = {};
  while (Recipe const* const recipe = list_.upcoming()) {
    auto const start = Clock::now();
    try {
      ctx_.setting_up(ctx_.deadline(), [&] { begin(*recipe); });
      work_.setup_seconds = seconds_since(start);
      renewal_.renewed(work_.setup_seconds);
      return Stop::running;
    } catch (Error const& e) {  // SetupError, MemoryError, a build without a library
      work_ = {};
      if (list_.is_named() || !thrown_by_all(ctx_)) throw;
      if (dynamic_cast<Unsupported const*>(&e) == nullptr) unsupported_ = false;
      tell_failure(*recipe, e.what(), seconds_since(start));
      bool const waits = dynamic_cast<TakesTooLong const*>(&e) != nullptr;
      if (dynamic_cast<Cancelled const*>(&e) != nullptr) return Stop::cancelled;
      if (dynamic_cast<OutOfTime const*>(&e) != nullptr && !waits) return Stop::time_limit;
      waits ? list_.pass() : list_.refuse();
      too_long = too_long || waits;
    }
  }
  return too_long ? Stop::time_limit : Stop::setup_failed;
}

void RecipeRun::begin(Recipe const& recipe) {
  if (!list_.is_named())
    ctx_.log(Severity::note,
             cat("auto: ", list_.told_of(recipe, of_.M.get()).label, ", since ", recipe.reason));
  work_.made = preconditioner_of(recipe);
  OperatorPtr<double> const& M = work_.made.M;
  if (work_.made.owner && !M->details().empty())
    ctx_.log(Severity::detail, cat(M->name(), ": ", M->details()));
  std::shared_ptr<Solver> method = made_method(recipe);
  set_up_method(*method, recipe);
  work_.method = std::move(method);
}

/// Within the frame, to be set up.
std::unique_ptr<Solver> RecipeRun::made_method(Recipe const& recipe) const {
  auto method = list_.method_of(recipe);
  if (of_.framing.order || !of_.framing.nullspace.empty()) method->frame(of_.framing);
  if (lender_ != nullptr && lender_->work_.method) method->share(*lender_->work_.method);
  return method;
}

/// M of the values at hand.
auto RecipeRun::preconditioner_of(Recipe const& recipe) -> Made {
  Range const range(ctx_, "preconditioner");
  Weighed weighed = std::exchange(weighed_, {});
  if (of_.M) return {nullptr, of_.M};
  if (!(weighed.recipe == recipe)) weighed = {};
  Block const block = list_.preconditioner_block(recipe);
  auto const factory =
      weighed.factory ? std::move(weighed.factory) : make<PreconditionerRegistry>(block);
  if (factory->is_identity()) return {};
  System system = of_.system;
  if (weighed.notes) system.notes = weighed.notes;
  bool const absent =
      system.matrix.offsets.data == nullptr;  // rows say nothing of an A without rows
  if ((absent || system.matrix.rows != system.A->rows()) && factory->needs_matrix())
    throw Unsupported(cat("the preconditioner '", block.type(), "' is made of a matrix, and ",
                          system.A->name(),
                          " is none in csr; give one of your own, or take 'none'"));
  ctx_.cancel_flag().check();
  Made made{build_within_memory(ctx_, *factory, system, block.type()), nullptr};
  made.M = made.owner->view();
  return made;
}

/// With A, or, for products with A^T that a format has not, with the matrix as it is.
void RecipeRun::set_up_method(Solver& method, Recipe const& recipe) const {
  if (work_.made.owner) require_symmetric(ctx_, method, work_.made.M.get(), of_);
  OperatorPtr<double> const &A = of_.system.A, &M = work_.made.M;
  bool const has_transpose = A->traits().transpose && of_.A_true->traits().transpose;
  if (!recipe.least_squares || has_transpose) return method.setup(ctx_, A, M, of_.A_true);
  auto const csr = std::make_shared<CsrOperator<double>>(ctx_, of_.system.matrix, Arrays::borrowed);
  method.setup(ctx_, csr, M, csr);
}

// ---- new values ----

bool RecipeRun::keeps() const {
  if (!M() || of_.M || options_.renew == Renew::always) return false;
  return options_.renew == Renew::never || !ctx_.communicator().agree(renewal_.due());
}

void RecipeRun::count_renewal(double seconds) {
  renewal_.renewed(seconds);
  ++report_.renewals;
  report_.renewal += seconds;
}

void RecipeRun::take_values(System system) {
  auto const start = Clock::now();
  bool const keep = keeps();
  of_.system = std::move(system);
  if (!follow(keep, false)) require_next();
  settle();
  if (!keep) count_renewal(seconds_since(start));
}

void RecipeRun::refresh(System system) {
  of_.system = std::move(system);
  if (!follow(false, true)) require_next();
  settle();
}

void RecipeRun::widen(System system, OperatorPtr<double> A_true) {
  system.symmetric = of_.system.symmetric;
  of_.system = std::move(system);
  of_.A_true = std::move(A_true);
  weighed_ = {};
  if (!work_.method) return;
  std::shared_ptr<Solver> method = made_method(list_.at());
  work_.method.reset();  // its vectors go before those of the next
  set_up_method(*method, list_.at());
  work_.method = std::move(method);
}

/// What is at work takes the values. False where it cannot, or where the list is to begin anew:
/// nothing is set up then. keep: M stays as it is; anew: it is not updated but made again.
bool RecipeRun::follow(bool keep, bool anew) {
  weighed_ = {};
  list_.begin_solve({});
  list_.new_values();
  of_.system.symmetric = list_.symmetric();
  if (!work_.method) {  // all has failed with the older values
    list_.restart(ctx_, of_.system);
    return false;
  }
  if (!keep && !of_.M && list_.relist_if_due(ctx_, of_.system)) {
    work_ = {};
    return false;
  }
  Recipe const& recipe = list_.at();
  auto const start = Clock::now();
  try {
    if (anew) {
      work_.made = {};
      work_.made = preconditioner_of(recipe);
    } else if (work_.made.owner && !keep) {
      work_.made.owner->update(ctx_, of_.system);
      work_.made.M = work_.made.owner->view();
    }
    work_.old = keep;
    set_up_method(*work_.method, recipe);
    return true;
  } catch (Error const& e) {
    bool const of_values = dynamic_cast<SetupError const*>(&e) != nullptr ||
                           dynamic_cast<MemoryError const*>(&e) != nullptr;
    if (list_.is_named() || !of_values || !thrown_by_all(ctx_)) throw;
    tell_failure(recipe, e.what(), seconds_since(start));
  }
  work_ = {};
  list_.refuse();
  list_.restart(ctx_, of_.system);
  return false;
}

/// A preconditioner of the values at hand, while the old one stands by: it is in force again where
/// that fails. Returns why it failed, empty where it did not.
std::string RecipeRun::renew_beside() {
  Recipe const& recipe = list_.at();
  auto const start = Clock::now();
  bool in_force = false;
  Made other;
  try {
    ctx_.setting_up(ctx_.deadline(), [&] { other = preconditioner_of(recipe); });
    std::swap(work_.made, other);
    in_force = true;
    set_up_method(*work_.method, recipe);
  } catch (Error const& e) {
    std::string why = e.what();
    if (of_.framing.order && dynamic_cast<SetupError const*>(&e) != nullptr)
      why += "; rows and columns are numbered as reordered";
    if (in_force) {
      std::swap(work_.made, other);
      set_up_method(*work_.method, recipe);
    }
    ctx_.log(Severity::note, cat("the old preconditioner stays: ", why));
    return why;
  }
  work_.old = false;
  count_renewal(seconds_since(start));
  settle();
  return "";
}

}  // namespace tcsolve
