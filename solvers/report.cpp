// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/report.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

namespace tcsolve {

std::string figure_text(double v) {
  std::ostringstream out;
  out << std::setprecision(3) << v;
  return out.str();
}

namespace {

/// " after 19 iterations".
std::string after(Index iterations) {
  return cat(" after ", iterations, iterations == 1 ? " iteration" : " iterations");
}

/// A method with M works with A M, or with A and M, and cannot decide which of the two is at fault.
std::string singular_advice(bool preconditioned) {
  if (preconditioned)
    return "the operator or its preconditioner is singular on the Krylov space, or they are "
           "badly scaled; try 'preconditioner: none' or another one, then lsmr";
  return "the operator is singular on the Krylov space, or badly scaled; try jacobi, then lsmr, or "
         "project out the nullspace";
}

/// `before`, the figure and `behind`; nothing of a figure that was never computed, or is infinite.
std::string figure(char const* before, double v, char const* behind = "") {
  return std::isfinite(v) ? cat(before, figure_text(v), behind) : "";
}

/// FP32 vectors take A in FP32 at the widest.
std::string wider(PrecisionReport const& p) {
  bool const by_vectors = p.vectors == Real::f32 && p.values == Real::f32;
  return by_vectors ? "take 'vectors: fp64'" : "take wider 'values'";
}

/// What to try next, by outcome.
std::string general_advice(SolveReport const& r, std::string const& solver) {
  switch (r.reason) {
    case Stop::converged:
      if (r.rows_unmet > 0)
        return cat("but only in norm: in ", static_cast<std::int64_t>(r.rows_unmet), " of ", r.rows,
                   " rows the residual is", figure(" up to ", r.rowwise_error),
                   std::isfinite(r.rowwise_error) ? " of abs(b) + abs(A) abs(x)" : " not small",
                   "; 'baseline: rows' goes by each row");
      // An x that solves a system of entries that are rounded otherwise needs no caution.
      return r.attainable > r.tolerance && !(r.rowwise_error <= 0x1p-50)
                 ? cat("the tolerance, ", figure_text(r.tolerance),
                       ", is below the accuracy that FP64 "
                       "can be relied on for here",
                       figure(", about ", r.attainable))
                 : "";
    case Stop::least_squares:
      if (r.cause == Cause::inconsistent)
        return cat("b has a part", figure(" of norm ", r.value),
                   " in the nullspace, outside the range of A; ",
                   r.value > r.tolerance || std::isnan(r.tolerance)
                       ? "x solves the system without it, and no x has a smaller residual"
                       : "with what is left of the rest it exceeds the tolerance; a smaller rtol "
                         "helps");
      return cat("x minimises norm(b - A x)",
                 figure(" (condition number at least ", r.condition, ")"),
                 r.accepts_least_squares ? ""
                                         : "; A x = b has no solution to be found here; "
                                           "'least_squares: true' accepts this one");
    case Stop::max_iterations:
      return r.ended_rounded() ? cat("raise max_iters, use a stronger preconditioner, or ",
                                     wider(r.precision.back()))
                               : "raise max_iters, or use a stronger preconditioner";
    case Stop::time_limit: return "raise time_limit, or use a stronger preconditioner";
    case Stop::stagnated:
      return "use a stronger preconditioner or gmres; a singular system may have no solution (try "
             "lsmr)";
    case Stop::precision_limit:
      if (r.cause == Cause::values)
        return cat("A is stored in ",
                   r.precision.empty() ? "a narrower type" : name(r.precision.back().values),
                   ", whose rounding explains this; ",
                   wider(r.precision.empty() ? PrecisionReport{} : r.precision.back()));
      return cat("the tolerance is below what FP64 reaches near this x",
                 figure(", about ", r.attainable), "; relax rtol, or try a direct preconditioner");
    case Stop::false_convergence:
      if (r.cause == Cause::nullspace)
        return "x without its part in the 'nullspace' leaves a larger residual: the vectors are "
               "not in the nullspace of A as closely as this tolerance asks for";
      if (std::isfinite(r.attainable) && r.true_residual <= 100 * r.attainable &&
          r.attainable <= 0.01 * r.rhs_norm)
        return cat("the residual is near what the rounding of x explains, ",
                   figure_text(r.attainable), "; relax rtol, or try 'preconditioner: direct'");
      if (r.attainable > 0.01 * r.rhs_norm)
        return "x has grown until b is lost in the rounding of A x: A is nearly singular or badly "
               "scaled; try 'preconditioner: direct', or gmres";
      return "the recurrence and the true residual disagree: the preconditioner or the operator "
             "may not "
             "be a fixed linear map (try fgmres), or the operator is rounded too coarsely";
    case Stop::diverged: return "use a stronger preconditioner, or gmres";
    case Stop::breakdown:
      if (r.cause == Cause::inner_solver)
        return cat(r.inner.empty() ? "an inner solver failed" : r.inner,
                   "; give it more iterations, or take another inner method");
      if (r.cause == Cause::singular_operator) return singular_advice(r.preconditioned);
      return "use gmres, or another preconditioner";
    case Stop::indefinite_operator:
      return cat(solver, " needs a symmetric positive definite operator",
                 figure(" (curvature ", r.value, ")"),
                 "; use minres for symmetric, gmres for general ones");
    case Stop::indefinite_preconditioner:
      return cat("this method needs a symmetric positive definite preconditioner",
                 figure(" (<r, M r> = ", r.value, ")"), "; use none, or gmres");
    case Stop::nonfinite:
      if (r.cause == Cause::rhs) return "the right-hand side holds NaN or Inf";
      if (r.cause == Cause::guess) return "the initial guess holds NaN or Inf";
      if (r.cause == Cause::matrix)
        return "the operator returned NaN or Inf for a finite vector; where all its entries are "
               "finite, scale the system";
      if (r.cause == Cause::preconditioner)
        return "the preconditioner returned NaN or Inf for a finite vector";
      return "a number beyond the range of FP64 came up although A, M, b and x0 are finite; scale "
             "the system";
    default: return "";
  }
}

}  // namespace

std::string ChoiceReport::text() const {
  std::string text =
      cat(label.empty() ? cat(solver, " with ", preconditioner) : label, ": ", outcome);
  if (!std::isnan(true_residual)) text += after(iterations);
  return text;
}

SolveReport following(SolveReport first, SolveReport second) {
  Index const before = first.iterations;
  std::string const told = after(second.iterations);
  if (std::size_t const at = second.message.find(told); before > 0 && at != std::string::npos)
    second.message.insert(at + told.size(), cat(" (", before + second.iterations, " in all)"));
  if (!second.history.empty()) second.history.front().mark = Mark::restart;
  for (Record& record : second.history) {
    record.iteration += before;
    record.seconds += first.seconds + first.setup_seconds;
    first.history.push_back(record);
  }
  second.history = std::move(first.history);
  for (PrecisionReport& p : second.precision) {
    PrecisionReport* const last = first.precision.empty() ? nullptr : &first.precision.back();
    bool const goes_on = last != nullptr && last->why.empty() && last->values == p.values &&
                         last->vectors == p.vectors;
    if (goes_on) last->iterations += p.iterations, last->rounded = p.rounded;
    if (goes_on) last->why = std::move(p.why);
    if (!goes_on) first.precision.push_back(std::move(p));
  }
  second.precision = std::move(first.precision);
  first.contractions.insert(first.contractions.end(), second.contractions.begin(),
                            second.contractions.end());
  second.contractions = std::move(first.contractions);
  second.best_iteration += before;
  second.iterations += before;
  second.restarts += first.restarts + 1;
  second.initial_residual = first.initial_residual;
  second.seconds += first.seconds;
  second.setup_seconds += first.setup_seconds;
  second.loop_seconds += first.loop_seconds;
  second.residuals += first.residuals;
  second.products += first.products;
  second.applications += first.applications;
  second.inner_iterations += first.inner_iterations;
  second.bytes += first.bytes;
  return second;
}

SolveReport not_begun(Stop reason, std::string const& solver) {
  SolveReport report;
  report.reason = reason;
  std::string const next = general_advice(report, solver);
  report.message =
      cat(solver, ": ", report.outcome(), " before it began", next.empty() ? "" : "; ", next);
  return report;
}

std::string outcome_of(Stop reason, Cause cause) {
  std::string text = name(reason);
  bool const kind = reason == Stop::breakdown || reason == Stop::nonfinite ||
                    reason == Stop::precision_limit || reason == Stop::false_convergence ||
                    reason == Stop::least_squares;
  return kind && cause != Cause::none ? cat(text, ":", name(cause)) : text;
}

std::string message_of(SolveReport const& r, std::string const& solver, Advice own) {
  std::string text = cat(solver, ": ", r.outcome(), after(r.iterations));
  if (r.reason == Stop::converged && r.cause == Cause::zero_rhs) return text + "; b = 0, so x = 0";
  text += figure("; true residual ", r.true_residual);
  if (r.true_residual / r.rhs_norm >= 0)
    text += figure(" (", r.true_residual / r.rhs_norm, " of norm(b))");
  if (!r.contractions.empty()) {
    auto const [least, most] = std::ranges::minmax(r.contractions);
    text += cat(figure(", contraction of a step ", least), figure(" to ", most));
  }
  if (r.reason != Stop::converged) text += figure(", tolerance ", r.tolerance);
  if (r.reason != Stop::converged && r.true_residual <= r.tolerance && r.rows_unmet > 0)
    text +=
        cat(", and ", static_cast<std::int64_t>(r.rows_unmet), " of ", r.rows, " rows are not met");
  std::string next = own(r);
  if (next.empty()) next = general_advice(r, solver);
  bool const of_method = r.reason == Stop::diverged || r.reason == Stop::breakdown;
  if (of_method && r.ended_rounded())
    next += cat(next.empty() ? "" : "; or ", wider(r.precision.back()));
  return next.empty() ? text : cat(text, "; ", next);
}

}  // namespace tcsolve
