// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/krylov_solver.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/cast.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

template <class T>
void KrylovSolver<T>::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                            OperatorPtr<double> A_true) {
  if (!A_true) A_true = A;
  require_operators<double>(facts_.name, facts_.square, A, M, A_true);
  Context::Entry const entry(ctx);
  warn_of_varying<double>(ctx, facts_.name, facts_.needs, M, warned_);
  ctx_ = nullptr;  // whatever throws from here on leaves a solver that solve() refuses
  frame_.setup(ctx, facts_.name, A_true);
  set_up(ctx, on_vectors_of<T>(ctx, std::move(A)),
         on_vectors_of<T>(ctx, frame_.around(std::move(M))), std::move(A_true));
}

template <class T>
void KrylovSolver<T>::setup_working(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M,
                                    OperatorPtr<double> A_true) {
  require_operators<T>(facts_.name, facts_.square, A, M, A_true);
  Context::Entry const entry(ctx);
  warn_of_varying<T>(ctx, facts_.name, facts_.needs, M, warned_);
  ctx_ = nullptr;
  frame_.set({});
  frame_.setup(ctx, facts_.name, A_true);
  set_up(ctx, std::move(A), std::move(M), std::move(A_true));
}

template <class T>
void KrylovSolver<T>::set_up(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M,
                             OperatorPtr<double> A_true) {
  Range const range(ctx, [this] { return facts_.name + ".setup"; });
  preconditioned_ = M != nullptr;
  equilibration_.take(ctx, facts_.square, facts_.needs.symmetric, A, M);
  system_.adopt(ctx, std::move(A), std::move(M), std::move(A_true));
  Space s = ctx.space();
  residual_.resize(s, system_.A->rows());
  trial_residual_.resize(s, system_.A->rows());
  trial_.resize(s, system_.A->cols());
  // The size of an M that is a solver takes a solve to find.
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  ctx.solving(deadline, inner_, [&] { scale_operators(ctx); });
  judged_ = {&ctx,           facts_.name,  stopping_,
             system_.A_true, norm_A_true_, roundoff(real_of<real_t<T>>),
             system_.rounded};
  judged_.prepare();
  aim();
  workspace_ = method_->allocate(ctx, system_);
  if (!loop_ || !loop_->belongs_to(ctx)) loop_.emplace(ctx, stopping_.max_iters);
  record(ctx);
  ctx_ = &ctx;
}

/// A recorded step holds no key: what stops a run is given to it as it begins.
template <class T>
void KrylovSolver<T>::stop_by(StoppingParams const& stopping) {
  if (stopping == stopping_) return;
  stopping_ = stopping;
  if (ctx_ == nullptr) return;
  judged_.stopping = stopping;
  judged_.prepare();
  aim();
}

template <class T>
SolveReport KrylovSolver<T>::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(facts_.name, ": solve before setup"));
  Context& ctx = *ctx_;
  require_vectors(facts_.name, system_.A->rows(), system_.A->cols(), b, x);
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return facts_.name + ".solve"; });
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  inner_ = {};
  judged_.residuals = 0;
  SolveReport report;
  frame_.around_solve(b, x, [&](In<double> b_here, Out<double> x_here) {
    ctx.solving(deadline, inner_, [&] { report = judge(b_here, x_here); });
  });
  if (report.cause == Cause::inner_solver) report.inner = inner_.complaint;
  count(report);
  frame_.judge(0, report);
  report.message = message_of(report, facts_.name, advice());
  return report;
}

