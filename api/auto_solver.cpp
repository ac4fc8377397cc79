// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_solver.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <tcsolve/api/renewal.hpp>
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

/// What complete factors take, with their order and the solves, over their multiplications alone
/// (PreconditionerFactory::least_seconds), about.
constexpr double over_the_least = 4;

/// A choice whose trial takes the residual to this part of what it was goes on.
constexpr double trial_gain = 0.1;

/// A block of a registry, from a tree that auto has written.
Block read_block(RegistryBase const& registry, ConfigNode const& node) {
  Diagnostics problems;
  Block block = registry.read(node, problems, solver_registries().catalog);
  problems.throw_if_any();
  return block;
}

/// "ilu {drop_tolerance: 0.01}" for "{type: ilu, drop_tolerance: 0.01}".
std::string brief(std::string const& block) {
  ConfigNode node = parse_yaml(block, "auto");
  std::string const type = node.find("type")->scalar;
  std::erase_if(node.entries, [](ConfigNode::Entry const& e) { return e.key == "type"; });
  return node.entries.empty() ? type : cat(type, " ", to_yaml_inline(node));
}

/// Whether another method may do better: an answer, a request to stop or unusable input end it all.
bool goes_on(SolveReport const& r) {
  switch (r.reason) {
    case Stop::converged:
    case Stop::least_squares:
    case Stop::cancelled:
    case Stop::time_limit:
    case Stop::precision_limit:
    case Stop::out_of_memory: return false;
    case Stop::nonfinite:
      return r.cause != Cause::rhs && r.cause != Cause::guess && r.cause != Cause::matrix;
    default: return true;
  }
}

/// Whether a singular matrix ends a method, or a set-up, like this.
bool ends_as_if_singular(ChoiceReport const& told) {
  bool const of_another =
      told.outcome == "breakdown:inner_solver" || told.outcome == "false_convergence:nullspace";
  return !of_another && (told.outcome.starts_with(name(Stop::breakdown)) ||
                         told.outcome.starts_with(name(Stop::false_convergence)) ||
                         told.outcome.find("singular") != std::string::npos);
}

/// The limit of the solve, not one that auto gave to a choice, is what ended it.
void end_by(SolveReport& report, Stop reason, std::string const& solver) {
  report.reason = reason;
  report.cause = Cause::none;
  report.message = message_of(report, solver);
}

std::string no_more_iterations(SolveReport const&) {
  return "auto gives none of its choices more iterations; name a solver and a preconditioner to go "
         "on with them";
}

/// "; before it: cg with jacobi: max_iterations after 50 iterations; not set up: ...", of what
/// stands before and after the choice that the report is about.
std::string told_besides(std::vector<ChoiceReport> const& story) {
  auto const last = std::find_if(story.rbegin(), story.rend(), [](ChoiceReport const& c) {
                      return c.ran;
                    }).base();  // behind it
  std::string text;
  auto const list = [&](auto from, auto to) {
    for (auto c = from; c != to; ++c) text += cat(c == from ? " " : ", ", c->text());
  };
  if (last - story.begin() > 1) {
    text += "; before it:";
    list(story.begin(), last - 1);
  }
  if (last != story.end()) {
    text += "; not set up:";
    list(last, story.end());
  }
  return text;
}

}  // namespace

void AutoSolver::keep_solver(Block solver) {
  kept_solver_ = std::move(solver);
  SolveLimits const limits = make<SolverRegistry>(kept_solver_)->limits();
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
  MatrixFacts const f = matrix_facts(a);
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
  return {std::min(stopping_.max_iters - spent_, own), tolerance_};
}

