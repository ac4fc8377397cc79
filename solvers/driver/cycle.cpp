// SPDX-License-Identifier: Apache-2.0
/// One run of a method on the residual at hand, and the looks at one whose norm may deceive.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/begin_run.hpp>
#include <tcsolve/solvers/driver/condition_watch.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

namespace {

/// r = 2^e residual, x = 0.
template <class T>
void begin_run(Context& ctx, int e, In<double> residual, MethodSystem<T>& system) {
  PowerOfTwo const two(e);
  std::int64_t const rows = system.r.rows(), cols = system.x.rows();
  submit(ctx, BeginRun<T>{std::max(rows, cols), rows, cols, two.factor, two.factor2, residual.data,
                          system.r.view().data, system.x.view().data});
}

/// A solve in narrow types that wider ones are to take over.
void end_as_too_narrow(LoopState& state) {
  state.stop = static_cast<std::int32_t>(Stop::precision_limit);
  state.cause = static_cast<std::int32_t>(Cause::values);
}

}  // namespace

template <class T>
void KrylovSolver<T>::record(Context& ctx) {
  recorded_ = revision(), recorded_name_ = system_.A->name();
  double const passes = 5 + facts_.basis_passes;
  double bytes =
      system_.A->cost(1).bytes + system_.M->cost(1).bytes + passes * sizeof(T) * system_.A->rows();
  loop_->record(ctx, execution_, {workspace_.close, bytes, facts_.cycle},
                [this](Context& c) { method_->step(c); });
}

/// Reports to A and M how often `steps` of the loop have applied them; returns the number of steps
/// until the next report is due.
template <class T>
double KrylovSolver<T>::account(Context& ctx, double steps) {
  SolverCost const each = facts_.cost;
  return std::min(system_.A->advance(ctx, each.products * steps) / each.products,
                  system_.M->advance(ctx, each.applications * steps) / each.applications);
}

/// Between two pieces of a watched method's loop: tries x + d, keeps the best d. False, with the
/// reason in `state`, where the method's account of itself is refuted: the true residual is far
/// above its norm, `believed`, and above the best that was seen, and x is lost in its rounding; or
/// the true residual has not improved for twice as long as a method may stagnate.
template <class T>
bool KrylovSolver<T>::look(Problem const& problem, ColumnJudge& column, LoopState& state,
                           double believed, Start const& limits, Looks& seen) {
  constexpr double progress = 0.999;
  constexpr double far = 1e3;
  // Asked for by the method, or due: then the next one is as far away as the last one was.
  bool const due = state.iteration >= seen.next;
  seen.apart = due ? 2 * seen.apart : 1;
  seen.next = state.iteration + seen.apart;
  if (std::isnan(seen.best_norm)) seen.best_norm = column.x_norm();
  method_->complete(*ctx_);
  Trial const trial = try_correction(problem, column, system_.x, state.iteration, Summed::plain);
  auto const is_verified = [&] { return seen.kept_step == state.kept_step; };
  if (state.iteration > 0) seen.found.emplace_back(state.iteration, trial.residual);
  if (trial.finite() && trial.residual < seen.best) {
    if (trial.residual < progress * seen.best) seen.step = state.iteration;
    seen.best = trial.residual;
    seen.best_norm = trial.x_norm;
    double const promised =
        is_verified() ? seen.kept : std::sqrt(state.kept2 / limits.norm2) * limits.residual;
    if (trial.residual < promised) {
      seen.kept = trial.residual;
      seen.kept_step = state.kept_step = state.iteration;
      copy<T, T>(*ctx_, system_.x, system_.best);
    }
  }
  // Where a look has found no better one, while the norm has run ahead of the residual, later
  // iterates take the place of the one that was looked at where they are believed better by as much
  // more; by `far` more at most, since a method that believes it is done may begin anew from there.
  if (is_verified()) {
    bool const better = seen.kept_step == state.iteration;
    double const ahead = better           ? 1.0
                         : trial.finite() ? std::clamp(trial.residual / believed, 1.0, far)
                                          : far;
    double const fall = seen.kept / ahead / limits.residual;
    state.kept2 = std::max(std::numeric_limits<double>::min(), fall * fall * limits.norm2);
  }
  auto end = [&](Stop reason, Cause cause) {
    state.stop = static_cast<std::int32_t>(reason);
    state.cause = static_cast<std::int32_t>(cause);
    return false;
  };
  bool const refuted = !trial.finite() || trial.residual > far * std::max(believed, seen.best);
  bool const drowned = !trial.finite() || column.attainable_bound(trial.x_norm) > believed;
  if (refuted && drowned) {
    // An x that is lost in its rounding has followed the kernel of A, unless the best one was as
    // accurate as it can be.
    bool const accurate = seen.best <= 0.1 * column.attainable_bound(seen.best_norm);
    return end(Stop::claimed, accurate ? Cause::none : Cause::singular_operator);
  }
  // On an ill-conditioned A the norm may run ahead of the residual for a while.
  if (state.window > 0 && state.iteration - seen.step >= 2 * state.window)
    return end(Stop::stagnated, Cause::none);
  return true;
}

