// SPDX-License-Identifier: Apache-2.0
/// What a driver concludes from one run of a method and the true residual after it. Plain
/// arithmetic, so that the host's driver (solvers/krylov_solver) and the teams of a batch on the
/// device judge alike.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/stop.hpp>

namespace tcsolve {

/// `stop` is `running` when the method is to begin again from x.
struct Verdict {
  Stop stop = Stop::running;
  Cause cause = Cause::none;
};

/// What is remembered from one run to the next.
struct Judgement {
  static constexpr std::int32_t most_breakdowns = 5;  ///< restarts after a breakdown
  static constexpr double enough_gain = 0.5;  ///< a replacement that halves ||r|| was worth it
  static constexpr double drowned = 0.01;     ///< of b: an attainable accuracy above it is none
  static constexpr double astray = 1e-8;      ///< the same after steps in the kernel of A
  static constexpr double certain = 0.01;     ///< of ||r||: what may still lie in the range of A
  static constexpr double flat = 0.999;       ///< another run that leaves so much of ||r|| confirms

  double tighten = 1;           ///< of a tolerance for something other than ||r||
  std::int32_t breakdowns = 0;  ///< so far
  std::int32_t idle = 0;        ///< runs in a row that hardly helped
  std::int32_t singular = 0;    ///< a Krylov space has ended without the solution in it
  double suspected = 0;         ///< ||r|| that looked like the least there is; 0: none did

  struct Run {
    Stop stop;      ///< how the method ended, by its own account
    Cause cause;    ///< of that
    bool overflow;  ///< x + d is not finite, and the method did not say so
    double gain;    ///< ||r|| now over ||r|| before; 1: x stays as it was
    double residual, tolerance, rhs_norm;
    double limit;            ///< the attainable ||r||, estimated
    double normal;           ///< A^T r against A and r, infinite when not known ...
    double optimal;          ///< ... how small it is at a least-squares solution ...
    double noise;            ///< ... and below what it is rounding
    bool monitors_residual;  ///< the method's norm is ||r||
    double roundoff;         ///< of its vectors
    bool exhausted;          ///< no iterations are left
    double condition = 1;    ///< of A, estimated, where `normal` is known
  };

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
    bool const ended = run.stop == Stop::claimed && run.cause == Cause::singular_operator;
    bool const looked =
        run.stop == Stop::claimed || run.stop == Stop::stagnated || run.stop == Stop::cycle_end;
    return ended || run.normal <= run.noise ||
           (looked && before > 0 && run.residual >= flat * before);
  }

  /// Nothing but the true residual makes a solve converged. Stop::nonfinite with Cause::overflow:
  /// who looks closer may find what made it.
  TCSOLVE_HD Verdict after(Run const& run) {
    if (run.residual <= run.tolerance) return {Stop::converged, Cause::none};
    if (least_squares(run)) return {Stop::least_squares, Cause::none};
    if (run.cause == Cause::singular_operator) singular = 1;
    // An x so large that b drowns in its rounding has lost its way; that is no accuracy. After
    // steps in a kernel, which may be of any length, much less is too large.
    bool stepped = run.stop == Stop::claimed && run.cause == Cause::singular_operator;
    bool accurate =
        run.limit <= (stepped ? astray : drowned) * run.rhs_norm && run.residual <= run.limit;
    auto stop = [&](Stop reason, Cause cause = Cause::none) -> Verdict {
      if (accurate) return {Stop::precision_limit, Cause::none};
      return {reason, cause};
    };
    idle = run.gain > enough_gain ? idle + 1 : 0;
    switch (run.stop) {
      case Stop::claimed:
        if (run.overflow) return stop(Stop::nonfinite, Cause::overflow);
        if (idle >= 1 && singular != 0) return stop(Stop::breakdown, Cause::singular_operator);
        if (idle >= 1 && run.residual <= run.limit) return stop(Stop::precision_limit);
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
          return stop(Stop::breakdown, run.cause);
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
