// SPDX-License-Identifier: Apache-2.0
/// The driver of an inner solve. Unlike solve(), it guarantees nothing about x: as a preconditioner
/// it returns the iterate of its method after the allowed steps, and the outer method judges it:
///
///     x = 0,  r = b
///     repeat  d = method(r),  x += d,  r = b - A x     while a method that restarts has steps left
///
/// So do KSP as a preconditioner (PETSc) and solvers as operators (Ginkgo). An iterate of smaller
/// residual is not kept: the residuals of CG and BiCGStab rise before they fall, and x = 0,
/// which has the smallest of the first steps, is no preconditioner.
#include <tcsolve/solvers/driver/krylov_solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

template <class T>
SolveReport KrylovSolver<T>::approximate(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(facts_.name, ": approximate before setup"));
  require_vectors(facts_.name, system_.A->rows(), system_.A->cols(), b, x);
  for (In<double> v : {b, In<double>(x)})
    if (v.space != ctx_->space() || !v.is_vector())
      throw ShapeError(cat(facts_.name,
                           ": an inner solve takes vectors of adjacent entries in the ",
                           "Context's space"));
  Context::Entry const entry(*ctx_);
  auto const start = std::chrono::steady_clock::now();
  ColumnJudge column(judged_);
  SolveReport& report = column.report;
  report.true_residual = std::numeric_limits<double>::quiet_NaN();
  Watch const watch{facts_.name, start, stopping_.time_limit};
  inner_ = {};
  judged_.residuals = 0;
  frame_.around_solve(b, x, [&](In<double> b_here, Out<double> x_here) {
    ctx_->solving(deadline_after(start, stopping_.time_limit), inner_,
                  [&] { approach(b_here, x_here, column, watch); });
  });
  report.inner = inner_.complaint;
  count(report);
  report.seconds = seconds_since(start);
  return std::move(report);
}

template <class T>
void KrylovSolver<T>::approach(In<double> b, Out<double> x, ColumnJudge& column,
                               Watch const& watch) {
  Context& ctx = *ctx_;
  SolveReport& report = column.report;
  auto const end = [&](Stop reason, Cause cause) { column.end(reason, cause); };
  fill<double>(ctx, x, 0);
  double residual = report.rhs_norm = report.initial_residual = norm<double>(ctx, b);
  if (residual == 0) return end(Stop::converged, Cause::zero_rhs);
  if (!std::isfinite(residual)) {
    copy<double, double>(ctx, b, x);
    return end(Stop::nonfinite, Cause::rhs);
  }
  double const base = stopping_.baseline == Baseline::absolute ? 0.0 : residual;
  report.tolerance = std::max(stopping_.rtol * base, stopping_.atol);
  copy<double, double>(ctx, b, residual_);
  system_.goal.tighten = 1;
  system_.goal.normal = unknown;
  while (report.iterations < stopping_.max_iters) {
    LoopState state = run_cycle({b, x, false}, column, watch,
                                {std::min(facts_.cycle, stopping_.max_iters - report.iterations),
                                 residual, report.tolerance, stopping_.divtol * report.rhs_norm, 0})
                          .state;
    if (static_cast<Stop>(state.stop) != Stop::claimed) {
      method_->classify_stop(ctx, state);
      heed(state);
    }
    PowerOfTwo const two(cycle_exponent_ - system_.exponent);
    In<T> const d = equilibration_.leave(ctx, system_.x);
    submit(ctx, Correct<T>{x.rows, two.factor, two.factor2, d.data, x.data, x.data});
    report.value = state.value;
    auto const stop = static_cast<Stop>(state.stop);
    if (stop == Stop::claimed) return end(Stop::converged, Cause::none);
    if (stop != Stop::cycle_end) return end(stop, static_cast<Cause>(state.cause));
    if (report.iterations >= stopping_.max_iters) break;
    residual = judged_.measure_residual(b, x, residual_, Summed::plain);
    if (residual <= report.tolerance) return end(Stop::converged, Cause::none);
    if (!std::isfinite(residual)) return end(Stop::nonfinite, Cause::overflow);
    ++report.restarts;
  }
  end(Stop::max_iterations, Cause::none);
}

template <class T>
void KrylovSolver<T>::heed(LoopState& state) const {
  Verdict const now = unless_asked(
      *ctx_, inner_.complaint, {static_cast<Stop>(state.stop), static_cast<Cause>(state.cause)});
  state.stop = static_cast<std::int32_t>(now.stop);
  state.cause = static_cast<std::int32_t>(now.cause);
}

#define TCSOLVE_INSTANTIATE(T)                                                                  \
  template SolveReport KrylovSolver<T>::approximate(In<double>, Out<double>);                   \
  template void KrylovSolver<T>::approach(In<double>, Out<double>, ColumnJudge&, Watch const&); \
  template void KrylovSolver<T>::heed(LoopState&) const;
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