Block AutoSolver::solver_block(Choice const& choice, Share const& share) const {
  StoppingParams stopping = stopping_;
  stopping.max_iters = share.iterations;
  if (share.tolerance) {
    stopping.baseline = Baseline::absolute;
    stopping.atol = *share.tolerance;
  }
  if (choice.window > 0 && stopping.stagnation_window < 0)
    stopping.stagnation_window = choice.window;
  if (uneven_rows_ && stopping.baseline == Baseline::rhs) stopping.baseline = Baseline::rows;
  ConfigNode const keys = to_node(stopping);
  if (!kept_solver_) {
    ConfigNode node = parse_yaml(choice.solver, "auto");
    node.entries.insert(node.entries.end(), keys.entries.begin(), keys.entries.end());
    return read_block(solver_registries().solvers, node);
  }
  RegistryBase const& registry = *kept_solver_.registry();
  ConfigNode node = registry.effective(kept_solver_);
  std::vector<char const*> mine{"max_iters"};
  if (share.tolerance) mine.insert(mine.end(), {"baseline", "atol"});
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
  return read_block(solver_registries().preconditioners, parse_yaml(choice.preconditioner, "auto"));
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
  told.solver_block = solver_block(choice, {stopping_.max_iters, {}});
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

/// With A, or, for products with A^T that a format has not, with the matrix as it is.
void AutoSolver::set_up(Solver& method, Choice const& choice) const {
  bool const has_transpose = A_->traits().transpose && (!A_true_ || A_true_->traits().transpose);
  if (!choice.least_squares || has_transpose) return method.setup(*ctx_, A_, work_.M, A_true_);
  auto const csr = std::make_shared<CsrOperator<double>>(*ctx_, system_.matrix, Arrays::borrowed);
  method.setup(*ctx_, csr, work_.M, csr);
}

SolveReport AutoSolver::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError("auto: solve before setup");
  auto const start = Clock::now();
  spent_ = 0;
  tolerance_.reset();
  setting_up_ = 0;
  Story story = std::exchange(tried_, {});
  found_singular_ = std::ranges::any_of(story, ends_as_if_singular);
  SolveReport total;
  ctx_->in_turn(deadline_after(start, stopping_.time_limit), [&] { total = run(b, x, story); });
  bool const minimised = at_ < list_.size() && list_[at_].choice.least_squares;
  total.message = cat(facts_.closing(total, story, minimised), told_besides(story));
  total.choices = std::move(story);
  total.setup_seconds = setting_up_;
  total.seconds = seconds_since(start) - setting_up_;
  return total;
}

std::optional<SolveReport> AutoSolver::unsolvable(Context& ctx, In<double> b) const {
  if (kept_solver_ || !framing_.nullspace.empty() || !facts_.has_empty_rows()) return std::nullopt;
  auto const here = to_host(ctx, b.data, b.space, static_cast<std::size_t>(b.rows));
  return facts_.unsolvable(here.data(), stopping_, name());
}

SolveReport AutoSolver::run(In<double> b, Out<double> x, Story& story) {
  Context& ctx = *ctx_;
  std::optional<SolveReport> total;
  std::size_t ran = at_;
  for (bool again = false;;) {
    if (!work_.method) {
      auto const start = Clock::now();
      Stop ended = next();
      if (ended == Stop::running) ended = ctx.asked();  // after the last look of the set-up
      setting_up_ += seconds_since(start);
      for (ChoiceReport& t : std::exchange(tried_, {})) story.push_back(std::move(t));
      if (ended != Stop::running) {
        if (at_ == list_.size()) at_ = ran;
        if (ended == Stop::setup_failed && !total) throw_refusals(story);
        if (!total) return not_begun(ended, name());
        if (ended != Stop::setup_failed) end_by(*total, ended, name());
        return std::move(*total);
      }
    }
    if (work_.share != share_of(list_[at_].choice)) make_method(list_[at_].choice);
    bool const afresh = total && !again && list_[at_].choice.least_squares;
    SolveReport report = afresh ? solve_afresh(b, x, *total) : work_.method->solve(b, x);
    ran = at_;
    note(story, report, again);
    bool const may_go_on = goes_on(report), again_before = again;
    again = tries_again(report, story.back());
    std::string const solver = work_.method->name();
    bool const another = total && !again_before;
    std::size_t const before = total ? total->history.size() : 0;
    if (total) total->setup_seconds = setting_up_;
    total = total ? following(std::move(*total), std::move(report)) : std::move(report);
    if (another && total->history.size() > before) total->history[before].mark = Mark::method;
    spent_ = total->iterations;
    if (stopping_.baseline == Baseline::initial && total->tolerance > 0)
      tolerance_ = total->tolerance;
    if (!may_go_on) return std::move(*total);
    Stop ended = ctx.asked();
    if (ended == Stop::running && spent_ >= stopping_.max_iters) ended = Stop::max_iterations;
    if (ended != Stop::running) {
      end_by(*total, ended, solver);
      return std::move(*total);
    }
    if (again) continue;
    if (work_.old && may_be_the_preconditioner(*total)) {
      ctx.log(Severity::note,
              cat(total->outcome(), " with a preconditioner of older values: made anew"));
      work_ = {};
      continue;
    }
    auto const looking = Clock::now();
    bool const more = advance(*total);
    setting_up_ += seconds_since(looking);
    if (!more) {  // what is at work stays for the next solve
      if (total->reason == Stop::max_iterations)
        total->message = message_of(*total, solver, no_more_iterations);
      return std::move(*total);
    }
    work_ = {};
  }
}

