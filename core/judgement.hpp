// SPDX-License-Identifier: Apache-2.0
/// What a driver concludes from one run of a method and the true residual after it. Plain
/// arithmetic, so that the host's driver (solvers/driver/krylov_solver) and the teams of a batch on
/// the device judge alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/stop.hpp>

namespace tcsolve {

/// What the residual is measured against. automatic: rhs, where nobody knows better.
enum class Baseline { automatic, rhs, initial, absolute, rows };

/// What ||b - A x|| has to meet; with Baseline::rows every row has to be met as well.
TCSOLVE_HD double tolerance_of(Baseline baseline, double rtol, double atol, double rhs_norm,
                               double initial_residual) {
  double const base = baseline == Baseline::absolute  ? 0.0
                      : baseline == Baseline::initial ? initial_residual
                                                      : rhs_norm;
  return rtol * base > atol ? rtol * base : atol;
}

/// What an x of `cols` values that may have underflowed loses of A x, with ten times of slack;
/// norm_A: 0 or not finite where it is not known.
TCSOLVE_HD double lost_to_underflow(double norm_A, double cols) {
  constexpr double slack = 10, smallest = 0x1p-1074;
  return norm_A - norm_A == 0 ? slack * norm_A * (smallest * sqrt(cols)) : 0.0;
}

/// What the rounding of the entries of x changes of b - A x, at most, beside what forming it in
/// FP64 does: below it no iterate can be told from the solution. size: || |b| + |A| |x| ||. Ten
/// roundoffs of slack.
TCSOLVE_HD double attainable_residual(double size, double norm_A, double cols) {
  constexpr double slack = 10, u = 0x1p-53;
  return slack * u * size + lost_to_underflow(norm_A, cols);
}

/// A bound of it where the entries of A are not known one by one, or where a bound will do:
/// size <= ||A|| ||x|| + ||b||, too large by decades where rows or columns differ in size. Finite
/// wherever the bound is.
TCSOLVE_HD double attainable_bound(double norm_A, double x_norm, double rhs_norm, double cols) {
  double const size = norm_A - norm_A == 0 ? norm_A : 0.0;
  double const sum = size * x_norm + rhs_norm;
  if (sum - sum == 0) return attainable_residual(sum, size, cols);
  constexpr double half = 0x1p-60;  // times ten roundoffs it is in range again
  return attainable_residual(half * size * x_norm + half * rhs_norm, half * size, cols) / half;
}

/// When a row is met: |r_i| <= relative (|b| + |A| |x|)_i, or, since an x_j may be small beside the
/// others, |r_i| <= overall (|b_i| + (|A| e)_i max |x|), or |r_i| <= absolute.
struct RowRule {
  double relative, overall, absolute = 0;
};

/// ||r|| / (||A|| ||x|| + ||b||), also where the sum overflows.
TCSOLVE_HD double backward_error(double residual, double norm_A, double x_norm, double rhs_norm) {
  double const sum = norm_A * x_norm + rhs_norm;
  if (sum - sum == 0 || norm_A - norm_A != 0) return residual / sum;
  constexpr double half = 0x1p-300;
  return residual * half * half / (norm_A * half * (x_norm * half) + rhs_norm * half * half);
}

/// Steps without a new best norm after which a method of n unknowns stagnates; 0 never, -1 chooses.
TCSOLVE_HD std::int32_t stagnation_window(std::int32_t asked, std::int64_t n) {
  if (asked >= 0) return asked;
  std::int64_t const steps = 10 * n > 100 ? 10 * n : 100;
  return static_cast<std::int32_t>(steps < (1 << 30) ? steps : 1 << 30);
}

/// Where the loop of a run ends, as squares of the norm that the method monitors.
struct Ends {
  double threshold2, divergence2;
};
/// A run from ||r|| = `residual`, where that norm is sqrt(norm2); `target` and `divergence` are in
/// the units of b. Near the roundoff of its vectors a recurrence is about nothing: there the true
/// residual is looked at first.
TCSOLVE_HD Ends ends_of(double target, double divergence, double residual, double norm2,
                        double roundoff) {
  double const fall = target / residual, rise = divergence / residual, beyond = 100 * roundoff;
  double const least = fall > beyond ? fall : beyond;
  double const most2 = rise * rise > 1 ? rise * rise : 1.0;
  return {least * least * norm2, most2 * norm2};
}

/// `stop` is `running` when the method is to begin again from x.
struct Verdict {
  Stop stop = Stop::running;
  Cause cause = Cause::none;
};

/// The same of an A that is stored in a narrower type: what only its rounding may have brought
/// about says nothing of A.
TCSOLVE_HD Verdict verdict_on_rounded(Verdict verdict) {
  switch (verdict.stop) {
    case Stop::breakdown:
      if (verdict.cause != Cause::singular_operator) return verdict;
      [[fallthrough]];
    case Stop::indefinite_operator:
    case Stop::false_convergence:
    case Stop::stagnated:
    case Stop::precision_limit: return {Stop::precision_limit, Cause::values};
    default: return verdict;
  }
}

/// What is known before the first step: norms, and of those that are no numbers whether all
/// elements are (their squares have overflowed).
struct Beginning {
  double rhs_norm, x_norm, residual;
  bool rhs_overflows, x_overflows;
};

/// A solve that ends before it begins; `running` where there is something to do. A residual that
/// meets the tolerance is the caller's business. Of x where b = 0, and of the residual where b or x
/// is not finite, nothing is examined.
TCSOLVE_HD Verdict before_solving(Beginning const& known) {
  if (known.rhs_norm - known.rhs_norm != 0)
    return {Stop::nonfinite, known.rhs_overflows ? Cause::overflow : Cause::rhs};
  if (known.x_norm - known.x_norm != 0)
    return {Stop::nonfinite, known.x_overflows ? Cause::overflow : Cause::guess};
  if (known.rhs_norm == 0) return {Stop::converged, Cause::zero_rhs};
  if (known.residual - known.residual != 0) return {Stop::nonfinite, Cause::matrix};
  return {};
}

/// A run that cannot begin, from the square of the norm that the method monitors; `running` where
/// it can. norm2 = 0: M r = 0, since r is not 0.
TCSOLVE_HD Verdict before_first_step(double norm2) {
  if (norm2 - norm2 != 0) return {Stop::nonfinite, Cause::preconditioner};
  if (norm2 < 0) return {Stop::indefinite_preconditioner, Cause::none};
  if (norm2 == 0) return {Stop::breakdown, Cause::singular_operator};
  return {};
}

/// What is remembered from one run to the next.
struct Judgement {
  static constexpr std::int32_t most_breakdowns = 5;  ///< restarts after a breakdown
  static constexpr double enough_gain = 0.5;  ///< a replacement that halves ||r|| was worth it
  static constexpr double drowned = 0.01;     ///< of b: an attainable accuracy above it is none
  static constexpr double astray = 1e-8;      ///< the same after steps in the kernel of A
  static constexpr double certain = 0.01;     ///< of ||r||: what may still lie in the range of A
  static constexpr double flat = 0.999;       ///< another run that leaves so much of ||r|| confirms
  static constexpr double cancels = 1e-6;     ///< of its terms: what may be left of A^T r

