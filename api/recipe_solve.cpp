// SPDX-License-Identifier: Apache-2.0
/// A solve by recipes in turn: what a failure means for the next one.
#include <tcsolve/api/recipe_run.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/solve_frame.hpp>

namespace tcsolve {
namespace {

/// What complete factors take, with their order and the solves, over their multiplications alone
/// (PreconditionerFactory::least_seconds), about.
constexpr double over_the_least = 4;

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

/// The limit of the solve, not one that auto gave to a recipe, is what ended it.
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

constexpr char const* not_renewed = "; a preconditioner of the new values could not be made: ";

}  // namespace

void RecipeRun::log_renewal(std::string const& outcome) const {
  ctx_.log(Severity::note, outcome + " with a preconditioner of older values: made anew");
}

SolveReport RecipeRun::solve(In<double> b, Out<double> x, Keys const& keys) {
  auto const start = Clock::now();
  account_ = {.keys = keys.value_or(list_.keys())};
  if (auto unsolvable = list_.unsolvable(ctx_, b, account_.keys)) return *std::move(unsolvable);
  Story story = std::exchange(tried_, {});
  list_.begin_solve(story);
  std::optional<SolveReport> report;
  Deadline const deadline = deadline_after(start, account_.keys.time_limit);
  ctx_.in_turn(deadline, [&] { run(b, x, story, report); });
  if (account_.at_work > 0) renewal_.solved(account_.at_work);
  if (account_.set_ups > 0) settle();
  SolveReport& total = *report;
  if (!list_.is_named()) {
    total.message = cat(list_.closing(total, story), told_besides(story));
    total.choices = std::move(story);
  }
  total.setup_seconds = account_.set_ups;
  total.seconds = seconds_since(start) - account_.set_ups;
  return *std::move(report);
}

/// What is left of the limits of the solve is what the method at work stops by.
void RecipeRun::limit_method() {
  if (work_.method->stops_by() != nullptr)
    work_.method->stop_by(
        list_.stopping_of(list_.at(), account_.keys, account_.spent, account_.tolerance));
}

/// next(), as a part of the solve at hand.
Stop RecipeRun::begin_next(Story& story) {
  auto const start = Clock::now();
  bool const was_old = work_.old;
  Stop ended = next();
  if (ended == Stop::running) ended = ctx_.asked();  // after the last look of the set-up
  double const seconds = seconds_since(start);
  account_.set_ups += seconds;
  account_.at_work = 0;
  if (was_old && work_.method) count_renewal(seconds);
  for (ChoiceReport& t : std::exchange(tried_, {})) story.push_back(std::move(t));
  return ended;
}

/// `total` becomes the report of the solve.
void RecipeRun::run(In<double> b, Out<double> x, Story& story, std::optional<SolveReport>& total) {
  std::size_t ran = list_.place();
  bool const named = list_.is_named();
  for (bool begins = !work_.method;;) {
    if (Stop const ended = begins ? begin_next(story) : Stop::running; ended != Stop::running) {
      if (list_.upcoming() == nullptr) list_.go_to(ran);
      if (ended == Stop::setup_failed && !total) throw_refusals(story);
      if (!total)
        total = not_begun(ended, name());
      else if (ended != Stop::setup_failed)
        end_by(*total, ended, name());
      return;
    }
    begins = false;
    limit_method();
    bool const afresh = total && list_.at().least_squares;
    SolveReport report = afresh ? solve_afresh(b, x, *total) : work_.method->solve(b, x);
    ran = list_.place();
    account_.at_work += report.seconds;
    bool const may_go_on = goes_on(report), another = total && !named;
    if (!named) note(story, report);
    std::size_t const before = total ? total->history.size() : 0;
    if (total) {
      total->setup_seconds = account_.set_ups;
      total = following(*std::move(total), std::move(report));
    } else {
      total.emplace(std::move(report));
    }
    if (another && total->history.size() > before) total->history[before].mark = Mark::method;
    if (widens(*total) || (named && renews(*total))) continue;
    if (named) return;
    account_.spent = total->iterations;
    if (account_.keys.baseline == Baseline::initial && total->tolerance > 0)
      account_.tolerance = total->tolerance;
    if (!may_go_on) return;
    std::string const solver = work_.method->name();
    Stop ended = ctx_.asked();
    if (ended == Stop::running && account_.spent >= account_.keys.max_iters)
      ended = Stop::max_iterations;
    if (ended != Stop::running) return end_by(*total, ended, solver);
    begins = true;
    if (work_.old && may_be_the_preconditioner(*total)) {
      log_renewal(total->outcome());
    } else if (!advance(*total)) {  // what is at work stays for the next solve
      if (total->reason == Stop::max_iterations)
        total->message = message_of(*total, solver, no_more_iterations);
      return;
    }
  }
}

/// A named preconditioner of older values that may be why a solve has ended is made anew, for the
/// solve to go on. Where it cannot be, the report says why.
bool RecipeRun::renews(SolveReport& total) {
  if (!work_.old || !may_be_the_preconditioner(total) || ctx_.asked() != Stop::running)
    return false;
  log_renewal(total.outcome());
  auto const start = Clock::now();
  std::string const why = renew_beside();
  account_.set_ups += seconds_since(start);
  Stop const asked = ctx_.asked();
  if (asked != Stop::running) end_by(total, asked, work_.method->name());
  if (!why.empty()) total.message += not_renewed + why;
  if (why.empty()) account_.at_work = 0;
  return why.empty() && asked == Stop::running;
}

/// A preconditioner that a solve has found to be indefinite is made again, in wider types or with
/// safer bounds, where it can be, and tells how, for the solve to go on.
bool RecipeRun::widens(SolveReport& total) {
  if (total.reason != Stop::indefinite_preconditioner || !work_.made.owner ||
      ctx_.asked() != Stop::running)
    return false;
  auto const start = Clock::now();
  Preconditioner& M = *work_.made.owner;
  bool safer = false;
  ctx_.setting_up(ctx_.deadline(), [&] { safer = M.widen(ctx_, of_.system); });
  if (safer) {
    work_.made.M = M.view();
    set_up_method(*work_.method, list_.at());
    ctx_.log(Severity::note,
             cat(total.outcome(), ": the solve goes on with the preconditioner made again"));
  }
  account_.set_ups += seconds_since(start);
  return safer;
}

std::vector<SolveReport> RecipeRun::solve_columns(In<double> b, Out<double> x, Keys const& keys) {
  account_ = {.keys = keys.value_or(list_.keys())};
  double const limit = account_.keys.time_limit;
  if (parts_.columns_at_once() == 1)
    return solve_in_turn(ctx_, limit, name(), b, x,
                         [&](In<double> bj, Out<double> xj) { return solve(bj, xj, keys); });
  std::vector<SolveReport> reports;
  ctx_.in_turn(deadline_after(Clock::now(), limit), [&] { reports = solve_together(b, x); });
  return reports;
}

/// By a block method, which is named.
std::vector<SolveReport> RecipeRun::solve_together(In<double> b, Out<double> x) {
  auto const solved = [&] {
    auto const start = Clock::now();
    std::vector<SolveReport> reports = work_.method->solve_columns(b, x);
    renewal_.solved(seconds_since(start));
    return reports;
  };
  limit_method();
  std::vector<SolveReport> reports = solved();
  bool const renews = work_.old && std::ranges::any_of(reports, may_be_the_preconditioner);
  if (!renews || ctx_.asked() != Stop::running) return reports;
  log_renewal("columns failed");
  std::string const why = renew_beside();
  std::vector<SolveReport> again = why.empty() ? solved() : reports;
  for (std::size_t j = 0; j < reports.size(); ++j) {
    if (reports[j].solved()) continue;
    if (why.empty())
      reports[j] = following(std::move(reports[j]), std::move(again[j]));
    else
      reports[j].message += not_renewed + why;
  }
  return reports;
}

/// What is at work from x = 0: on a singular A the x of methods that have failed may lie so far
/// along its kernel that A^T r drowns in the rounding of A x. That x, of the report `before`, stays
/// where it is the better one.
SolveReport RecipeRun::solve_afresh(In<double> b, Out<double> x, SolveReport const& before) {
  SolveFrame apart;  // a copy of x
  apart.setup(ctx_, name(), of_.system.A);
  auto const copy = apart.enter(b, x, true);
  fill<double>(ctx_, copy.x, 0);
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

/// Writes what became of the recipe at work.
void RecipeRun::note(Story& story, SolveReport const& report) {
  ChoiceReport& told = story.emplace_back(list_.told_of(list_.at(), of_.M.get()));
  told.ran = true;
  told.details = M() ? M()->details() : "";
  told.setup_seconds = std::exchange(work_.setup_seconds, SolveReport::unknown);
  told.outcome = report.outcome();
  told.iterations = report.iterations;
  told.true_residual = report.true_residual;
  told.seconds = report.seconds;
  list_.note(told);
}

/// Goes to the next recipe that the failure of this one leaves; false where there is none: the
/// place stays.
bool RecipeRun::advance(SolveReport const& report) {
  auto const start = Clock::now();
  std::size_t const failed = list_.place();
  if (!list_.relist_after(report.reason, ctx_, of_.system)) {
    weigh();
    list_.pass();
  }
  bool const more = list_.upcoming() != nullptr;
  if (!more) list_.go_to(failed);
  account_.set_ups += seconds_since(start);
  return more;
}

/// Complete factors come before another incomplete factorisation where they are predicted to take
/// no longer: where one of a matrix that was matched and scaled has failed, the next fails often.
/// Goes by counts, not by the clock, so that every run takes the same way.
void RecipeRun::weigh() {
  if (!M()) return;
  list_.prefer_complete([&](Recipe const& next, Recipe const& complete) {
    CsrView<double> const& a = of_.system.matrix;
    MatrixFacts const facts{.rows = a.rows, .cols = a.cols, .entries = a.entries};
    constexpr double bytes_an_entry = 12;
    double const made = M()->cost(1).bytes / bytes_an_entry;
    double const another = seconds_of_incomplete(facts, made, next, list_.rates());
    Weighed weighed{complete, make<PreconditionerRegistry>(list_.preconditioner_block(complete)),
                    std::make_shared<SetupNotes>()};
    System system = of_.system;
    system.notes = weighed.notes;
    double whole = 0;
    try {
      ctx_.setting_up(ctx_.deadline(),
                      [&] { whole = weighed.factory->least_seconds(ctx_, system); });
    } catch (Error const&) { return false; }  // its set-up will say it
    whole *= over_the_least;
    if (!(whole <= another)) return false;
    ctx_.log(Severity::note,
             cat("auto: complete factors are predicted to take ", figure_text(whole),
                 " s, another incomplete factorisation ", figure_text(another), " s"));
    weighed_ = std::move(weighed);
    return true;
  });
}

}  // namespace tcsolve
