// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/krylov_solver.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>
#include <tcsolve/solvers/driver/trial.hpp>

namespace tcsolve {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

template <class T>
void KrylovSolver<T>::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                            OperatorPtr<double> A_true) {
  if constexpr (std::is_same_v<T, double>)
    setup_working(ctx, A, M, A_true ? A_true : A);
  else
    throw Unsupported(cat(facts_.name, ": with vectors of ", tcsolve::name(real_of<T>),
                          " call setup_working and name the FP64 system as well"));
}

template <class T>
void KrylovSolver<T>::setup_working(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M,
                                    OperatorPtr<double> A_true) {
  if (!A || !A_true) throw ShapeError(cat(facts_.name, ": setup needs an operator"));
  if (facts_.square && A->rows() != A->cols())
    throw ShapeError(cat(facts_.name, " needs a square matrix; the matrix is ", A->rows(), " x ",
                         A->cols(), "; use lsmr"));
  if (A_true->rows() != A->rows() || A_true->cols() != A->cols())
    throw ShapeError(cat(facts_.name, ": A is ", A->rows(), " x ", A->cols(), ", A_true is ",
                         A_true->rows(), " x ", A_true->cols()));
  if (M && (M->rows() != A->cols() || M->cols() != A->cols()))
    throw ShapeError(cat(facts_.name, ": the preconditioner is ", M->rows(), " x ", M->cols(),
                         "; A has ", A->cols(), " columns"));
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return facts_.name + ".setup"; });
  ctx_ = nullptr;  // whatever throws from here on leaves a solver that solve() refuses
  system_.adopt(ctx, std::move(A), std::move(M), std::move(A_true));
  Space s = ctx.space();
  residual_.resize(s, system_.A->rows());
  trial_residual_.resize(s, system_.A->rows());
  trial_.resize(s, system_.A->cols());
  // The size of an M that is a solver takes a solve to find.
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  ctx.solving(deadline, inner_, [&] { scale_operators(ctx); });
  aim();
  workspace_ = method_->allocate(ctx, system_);
  if (!loop_ || !loop_->belongs_to(ctx)) loop_.emplace(ctx, stopping_.max_iters);
  record(ctx);
  ctx_ = &ctx;
}

template <class T>
SolveReport KrylovSolver<T>::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(facts_.name, ": solve before setup"));
  Context& ctx = *ctx_;
  require_vectors(facts_.name, system_.A->rows(), system_.A->cols(), b, x);
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return facts_.name + ".solve"; });
  // What lies elsewhere, or is a column of something wider, is staged; the rest is used in place.
  auto here = [&](auto const& v) { return v.space == ctx.space() && v.is_vector(); };
  In<double> b_here = b;
  Out<double> x_here = x;
  if (!here(b)) b_here = stage(b, staged_b_);
  if (!here(x)) x_here = stage(x, staged_x_);
  SolveReport report;
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  inner_ = {};
  residuals_ = 0;
  ctx.solving(deadline, inner_, [&] { report = judge(b_here, x_here); });
  if (report.cause == Cause::inner_solver) report.inner = inner_.complaint;
  count(report);
  if (!here(x)) unstage(x_here, x);
  report.message = message_of(report, facts_.name, advice());
  return report;
}

template <class T>
Out<double> KrylovSolver<T>::stage(In<double> v, Vector<double>& space) {
  if (space.rows() != v.rows || space.view().space != ctx_->space())
    space = Vector<double>(ctx_->space(), v.rows);
  if (v.is_vector()) {
    copy_bytes(*ctx_, space.view().data, ctx_->space(), v.data, v.space, sizeof(double) * v.rows);
  } else if (v.space == ctx_->space()) {
    copy<double, double>(*ctx_, v, space);
  } else {
    throw ShapeError(cat(facts_.name, ": a strided vector must lie in the Context's space"));
  }
  return space;
}

template <class T>
void KrylovSolver<T>::unstage(In<double> v, Out<double> to) {
  if (to.is_vector())
    copy_bytes(*ctx_, to.data, to.space, v.data, v.space, sizeof(double) * v.rows);
  else
    copy<double, double>(*ctx_, v, to);
}

template <class T>
void KrylovSolver<T>::make_residual(In<double> b, In<double> x, Out<double> r, Sum sum) {
  Range const range(*ctx_, "judge");
  ++residuals_;
  if (sum == Sum::exact)
    system_.A_true->exact_residual(*ctx_, b, x, r);
  else
    system_.A_true->residual(*ctx_, b, x, r);
}

