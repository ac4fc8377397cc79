// SPDX-License-Identifier: Apache-2.0
/// Several right-hand sides one after another, as one solve: within one time limit, and with a
/// report for each column whatever ends it.
///
///     column       1           2            3            4
///               converged   time_limit   time_limit   time_limit
///               |---------------------|  not begun: x stays its guess, whose residual is unknown
///               0                 seconds
#pragma once

#include <string>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// each(b_j, x_j), which solves a column and returns its report, for every column until `seconds`
/// have passed or a solve has been cancelled. The columns behind that one are not begun and have
/// its reason. `name` is the solver's. Throws ShapeError where b and x differ in their columns, and
/// what each() throws.
template <class Each>
std::vector<SolveReport> solve_in_turn(Context& ctx, double seconds, std::string const& name,
                                       In<double> b, Out<double> x, Each const& each) {
  if (b.cols != x.cols) throw ShapeError(cat(name, ": b has ", b.cols, " columns, x has ", x.cols));
  std::vector<SolveReport> reports;
  Stop ended = Stop::running;
  ctx.in_turn(deadline_after(std::chrono::steady_clock::now(), seconds), [&] {
    for (Index j = 0; j < b.cols; ++j) {
      // A first column begins in any case: its solve judges the guess, too.
      if (ended == Stop::running && j > 0) ended = ctx.asked();
      reports.push_back(ended == Stop::running ? each(column(b, j), column(x, j))
                                               : not_begun(ended, name));
      if (reports.back().reason == Stop::cancelled) ended = Stop::cancelled;
    }
  });
  return reports;
}

}  // namespace tcsolve
