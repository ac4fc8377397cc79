// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/krylov_solver.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

namespace {

constexpr int probes = 4;  // power iterations in the estimate of an unknown norm

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// v uniform in [-1, 1): what a probe applies an operator to.
template <class T>
void random_vector(Context& ctx, Out<T> v, std::uint64_t stream) {
  submit(ctx, Random<T>{v.rows, ctx.options().seed + stream, v.data});
}

}  // namespace

template <class T>
void KrylovSolver<T>::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                            OperatorPtr<double> A_true) {
  if constexpr (std::is_same_v<T, double>)
    setup_working(ctx, A, M, A_true ? A_true : A);
  else
    throw Unsupported(cat(name(), ": with vectors of ", tcsolve::name(real_of<T>),
                          " call setup_working and name the FP64 system as well"));
}

template <class T>
void KrylovSolver<T>::setup_working(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M,
                                    OperatorPtr<double> A_true) {
  if (!A || !A_true) throw ShapeError(cat(name(), ": setup needs an operator"));
  if (square() && A->rows() != A->cols())
    throw ShapeError(cat(name(), " needs a square operator; ", A->name(), " is ", A->rows(), " x ",
                         A->cols(), "; use lsmr"));
  if (A_true->rows() != A->rows() || A_true->cols() != A->cols())
    throw ShapeError(cat(name(), ": A is ", A->rows(), " x ", A->cols(), ", A_true is ",
                         A_true->rows(), " x ", A_true->cols()));
  if (M && (M->rows() != A->cols() || M->cols() != A->cols()))
    throw ShapeError(cat(name(), ": the preconditioner is ", M->rows(), " x ", M->cols(),
                         "; A has ", A->cols(), " columns"));
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return name() + ".setup"; });
  ctx_ = nullptr;  // whatever throws from here on leaves a solver that solve() refuses
  adopt(ctx, std::move(A), std::move(M), std::move(A_true));
  Space s = ctx.space();
  residual_.resize(s, A_->rows());
  trial_residual_.resize(s, A_->rows());
  trial_.resize(s, A_->cols());
  // The size of an M that is a solver takes a solve to find.
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  ctx.solving(deadline, complaint_, [&] { scale_operators(ctx); });
  allocate(ctx);
  if (!loop_ || !loop_->belongs_to(ctx)) loop_.emplace(ctx);
  record(ctx);
  ctx_ = &ctx;
}

template <class T>
void KrylovSolver<T>::record(Context& ctx) {
  recorded_ = revision(), recorded_name_ = A_->name();
  double const passes = 5 + basis_passes();
  double bytes = A_->cost(1).bytes + M_->cost(1).bytes + passes * sizeof(T) * A_->rows();
  loop_->record(ctx, execution_, {kept_, bytes, cycle()}, [this](Context& c) { step(c); });
}

/// Tells A and M what `steps` of the loop have applied; returns after how many more they ask to be
/// told again.
template <class T>
double KrylovSolver<T>::account(Context& ctx, double steps) {
  SolverCost const each = cost();
  return std::min(A_->advance(ctx, each.products * steps) / each.products,
                  M_->advance(ctx, each.applications * steps) / each.applications);
}

template <class T>
void KrylovSolver<T>::adopt(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M,
                            OperatorPtr<double> A_true) {
  A_ = std::move(A);
  A_true_ = std::move(A_true);
  preconditioned_ = M != nullptr;
  M_ = M ? std::move(M) : std::make_shared<Identity<T>>(A_->cols());
  r_.resize(ctx.space(), A_->rows());
  d_.resize(ctx.space(), A_->cols());
}