/// Whether r is made anew while a run goes on: its recurrence rounds to less than FP64.
template <class T>
bool KrylovSolver<T>::renews(Problem const& problem) const {
  return facts_.renews && problem.renews && problem.judged && problem.by_norm &&
         !judged_.by_rows() && system_.roundoff_of_curvature() > roundoff(Real::f64);
}

/// The residual takes the place of r, and d begins at 0 again. The method keeps its direction, and
/// so what it has learnt of A.
template <class T>
void KrylovSolver<T>::begin_anew(In<double> residual) {
  Context& ctx = *ctx_;
  begin_run<T>(ctx, -cycle_exponent_, residual, system_);
  equilibration_.scale(ctx, system_.r);
  method_->replace(ctx);
  double* const norm2 = &reinterpret_cast<Told*>(loop_->aside())->norm2;
  if (equilibration_.uneven())  // else ||r|| is that of the residual
    copy<double, double>(ctx, vector_view(workspace_.norm2, 1, ctx.space()),
                         vector_view(norm2, 1, ctx.space()));
}

/// Where a piece of the loop has stopped: the trial of x + d and, at Stop::replacement, the r that
/// is made of it. `residual`: ||r|| as the run began.
template <class T>
void KrylovSolver<T>::submit_trial(Pending& pending, Problem const& problem, ColumnJudge& column,
                                   Stop stop, double residual) {
  static_assert(sizeof(Told) <= Loop::aside_doubles * sizeof(double));
  Context& ctx = *ctx_;
  bool const replaces = stop == Stop::replacement;
  bool const keeps = ctx.communicator().global_size(system_.best.rows()) > 0;
  pending.sum = replaces ? Summed::plain : Summed::exact;
  method_->complete(ctx);
  begin_trial(pending.trial, problem, column, system_.x, pending.sum,
              {column.open(), unknown, keeps ? loop_->state() : nullptr, residual},
              &reinterpret_cast<Told*>(loop_->aside())->norms);
  if (replaces) begin_anew(trial_residual_);
}

template <class T>
auto KrylovSolver<T>::told(Pending const& pending) -> Told {
  Told now;
  if (pending.told)
    std::memcpy(static_cast<void*>(&now), loop_->told_aside(), sizeof now);
  else
    copy_bytes(*ctx_, &now, Space::host, loop_->aside(), ctx_->space(), sizeof now);
  return now;
}

/// Between two steps, at Stop::replacement and at a claim: x + d, summed in FP64, is taken where it
/// is better; its true residual takes the place of r (begin_anew). A new Krylov space costs 1.4 to
/// 3.3 times the iterations. (van der Vorst and Ye 2000; Clark et al. 2010, section 4.2.) False,
/// with a claim in `state`, where the true residual confirms one, lies far above ||r||, `believed`,
/// or has not fallen for long: then the next run begins a new space at each claim that is refuted,
/// or, where the caller would rather have wider types, there is none. The latter also where an
/// update has seen a worse condition than the caller wants (condition_of_update).
template <class T>
bool KrylovSolver<T>::renew(Problem const& problem, ColumnJudge& column, LoopState& state,
                            Pending& pending, double believed, Start const& limits,
                            Renewals& before) {
  constexpr double far = 10;
  constexpr int too_often = 10;
  auto const stop = static_cast<Stop>(state.stop);
  if (!pending.trial) submit_trial(pending, problem, column, stop, limits.residual);
  Told now = told(pending);
  Trial const trial = end_trial(pending.trial->of(now.norms), column, state.iteration, pending.sum);
  pending.trial.reset();
  pending.told = false;
  before.found.emplace_back(state.iteration, trial.residual);
  if (stop == Stop::claimed && trial.finite() && trial.open <= column.enough()) {
    before.accepted = trial;
    return false;
  }
  bool const due = stop == Stop::replacement;
  bool const too_narrow =
      due && condition_of_update(trial.residual / before.best, system_.roundoff_of_curvature()) >
                 stopping_.most_condition;
  before.vain = trial.residual < before.best ? 0 : before.vain + 1;
  before.best = std::min(before.best, trial.residual);
  bool const better = trial.finite() && trial.open < column.open();
  if (better) {
    column.take(trial, trial.sum);
    if (!trial.taken) copy<double, double>(*ctx_, trial_, problem.x);
    std::swap(residual_, trial_residual_);
  }
  before.from = better ? nullptr : trial_.view().data;
  before.ended = !(trial.residual <= far * believed) || before.vain >= too_often || too_narrow;
  if (before.ended) {
    fill<T>(*ctx_, system_.x, 0);
    state.stop = static_cast<std::int32_t>(Stop::claimed);
    if (std::isfinite(stopping_.most_condition)) end_as_too_narrow(state);
    return false;
  }
  if (stop == Stop::claimed) {
    begin_anew(better ? residual_ : trial_residual_);
    if (equilibration_.uneven()) now = told({});
  }
  double const fall = trial.residual / limits.residual;
  state.largest2 = fall * fall * limits.norm2;
  if (equilibration_.uneven()) {  // ||R r|| has fallen otherwise than ||r||: so is it to go on
    double const drift = now.norm2 / state.largest2;
    if (drift > 0) state.threshold2 *= drift / std::exchange(before.drift, drift);
    state.largest2 = now.norm2;
  }
  state.best2 = std::max(state.best2, state.largest2);
  state.gap2 = state.kept2 = 0;  // x itself is what would be kept
  state.stop = 0;
  return true;
}

