// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/krylov_solver.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

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
  if (by_rows()) unmet_.resize(s, system_.A->rows());
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
void KrylovSolver<T>::make_residual(In<double> b, In<double> x, Out<double> r, Summed sum) {
  Range const range(*ctx_, "judge");
  ++residuals_;
  if (sum == Summed::exact)
    system_.A_true->exact_residual(*ctx_, b, x, r);
  else
    system_.A_true->residual(*ctx_, b, x, r);
}

template <class T>
double KrylovSolver<T>::measure_residual(In<double> b, In<double> x, Out<double> r, Summed sum) {
  make_residual(b, x, r, sum);
  return norm<double>(*ctx_, r);
}

template <class T>
Measured KrylovSolver<T>::examine(In<double> b, In<double> x, Out<double> r) {
  Range const range(*ctx_, "judge");
  ++residuals_;
  return measure(*ctx_, *system_.A_true, b, x, r, Summed::exact, rule_,
                 by_rows() ? unmet_.view().data : nullptr, [](TrialNorms*) {});
}

/// What is left to solve of a residual r that examine() or a trial has just made, and r without the
/// rows that are met. An r that misses the tolerance is left as it is.
template <class T>
double KrylovSolver<T>::left_open(Measured const& x, double tolerance, Vector<double>& r) {
  if (!by_rows() || !(x.residual <= tolerance)) return x.residual;
  std::swap(r, unmet_);
  return x.rows.unmet == 0 ? 0.0 : norm<double>(*ctx_, r);
}

template <class T>
double KrylovSolver<T>::attainable_bound(double x_norm, double b_norm) const {
  return tcsolve::attainable_bound(system_.norm_A, x_norm, b_norm, double(system_.A->cols()));
}

/// Of the x at hand.
template <class T>
double KrylovSolver<T>::attainable(SolveReport const& report) const {
  if (std::isnan(rows_.size)) return attainable_bound(x_norm_, report.rhs_norm);
  return attainable_residual(rows_.size, system_.norm_A, double(system_.A->cols()));
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
void KrylovSolver<T>::assess(SolveReport& report) const {
  report.rowwise_error = rows_.relative;
  report.rows_unmet = rows_.unmet;
  if (std::isfinite(system_.norm_A))
    report.backward_error =
        backward_error(report.true_residual, system_.norm_A, x_norm_, report.rhs_norm);
  if (std::isfinite(system_.norm_A) || !std::isnan(rows_.size))
    report.attainable = attainable(report);
}

template <class T>
SolveReport KrylovSolver<T>::judge(In<double> b, Out<double> x) {
  Context& ctx = *ctx_;
  auto start = std::chrono::steady_clock::now();
  SolveReport report;
  report.preconditioned = system_.preconditioned;
  report.rows = system_.A->rows();
  rows_ = {};
  x_norm_ = 0;
  // A callable may throw at what is no number, so b and x are looked at first; otherwise with r.
  bool const callable = !system_.A_true->traits().capturable;
  double guess_norm = 0, residual = 0;
  if (callable) {
    auto const [b_norm, x_norm] = norms<double>(ctx, b, x);
    report.rhs_norm = b_norm;
    guess_norm = x_norm;
  } else {
    make_residual(b, x, residual_, Summed::plain);
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
    residual = measure_residual(b, x, residual_, Summed::plain);
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
    assess(report);
    return end(early.stop, early.cause);
  }
  report.initial_residual = report.true_residual = report.best_residual = residual;
  report.recurrence_residual = residual;
  report.tolerance =
      tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol, report.rhs_norm, residual);
  exact_ = !system_.A_true->sums_exactly();  // there is nothing better
  rule_ = row_rule(stopping_, report.tolerance, report.rhs_norm);
  if (by_rows() && exact_)
    throw Unsupported(cat(facts_.name, ": baseline: rows goes by the entries of each row, which ",
                          system_.A_true->name(), " does not name"));
  x_norm_ = guess_norm;
  double open = residual;  // what is left to solve
  auto look_closely = [&] {
    Measured const x_now = examine(b, x, residual_);
    report.true_residual = x_now.residual;
    rows_ = x_now.rows;
    open = left_open(x_now, report.tolerance, residual_);
    exact_ = true;
  };
  if (!exact_ && residual <= report.tolerance + attainable_bound(guess_norm, report.rhs_norm)) {
    look_closely();
    report.initial_residual = report.best_residual = report.true_residual;
    report.tolerance = tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol,
                                    report.rhs_norm, report.initial_residual);
  }
  double const enough = by_rows() ? 0.0 : report.tolerance;
  system_.goal.normal =
      open > enough && !by_rows() ? method_->normal_residual(ctx, residual_, open) : unknown;
  if (open <= enough)
    end(Stop::converged, Cause::exact_guess);
  else if (system_.goal.normal == 0)
    end(Stop::least_squares, Cause::none);
  else
    iterate({b, x, report.tolerance}, report, open,
            {.solver = facts_.name,
             .start = start,
             .time_limit = stopping_.time_limit,
             .tolerance = report.tolerance});
  if (!exact_) {
    look_closely();
    if (open <= enough && !report.converged()) end(Stop::converged, Cause::none);
  }
  if (report.iterations > 0) report.condition = method_->condition();
  assess(report);
  ctx.synchronize();  // x is there
  report.seconds = seconds_since(start);
  return report;
}

