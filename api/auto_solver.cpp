// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_solver.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>

namespace tcsolve {
namespace {

using Clock = std::chrono::steady_clock;

/// A block of a registry, from a tree that auto has written.
Block read_block(RegistryBase const& registry, ConfigNode const& node) {
  Diagnostics problems;
  Block block = registry.read(node, problems, solver_registries().catalog);
  problems.throw_if_any();
  return block;
}

/// The tree of a choice's text. The same few texts come with every set-up, and to parse them takes
/// as long as to set up a small system.
ConfigNode tree_of(std::string const& text) {
  constexpr std::size_t most = 64;
  thread_local std::unordered_map<std::string, ConfigNode> known;
  if (auto const found = known.find(text); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  return known.emplace(text, parse_yaml(text, "auto")).first->second;
}

/// "ilu {drop_tolerance: 0.01}" for "{type: ilu, drop_tolerance: 0.01}".
std::string brief(std::string const& block) {
  ConfigNode node = tree_of(block);
  std::string const type = node.find("type")->scalar;
  std::erase_if(node.entries, [](ConfigNode::Entry const& e) { return e.key == "type"; });
  return node.entries.empty() ? type : cat(type, " ", to_yaml_inline(node));
}

}  // namespace

void AutoSolver::keep_solver(Block solver) {
  kept_solver_ = std::move(solver);
  auto const method = make<SolverRegistry>(kept_solver_);
  StoppingParams const* const own = method->stops_by();
  kept_keys_ = own != nullptr;
  if (kept_keys_) {
    stopping_ = *own;
    return;
  }
  SolveLimits const limits = method->limits();
  constexpr double most = std::numeric_limits<int>::max();
  stopping_.max_iters = static_cast<int>(std::min(limits.iterations, most));
  stopping_.time_limit = limits.seconds;
  ConfigNode const keys = kept_solver_.registry()->effective(kept_solver_);
  ConfigNode const* const baseline = keys.find("baseline");  // a caller's solver may have none
  stopping_.baseline =
      baseline != nullptr && baseline->scalar == "initial" ? Baseline::initial : Baseline::rhs;
}

void AutoSolver::keep_preconditioner(Block preconditioner) {
  kept_preconditioner_ = std::move(preconditioner);
}

auto AutoSolver::recipes_for(Context& ctx, CsrView<double> const& a) -> std::vector<Recipe> {
  MatrixFacts f = matrix_facts(a);
  if (given_symmetric_ && f.square()) f.symmetric = *given_symmetric_;
  facts_ = SystemFacts(a, ctx.cancel_flag());
  symmetric_ = f.symmetric;
  uneven_rows_ = f.square() && f.uneven_rows();
  if (uneven_rows_ && stopping_.baseline == Baseline::rhs && !kept_solver_)
    ctx.log(Severity::note,
            cat("auto: rows of A are from ", figure_text(f.least_row), " to ",
                figure_text(f.largest_row), " in size; each is to be met (baseline: rows)"));
  bool const on_device = ctx.space() != Space::host;
  std::vector<Choice> list;
  if (kept_solver_)
    list = choices_for(f, on_device, make<SolverRegistry>(kept_solver_)->needs(), rates_);
  else if (kept_preconditioner_)
    list = choices_with(f, *make<PreconditionerRegistry>(kept_preconditioner_));
  else
    list = choices(f, on_device, on_device && direct_comes_first(f) && cudss().there, rates_);
  std::vector<Recipe> recipes;
  for (Choice& choice : list) {
    if (choice.least_squares && accepts_least_squares_)
      choice.solver.insert(choice.solver.rfind('}'), ", least_squares: true");
    recipes.push_back({std::move(choice)});
  }
  return recipes;
}

void AutoSolver::look(Context& ctx, CsrView<double> const& a) {
  rates_ = CostTable::shipped(ctx).factors;
  list_ = recipes_for(ctx, a);
  at_ = 0;
  work_ = {};
  definite_ = fresh_ = true;
  stale_ = false;
  values_ = 0;
  look_after_ = 2;
  tried_.clear();
}

/// Makes the list of the values at hand; true where it is another one, which begins anew.
bool AutoSolver::look_again() {
  if (!std::exchange(stale_, false)) return false;
  values_ = 0;
  look_after_ = std::min(2 * look_after_, 1 << 20);
  std::vector<Recipe> list =
      with_host(*ctx_, system_, [&](CsrView<double> const& a) { return recipes_for(*ctx_, a); });
  system_.symmetric = symmetric_;
  if (list == list_) return false;
  list_ = std::move(list);
  at_ = 0;
  return true;
}

AutoSolver::Share AutoSolver::share_of(Choice const& choice) const {
  // A method of the caller's is not cut into trials, which would restart it.
  bool const trial = choice.trial > 0 && !kept_solver_;
  int const own = trial ? choice.trial : choice.most_iterations;
  return {std::min(stopping_.max_iters - spent_, own), tolerance_, stopping_};
}

void AutoSolver::stop_by(StoppingParams const& stopping) {
  if (stops_by() == nullptr) return Solver::stop_by(stopping);
  stopping_ = stopping;
}

/// The keys of a method for its share of the solve.
StoppingParams AutoSolver::stopping_of(Choice const& choice, Share const& share) const {
  StoppingParams stopping = share.keys;
  stopping.max_iters = share.iterations;
  if (share.tolerance) {
    stopping.baseline = Baseline::absolute;
    stopping.atol = *share.tolerance;
  }
  if (kept_solver_) return stopping;
  if (choice.window > 0 && stopping.stagnation_window < 0)
    stopping.stagnation_window = choice.window;
  if (uneven_rows_ && stopping.baseline == Baseline::rhs) stopping.baseline = Baseline::rows;
  return stopping;
}

Block AutoSolver::solver_block(Choice const& choice, Share const& share) const {
  ConfigNode const keys = to_node(stopping_of(choice, share));
  if (!kept_solver_) {
    ConfigNode node = tree_of(choice.solver);
    node.entries.insert(node.entries.end(), keys.entries.begin(), keys.entries.end());
    return read_block(solver_registries().solvers, node);
  }
  RegistryBase const& registry = *kept_solver_.registry();
  ConfigNode node = registry.effective(kept_solver_);
  std::vector<char const*> mine{"max_iters"};
  if (share.tolerance) mine.insert(mine.end(), {"baseline", "atol"});
  if (kept_keys_) {
    mine.clear();
    for (ConfigNode::Entry const& entry : keys.entries) mine.push_back(entry.key.c_str());
  }
  bool other = false;
  for (char const* const key : mine) {
    auto const found = std::ranges::find(node.entries, key, &ConfigNode::Entry::key);
    if (found == node.entries.end()) continue;  // a caller's solver that has its own rules
    other = other || found->value.scalar != keys.find(key)->scalar;
    found->value = *keys.find(key);
  }
  return other ? read_block(registry, node) : kept_solver_;
}

Block AutoSolver::preconditioner_block(Choice const& choice) const {
  if (kept_preconditioner_) return kept_preconditioner_;
  return read_block(solver_registries().preconditioners, tree_of(choice.preconditioner));
}

void AutoSolver::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                       OperatorPtr<double> A_true) {
  if (list_.empty())
    throw Unsupported(
        "auto looks at the entries of the matrix, and here there are none to be seen; name a "
        "solver and a preconditioner");
  ctx_ = &ctx;
  A_ = std::move(A);
  A_true_ = std::move(A_true);
  given_M_ = std::move(M);
  weighed_ = {};
  spent_ = 0;
  tolerance_.reset();
  found_singular_ = false;
  if (!std::exchange(fresh_, false)) take_new_values();
  if (work_.method) return;
  unsupported_ = true;
  Stop const ended = next();
  if (ended != Stop::running) at_ = 0;
  switch (ended) {
    case Stop::running: return;
    case Stop::cancelled: throw Cancelled();
    case Stop::time_limit: throw OutOfTime();
    default: throw_refusals(tried_);
  }
}

void AutoSolver::throw_refusals(Story const& story) const {
  std::string text = "auto: no choice could be set up";
  for (ChoiceReport const& t : story) text += "; " + t.text();
  if (unsupported_ && !story.empty()) throw Unsupported(text);
  throw SetupError(text);
}

/// What a report says of a choice before it has run: with the limits of the whole solve.
ChoiceReport AutoSolver::told_of(Choice const& choice) const {
  ChoiceReport told;
  told.solver_block = solver_block(choice, {stopping_.max_iters, {}, stopping_});
  told.solver = told.solver_block.type();
  if (given_M_) {
    told.preconditioner = given_M_->name();
  } else {
    told.preconditioner_block = preconditioner_block(choice);
    told.preconditioner = told.preconditioner_block.type();
  }
  std::string const solver = kept_solver_ ? told.solver : brief(choice.solver);
  bool const known = given_M_ || kept_preconditioner_;
  told.label = cat(solver, " with ", known ? told.preconditioner : brief(choice.preconditioner));
  return told;
}

/// What is at work takes the values that system_ has now. Nothing is set up afterwards where it
/// cannot, or where the list is to begin anew.
void AutoSolver::take_new_values() {
  for (Recipe& r : list_) r.refused = false;
  stale_ = true;
  if (!work_.method) {  // all has failed with the older values
    definite_ = true;
    look_again();
    at_ = 0;
    return;
  }
  bool const renews = !keep_ && !given_M_;
  if (renews && ++values_ >= look_after_) {
    bool const again =
        !definite_ && std::ranges::any_of(list_, [](Recipe const& r) { return r.choice.definite; });
    definite_ = true;  // as far as is known of these values
    if (look_again() || again) {
      at_ = 0;
      work_ = {};
    }
  }
  if (!work_.method) return;
  auto const start = Clock::now();
  try {
    if (given_M_)
      work_.M = given_M_;
    else if (work_.owned && !keep_) {
      work_.owned->update(*ctx_, system_);
      work_.M = work_.owned->view();
    }
    work_.old = work_.M && keep_ && !given_M_;
    set_up(*work_.method, list_[at_].choice);
    return;
  } catch (Cancelled const&) { throw; } catch (OutOfTime const&) {
    throw;
  } catch (SetupError const& e) {
    tell_failure(list_[at_].choice, e.what(), seconds_since(start));
  } catch (MemoryError const& e) {
    tell_failure(list_[at_].choice, e.what(), seconds_since(start));
  }
  work_ = {};
  list_[at_].refused = true;
  if (!look_again()) at_ = 0;
}

void AutoSolver::tell_failure(Choice const& choice, std::string const& why, double seconds) {
  ChoiceReport failed = told_of(choice);
  failed.outcome = why;
  failed.setup_seconds = seconds;
  ctx_->log(Severity::note, cat("auto: ", failed.text()));
  found_singular_ = found_singular_ || ends_as_if_singular(failed);
  tried_.push_back(std::move(failed));
}

/// Frees what is at work and sets up the first recipe from at_ on that admits it: Stop::running.
/// Else what kept it from that: time_limit or cancelled, where a recipe may be tried again, or
/// setup_failed, when none is left.
Stop AutoSolver::next() {
  bool too_long = false;
  for (work_ = {}; at_ < list_.size(); ++at_) {
    Recipe& recipe = list_[at_];
    if (!admits(recipe)) continue;
    auto const start = Clock::now();
    Stop ended = Stop::running;
    bool waits = false;
    try {
      ctx_->setting_up(ctx_->deadline(), [&] { begin(recipe.choice); });
      work_.setup_seconds = seconds_since(start);
      return Stop::running;
    } catch (Error const& e) {  // SetupError, MemoryError, a build without a library
      if (dynamic_cast<Cancelled const*>(&e) != nullptr) ended = Stop::cancelled;
      if (dynamic_cast<OutOfTime const*>(&e) != nullptr) ended = Stop::time_limit;
      waits = dynamic_cast<TakesTooLong const*>(&e) != nullptr;
      if (waits) ended = Stop::running;
      if (dynamic_cast<Unsupported const*>(&e) == nullptr) unsupported_ = false;
      work_ = {};
      tell_failure(recipe.choice, e.what(), seconds_since(start));
    }
    if (ended != Stop::running) return ended;
    recipe.refused = !waits;
    too_long = too_long || waits;
  }
  return too_long ? Stop::time_limit : Stop::setup_failed;
}

void AutoSolver::begin(Choice const& choice) {
  Context& ctx = *ctx_;
  Block const preconditioner = preconditioner_block(choice);
  Weighed weighed = std::exchange(weighed_, {});
  if (!(weighed.choice == choice)) weighed = {};
  auto const factory =
      weighed.factory ? std::move(weighed.factory) : make<PreconditionerRegistry>(preconditioner);
  ctx.log(Severity::note, cat("auto: ", told_of(choice).label, ", since ", choice.reason));
  if (given_M_) {
    work_.M = given_M_;
  } else if (!factory->is_identity()) {
    ctx.cancel_flag().check();
    System system = system_;
    if (weighed.notes) system.notes = weighed.notes;
    work_.owned = build_within_memory(ctx, *factory, system, preconditioner.type());
    work_.M = work_.owned->view();
  }
  if (work_.M && !work_.M->details().empty())
    ctx.log(Severity::detail, cat(work_.M->name(), ": ", work_.M->details()));
  make_method(choice);
}

/// The method, for what is left of the limits.
void AutoSolver::make_method(Choice const& choice) {
  work_.method = nullptr;
  Share const share = share_of(choice);
  std::shared_ptr<Solver> method = make<SolverRegistry>(solver_block(choice, share));
  if (framing_.order || !framing_.nullspace.empty()) method->frame(framing_);
  set_up(*method, choice);
  work_.method = std::move(method);
  work_.share = share;
}

/// Other limits for the method at work; one that has rules of its own is made anew.
void AutoSolver::work_within(Share const& share) {
  Choice const& choice = list_[at_].choice;
  if (work_.method->stops_by() == nullptr) return make_method(choice);
  work_.method->stop_by(stopping_of(choice, share));
  work_.share = share;
}

/// With A, or, for products with A^T that a format has not, with the matrix as it is.
void AutoSolver::set_up(Solver& method, Choice const& choice) const {
  bool const has_transpose = A_->traits().transpose && (!A_true_ || A_true_->traits().transpose);
  if (!choice.least_squares || has_transpose) return method.setup(*ctx_, A_, work_.M, A_true_);
  auto const csr = std::make_shared<CsrOperator<double>>(*ctx_, system_.matrix, Arrays::borrowed);
  method.setup(*ctx_, csr, work_.M, csr);
}

std::optional<SolveReport> AutoSolver::unsolvable(Context& ctx, In<double> b) const {
  if (kept_solver_ || !framing_.nullspace.empty() || !facts_.has_empty_rows()) return std::nullopt;
  auto const here = to_host(ctx, b.data, b.space, static_cast<std::size_t>(b.rows));
  return facts_.unsolvable(here.data(), stopping_, name());
}

Real AutoSolver::vectors() const {
  return kept_solver_ ? make<SolverRegistry>(kept_solver_)->vectors() : Real::f64;
}

bool AutoSolver::begins_as_one_kernel() const {
  if (list_.empty()) return false;
  Choice const& first = list_.front().choice;
  auto const method = make<SolverRegistry>(solver_block(first, share_of(first)));
  auto const M = make<PreconditionerRegistry>(preconditioner_block(first));
  return runs_as_one_kernel(*method, M->is_identity() ? nullptr : M.get());
}

SolveReport AutoSolver::approximate(In<double> b, Out<double> x) {
  if (ctx_ == nullptr || !work_.method) throw ShapeError("auto: approximate before setup");
  return work_.method->approximate(b, x);
}

SolverCost AutoSolver::cost() const {
  SolverCost most;
  for (auto const& [choice, refused] : list_) {
    if (choice.least_squares) continue;  // the last resort, for which no format is chosen
    SolverCost const cost = make<SolverRegistry>(solver_block(choice, share_of(choice)))->cost();
    most.vectors = std::max(most.vectors, cost.vectors);
    most.transpose = most.transpose || cost.transpose;
  }
  if (list_.empty()) most.vectors = 60;  // gmres
  return most;
}

}  // namespace tcsolve
