// SPDX-License-Identifier: Apache-2.0
/// What became of many systems that were solved at once: a few numbers of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tcsolve/solvers/driver/judge_ops.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

struct BatchReport {
  std::string solver;
  std::vector<SystemState> systems;
  double seconds = 0;
  bool preconditioned = false;
  Advice advice = no_advice;  ///< the method's own

  Index count() const { return static_cast<Index>(systems.size()); }
  Index converged() const;
  /// Iterations of all systems together.
  std::int64_t iterations() const;
  /// Of the systems with the largest exit code (core/stop.hpp) the one with the largest
  /// ||r|| / ||b||; where all have converged the slowest. The batch must not be empty.
  Index worst() const;
  /// The report of one system; without a history.
  SolveReport of(Index k) const;
};

}  // namespace tcsolve