/// From an x of which `open` is left to solve, with what is left in residual_.
template <class T>
void KrylovSolver<T>::iterate(Problem const& problem, SolveReport& report, double open,
                              Watch const& watch) {
  Context& ctx = *ctx_;
  Out<double> x = problem.x;
  double const tolerance = by_rows() ? 0.0 : report.tolerance,
               divergence = std::max(report.rhs_norm, report.true_residual);
  if (stopping_.max_iters == 0) {
    report.reason = Stop::max_iterations;
    return;
  }
  Judgement judgement;
  double gradient = method_->gradient();
  for (;; ++report.restarts) {
    // Of rows that are not met the worst one decides how far they have to fall.
    bool const rows_left = by_rows() && report.true_residual <= report.tolerance;
    double const target =
        rows_left ? 0.25 * open * rule_.overall / rows_.overall : report.tolerance;
    system_.goal.tighten = judgement.tighten;
    CycleLimits limits{std::min(facts_.cycle, stopping_.max_iters - report.iterations), open,
                       system_.goal.tighten * target, stopping_.divtol * divergence,
                       judgement.breakdowns};
    Best const before{report.best_residual, report.best_iteration};
    Index const iterations_before = report.iterations;
    Problem const here{problem.b, problem.x, problem.tolerance, true, !rows_left};
    Cycle cycle = run_cycle(here, report, watch, limits);
    bool const exhausted = report.iterations >= stopping_.max_iters;

    // Keep x + d when its true residual is smaller. Near a least-squares solution, where ||r|| is
    // flat, A^T r decides. A restart after so many steps needs no more than a plain sum.
    bool const restart =
        static_cast<Stop>(cycle.state.stop) == Stop::cycle_end && !exhausted && !by_rows();
    bool const looks_again = restart && system_.A_true->sums_exactly();
    Trial trial = try_corrections(here, cycle, restart ? Summed::plain : Summed::exact,
                                  looks_again ? 0 : open);
    // x may hold a NaN that A never looks at.
    bool const finite = trial.finite();
    double const bound = finite ? attainable_bound(trial.x_norm, report.rhs_norm) : 0.0;
    auto look_closely = [&](In<double> there, Vector<double>& r) {
      Measured const now = examine(problem.b, there, r);
      double const left = left_open(now, report.tolerance, r);
      return Trial{now, trial.steps, Summed::exact, left};
    };
    if (looks_again && finite && trial.residual <= tolerance + bound) {
      bool const taken = trial.taken;
      trial = look_closely(trial_, trial_residual_);
      trial.taken = taken;
    }
    if (!(finite && trial.open <= tolerance)) {
      method_->classify_stop(ctx, cycle.state);
      heed(cycle.state);
    }
    if (cycle.state.iteration > 0)
      report.history.back().true_residual =
          trial.steps == cycle.state.iteration ? trial.residual : cycle.last.residual;
    double trial_normal = unknown;
    if (finite && trial.open <= open + bound && !by_rows())
      trial_normal = method_->normal_residual(ctx, trial_residual_, trial.open);
    double const trial_gradient = method_->gradient();
    auto const step = Judgement::step(finite, open, trial.open, system_.goal.normal, trial_normal);
    if (step.takes) {
      system_.goal.normal = trial_normal;
      gradient = trial_gradient;
      open = trial.open;
      report.true_residual = trial.residual;
      exact_ = trial.sum == Summed::exact || !system_.A_true->sums_exactly();
      if (!trial.taken) copy<double, double>(ctx, trial_, x);
      x_norm_ = trial.x_norm;
      rows_ = trial.rows;
      std::swap(residual_, trial_residual_);
    }
    correct_best(report, before, iterations_before + trial.steps);
    // The bound says where a closer look at the rows may matter.
    double reached = attainable_bound(x_norm_, report.rhs_norm);
    if (open <= reached && std::isnan(rows_.size) && system_.A_true->sums_exactly()) {
      Trial const now = look_closely(x, residual_);
      rows_ = now.rows;
      report.true_residual = now.residual;
      open = now.open;
      exact_ = true;
    }
    if (by_rows() && report.true_residual <= report.tolerance)
      reached = 0;  // of its own size every row can be met
    else if (open <= reached)
      reached = attainable(report);
    explain_claim(cycle, open, by_rows() ? 0.0 : attainable_bound(x_norm_, report.rhs_norm),
                  report.rhs_norm);

    Verdict verdict =
        judgement.after({.stop = static_cast<Stop>(cycle.state.stop),
                         .cause = static_cast<Cause>(cycle.state.cause),
                         .overflow = !finite && std::isfinite(cycle.state.value),
                         .gain = step.gain,
                         .residual = open,
                         .tolerance = tolerance,
                         .rhs_norm = report.rhs_norm,
                         .limit = reached,
                         .lost = lost_to_underflow(system_.norm_A, double(system_.A->cols())),
                         .normal = system_.goal.normal,
                         .optimal = system_.goal.optimal,
                         .noise = system_.goal.noise,
                         .monitors_residual = method_->monitors_residual(),
                         .roundoff = roundoff(real_of<T>),
                         .exhausted = exhausted,
                         .condition = method_->condition(),
                         .rounded = system_.rounded,
                         .gradient = gradient,
                         .terms = rows_.terms});
    if (verdict.stop == Stop::running) continue;
    if (verdict.stop == static_cast<Stop>(cycle.state.stop)) report.value = cycle.state.value;
    verdict = of_rounded(verdict, cycle.state);
    report.reason = verdict.stop;
    report.cause = verdict.stop == Stop::nonfinite ? diagnose() : verdict.cause;
    return;
  }
}