/// What is at work from x = 0: on a singular A the x of methods that have failed may lie so far
/// along its kernel that A^T r drowns in the rounding of A x. That x, of the report `before`, stays
/// where it is the better one.
SolveReport AutoSolver::solve_afresh(In<double> b, Out<double> x, SolveReport const& before) {
  Context& ctx = *ctx_;
  SolveFrame apart;  // a copy of x
  apart.setup(ctx, name(), A_);
  auto const copy = apart.enter(b, x, true);
  fill<double>(ctx, copy.x, 0);
  SolveReport report = work_.method->solve(copy.b, copy.x);
  if (report.solved() || report.reason == Stop::least_squares ||
      !(report.true_residual > before.true_residual)) {
    apart.leave();
    return report;
  }
  report.true_residual = before.true_residual;
  report.backward_error = before.backward_error;
  report.attainable = before.attainable;
  report.rowwise_error = before.rowwise_error;
  report.rows_unmet = before.rows_unmet;
  report.message = message_of(report, work_.method->name(), work_.method->advice());
  return report;
}

/// Writes what became of the recipe at work; `again`: into its entry, the last one.
void AutoSolver::note(Story& story, SolveReport const& report, bool again) {
  if (!again) {
    ChoiceReport& told = story.emplace_back(told_of(list_[at_].choice));
    told.ran = true;
    told.details = work_.M ? work_.M->details() : "";
    told.setup_seconds = std::exchange(work_.setup_seconds, SolveReport::unknown);
  }
  ChoiceReport& told = story.back();
  told.outcome = report.outcome();
  told.iterations += report.iterations;
  told.true_residual = report.true_residual;
  told.seconds += report.seconds;
  found_singular_ = found_singular_ || ends_as_if_singular(told);
}

/// A trial that has gained a digit goes on.
bool AutoSolver::tries_again(SolveReport const& report, ChoiceReport const& told) const {
  Choice const& choice = list_[at_].choice;
  return !kept_solver_ && report.reason == Stop::max_iterations && choice.trial > 0 &&
         report.true_residual <= trial_gain * report.initial_residual &&
         told.iterations < choice.most_iterations;
}

/// Goes to the next recipe that the failure of this one leaves; false where there is none.
bool AutoSolver::advance(SolveReport const& report) {
  if (report.reason == Stop::indefinite_operator) definite_ = false;
  std::size_t const failed = at_;
  Choice const choice = list_[at_].choice;
  if (look_again()) {  // another list: not the same recipe once more
    for (Recipe& r : list_) r.refused = r.refused || r.choice == choice;
  } else {
    weigh();
    ++at_;
  }
  while (at_ < list_.size() && !admits(list_[at_])) ++at_;
  if (at_ < list_.size()) return true;
  at_ = std::min(failed, list_.size() - 1);
  return false;
}

/// Complete factors come before another incomplete factorisation where they are predicted to take
/// no longer: where one of a matrix that was matched and scaled has failed, the next fails often.
/// Goes by counts, not by the clock, so that every run takes the same way.
void AutoSolver::weigh() {
  auto const admitted = [this](Recipe const& r) { return admits(r); };
  auto const next =
      std::find_if(list_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, list_.end(), admitted);
  if (!list_[at_].choice.incomplete || !work_.M || next == list_.end() || !next->choice.incomplete)
    return;
  auto const complete = std::find_if(
      next, list_.end(), [&](Recipe const& r) { return r.choice.complete && admits(r); });
  if (complete == list_.end()) return;
  CsrView<double> const& a = system_.matrix;
  MatrixFacts const facts{.rows = a.rows, .cols = a.cols, .entries = a.entries};
  constexpr double bytes_an_entry = 12;
  double const made = work_.M->cost(1).bytes / bytes_an_entry;
  double const another = seconds_of_incomplete(facts, made, next->choice, rates_);
  Weighed weighed{complete->choice,
                  make<PreconditionerRegistry>(preconditioner_block(complete->choice)),
                  std::make_shared<SetupNotes>()};
  System system = system_;
  system.notes = weighed.notes;
  double whole = 0;
  try {
    ctx_->setting_up(ctx_->deadline(),
                     [&] { whole = weighed.factory->least_seconds(*ctx_, system); });
  } catch (Error const&) { return; }  // its set-up will say it
  whole *= over_the_least;
  if (!(whole <= another)) return;
  ctx_->log(Severity::note,
            cat("auto: complete factors are predicted to take ", figure_text(whole),
                " s, another incomplete factorisation ", figure_text(another), " s"));
  weighed_ = std::move(weighed);
  std::rotate(next, complete, complete + 1);
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
