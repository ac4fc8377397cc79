// SPDX-License-Identifier: Apache-2.0
/// `--repeat N`: the same solve again and again, to time it.
#pragma once

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/energy.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tcsolve {

/// Wall-clock seconds of solves that begin alike, in the order in which they ran.
struct RepeatTimes {
  std::vector<double> seconds;  ///< without those of set-ups that a solve of `auto` made
  Joules joules{};              ///< of one of them
  double setup = 0;             ///< seconds of set-ups made in any of the solves, the warm-up's too

  double median() const;  ///< the mean of the middle two where their number is even
  double least() const;
  double most() const;
  /// (most - least) / median: 0.1 where they lie within a tenth of each other.
  double spread() const;
  /// "repeat: median 0.012 s, least 0.0118 s, spread 3.1 % of 5 solves after a warm-up: 0.012 ...".
  std::string text() const;
};

/// Solves from the start x once to warm up (pages, clocks, what is compiled or recorded once), then
/// `count` times, each timed: solve() makes the answer of x. It is that of the last, whose report
/// is returned, with the choices that `auto` made in any of them; a note of each is logged. A solve
/// that is cancelled is the last. Memory: x again.
SolveReport repeat_solve(Context& ctx, std::vector<double>& x,
                         std::function<SolveReport()> const& solve, int count, RepeatTimes& times);

}  // namespace tcsolve