/// Products near the end of the exponent range would overflow in squares: a method sees 2^-e A
/// instead, and M scaled so that A M is of size 1. Powers of two change no bit of the iterates;
/// a method that takes square roots of <r, M r> has both scaled always, lest an odd power does.
template <class T>
void KrylovSolver<T>::scale_operators(Context& ctx) {
  int const far = preconditioned_ && !scales_exactly() ? 0 : std::is_same_v<T, double> ? 200 : 20;
  constexpr int furthest = std::is_same_v<T, double> ? 1000 : 120;  // 2^e is a T
  auto exponent = [=](double size) {
    bool scalable = std::isfinite(size) && size != 0 && std::abs(std::ilogb(size)) > far;
    return scalable ? std::clamp(std::ilogb(size), -furthest, furthest) : 0;
  };
  operator_exponent_ = headroom_ = 0;
  norm_A_ = A_true_->norm_estimate();
  if (A_->cols() == 0 || A_->rows() == 0) return;
  if (std::isnan(norm_A_)) norm_A_ = probe_norm(ctx);
  operator_exponent_ = exponent(norm_A_);
  // A r itself, before it is scaled, has to stay in the range of normal numbers.
  constexpr int edge = std::is_same_v<T, double> ? 950 : 110;
  headroom_ = operator_exponent_ > edge ? 24 : operator_exponent_ < -edge ? -60 : 0;
  if (operator_exponent_ != 0)
    A_ = std::make_shared<Scaled<T>>(std::ldexp(1.0, -operator_exponent_), A_);
  if (!preconditioned_) return;
  int e = exponent(preconditioned_size(ctx));
  if (e != 0) M_ = std::make_shared<Scaled<T>>(std::ldexp(1.0, -e), M_);
}

/// ||A M v|| / ||v|| of one v. For an M that varies, an inner solver as a rule, its own estimate of
/// ||M|| saves a solve.
template <class T>
double KrylovSolver<T>::preconditioned_size(Context& ctx) {
  if (double size = M_->norm_estimate(); !M_->traits().fixed && std::isfinite(size))
    return size * size_A();
  auto scope = ctx.arena().scope();
  Out<T> z = scope.template vector<T>(M_->rows());
  random_vector<T>(ctx, d_, 2);
  M_->apply(ctx, d_, z);
  A_->apply(ctx, z, r_);
  return norm<T>(ctx, r_) / norm<T>(ctx, d_);
}

/// The largest ||A v|| / ||v|| of a few power iterations: a lower bound of ||A||, near it for
/// symmetric A.
template <class T>
double KrylovSolver<T>::probe_norm(Context& ctx) {
  random_vector<double>(ctx, trial_, 1);
  double size = norm<double>(ctx, trial_), largest = 0;
  for (int i = 0; i < probes && size > 0; ++i) {
    A_true_->apply(ctx, trial_, trial_residual_);
    double image = norm<double>(ctx, trial_residual_);
    if (!std::isfinite(image)) return i == 0 ? image : largest;
    largest = std::max(largest, image / size);
    if (A_->rows() != A_->cols() || image == 0) break;
    int e = std::ilogb(image);
    size = rescale<double, double>(ctx, -e, trial_residual_, trial_);
  }
  return largest;
}

template <class T>
SolveReport KrylovSolver<T>::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
  Context& ctx = *ctx_;
  require_vectors(name(), A_->rows(), A_->cols(), b, x);
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return name() + ".solve"; });
  // What lies elsewhere, or is a column of something wider, is staged; the rest is used in place.
  auto here = [&](auto const& v) { return v.space == ctx.space() && v.is_vector(); };
  In<double> b_here = b;
  Out<double> x_here = x;
  if (!here(b)) b_here = stage(b, staged_b_);
  if (!here(x)) x_here = stage(x, staged_x_);
  SolveReport report;
  Deadline const deadline = deadline_after(std::chrono::steady_clock::now(), stopping_.time_limit);
  ctx.solving(deadline, complaint_, [&] { report = judge(b_here, x_here); });
  if (report.cause == Cause::inner_solver) report.inner = complaint_;
  if (!here(x)) unstage(x_here, x);
  report.message = explain(report, name(), advice());
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
    throw ShapeError(cat(name(), ": a strided vector must lie in the Context's space"));
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
  if (sum == Sum::exact)
    A_true_->exact_residual(*ctx_, b, x, r);
  else
    A_true_->residual(*ctx_, b, x, r);
}