template <class T>
double KrylovSolver<T>::measure_residual(In<double> b, In<double> x, Out<double> r, Sum sum) {
  make_residual(b, x, r, sum);
  return norm<double>(*ctx_, r);
}

template <class T>
double KrylovSolver<T>::attainable(double x_norm, double b_norm) const {
  return attainable_residual(system_.norm_A, x_norm, b_norm, double(system_.A->cols()));
}

/// What the solve has done, and an estimate of what it has moved.
template <class T>
void KrylovSolver<T>::count(SolveReport& report) const {
  SolverCost const& cost = facts_.cost;
  double const n = report.iterations;
  double const applications = system_.preconditioned ? cost.applications : 0;
  report.execution = loop_->taken();
  report.residuals = residuals_;
  report.products = std::llround(cost.products * n);
  report.applications = std::llround(applications * n);
  report.inner_iterations = inner_.iterations;
  report.bytes_per_iteration =
      cost.products * system_.A->cost(1).bytes + cost.passes * sizeof(T) * system_.A->cols();
  if (applications > 0) report.bytes_per_iteration += applications * system_.M->cost(1).bytes;
  report.bytes =
      report.bytes_per_iteration * n + residuals_ * system_.A_true->cost(1).bytes + inner_.bytes;
}

template <class T>
void KrylovSolver<T>::assess(SolveReport& report, double x_norm) const {
  if (!std::isfinite(system_.norm_A)) return;
  report.attainable = attainable(x_norm, report.rhs_norm);
  report.backward_error =
      backward_error(report.true_residual, system_.norm_A, x_norm, report.rhs_norm);
}

template <class T>
SolveReport KrylovSolver<T>::judge(In<double> b, Out<double> x) {
  Context& ctx = *ctx_;
  auto start = std::chrono::steady_clock::now();
  SolveReport report;
  report.preconditioned = system_.preconditioned;
  // A callable may throw at what is no number, so b and x are looked at first; otherwise with r.
  bool const callable = !system_.A_true->traits().capturable;
  double guess_norm = 0, residual = 0;
  if (callable) {
    auto const [b_norm, x_norm] = norms<double>(ctx, b, x);
    report.rhs_norm = b_norm;
    guess_norm = x_norm;
  } else {
    make_residual(b, x, residual_, Sum::plain);
    auto const [b_norm, x_norm, r_norm] = norms<double>(ctx, b, x, residual_.view());
    report.rhs_norm = b_norm;
    guess_norm = x_norm;
    residual = r_norm;
  }
  auto end = [&](Stop reason, Cause cause) {
    report.reason = reason;
    report.cause = cause;
    report.seconds = seconds_since(start);
    return report;
  };
  // Elements that are numbers may have a norm that is not.
  auto overflows = [&](double norm, In<double> v) {
    return !std::isfinite(norm) && std::isfinite(largest<double>(ctx, v));
  };
  Verdict early = before_solving({.rhs_norm = report.rhs_norm,
                                  .x_norm = guess_norm,
                                  .residual = residual,
                                  .rhs_overflows = overflows(report.rhs_norm, b),
                                  .x_overflows = overflows(guess_norm, x)});
  bool const zero = early.cause == Cause::zero_rhs;
  if (zero) fill<double>(ctx, x, 0);
  if (zero || (callable && early.stop == Stop::running)) {
    residual = measure_residual(b, x, residual_, Sum::plain);
    if (!std::isfinite(residual)) early = {Stop::nonfinite, Cause::matrix};
  }
  if (early.stop == Stop::nonfinite) {
    report.true_residual = report.initial_residual = std::numeric_limits<double>::quiet_NaN();
    return end(early.stop, early.cause);
  }
  report.value = SolveReport::unknown;
  report.accepts_least_squares =
      system_.A->rows() != system_.A->cols() || facts_.accepts_least_squares;
  if (zero) {
    // x0 is not looked at: of its residual nothing is known.
    report.true_residual = report.best_residual = report.recurrence_residual = 0;
    if (stopping_.baseline != Baseline::initial) report.tolerance = stopping_.atol;
    assess(report, 0);
    return end(early.stop, early.cause);
  }
  report.initial_residual = report.true_residual = report.best_residual = residual;
  report.recurrence_residual = residual;
  report.tolerance =
      tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol, report.rhs_norm, residual);
  exact_ = !system_.A_true->sums_exactly();  // there is nothing better
  auto look_closely = [&] {
    report.true_residual = measure_residual(b, x, residual_, Sum::exact);
    exact_ = true;
  };
  if (!exact_ && residual <= report.tolerance + attainable(guess_norm, report.rhs_norm)) {
    look_closely();
    report.initial_residual = report.best_residual = report.true_residual;
    report.tolerance = tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol,
                                    report.rhs_norm, report.initial_residual);
  }
  x_norm_ = guess_norm;
  system_.goal.normal = report.true_residual > report.tolerance
                            ? method_->normal_residual(ctx, residual_, report.true_residual)
                            : unknown;
  if (report.true_residual <= report.tolerance)
    end(Stop::converged, Cause::exact_guess);
  else if (system_.goal.normal == 0)
    end(Stop::least_squares, Cause::none);
  else
    iterate({b, x}, report,
            {.solver = facts_.name,
             .start = start,
             .time_limit = stopping_.time_limit,
             .tolerance = report.tolerance});
  if (!exact_) look_closely();
  if (report.true_residual <= report.tolerance && !report.converged())
    end(Stop::converged, Cause::none);
  if (report.iterations > 0) report.condition = method_->condition();
  assess(report, x_norm_);
  ctx.synchronize();  // x is there
  report.seconds = seconds_since(start);
  return report;
}