/// What the solve has done, and an estimate of what it has moved.
template <class T>
void KrylovSolver<T>::count(SolveReport& report) const {
  SolverCost const& cost = facts_.cost;
  bool const by_inner = facts_.unobserved && inner_.iterations > 0;
  double const n = by_inner ? double(inner_.iterations) : report.iterations;
  double const applications = preconditioned_ ? cost.applications : 0;
  report.execution = loop_->taken();
  report.precision = {{.values = system_.A->traits().precision.storage,
                       .vectors = vectors(),
                       .iterations = report.iterations,
                       .rounded = system_.rounded}};
  report.residuals = judged_.residuals;
  report.products = std::llround(cost.products * n);
  report.applications = std::llround(applications * n);
  report.inner_iterations = inner_.iterations;
  report.bytes_per_iteration =
      cost.products * system_.A->cost(1).bytes + cost.passes * sizeof(T) * system_.A->cols();
  if (applications > 0) report.bytes_per_iteration += applications * system_.M->cost(1).bytes;
  report.bytes = (by_inner ? 0 : report.bytes_per_iteration * n) +
                 judged_.residuals * system_.A_true->cost(1).bytes + inner_.bytes;
}

template <class T>
SolveReport KrylovSolver<T>::judge(In<double> b, Out<double> x) {
  Context& ctx = *ctx_;
  auto const start = std::chrono::steady_clock::now();
  ColumnJudge column(judged_);
  SolveReport& report = column.report;
  report.preconditioned = preconditioned_;
  report.rows = system_.A->rows();
  report.accepts_least_squares =
      system_.A->rows() != system_.A->cols() || facts_.accepts_least_squares;
  if (column.open(b, x, residual_)) {
    system_.goal.normal =
        judged_.by_rows() ? unknown : method_->normal_residual(ctx, residual_, column.open());
    if (system_.goal.normal == 0) {
      column.end(Stop::least_squares);
    } else if (stopping_.max_iters == 0) {
      column.end(Stop::max_iterations);
    } else {
      judged_.reserve(frame_.judging());
      iterate({b, x}, column,
              {.solver = facts_.name,
               .start = start,
               .time_limit = stopping_.time_limit,
               .tolerance = report.tolerance});
    }
  }
  column.close(b, x, residual_);
  if (report.iterations > 0) report.condition = method_->condition();
  ctx.synchronize();  // x is there
  report.seconds = seconds_since(start);
  return std::move(report);
}

