// SPDX-License-Identifier: Apache-2.0
/// The driver of a block method as a preconditioner: one column from x = 0, nothing verified.
#include <algorithm>
#include <cmath>
#include <limits>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

template <class T>
SolveReport BlockSolver<T>::approximate(In<double> b, Out<double> x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (ctx_ == nullptr) throw ShapeError(cat(facts_.name, ": approximate before setup"));
  require_vectors(facts_.name, system_.A->rows(), system_.A->cols(), b, x);
  Context::Entry const entry(*ctx_);
  auto const start = Clock::now();
  ColumnState c(judged_, 0);
  SolveReport& report = c.report;
  inner_ = {};
  frame_.around_solve(
      b, x, [&](In<double> b_here, Out<double> x_here) { approach(c, b_here, x_here, start); });
  system_.parts = false;
  report.true_residual = nan;
  report.inner = inner_.complaint;
  report.execution = loop_->taken();
  report.seconds = seconds_since(start);
  return std::move(report);
}

/// x = what the method makes of b from x = 0.
template <class T>
void BlockSolver<T>::approach(ColumnState& c, In<double> b, Out<double> x,
                              Clock::time_point start) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  fill<double>(ctx, x, 0);
  double const size = report.rhs_norm = report.initial_residual = norm<double>(ctx, b);
  if (size == 0) return c.end(Stop::converged, Cause::zero_rhs);
  if (!std::isfinite(size)) {
    copy<double, double>(ctx, b, x);
    return c.end(Stop::nonfinite, Cause::rhs);
  }
  residuals_.resize(ctx.space(), b.rows, 1);
  copy<double, double>(ctx, b, residuals_);
  double const tolerance = std::max(
      stopping_.baseline == Baseline::absolute ? 0.0 : stopping_.rtol * size, stopping_.atol);
  // However loose the tolerance, one step is made.
  c.begin_from(size, std::min(tolerance, 0.999 * size));
  ctx.solving(deadline_after(start, stopping_.time_limit), inner_, [&] {
    system_.parts = parts_ > 1;
    for (system_.attempt = 0; !c.decided(); ++system_.attempt) approximate_more(c, b, x, start);
  });
}

/// One run; a method that restarts goes on from b - A x while it has steps left.
template <class T>
void BlockSolver<T>::approximate_more(ColumnState& c, In<double> b, Out<double> x,
                                      Clock::time_point start) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  Run const run = this->run({&c}, stopping_.max_iters - report.iterations, start);
  ColumnEnd const end = end_of(run, 0);
  report.iterations += run.state.iteration;
  report.value = end.value;
  PowerOfTwo const two(c.exponent - exponent_);
  In<T> const d = correction(0);
  submit(ctx, Correct<T>{x.rows, two.factor, two.factor2, d.data, x.data, x.data});
  if (end.stop == Stop::cycle_end && report.iterations < stopping_.max_iters) {
    judged_.A_true->residual(ctx, b, x, residuals_);
    report.true_residual = norm<double>(ctx, residuals_);
    c.begin_from(report.true_residual, report.tolerance);
    bool const ended = report.true_residual <= report.tolerance;
    if (!ended && std::isfinite(report.true_residual)) return;
    return c.end(ended ? Stop::converged : Stop::nonfinite, Cause::none);
  }
  c.end(end.stop == Stop::claimed     ? Stop::converged
        : end.stop == Stop::cycle_end ? Stop::max_iterations
                                      : end.stop,
        end.cause);
}

#define TCSOLVE_INSTANTIATE(T)                                                          \
  template SolveReport BlockSolver<T>::approximate(In<double>, Out<double>);            \
  template void BlockSolver<T>::approach(ColumnState&, In<double>, Out<double>,         \
                                         Clock::time_point);                            \
  template void BlockSolver<T>::approximate_more(ColumnState&, In<double>, Out<double>, \
                                                 Clock::time_point);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