template <class T>
void KrylovSolver<T>::iterate(Problem const& problem, SolveReport& report, Watch const& watch) {
  Context& ctx = *ctx_;
  Out<double> x = problem.x;
  double const tolerance = report.tolerance,
               divergence = std::max(report.rhs_norm, report.true_residual);
  if (stopping_.max_iters == 0) {
    report.reason = Stop::max_iterations;
    return;
  }
  Judgement judgement;
  for (;; ++report.restarts) {
    double& residual = report.true_residual;
    system_.goal.tighten = judgement.tighten;
    CycleLimits limits{std::min(facts_.cycle, stopping_.max_iters - report.iterations), residual,
                       system_.goal.tighten * tolerance, stopping_.divtol * divergence,
                       judgement.breakdowns};
    Best const before{report.best_residual, report.best_iteration};
    Index const iterations_before = report.iterations;
    Cycle cycle = run_cycle(problem, report, watch, limits);
    bool const exhausted = report.iterations >= stopping_.max_iters;

    // Keep x + d when its true residual is smaller. Near a least-squares solution, where ||r|| is
    // flat, A^T r decides. A restart after so many steps needs no more than a plain sum.
    bool const restart = static_cast<Stop>(cycle.state.stop) == Stop::cycle_end && !exhausted;
    bool const looks_again = restart && system_.A_true->sums_exactly();
    Trial trial = try_corrections(problem, cycle, restart ? Sum::plain : Sum::exact,
                                  looks_again ? 0 : residual);
    if (!(trial.finite() && trial.residual <= tolerance)) {
      method_->classify_stop(ctx, cycle.state);
      heed(cycle.state);
    }
    // x may hold a NaN that A never looks at.
    bool const finite = trial.finite();
    double limit = finite ? attainable(trial.x_norm, report.rhs_norm) : 0.0;
    if (looks_again && finite && trial.residual <= tolerance + limit)
      trial.residual = measure_residual(problem.b, trial_, trial_residual_, trial.sum = Sum::exact);
    if (cycle.state.iteration > 0)
      report.history.back().true_residual =
          trial.steps == cycle.state.iteration ? trial.residual : cycle.last.residual;
    double trial_normal = unknown;
    if (finite && trial.residual <= residual + limit)
      trial_normal = method_->normal_residual(ctx, trial_residual_, trial.residual);
    auto const step =
        Judgement::step(finite, residual, trial.residual, system_.goal.normal, trial_normal);
    if (step.takes) {
      system_.goal.normal = trial_normal;
      residual = trial.residual;
      exact_ = trial.sum == Sum::exact || !system_.A_true->sums_exactly();
      if (!trial.taken) copy<double, double>(ctx, trial_, x);
      x_norm_ = trial.x_norm;
      std::swap(residual_, trial_residual_);
    }
    correct_best(report, before, iterations_before + trial.steps);
    double const reached = attainable(x_norm_, report.rhs_norm);
    explain_claim(cycle, residual, reached, report.rhs_norm);

    Verdict verdict = judgement.after({.stop = static_cast<Stop>(cycle.state.stop),
                                       .cause = static_cast<Cause>(cycle.state.cause),
                                       .overflow = !finite && std::isfinite(cycle.state.value),
                                       .gain = step.gain,
                                       .residual = residual,
                                       .tolerance = tolerance,
                                       .rhs_norm = report.rhs_norm,
                                       .limit = reached,
                                       .normal = system_.goal.normal,
                                       .optimal = system_.goal.optimal,
                                       .noise = system_.goal.noise,
                                       .monitors_residual = method_->monitors_residual(),
                                       .roundoff = roundoff(real_of<T>),
                                       .exhausted = exhausted,
                                       .condition = method_->condition()});
    if (verdict.stop == Stop::running) continue;
    if (verdict.stop == static_cast<Stop>(cycle.state.stop)) report.value = cycle.state.value;
    report.reason = verdict.stop;
    report.cause = verdict.stop == Stop::nonfinite ? diagnose() : verdict.cause;
    return;
  }
}