/// What is said of an A that is stored in a narrower type is not yet true of the system.
template <class T>
Verdict KrylovSolver<T>::of_rounded(Verdict verdict, LoopState const& state) const {
  if (!system_.rounded) return verdict;
  bool const by_sign =
      verdict.stop == Stop::indefinite_operator && static_cast<Cause>(state.cause) != Cause::values;
  return by_sign ? verdict : verdict_on_rounded(verdict);
}

/// trial_ = x + d, trial_residual_ = b - A_true (x + d); x = trial_ where it is to be. One wait.
template <class T>
auto KrylovSolver<T>::try_correction(Problem const& problem, In<T> d, Index steps, Summed sum,
                                     Takes const& takes) -> Trial {
  Context& ctx = *ctx_;
  Range const range(ctx, "judge");
  PowerOfTwo two(cycle_exponent_ - system_.exponent);
  In<double> const trial = trial_;
  submit(ctx, Correct<T>{trial.rows, two.factor, two.factor2, d.data, problem.x.data,
                         trial_.view().data});
  ++residuals_;
  bool const unmet = by_rows() && sum == Summed::exact;
  Trial out{measure(ctx, *system_.A_true, problem.b, trial, trial_residual_, sum, rule_,
                    unmet ? unmet_.view().data : nullptr,
                    [&](TrialNorms* norms) {
                      submit(ctx, TakeTrial{trial.rows, norms, takes.below, takes.kept, trial.data,
                                            problem.x.data});
                    }),
            steps, sum, 0};
  out.open = unmet ? left_open(out, problem.tolerance, trial_residual_) : out.residual;
  return out;
}

/// The better of the last d and the one that was kept, which is tried where it promises more. One
/// product with A_true; two or three where something was kept and the last d is worse. The last d
/// is taken into x at once where ||r'|| is smaller than `below` and nothing kept promises more.
template <class T>
auto KrylovSolver<T>::try_corrections(Problem const& problem, Cycle& cycle, Summed sum,
                                      double below) -> Trial {
  auto worth = [](Trial const& t) { return t.finite() ? t.open : unknown; };
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
