// SPDX-License-Identifier: Apache-2.0
/// The report of a solve. `converged` refers to the true residual alone: that of the original
/// system, computed from x at the end.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/core/precision.hpp>
#include <tcsolve/core/stop.hpp>
#include <tcsolve/core/types.hpp>
#include <tcsolve/solvers/stopping.hpp>

namespace tcsolve {

/// What an iteration was the first of, if it was.
enum class Mark { none, restart, update, method };
constexpr auto names(Mark) {
  return std::array{std::pair{Mark::none, ""}, std::pair{Mark::restart, "restart"},
                    std::pair{Mark::update, "update"}, std::pair{Mark::method, "method"}};
}

/// The monitored norm after one iteration, in the units of b.
struct Record {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Index iteration;
  double norm;
  /// Since the solve began: as the host saw it, or interpolated between two iterations of which it
  /// saw the end (solvers/loop/moments.hpp).
  double seconds = unknown;
  double true_residual = unknown;  ///< ||b - A x||_2, where it was evaluated
  Mark mark = Mark::none;          ///< restart: from a true residual; update: r made anew in the
                                   ///< same space; method: another one of `auto`
};

/// What became of a method that `auto` has tried.
struct ChoiceReport {
  std::string solver, preconditioner;
  /// What a config says to run the same: with the limits of the whole solve, not those of a trial.
  /// Empty where it is the caller's own operator.
  Block solver_block, preconditioner_block;
  std::string label;    ///< "gmres {restart: 50} with ilu {drop_tolerance: 0.01}"
  std::string details;  ///< of the preconditioner (LinearOperator::details())
  std::string outcome;  ///< of its solve, or why it could not be set up
  bool ran = false;     ///< it was set up
  Index iterations = 0;
  double true_residual = std::numeric_limits<double>::quiet_NaN();
  /// Of its set-up; NaN where that was made before this solve. Of its iterations and checks.
  double setup_seconds = std::numeric_limits<double>::quiet_NaN(), seconds = 0;
  /// "cg with jacobi: stagnated after 300 iterations", with the keys that `label` has.
  std::string text() const;
};

/// A stretch of a solve in one precision.
struct PrecisionReport {
  Real values = Real::f64;   ///< that A was stored in
  Real vectors = Real::f64;  ///< the method's own
  Index iterations = 0;
  std::string why;       ///< it ended before the solve did; empty: it did not
  bool rounded = false;  ///< A was stored in a narrower type than the system that is judged by
};

/// "converged", "breakdown:rho", "nonfinite:preconditioner": with the cause where that tells more.
std::string outcome_of(Stop reason, Cause cause);

/// Figures that were never computed are NaN.
struct SolveReport {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  Stop reason = Stop::setup_failed;
  Cause cause = Cause::none;
  Index iterations = 0;               ///< over all restarts
  Index restarts = 0;                 ///< times the method began again from a true residual
  double rhs_norm = unknown;          ///< ||b||_2
  double initial_residual = unknown;  ///< ||b - A x0||_2
  double tolerance = unknown;         ///< what the true residual had to meet
  /// ||b - A x||_2 of the x that is returned, every row summed in twice the precision of FP64 where
  /// the operator can (LinearOperator::sums_exactly), else in FP64.
  double true_residual = unknown;
  double recurrence_residual = unknown;  ///< ||r|| by the recurrence at its end, in the units of b
  double best_residual = unknown;        ///< smallest monitored norm not refuted
  Index best_iteration = 0;
  double backward_error = unknown;  ///< ||r|| / (||A|| ||x|| + ||b||), where ||A|| is known
  /// Estimate of the smallest ||b - A x||_2 that can be reached near this x: ten roundoffs of
  /// || |b| + |A| |x| ||, or of ||b|| + ||A|| ||x|| where the entries of A are not known.
  double attainable = unknown;
  double rowwise_error = unknown;  ///< max_i |r_i| / (|b| + |A| |x|)_i (Oettli and Prager 1964)
  double rows_unmet = unknown;     ///< rows that are not met (row_rule())
  Index rows = 0;                  ///< of A
  double condition = unknown;      ///< estimate of cond(A M), from below (lsmr)
  double value = unknown;          ///< the number behind a breakdown, e.g. the curvature <p, A p>
  double seconds = 0;
  double setup_seconds = 0;  ///< of set-ups made within the solve (auto), not in `seconds`
  double loop_seconds = 0;   ///< the part of it that the iterations took; the rest is verification
  Execution execution = Execution::eager;  ///< how the loop ran; on the host eager
  Index residuals = 0;                     ///< evaluations of b - A x beside the iterations
  std::int64_t products = 0;               ///< with A or A^T, in the iterations
  std::int64_t applications = 0;           ///< of M, in the iterations
  std::int64_t inner_iterations = 0;       ///< of all inner solvers
  double bytes_per_iteration = unknown;    ///< estimate, without those of inner solvers
  double bytes = unknown;  ///< estimate for the solve: iterations, residuals and inner solvers
  /// ||r|| after a step of iterative refinement over ||r|| before it, for each; empty for others.
  std::vector<double> contractions;
  std::string inner;                   ///< message of an inner solver that failed
  bool accepts_least_squares = false;  ///< A is not square, or the caller has said so
  bool preconditioned = false;         ///< there was an M, which a breakdown may be due to
  std::vector<Record> history;
  /// Of `auto`, in their order: what ran, the last of which is reported on, and what could not be
  /// set up.
  std::vector<ChoiceReport> choices;
  /// In their order; one, unless a solve has gone on in wider types (`step_up`).
  std::vector<PrecisionReport> precision;
  std::string message;  ///< the outcome in a sentence, with advice where there is some

  bool converged() const { return reason == Stop::converged; }
  /// Converged, or a least-squares solution where one is accepted.
  bool solved() const {
    return converged() || (reason == Stop::least_squares && accepts_least_squares);
  }
  /// The program's (docs/02-verdicts.md).
  int exit_code() const { return solved() ? 0 : tcsolve::exit_code(reason); }
  std::string outcome() const { return outcome_of(reason, cause); }
  /// It ended with an A whose entries were rounded to a narrower type.
  bool ended_rounded() const { return !precision.empty() && precision.back().rounded; }
};

/// The report of a solve in two parts: `second` went on where `first` ended. Its message says "19
/// iterations (69 in all)".
SolveReport following(SolveReport first, SolveReport second);

/// The report of a column that was not begun any more: cancelled, or the time was up. Its residual
/// is unknown.
SolveReport not_begun(Stop reason, std::string const& solver);

/// What a method advises after an outcome; empty where it has no advice of its own.
using Advice = std::string (*)(SolveReport const&);
inline std::string no_advice(SolveReport const&) { return {}; }

/// The sentence for `report.message`: what happened, the figures, and what to try next, by the
/// method's own advice or else a general one.
std::string message_of(SolveReport const& report, std::string const& solver,
                       Advice own = no_advice);
/// A figure of a message, with three digits.
std::string figure_text(double);

}  // namespace tcsolve