/// trial_ = x + d, trial_residual_ = b - A_true (x + d); x = trial_ where it is to be. One wait.
template <class T>
auto KrylovSolver<T>::try_correction(Problem const& problem, In<T> d, Index steps, Sum sum,
                                     Takes const& takes) -> Trial {
  Context& ctx = *ctx_;
  PowerOfTwo two(cycle_exponent_ - system_.exponent);
  In<double> const trial = trial_, r = trial_residual_;
  submit(ctx, Correct<T>{trial.rows, two.factor, two.factor2, d.data, problem.x.data,
                         trial_.view().data});
  make_residual(problem.b, trial_, trial_residual_, sum);
  auto scope = ctx.arena().scope();
  auto* const norms = scope.template take<TrialNorms>(1);
  dot<double>(ctx, r, r, &norms->residual2);
  dot<double>(ctx, trial, trial, &norms->x2);
  submit(ctx, TakeTrial{trial.rows, norms, takes.below, takes.kept, trial.data, problem.x.data});
  TrialNorms known;
  copy_bytes(ctx, &known, Space::host, norms, ctx.space(), sizeof known);
  return {norm_from<double>(ctx, known.residual2, r), norm_from<double>(ctx, known.x2, trial),
          steps, sum, known.taken == 1};
}

/// The better of the last d and the one that was kept, which is tried where it promises more. One
/// product with A_true; two or three where something was kept and the last d is worse. The last d
/// is taken into x at once where ||r'|| is smaller than `below` and nothing kept promises more.
template <class T>
auto KrylovSolver<T>::try_corrections(Problem const& problem, Cycle& cycle, Sum sum, double below)
    -> Trial {
  auto worth = [](Trial const& t) { return t.finite() ? t.residual : unknown; };
  Trial const last =
      try_correction(problem, system_.x, cycle.state.iteration, sum, {below, cycle.kept});
  cycle.last = last;
  if (!(cycle.kept < worth(last))) return last;
  Trial const kept = try_correction(problem, system_.best, cycle.kept_steps, sum);
  if (worth(kept) <= worth(last)) return kept;
  return try_correction(problem, system_.x, cycle.state.iteration, sum);
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

/// A claim that the true residual refutes by far. A is singular where the method has seen it to be,
/// or where the last x has grown along its kernel so far that b is lost in the rounding of A x, and
/// that rounding explains the residual. An x that is as accurate as it can be needs no reason.
template <class T>
void KrylovSolver<T>::explain_claim(Cycle& cycle, double residual, double reached,
                                    double rhs_norm) {
  constexpr double far = 10, u = 0x1p-53;
  constexpr double peak = 1e4;  // x may have been larger before the last step
  bool const claimed = static_cast<Stop>(cycle.state.stop) == Stop::claimed;
  if (!claimed || cycle.state.cause != 0 || residual <= far * cycle.claimed) return;
  double const rounding = u * system_.norm_A * cycle.last.x_norm;
  bool const lost = facts_.square && std::isfinite(system_.norm_A) && cycle.last.finite() &&
                    rounding > Judgement::astray * rhs_norm &&
                    cycle.last.residual <= peak * rounding;
  bool const accurate = residual <= reached && reached <= Judgement::drowned * rhs_norm;
  if ((lost && !accurate) || (residual > reached && method_->saw_singular(*ctx_)))
    cycle.state.cause = static_cast<std::int32_t>(Cause::singular_operator);
}

template class KrylovSolver<double>;
template class KrylovSolver<float>;

}  // namespace tcsolve