template <class T>
double KrylovSolver<T>::measure_residual(In<double> b, In<double> x, Out<double> r, Sum sum) {
  make_residual(b, x, r, sum);
  return norm<double>(*ctx_, r);
}

template <class T>
double KrylovSolver<T>::attainable(double x_norm, double b_norm) const {
  return attainable_residual(norm_A_, x_norm, b_norm, double(A_->cols()));
}

template <class T>
void KrylovSolver<T>::assess(SolveReport& report, double x_norm) const {
  if (!std::isfinite(norm_A_)) return;
  report.attainable = attainable(x_norm, report.rhs_norm);
  report.backward_error = backward_error(report.true_residual, norm_A_, x_norm, report.rhs_norm);
}

template <class T>
SolveReport KrylovSolver<T>::judge(In<double> b, Out<double> x) {
  Context& ctx = *ctx_;
  auto start = std::chrono::steady_clock::now();
  SolveReport report;
  report.preconditioned = preconditioned_;
  // A callable may throw at what is no number, so b and x are looked at first; otherwise with r.
  bool const callable = !A_true_->traits().capturable;
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
  auto not_a_number = [&](Cause cause) {
    report.true_residual = report.initial_residual = std::numeric_limits<double>::quiet_NaN();
    return end(Stop::nonfinite, cause);
  };
  // Elements that are numbers may have a norm that is not.
  auto blame = [&](In<double> v, Cause cause) {
    return not_a_number(std::isfinite(largest<double>(ctx, v)) ? Cause::overflow : cause);
  };
  if (!std::isfinite(report.rhs_norm)) return blame(b, Cause::rhs);
  if (!std::isfinite(guess_norm)) return blame(x, Cause::guess);
  if (report.rhs_norm == 0) fill<double>(ctx, x, 0);
  if (callable || report.rhs_norm == 0) residual = measure_residual(b, x, residual_, Sum::plain);
  if (!std::isfinite(residual)) return not_a_number(Cause::matrix);
  report.value = SolveReport::unknown;
  report.accepts_least_squares = A_->rows() != A_->cols() || accepts_least_squares();
  if (report.rhs_norm == 0) {
    // x0 is not looked at: of its residual nothing is known.
    report.true_residual = report.best_residual = report.recurrence_residual = 0;
    if (stopping_.baseline != Baseline::initial) report.tolerance = stopping_.atol;
    assess(report, 0);
    return end(Stop::converged, Cause::zero_rhs);
  }
  report.initial_residual = report.true_residual = report.best_residual = residual;
  report.recurrence_residual = residual;
  report.tolerance =
      tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol, report.rhs_norm, residual);
  exact_ = !A_true_->sums_exactly();  // there is nothing better
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
  normal_ = report.true_residual > report.tolerance
                ? normal_residual(ctx, residual_, report.true_residual)
                : unknown;
  if (report.true_residual <= report.tolerance)
    end(Stop::converged, Cause::exact_guess);
  else if (normal_ == 0)
    end(Stop::least_squares, Cause::none);
  else
    iterate({b, x}, report, {name(), start, stopping_.time_limit, 0, 1, 1, report.tolerance});
  if (!exact_) look_closely();
  if (report.true_residual <= report.tolerance && !report.converged())
    end(Stop::converged, Cause::none);
  if (report.iterations > 0) report.condition = condition();
  assess(report, x_norm_);
  ctx.synchronize();  // x is there
  report.seconds = seconds_since(start);
  return report;
}