/// From an x whose residual, where it is not met, is in residual_.
template <class T>
void KrylovSolver<T>::iterate(Problem const& problem, ColumnJudge& column, Watch const& watch) {
  Context& ctx = *ctx_;
  SolveReport& report = column.report;
  Out<double> x = problem.x;
  double const divergence = std::max(report.rhs_norm, report.true_residual);
  double gradient = method_->gradient();
  bool in_vain = false;
  patience_ = {stopping_.patience, column.open()};
  for (;; ++report.restarts) {
    system_.goal.tighten = column.judgement.tighten;
    CycleLimits limits{std::min(facts_.cycle, stopping_.max_iters - report.iterations),
                       column.open(), system_.goal.tighten * column.target(),
                       stopping_.divtol * divergence, column.judgement.breakdowns};
    Best const before{report.best_residual, report.best_iteration};
    Index const iterations_before = report.iterations;
    double const open = column.open();
    Problem here{problem.b, problem.x, true, !column.rows_are_left(), nullptr, !in_vain};
    Cycle cycle = run_cycle(here, column, watch, limits);
    here.from = cycle.from;
    in_vain = in_vain || cycle.in_vain;
    bool const exhausted = report.iterations >= stopping_.max_iters ||
                           patience_.is_over(report.iterations, cycle.claimed);

    // Keep x + d when its true residual is smaller. Near a least-squares solution, where ||r|| is
    // flat, A^T r decides. A restart after so many steps needs no more than a plain sum.
    bool const restart =
        static_cast<Stop>(cycle.state.stop) == Stop::cycle_end && !exhausted && !judged_.by_rows();
    bool const looks_again = restart && system_.A_true->sums_exactly();
    Trial trial = try_corrections(here, column, cycle, restart ? Summed::plain : Summed::exact,
                                  looks_again ? 0 : column.open());
    // x may hold a NaN that A never looks at.
    bool const finite = trial.finite();
    double const bound = finite ? column.attainable_bound(trial.x_norm) : 0.0;
    if (looks_again && finite && trial.residual <= column.enough() + bound) {
      bool const taken = trial.taken;
      trial = Trial{column.examine(problem.b, trial_, trial_residual_), trial.steps, Summed::exact};
      trial.taken = taken;
    }
    if (!(finite && trial.open <= column.enough())) {
      method_->classify_stop(ctx, cycle.state);
      heed(cycle.state);
    }
    if (cycle.state.iteration > 0)
      report.history.back().true_residual =
          trial.steps == cycle.state.iteration ? trial.residual : cycle.last.residual;
    if (facts_.unobserved && cycle.state.iteration > 0) note_step(report, open, trial.residual);
    double trial_normal = unknown;
    if (finite && trial.open <= open + bound && !judged_.by_rows())
      trial_normal = method_->normal_residual(ctx, trial_residual_, trial.open);
    double const trial_gradient = method_->gradient();
    // Of what the run has not given x already, where r was made anew.
    auto step =
        Judgement::step(finite, column.open(), trial.open, system_.goal.normal, trial_normal);
    if (column.open() < open) step.gain *= column.open() / open;
    if (step.takes) {
      system_.goal.normal = trial_normal;
      gradient = trial_gradient;
      column.take(trial, trial.sum);
      if (!trial.taken) copy<double, double>(ctx, trial_, x);
      std::swap(residual_, trial_residual_);
    }
    correct_best(report, before, iterations_before + trial.steps);
    column.look_at_rows(problem.b, x, residual_);
    explain_claim(cycle, column.open(), judged_.by_rows() ? 0.0 : column.attainable_bound(),
                  report.rhs_norm);

    auto const cause = static_cast<Cause>(cycle.state.cause);
    column.conclude(
        {.stop = static_cast<Stop>(cycle.state.stop),
         .cause = cause,
         .value = cycle.state.value,
         .overflow = !finite && std::isfinite(cycle.state.value),
         .gain = step.gain,
         .exhausted = exhausted,
         // A claim by ||R r|| that hardly helped is made tighter.
         .monitors_residual = method_->monitors_residual() &&
                              !(equilibration_.uneven() && step.gain > Judgement::enough_gain),
         .normal = system_.goal.normal,
         .optimal = system_.goal.optimal,
         .noise = system_.goal.noise,
         .condition = method_->condition(),
         .gradient = gradient,
         .sign_is_certain = cause != Cause::values});
    if (!column.decided()) continue;
    if (report.reason == Stop::nonfinite)
      column.explain_nonfinite(diagnose<T>(ctx, *system_.A, *system_.M));
    return;
  }
}

/// A step that has taken ||r|| from `before` to `now`, of a method that observes no norm.
template <class T>
void KrylovSolver<T>::note_step(SolveReport& report, double before, double now) const {
  report.history.back().norm = report.recurrence_residual = now;
  report.contractions.push_back(now / before);
  if (!(now < report.best_residual)) return;
  report.best_residual = now;
  report.best_iteration = report.iterations;
}

/// trial_ = x + d, trial_residual_ = b - A_true (x + d), and x = trial_ where `takes` allows it:
/// submitted, with the figures in `place`.
template <class T>
void KrylovSolver<T>::begin_trial(std::optional<Measurement>& trial, Problem const& problem,
                                  ColumnJudge& column, In<T> d, Summed sum, Takes const& takes,
                                  TrialNorms* place) {
  Context& ctx = *ctx_;
  Range const range(ctx, "judge");
  PowerOfTwo two(cycle_exponent_ - system_.exponent);
  In<double> const x = trial_;
  d = equilibration_.leave(ctx, d);
  double const* const from = problem.from != nullptr ? problem.from : problem.x.data;
  submit(ctx, Correct<T>{x.rows, two.factor, two.factor2, d.data, from, trial_.view().data});
  ++judged_.residuals;
  bool const unmet = judged_.by_rows() && sum == Summed::exact;
  trial.emplace(ctx, *system_.A_true, problem.b, x, trial_residual_, sum, column.rule(),
                unmet ? judged_.unmet.view().data : nullptr, place);
  submit(ctx, TakeTrial{x.rows, trial->norms(), takes, x.data, problem.x.data});
}