  double tighten = 1;           ///< of a tolerance for something other than ||r||
  std::int32_t breakdowns = 0;  ///< so far
  std::int32_t idle = 0;        ///< runs in a row that hardly helped
  std::int32_t singular = 0;    ///< a Krylov space has ended without the solution in it
  double suspected = 0;         ///< ||r|| that looked like the least there is; 0: none did

  struct Run {
    Stop stop;      ///< how the method ended, by its own account
    Cause cause;    ///< of that
    bool overflow;  ///< x + d is not finite, and the method did not report it
    double gain;    ///< ||r|| now over ||r|| before; 1: x stays as it was
    double residual, tolerance, rhs_norm;
    double limit;            ///< the attainable ||r||, estimated ...
    double lost;             ///< ... and the part of it that x owes to underflow
    double normal;           ///< A^T r against A and r, infinite when not known ...
    double optimal;          ///< ... how small it is at a least-squares solution ...
    double noise;            ///< ... and below what it is rounding
    bool monitors_residual;  ///< the method's norm is ||r||
    double roundoff;         ///< of its vectors
    bool exhausted;          ///< no iterations are left
    double condition = 1;    ///< of A, estimated, where `normal` is known
    bool rounded = false;    ///< A is stored in a narrower type
    double gradient = 0;     ///< ||A^T r|| ...
    double terms = 0;        ///< ... and || |A^T| |r| ||_1, what it is a sum of; 0: not known
  };

  /// Whether x' becomes x, and what that gains: the residual then over the residual now.
  struct Step {
    bool takes = false;
    double gain = 1;
  };
  /// x' is taken where its residual is smaller; near a least-squares solution, where ||r|| is flat,
  /// where A^T r is. `normal`: as Run::normal, infinite where it is not known.
  TCSOLVE_HD static Step step(bool finite, double residual, double trial, double normal,
                              double trial_normal) {
    Step step{finite && (trial < residual || trial_normal < enough_gain * normal)};
    if (!step.takes) return step;
    step.gain = trial / residual;
    if (trial_normal < normal && trial_normal / normal < step.gain)
      step.gain = trial_normal / normal;
    return step;
  }