template <class T>
void KrylovSolver<T>::iterate(System const& system, SolveReport& report, Watch const& watch) {
  Context& ctx = *ctx_;
  Out<double> x = system.x;
  double const tolerance = report.tolerance,
               divergence = std::max(report.rhs_norm, report.true_residual);
  if (stopping_.max_iters == 0) {
    report.reason = Stop::max_iterations;
    return;
  }
  Judgement judgement;
  for (;; ++report.restarts) {
    double& residual = report.true_residual;
    tighten_ = judgement.tighten;
    CycleLimits limits{std::min(cycle(), stopping_.max_iters - report.iterations), residual,
                       tighten_ * tolerance, stopping_.divtol * divergence, judgement.breakdowns};
    Best const before{report.best_residual, report.best_iteration};
    Index const iterations_before = report.iterations;
    Cycle cycle = run_cycle(system, report, watch, limits);
    bool const exhausted = report.iterations >= stopping_.max_iters;

    // Keep x + d when its true residual is smaller. Near a least-squares solution, where ||r|| is
    // flat, A^T r tells. A restart after so many steps needs no more than a plain sum.
    bool const restart = static_cast<Stop>(cycle.state.stop) == Stop::cycle_end && !exhausted;
    Trial trial = try_corrections(system, cycle, restart ? Sum::plain : Sum::exact);
    if (!(trial.finite() && trial.residual <= tolerance)) {
      classify_stop(ctx, cycle.state);
      heed(cycle.state);
    }
    double gain = 1;
    // x may hold a NaN that A never looks at.
    bool const finite = trial.finite();
    double limit = finite ? attainable(trial.x_norm, report.rhs_norm) : 0.0;
    if (restart && finite && A_true_->sums_exactly() && trial.residual <= tolerance + limit)
      trial.residual = measure_residual(system.b, trial_, trial_residual_, trial.sum = Sum::exact);
    double trial_normal = unknown;
    if (finite && trial.residual <= residual + limit)
      trial_normal = normal_residual(ctx, trial_residual_, trial.residual);
    if (finite && (trial.residual < residual || trial_normal < Judgement::enough_gain * normal_)) {
      gain = trial.residual / residual;
      if (trial_normal < normal_) gain = std::min(gain, trial_normal / normal_);
      normal_ = trial_normal;
      residual = trial.residual;
      exact_ = trial.sum == Sum::exact || !A_true_->sums_exactly();
      copy<double, double>(ctx, trial_, x);
      x_norm_ = trial.x_norm;
      std::swap(residual_, trial_residual_);
    }
    correct_best(report, before, iterations_before + trial.steps);
    double const reached = attainable(x_norm_, report.rhs_norm);
    explain_claim(cycle, residual, reached, report.rhs_norm);

    Verdict verdict = judgement.after({.stop = static_cast<Stop>(cycle.state.stop),
                                       .cause = static_cast<Cause>(cycle.state.cause),
                                       .overflow = !finite && std::isfinite(cycle.state.value),
                                       .gain = gain,
                                       .residual = residual,
                                       .tolerance = tolerance,
                                       .rhs_norm = report.rhs_norm,
                                       .limit = reached,
                                       .normal = normal_,
                                       .optimal = optimal(),
                                       .noise = normal_noise(),
                                       .monitors_residual = monitors_residual(),
                                       .roundoff = roundoff(real_of<T>),
                                       .exhausted = exhausted,
                                       .condition = condition()});
    if (verdict.stop == Stop::running) continue;
    if (verdict.stop == static_cast<Stop>(cycle.state.stop)) report.value = cycle.state.value;
    report.reason = verdict.stop;
    report.cause = verdict.stop == Stop::nonfinite ? diagnose() : verdict.cause;
    return;
  }
}

/// trial_ = x + d, trial_residual_ = b - A_true (x + d).
template <class T>
auto KrylovSolver<T>::try_correction(System const& system, In<T> d, Index steps, Sum sum) -> Trial {
  PowerOfTwo two(cycle_exponent_ - operator_exponent_);
  submit(*ctx_, Correct<T>{trial_.rows(), two.factor, two.factor2, d.data, system.x.data,
                           trial_.view().data});
  make_residual(system.b, trial_, trial_residual_, sum);
  auto const [residual, x_norm] = norms<double>(*ctx_, trial_residual_.view(), trial_.view());
  return {residual, x_norm, steps, sum};
}

/// The better of the last d and the one that was kept, which is tried where it promises more. One
/// product with A_true; two or three where something was kept and the last d is worse.
template <class T>
auto KrylovSolver<T>::try_corrections(System const& system, Cycle& cycle, Sum sum) -> Trial {
  auto worth = [](Trial const& t) { return t.finite() ? t.residual : unknown; };
  Trial const last = try_correction(system, d_, cycle.state.iteration, sum);
  cycle.last = last;
  if (!(cycle.kept < worth(last))) return last;
  Trial const kept = try_correction(system, best_, cycle.kept_steps, sum);
  if (worth(kept) <= worth(last)) return kept;
  return try_correction(system, d_, cycle.state.iteration, sum);
}

