// SPDX-License-Identifier: Apache-2.0
/// What a solve says of itself. `converged` refers to the true residual alone: the FP64 residual of
/// the original system, computed from x at the end.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/core/stop.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// The monitored norm after one iteration, in the units of b.
struct Record {
  Index iteration;
  double norm;
};

struct SolveReport {
  Stop reason = Stop::setup_failed;
  Cause cause = Cause::none;
  Index iterations = 0;            ///< over all restarts
  Index restarts = 0;              ///< times the method began again from a true residual
  double rhs_norm = 0;             ///< ||b||_2
  double initial_residual = 0;     ///< ||b - A x0||_2
  double tolerance = 0;            ///< what the true residual had to meet
  double true_residual = 0;        ///< ||b - A x||_2 in FP64, of the x that is returned
  double recurrence_residual = 0;  ///< what the method believed at its end
  double best_residual = 0;  ///< smallest monitored norm that the true residual did not refute
  Index best_iteration = 0;
  double backward_error = 0;  ///< ||r|| / (||A|| ||x|| + ||b||); NaN when ||A|| is not known
  double attainable = 0;      ///< estimate of the smallest reachable ||b - A x||_2
  double value = 0;           ///< the number behind a breakdown, e.g. the curvature <p, A p>
  double seconds = 0;
  double loop_seconds = 0;  ///< the part of it that the iterations took; the rest is verification
  bool preconditioned = false;  ///< there was an M, which a breakdown may be due to
  std::vector<Record> history;
  std::string message;  ///< the outcome in a sentence, with advice where there is some

  bool converged() const { return reason == Stop::converged; }
  /// e.g. "converged", "breakdown:rho", "nonfinite:preconditioner".
  std::string outcome() const;
};

/// The sentence for `report.message`: what happened, the figures, and what to try next.
std::string explain(SolveReport const& report, std::string const& solver);

}  // namespace tcsolve