/// One run of the method on the residual at hand; system_.x holds the correction afterwards.
template <class T>
auto KrylovSolver<T>::run_cycle(Problem const& problem, ColumnJudge& column, Watch const& watch,
                                CycleLimits const& limits) -> Cycle {
  Context& ctx = *ctx_;
  SolveReport& report = column.report;
  Range const range(ctx, [this] { return facts_.name + ".cycle"; });
  inner_.complaint.clear();
  cycle_exponent_ = std::ilogb(limits.residual) + system_.headroom;
  begin_run<T>(ctx, -cycle_exponent_, residual_, system_);
  cycle_exponent_ += equilibration_.enter(ctx, system_.r);
  method_->begin(ctx, {report.restarts, limits.attempt, nullptr});
  Cycle out{LoopState{}, unknown, 0, limits.residual};
  std::int64_t const unknowns = ctx.communicator().global_size(system_.x.rows());
  std::int32_t const window = stagnation_window(stopping_.stagnation_window, unknowns);
  Watch here = watch;
  Index const before = here.iterations_before = report.iterations;
  here.residual_start = limits.residual;
  auto in_units_of_b = [&](double n2, double start2) {
    return std::sqrt(n2) / std::sqrt(start2) * limits.residual;
  };
  std::vector<double> norms2;
  std::int32_t accounted = 0;
  bool const watched = problem.judged && problem.by_norm && facts_.watched;
  double const first = watched ? std::min(100.0, double(unknowns) + 10.0) : unknown;
  Looks seen{limits.residual, std::numeric_limits<double>::quiet_NaN(), 0, first, first / 2, {}};
  // A restarted method shows in its first cycle, and early in it, what there is to be seen of A.
  bool const restarts = facts_.cycle < std::numeric_limits<Index>::max();
  bool const narrow = system_.roundoff_of_curvature() > roundoff(Real::f64);
  bool const shows = restarts ? narrow && report.restarts == 0 : renews(problem);
  ConditionWatch condition(shows ? stopping_.most_condition : unknown,
                           restarts ? std::min(20.0, facts_.cycle / 6.0) : 20.0);
  // A in another format is the same A: the recurrence goes on with it.
  auto adapt = [&](std::int32_t done) {
    double const patience = account(ctx, done - std::exchange(accounted, done));
    if (ctx.communicator().agree(revision() != recorded_)) {
      std::string const name = recorded_name_;
      record(ctx);
      if (system_.A->name() != name)
        ctx.log(Severity::note, cat("format: ", system_.A->name(), " from iteration ",
                                    report.iterations + done + 1, " on"));
    }
    return std::min({patience, seen.next - done, patience_.steps_after(before + done),
                     condition.steps_after(done)});
  };
  Between between{.replace = [&] { method_->replace(ctx); }, .adapt = adapt};
  // A run that is the last one unless its claim is refuted has its d tried where it was made,
  // before the host knows how it ended.
  Pending pending;
  bool const last = limits.steps >= stopping_.max_iters - report.iterations;
  bool const queues = system_.A_true->traits().capturable && system_.M->traits().capturable;
  bool const renewed = renews(problem);
  bool const keeps = ctx.communicator().global_size(system_.best.rows()) > 0;
  Renewals renewals{limits.residual};
  auto const now = [&] {
    Problem here = problem;
    here.from = renewals.from;
    return here;
  };
  if (renewed)
    between.renew = [&](LoopState& state) {
      double const believed =
          in_units_of_b(norms2.back(), state.start2) / std::sqrt(renewals.drift);
      return renew(now(), column, state, pending, believed, {state.start2, limits.residual},
                   renewals);
    };
  if (problem.judged && queues && (renewed || (last && !watched)))
    between.behind = [&](Stop stop) {
      if (stop == Stop::replacement && !renewed) return;
      submit_trial(pending, now(), column, stop, limits.residual);
      pending.told = true;
    };
  bool const may_give_up = stopping_.patience.steps > 0;
  if (watched || may_give_up || condition.watches())
    between.look = [&](LoopState& state, bool asked) {
      if (state.stop == 0 && condition.is_over(ctx, *method_, state)) {
        end_as_too_narrow(state);
        return false;
      }
      double const newest2 = norms2.empty() ? state.start2 : norms2.back();
      double const believed = in_units_of_b(newest2, state.start2);
      if (patience_.is_over(before + state.iteration, believed)) {
        state.stop = static_cast<std::int32_t>(Stop::cycle_end);
        return false;
      }
      // The loop may have come back for others.
      if (!watched || (!asked && state.iteration < seen.next)) return true;
      return look(problem, column, state, believed, {state.start2, limits.residual}, seen);
    };
  // An r that is made anew in time may be believed down to the target. A gap of sqrt(e) ||r|| is
  // what the convergence begins to feel (van der Vorst and Ye 2000, section 3).
  double const e = system_.roundoff_of_curvature();
  RunLimits const norms{limits.target, limits.divergence, limits.residual,
                        renewed ? roundoff(Real::f64) : roundoff(real_of<T>), renewed ? e : 0.0};
  auto const loop_start = std::chrono::steady_clock::now();
  out.state =
      loop_->run(ctx, {limits.steps, window, workspace_.norm2, norms}, here, norms2, between);
  double const norm2 = out.state.start2;
  account(ctx, out.state.iteration - accounted);
  report.loop_seconds += seconds_since(loop_start);
  for (double n2 : norms2) {
    double monitored = in_units_of_b(n2, norm2);
    double const seconds = loop_->moments().at(++report.iterations - before);
    report.history.push_back({report.iterations, monitored, seconds});
    if (monitored < report.best_residual) {
      report.best_residual = monitored;
      report.best_iteration = report.iterations;
    }
  }
  if (!norms2.empty() && report.restarts > 0)
    report.history[report.history.size() - norms2.size()].mark = Mark::restart;
  for (auto const& [step, residual] : seen.found)
    report.history[report.history.size() - norms2.size() + step - 1].true_residual = residual;
  for (auto const& [step, residual] : renewals.found) {
    if (step == 0) continue;
    Record& record = report.history[report.history.size() - norms2.size() + step - 1];
    record.true_residual = residual;
    if (static_cast<std::size_t>(step) < norms2.size()) (&record)[1].mark = Mark::update;
  }
  if (!norms2.empty()) out.claimed = report.recurrence_residual = report.history.back().norm;
  if (seen.kept_step == out.state.kept_step)
    out.kept = seen.kept;
  else if (keeps && out.state.kept2 < norm2 && out.state.kept2 > 0)
    out.kept = in_units_of_b(out.state.kept2, norm2);
  out.kept_steps = out.state.kept_step;
  out.from = renewals.from;
  out.in_vain = renewals.ended;
  if (renewals.accepted) {
    out.last = *renewals.accepted;
    out.tried = true;
  } else if (pending.trial) {
    out.last =
        end_trial(pending.trial->of(told(pending).norms), column, out.state.iteration, pending.sum);
    out.tried = true;
  } else if (!renewals.ended) {
    method_->complete(ctx);
  }
  method_->conclude(ctx, out.state);
  heed(out.state);
  return out;
}

#define TCSOLVE_INSTANTIATE(T)                                                                     \
  template void KrylovSolver<T>::record(Context&);                                                 \
  template double KrylovSolver<T>::account(Context&, double);                                      \
  template bool KrylovSolver<T>::look(Problem const&, ColumnJudge&, LoopState&, double,            \
                                      Start const&, Looks&);                                       \
  template bool KrylovSolver<T>::renews(Problem const&) const;                                     \
  template void KrylovSolver<T>::begin_anew(In<double>);                                           \
  template void KrylovSolver<T>::submit_trial(Pending&, Problem const&, ColumnJudge&, Stop,        \
                                              double);                                             \
  template auto KrylovSolver<T>::told(Pending const&)->Told;                                       \
  template bool KrylovSolver<T>::renew(Problem const&, ColumnJudge&, LoopState&, Pending&, double, \
                                       Start const&, Renewals&);                                   \
  template auto KrylovSolver<T>::run_cycle(Problem const&, ColumnJudge&, Watch const&,             \
                                           CycleLimits const&)                                     \
      ->Cycle;
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