/// The smallest norm of the history stands in the report as `best`, unless the true residual has
/// refuted it: then what has been verified does. `at`: the iteration of the x that was tried.
template <class T>
void KrylovSolver<T>::correct_best(SolveReport& report, Best const& before, Index at) const {
  double const slack = monitors_residual() ? 2 : 1e3;  // M's inner product is another norm
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
  double const rounding = u * norm_A_ * cycle.last.x_norm;
  bool const lost = square() && std::isfinite(norm_A_) && cycle.last.finite() &&
                    rounding > Judgement::astray * rhs_norm &&
                    cycle.last.residual <= peak * rounding;
  bool const accurate = residual <= reached && reached <= Judgement::drowned * rhs_norm;
  if ((lost && !accurate) || (residual > reached && refuted(*ctx_)))
    cycle.state.cause = static_cast<std::int32_t>(Cause::singular_operator);
}

/// Between two pieces of a watched method's loop: tries x + d, keeps the best d. False, with the
/// reason in `state`, where the method's account of itself is refuted: the true residual is far
/// above its norm, `believed`, and above the best that was seen, and x is lost in its rounding; or
/// the true residual has not improved for twice as long as a method may stagnate.
template <class T>
bool KrylovSolver<T>::look(System const& system, LoopState& state, double believed, double rhs_norm,
                           Start const& limits, Looks& seen) {
  constexpr double progress = 0.999;
  constexpr double far = 1e3;
  // Asked for by the method, or due: then the next one is as far away as the last one was.
  bool const due = state.iteration >= seen.next;
  seen.apart = due ? 2 * seen.apart : 1;
  seen.next = state.iteration + seen.apart;
  if (std::isnan(seen.best_norm)) seen.best_norm = x_norm_;
  complete(*ctx_);
  Trial const trial = try_correction(system, d_, state.iteration, Sum::plain);
  if (trial.finite() && trial.residual < seen.best) {
    if (trial.residual < progress * seen.best) seen.step = state.iteration;
    seen.best = trial.residual;
    seen.best_norm = trial.x_norm;
    double const promised = std::sqrt(state.kept2 / limits.norm2) * limits.residual;
    if (trial.residual < promised) {
      double const fall = trial.residual / limits.residual;
      Keep::note(state, fall * fall * limits.norm2, state.iteration);
      copy<T, T>(*ctx_, d_, best_);
    }
  }
  auto end = [&](Stop reason, Cause cause) {
    state.stop = static_cast<std::int32_t>(reason);
    state.cause = static_cast<std::int32_t>(cause);
    return false;
  };
  bool const refuted = !trial.finite() || trial.residual > far * std::max(believed, seen.best);
  bool const drowned = !trial.finite() || attainable(trial.x_norm, rhs_norm) > believed;
  if (refuted && drowned) {
    // An x that is lost in its rounding has followed the kernel of A, unless the best one was as
    // accurate as it can be.
    bool const accurate = seen.best <= 0.1 * attainable(seen.best_norm, rhs_norm);
    return end(Stop::claimed, accurate ? Cause::none : Cause::singular_operator);
  }
  // On an ill-conditioned A the norm may run ahead of the residual for a while.
  if (state.window > 0 && state.iteration - seen.step >= 2 * state.window)
    return end(Stop::stagnated, Cause::none);
  return true;
}

