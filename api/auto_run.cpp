// SPDX-License-Identifier: Apache-2.0
/// A solve by recipes in turn: what a failure means for the next one.
#include <algorithm>
#include <chrono>
#include <utility>

#include <tcsolve/api/auto_solver.hpp>
#include <tcsolve/api/renewal.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/solve_frame.hpp>

namespace tcsolve {
namespace {

using Clock = std::chrono::steady_clock;

/// What complete factors take, with their order and the solves, over their multiplications alone
/// (PreconditionerFactory::least_seconds), about.
constexpr double over_the_least = 4;

/// A choice whose trial takes the residual to this part of what it was goes on.
constexpr double trial_gain = 0.1;

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
    if (Share const share = share_of(list_[at_].choice); work_.share != share) work_within(share);
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

}  // namespace tcsolve
