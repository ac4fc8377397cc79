// SPDX-License-Identifier: Apache-2.0
/// How the columns of a block run where each has a recurrence of its own: it ends by itself, is not
/// touched any more and leaves the others as they are. The tests are those of Observe
/// (solvers/driver/monitor.hpp), column by column; the loop ends with the last column.
///
///     measure_j = ||r_j||^2 / goal_j^2     at 1 the column is there
///
///     step     ... judge(rr_j) in each column; then, once, conclude() and observe
#pragma once

#include <tcsolve/kernels/column_operation.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

/// How a column enters a run that follows another one of the same block.
enum class ColumnStart : std::int32_t {
  anew,     ///< from its residual alone
  goes_on,  ///< with what the run before has learnt
  stays     ///< not at all: it has its verdict, and keeps its place
};

/// One column, in the Context's space.
struct ColumnRun {
  std::int32_t stop, cause;  ///< a Stop, `running` until it ends, and a Cause
  std::int32_t steps;        ///< that it has made
  std::int32_t best_step;
  double value;  ///< the number that raised the stop
  double measure2, best2;
  double largest2;  ///< measure2 since r was last made anew, at most
};

/// The columns of a block, as operations see them.
struct ColumnRuns {
  Index w;
  ColumnRun* at;        ///< (w)
  double const* goal2;  ///< (w)
  double* measure2;  ///< the largest measure of those columns that go on, also anew, or are there
  double* done;      ///< whether all have ended, 0 or 1
  double* progress;  ///< falls from step to step: whether a column stagnates is its own affair

  TCSOLVE_HD bool ended(Index j) const { return at[j].stop != 0; }
  /// ||r_j||^2 as the last judge() had it.
  TCSOLVE_HD double rr(Index j) const { return at[j].measure2 * goal2[j]; }

  /// Ends the column: the first reason stands. Returns false, for `return raise(...)`.
  TCSOLVE_HD bool raise(ColumnFrame f, Stop stop, Cause cause, double value) const {
    if (!f.loop.lead || ended(f.j)) return false;
    at[f.j].value = value;
    at[f.j].cause = static_cast<std::int32_t>(cause);
    at[f.j].stop = static_cast<std::int32_t>(stop);
    return false;
  }

  /// Begins column j, where rr = ||r_j||^2.
  TCSOLVE_HD void open(Index j, double rr) const {
    double const m = rr / goal2[j];
    at[j] = {0, 0, 0, 0, 0, m, m, m};
  }
  /// Whether column j has a part in a run that follows another one; one that has not stays ended,
  /// as it is, and holds up none of the others.
  TCSOLVE_HD bool takes_part(ColumnFrame f, ColumnStart start) const {
    if (start != ColumnStart::stays) return true;
    if (f.loop.lead) at[f.j].measure2 = 0;
    return false;
  }
  /// After open() of all.
  TCSOLVE_HD void open_all() const {
    double largest = 0;
    for (Index j = 0; j < w; ++j) {
      double const m = at[j].measure2;
      if (largest == largest && !(m <= largest)) largest = m;  // NaN stays
    }
    *measure2 = largest;
    *done = 0;
    *progress = 1;
  }

  /// The step of column j is made, rr = ||r_j||^2. `claim`: the cause of a claim.
  TCSOLVE_HD void judge(ColumnFrame f, double rr, Cause claim = Cause::none) const {
    ColumnRun& c = at[f.j];
    LoopState const& s = *f.loop.state;
    c.steps = f.loop.step() + 1;
    double const m = rr / goal2[f.j];
    if (!is_finite(m)) {
      raise(f, Stop::nonfinite, Cause::none, rr);
      return;
    }
    c.measure2 = m;
    if (m > c.largest2) c.largest2 = m;
    if (m < 0.998 * c.best2) {
      c.best2 = m;
      c.best_step = c.steps;
    }
    if (m <= 1)
      raise(f, Stop::claimed, claim, rr);
    else if (m > s.divergence2)
      raise(f, Stop::diverged, Cause::none, rr);
    else if (s.window > 0 && c.steps - c.best_step >= s.window)
      raise(f, Stop::stagnated, Cause::none, rr);
  }
  /// After judge(): whether r_j is to be made anew before the column goes on, as Observe has it of
  /// a single one; it ends the run of the column. gap2: (||A|| ||x_j||)^2, in the units of rr.
  TCSOLVE_HD void renew_if_due(ColumnFrame f, double rr, double gap2) const {
    constexpr double fallen2 = 0.25;
    ColumnRun const& c = at[f.j];
    bool const due = f.loop.state->renew2 * gap2 > rr && c.measure2 < fallen2 * c.largest2;
    if (due) raise(f, Stop::replacement, Cause::none, rr);
  }
  /// All columns have made the step.
  TCSOLVE_HD void conclude(Frame f) const {
    if (f.stopped()) return;
    double largest = 0;
    bool any = false, counts = false;
    for (Index j = 0; j < w; ++j) {
      // Volatile: another block of threads may have raised it in this operation.
      auto const stop = static_cast<Stop>(*static_cast<std::int32_t const volatile*>(&at[j].stop));
      any = any || stop == Stop::running;
      if (stop != Stop::running && stop != Stop::claimed && stop != Stop::replacement) continue;
      counts = true;
      largest = at[j].measure2 > largest ? at[j].measure2 : largest;
    }
    if (counts) *measure2 = largest;
    *done = any ? 0 : 1;
    *progress = -double(f.step()) - 1;
  }
  TCSOLVE_HD Observe observe() const { return {0, measure2, done, progress}; }
};

}  // namespace tcsolve