/// One run of the method on the residual at hand; d_ holds the correction afterwards.
template <class T>
auto KrylovSolver<T>::run_cycle(System const& system, SolveReport& report, Watch const& watch,
                                CycleLimits const& limits) -> Cycle {
  Context& ctx = *ctx_;
  Range const range(ctx, [this] { return name() + ".cycle"; });
  complaint_.clear();
  cycle_exponent_ = std::ilogb(limits.residual) + headroom_;
  rescale_into<double, T>(ctx, -cycle_exponent_, residual_, r_);
  fill<T>(ctx, d_, 0);
  begin(ctx, {report.restarts, limits.attempt, nullptr});
  double norm2 = read(ctx, norm2_);
  Cycle out{LoopState{}, unknown, 0, limits.residual};
  Verdict unfit = before_first_step(norm2);
  if (unfit.stop != Stop::running) {
    out.state.stop = static_cast<std::int32_t>(unfit.stop);
    out.state.cause = static_cast<std::int32_t>(unfit.cause);
    out.state.value = norm2;
    complete(ctx);
    finish(ctx, out.state);
    heed(out.state);
    return out;
  }
  std::int32_t const window = stagnation_window(stopping_.stagnation_window, d_.rows());
  Watch here = watch;
  here.iterations_before = report.iterations;
  here.norm_start = std::sqrt(norm2);
  here.residual_start = limits.residual;
  auto in_units_of_b = [&](double n2) { return std::sqrt(n2) / here.norm_start * limits.residual; };
  std::vector<double> norms2;
  std::int32_t accounted = 0;
  bool const watched = system.judged && is_watched();
  double const first = watched ? std::min(100.0, d_.rows() + 10.0) : unknown;
  Looks seen{limits.residual, std::numeric_limits<double>::quiet_NaN(), 0, first, first / 2};
  // A in another format is the same A: the recurrence goes on with it.
  auto adapt = [&](std::int32_t done) {
    double const patience = account(ctx, done - std::exchange(accounted, done));
    if (revision() != recorded_) {
      std::string const before = recorded_name_;
      record(ctx);
      if (A_->name() != before)
        ctx.log(Severity::note, cat("format: ", A_->name(), " from iteration ",
                                    report.iterations + done + 1, " on"));
    }
    return std::min(patience, seen.next - done);
  };
  Between between{[&] { replace(ctx); }, adapt, nullptr};
  if (watched)
    between.look = [&](LoopState& state, bool asked) {
      if (!asked && state.iteration < seen.next) return true;  // the loop came back for others
      double const believed = in_units_of_b(norms2.empty() ? norm2 : norms2.back());
      return look(system, state, believed, report.rhs_norm, {norm2, limits.residual}, seen);
    };
  Ends const ends =
      ends_of(limits.target, limits.divergence, limits.residual, norm2, roundoff(real_of<T>));
  auto loop_start = std::chrono::steady_clock::now();
  out.state = loop_->run(ctx, {limits.steps, window, ends.threshold2, ends.divergence2, norm2},
                         here, norms2, between);
  account(ctx, out.state.iteration - accounted);
  report.loop_seconds += seconds_since(loop_start);
  for (double n2 : norms2) {
    double monitored = in_units_of_b(n2);
    report.history.push_back({++report.iterations, monitored});
    if (monitored < report.best_residual) {
      report.best_residual = monitored;
      report.best_iteration = report.iterations;
    }
  }
  if (!norms2.empty()) out.claimed = report.recurrence_residual = report.history.back().norm;
  if (best_.rows() > 0 && out.state.kept2 < norm2) out.kept = in_units_of_b(out.state.kept2);
  out.kept_steps = out.state.kept_step;
  complete(ctx);
  finish(ctx, out.state);
  heed(out.state);
  return out;
}

/// Which of M and A turns a finite vector into one that is not.
template <class T>
Cause KrylovSolver<T>::diagnose() {
  Context& ctx = *ctx_;
  Vector<T> v(ctx.space(), A_->cols()), z(ctx.space(), A_->cols()), w(ctx.space(), A_->rows());
  random_vector<T>(ctx, v, 3);
  M_->apply(ctx, v, z);
  if (!std::isfinite(norm<T>(ctx, z))) return Cause::preconditioner;
  A_->apply(ctx, v, w);
  if (!std::isfinite(norm<T>(ctx, w))) return Cause::matrix;
  return Cause::overflow;
}

template class KrylovSolver<double>;
template class KrylovSolver<float>;

}  // namespace tcsolve