  /// x minimises ||r||. What of r lies in the range of A is at most cond(A) ||A^T r|| / ||A||, so
  /// that has to be little of r. The estimate of cond(A) knows the singular values that a run has
  /// met: unless its Krylov space has ended, or A^T r is rounding and no run can begin from it, one
  /// more run, from r, has to leave ||r|| as it is.
  TCSOLVE_HD bool least_squares(Run const& run) {
    if (run.normal == 0) return true;
    double const before = suspected;
    // Below what r owes to the rounding of x there is nothing to be seen.
    double const floor = run.limit / run.residual;
    double const seen = run.normal > floor ? run.normal : floor;
    suspected = run.normal <= run.optimal || run.normal <= floor ? run.residual : 0;
    if (!(run.normal <= run.optimal && run.condition * seen <= certain)) return false;
    // In rows that are small beside the others r may be anything, and A^T r small all the same.
    if (run.terms > 0 && !(run.gradient <= cancels * run.terms)) return false;
    // The runs have met the singular values of the rounded A alone.
    if (run.rounded && run.normal > run.noise) return false;
    bool const ended = run.stop == Stop::claimed && run.cause == Cause::singular_operator;
    bool const looked = run.stop == Stop::claimed || run.stop == Stop::stagnated ||
                        (run.stop == Stop::cycle_end && !run.exhausted);
    return ended || run.normal <= run.noise ||
           (looked && before > 0 && run.residual >= flat * before);
  }

  /// Nothing but the true residual makes a solve converged. Stop::nonfinite with Cause::overflow:
  /// the caller may look for the operand that caused it.
  TCSOLVE_HD Verdict after(Run const& run) {
    if (run.residual <= run.tolerance) return {Stop::converged, Cause::none};
    if (least_squares(run)) return {Stop::least_squares, Cause::none};
    if (run.cause == Cause::singular_operator) singular = 1;
    // An x so large that b drowns in its rounding has lost its way; that is no accuracy. After
    // steps in a kernel, which may be of any length, much less is too large.
    bool stepped = run.stop == Stop::claimed && run.cause == Cause::singular_operator;
    bool accurate = run.limit - run.lost <= (stepped ? astray : drowned) * run.rhs_norm &&
                    run.residual <= run.limit;
    auto stop = [&](Stop reason, Cause cause = Cause::none) -> Verdict {
      if (accurate) return {Stop::precision_limit, Cause::none};
      return {reason, cause};
    };
    idle = run.gain > enough_gain ? idle + 1 : 0;
    switch (run.stop) {
      case Stop::claimed:
        if (run.overflow) return stop(Stop::nonfinite, Cause::overflow);
        if (idle >= 1 && singular != 0) return stop(Stop::breakdown, Cause::singular_operator);
        if (idle >= 1 && accurate) return {Stop::precision_limit, Cause::none};
        // A^T r is as small as it gets, and may yet be too large for A.
        if (idle >= 3 && suspected > 0) return stop(Stop::stagnated);
        if (!run.monitors_residual) tighten *= 0.1;
        if (idle >= 2 && (run.monitors_residual || tighten < run.roundoff))
          return stop(Stop::false_convergence);
        break;
      case Stop::cycle_end:
        if (run.exhausted) return {Stop::max_iterations, Cause::none};
        if (run.overflow) return stop(Stop::nonfinite, Cause::overflow);
        // A restarted method that makes no headway repeats itself.
        if (run.gain == 1 || (run.gain > 0.999 && idle >= 3)) return stop(Stop::stagnated);
        break;
      case Stop::breakdown:
        if (run.gain > enough_gain && run.cause == Cause::inner_solver)
          return stop(Stop::breakdown, run.cause);
        if (run.gain > enough_gain && ++breakdowns > most_breakdowns)
          return run.overflow ? stop(Stop::nonfinite, Cause::overflow)
                              : stop(Stop::breakdown, run.cause);
        // One more try only when the residual fell so far that rounding may be all that is left.
        if (run.gain > 1e-3 && run.cause == Cause::singular_operator)
          return stop(Stop::breakdown, run.cause);
        break;
      case Stop::stagnated:  // after progress it is the recurrence that has lost its way
        if (run.gain > enough_gain) return stop(Stop::stagnated);
        break;
      case Stop::nonfinite: return stop(Stop::nonfinite, Cause::overflow);
      case Stop::time_limit:
      case Stop::cancelled: return {run.stop, Cause::none};
      default: return stop(run.stop, run.cause);
    }
    if (run.exhausted) return {Stop::max_iterations, Cause::none};
    return {};
  }
};

}  // namespace tcsolve