template <class T>
auto KrylovSolver<T>::end_trial(Measured const& now, ColumnJudge& column, Index steps, Summed sum)
    -> Trial {
  Trial out{{now}, steps, sum};
  bool const unmet = judged_.by_rows() && sum == Summed::exact;
  out.open = unmet ? column.left_open(out, trial_residual_) : out.residual;
  return out;
}

/// Both, with one wait.
template <class T>
auto KrylovSolver<T>::try_correction(Problem const& problem, ColumnJudge& column, In<T> d,
                                     Index steps, Summed sum, Takes const& takes) -> Trial {
  std::optional<Measurement> trial;
  begin_trial(trial, problem, column, d, sum, takes);
  return end_trial(trial->wait(), column, steps, sum);
}

/// The better of the last d and the one that was kept, which is tried where it promises more. One
/// product with A_true; two or three where something was kept and the last d is worse. The last d
/// is taken into x at once where ||r'|| is smaller than `below` and nothing kept promises more.
template <class T>
auto KrylovSolver<T>::try_corrections(Problem const& problem, ColumnJudge& column, Cycle& cycle,
                                      Summed sum, double below) -> Trial {
  auto worth = [](Trial const& t) { return t.finite() ? t.open : unknown; };
  auto const try_last = [&](Takes const& takes = {}) {
    return try_correction(problem, column, system_.x, cycle.state.iteration, sum, takes);
  };
  Trial const last = cycle.tried ? cycle.last : try_last({below, cycle.kept});
  cycle.last = last;
  if (!(cycle.kept < worth(last))) return last;
  Trial const kept = try_correction(problem, column, system_.best, cycle.kept_steps, sum);
  if (worth(kept) <= worth(last)) return kept;
  return try_last();
}

/// The smallest norm of the history stands in the report as `best`, unless the true residual has
/// refuted it: then what has been verified does. `at`: the iteration of the x that was tried.
template <class T>
void KrylovSolver<T>::correct_best(SolveReport& report, Best const& before, Index at) const {
  double const slack = method_->monitors_residual() ? 2 : 1e3;  // M's inner product is another norm
  if (report.true_residual <= slack * report.best_residual) return;
  bool const better = report.true_residual < before.residual;
  report.best_residual = better ? report.true_residual : before.residual;
  report.best_iteration = better ? at : before.iteration;
}

/// A claim that the true residual refutes by far, that of the x that was claimed: where a better
/// one was kept, `residual` is that one's. A is singular where the method has seen it to be, or
/// where the last x has grown along its kernel so far that b is lost in the rounding of A x, and
/// that rounding explains the residual. An x that is as accurate as it can be needs no reason.
template <class T>
void KrylovSolver<T>::explain_claim(Cycle& cycle, double residual, double reached,
                                    double rhs_norm) {
  constexpr double far = 10, u = 0x1p-53;
  constexpr double peak = 1e4;  // x may have been larger before the last step
  bool const claimed = static_cast<Stop>(cycle.state.stop) == Stop::claimed;
  bool const holds = residual <= far * cycle.claimed && cycle.last.open <= far * cycle.claimed;
  if (!claimed || cycle.state.cause != 0 || holds) return;
  double const rounding = u * norm_A_true_ * cycle.last.x_norm;
  bool const lost = facts_.square && std::isfinite(norm_A_true_) && cycle.last.finite() &&
                    rounding > Judgement::astray * rhs_norm &&
                    cycle.last.residual <= peak * rounding;
  bool const accurate = residual <= reached && reached <= Judgement::drowned * rhs_norm;
  if ((lost && !accurate) || (residual > reached && method_->saw_singular(*ctx_)))
    cycle.state.cause = static_cast<std::int32_t>(Cause::singular_operator);
}

template class KrylovSolver<double>;
template class KrylovSolver<float>;

}  // namespace tcsolve
