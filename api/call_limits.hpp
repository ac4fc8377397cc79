// SPDX-License-Identifier: Apache-2.0
/// The tolerance and the limits of one solve, in the place of the method's keys.
#pragma once

#include <optional>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve {

/// While it lives, `method` stops by its keys with those of `call` in their place. Throws
/// Unsupported for a method that has rules of its own, ConfigError for values out of range.
class CallLimits {
 public:
  CallLimits(Solver& method, SolveCall const& call);
  ~CallLimits();
  CallLimits(CallLimits const&) = delete;
  CallLimits& operator=(CallLimits const&) = delete;

  /// Whether `call` has any.
  static bool any(SolveCall const& call) {
    return call.rtol || call.atol || call.max_iters || call.time_limit;
  }

 private:
  Solver& method_;
  std::optional<StoppingParams> before_;  // none: nothing was changed
};

}  // namespace tcsolve
