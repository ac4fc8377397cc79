// SPDX-License-Identifier: Apache-2.0
/// Why a solve, or one run of its loop, ended.
#pragma once

#include <cstdint>

namespace tcsolve {

/// `running` to `replacement` occur only inside a solve; a report never carries them.
enum class Stop : std::int32_t {
  running = 0,
  claimed,      ///< the recurrence meets the tolerance; the driver will check the true residual
  cycle_end,    ///< as many steps as this run of the loop was given
  replacement,  ///< the recurrences may have drifted: the loop goes on once they are replaced
  converged,
  least_squares,  ///< x minimises ||b - A x||, which misses the tolerance
  max_iterations,
  time_limit,
  cancelled,
  stagnated,
  precision_limit,
  diverged,
  breakdown,
  false_convergence,
  indefinite_operator,
  indefinite_preconditioner,
  nonfinite,
  setup_failed,
  out_of_memory
};

/// The kind of a breakdown, the place of a non-finite value, or what made a solve trivial.
enum class Cause : std::int32_t {
  none = 0,
  zero_rhs,           ///< b = 0, so x = 0
  exact_guess,        ///< the initial guess already met the tolerance
  rho,                ///< <shadow, r> vanished (BiCGStab)
  sigma,              ///< <shadow, A p> or <p, A p> vanished
  omega,              ///< the stabilising step vanished (BiCGStab)
  singular_operator,  ///< the Krylov space is invariant and does not contain the solution
  rhs,                ///< non-finite b
  guess,              ///< non-finite x0
  matrix,             ///< non-finite A x
  preconditioner,     ///< non-finite M r
  overflow,           ///< the recurrence overflowed although A and M are finite
  inconsistent,       ///< b is outside the range of A
  values,             ///< A is stored in a narrower type, whose rounding explains the outcome
  nullspace,          ///< the vectors given are not in the nullspace of A closely enough
  inner_solver        ///< an inner solver gave zero, or no finite vector, for r != 0
};

constexpr char const* name(Stop s) {
  switch (s) {
    case Stop::running: return "running";
    case Stop::claimed: return "claimed";
    case Stop::cycle_end: return "cycle_end";
    case Stop::replacement: return "replacement";
    case Stop::converged: return "converged";
    case Stop::least_squares: return "least_squares";
    case Stop::max_iterations: return "max_iterations";
    case Stop::time_limit: return "time_limit";
    case Stop::cancelled: return "cancelled";
    case Stop::stagnated: return "stagnated";
    case Stop::precision_limit: return "precision_limit";
    case Stop::diverged: return "diverged";
    case Stop::breakdown: return "breakdown";
    case Stop::false_convergence: return "false_convergence";
    case Stop::indefinite_operator: return "indefinite_operator";
    case Stop::indefinite_preconditioner: return "indefinite_preconditioner";
    case Stop::nonfinite: return "nonfinite";
    case Stop::setup_failed: return "setup_failed";
    case Stop::out_of_memory: return "out_of_memory";
  }
  return "?";
}

constexpr char const* name(Cause c) {
  switch (c) {
    case Cause::none: return "";
    case Cause::zero_rhs: return "zero_rhs";
    case Cause::exact_guess: return "exact_guess";
    case Cause::rho: return "rho";
    case Cause::sigma: return "sigma";
    case Cause::omega: return "omega";
    case Cause::singular_operator: return "singular_operator";
    case Cause::rhs: return "rhs";
    case Cause::guess: return "guess";
    case Cause::matrix: return "operator";
    case Cause::preconditioner: return "preconditioner";
    case Cause::overflow: return "overflow";
    case Cause::inconsistent: return "inconsistent";
    case Cause::values: return "values";
    case Cause::nullspace: return "nullspace";
    case Cause::inner_solver: return "inner_solver";
  }
  return "?";
}

/// The program's exit code for an outcome (docs/02-verdicts.md). That of `least_squares` is 0 where
/// the caller accepts it, which the report states (SolveReport::exit_code).
constexpr int exit_code(Stop s) {
  switch (s) {
    case Stop::converged: return 0;
    case Stop::max_iterations:
    case Stop::time_limit:
    case Stop::cancelled: return 3;
    case Stop::out_of_memory: return 5;
    case Stop::running:
    case Stop::claimed:
    case Stop::cycle_end:
    case Stop::replacement: return 6;
    default: return 4;
  }
}

}  // namespace tcsolve
