// SPDX-License-Identifier: Apache-2.0
/// What a loop over the systems of a batch keeps of each of them: by which rules it is judged, how
/// far it has come, and its verdict. The operations that judge are solvers/driver/judge_ops.hpp's.
#pragma once

#include <cstdint>

#include <tcsolve/core/judgement.hpp>

namespace tcsolve {

/// When to stop: one set for all systems of a batch (solvers/stopping.hpp says what each
/// means).
struct JudgeRules {
  double rtol, atol, divtol;
  double roundoff;  ///< of the method's vectors
  Baseline baseline;
  std::int32_t max_iters;
  std::int32_t window;     ///< stagnation; 0 never
  std::int32_t cycle;      ///< steps between two restarts of the method itself
  bool monitors_residual;  ///< the method's norm is ||r||
};

/// One system of a batch: the report (solvers/report.hpp) and what the operations hand on.
struct SystemState {
  std::int32_t stop = 0, cause = 0;  ///< a Stop and a Cause; `running` until the verdict
  std::int32_t iterations = 0, restarts = 0;
  double norm_A = 0;  ///< ||A||_inf
  double rhs_norm = 0, x_norm = 0;
  double initial_residual = 0, tolerance = 0, true_residual = 0, recurrence_residual = 0;
  double attainable = 0, value = 0;
  double norm2_start = 0;            ///< the monitored norm, squared, as the cycle began
  std::int32_t exponent = 0;         ///< of r
  std::int32_t keep = 0;             ///< x' is better
  std::int64_t first = 0, rows = 0;  ///< the rows of the system
  Judgement judgement;

  TCSOLVE_HD void end(Stop s, Cause c) {
    stop = static_cast<std::int32_t>(s);
    cause = static_cast<std::int32_t>(c);
  }
  TCSOLVE_HD bool running() const { return stop == 0; }
  /// What the rounding of x changes of b - A x; size: || |b| + |A| |x| ||.
  TCSOLVE_HD double rounding(double size) const {
    return attainable_residual(size, norm_A, double(rows));
  }
};

}  // namespace tcsolve
