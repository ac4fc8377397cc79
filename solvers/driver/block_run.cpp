// SPDX-License-Identifier: Apache-2.0
/// One run of a block method on the columns at hand, and how it ended for each of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/condition_watch.hpp>

namespace tcsolve {

/// One run of the method on the residuals at hand; system_.X holds the corrections afterwards.
/// `called`: what observers are told that it is, where it is not the method.
template <class T>
auto BlockSolver<T>::run(std::vector<ColumnState*> const& active, Index steps,
                         Clock::time_point start, std::string const& called) -> Run {
  Context& ctx = *ctx_;
  Range const range(ctx, [this] { return facts_.name + ".cycle"; });
  // Near its roundoff a recurrence is about nothing: there the true residual is looked at first. An
  // r that is made anew in time may be believed further.
  double const u = renews_ ? roundoff(Real::f64) : roundoff(real_of<T>), least = 100 * u;
  bool resumes = false;
  auto const w = static_cast<Index>(active.size());
  size_for(ctx, system_.parts ? parts_ : w);
  inner_.complaint.clear();
  std::vector<double> goal2;
  double farthest = 0, rise = 1;
  Index before = 0;
  double shown = 1, begins = 1;  // of the column that is farthest from its tolerance
  std::vector<ColumnScale> scales;
  std::vector<ColumnStart> starts;
  for (Index i = 0; i < w; ++i) {
    ColumnState& c = *active[static_cast<std::size_t>(i)];
    SolveReport const& report = c.report;
    starts.push_back(c.start);
    if (c.start == ColumnStart::stays) {
      scales.push_back({0, 0, c.j});
      goal2.push_back(1);
      continue;
    }
    before = std::max(before, report.iterations);
    resumes = resumes || c.start == ColumnStart::goes_on;
    c.goal = std::max(c.target(), least * c.open());
    // A direction that is kept has the units of the run before.
    if (c.start == ColumnStart::anew) c.exponent = std::ilogb(c.open());
    PowerOfTwo const two(-c.exponent);
    scales.push_back({two.factor, two.factor2, c.j});
    double const fall = c.goal / c.open();
    double const goal = fall * std::ldexp(c.open(), -c.exponent);
    goal2.push_back(goal * goal);
    if (1 / fall > farthest) shown = report.tolerance, begins = c.open() / c.target() * shown;
    farthest = std::max(farthest, 1 / fall);
    rise = std::max(rise, stopping_.divtol * report.rhs_norm / c.open());
  }
  goal2.resize(static_cast<std::size_t>(width_), goal2.back());  // of parts: that of their sum
  copy_bytes(ctx, system_.goal2.data(), ctx.space(), goal2.data(), Space::host,
             goal2.size() * sizeof(double));
  put_residuals(scales);
  fill<T>(ctx, system_.X, 0);
  if (resumes) {
    copy_bytes(ctx, system_.starts.data(), ctx.space(), starts.data(), Space::host,
               starts.size() * sizeof(ColumnStart));
    method_->resume(ctx);
  } else {
    method_->begin(ctx);
  }
  Watch const watch{.solver = called.empty() ? facts_.name : called,
                    .start = start,
                    .time_limit = stopping_.time_limit,
                    .iterations_before = before,
                    .residual_start = begins,
                    .tolerance = shown};
  std::int32_t accounted = 0;
  ConditionWatch condition(stopping_.most_condition);
  auto adapt = [&](std::int32_t done) {  // A in another format is the same A
    double const patience = account(ctx, done - std::exchange(accounted, done));
    if (ctx.communicator().agree(revision() != recorded_)) record(ctx);
    return std::min(patience, condition.steps_after(done));
  };
  std::int32_t const window = stagnation_window(
      stopping_.stagnation_window, ctx_->communicator().global_size(system_.A->cols()));
  RunLimits const norms{1, std::max(rise, stopping_.divtol) * farthest, farthest, u,
                        renews_ ? system_.roundoff_of_curvature() : 0.0};
  Run out;
  auto const loop_start = Clock::now();
  // A method raises Stop::replacement where a narrower block is to go on.
  auto look = [&](LoopState& state, bool asked) {
    out.too_narrow = state.stop == 0 && condition.is_over(ctx, *method_, state);
    bool const ends = asked || out.too_narrow;
    if (ends) state.stop = static_cast<std::int32_t>(Stop::cycle_end);
    return !ends;
  };
  std::int32_t const most = std::min(steps, facts_.cycle);
  out.state = loop_->run(ctx, {most, window, measure2_, norms}, watch, out.measures,
                         {.replace = [] {}, .adapt = adapt, .look = look});
  method_->classify_stop(ctx, out.state);
  method_->complete(ctx);
  account(ctx, out.state.iteration - accounted);
  out.seconds = seconds_since(loop_start);
  for (double& m : out.measures) m = std::sqrt(m);
  out.ends = method_->column_ends(ctx);
  out.too_narrow = out.too_narrow || condition.is_exceeded(ctx, *method_);
  return out;
}

/// How column i of a run ended: by itself, or with the loop.
template <class T>
ColumnEnd BlockSolver<T>::end_of(Run const& run, Index i) const {
  ColumnEnd end;
  if (!run.ends.empty()) end = run.ends[static_cast<std::size_t>(i)];
  if (end.stop == Stop::running) {
    end.stop = static_cast<Stop>(run.state.stop);
    end.cause = static_cast<Cause>(run.state.cause);
    end.value = run.state.value;
  }
  if (run.ends.empty()) {
    end.steps = static_cast<Index>(run.measures.size());
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    end.measure2 = run.measures.empty() ? nan : run.measures.back() * run.measures.back();
  }
  Verdict const now = unless_asked(*ctx_, inner_.complaint, {end.stop, end.cause});
  end.stop = now.stop, end.cause = now.cause;
  return end;
}

#define TCSOLVE_INSTANTIATE(T)                                                                  \
  template auto BlockSolver<T>::run(std::vector<ColumnState*> const&, Index, Clock::time_point, \
                                    std::string const&)                                         \
      ->Run;                                                                                    \
  template ColumnEnd BlockSolver<T>::end_of(Run const&, Index) const;
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
