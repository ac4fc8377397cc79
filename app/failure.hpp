// SPDX-License-Identifier: Apache-2.0
/// What ends a run before its solver has an outcome, as the user of the program sees it.
#pragma once

#include <functional>
#include <string>

namespace tcsolve {

/// `outcome` stands where that of a solver would (docs/02-verdicts.md): "config_error",
/// "input_error", "file_error", "setup_failed", "cancelled", "time_limit", "out_of_memory",
/// "device_error", "not_built", "rank_failed" or "internal_error".
struct Failure {
  std::string outcome;
  int exit_code = 6;
  std::string message;

  /// Whether the run ends with it as with a solver's outcome: a set-up that its matrix does not
  /// admit, memory that ran out, a set-up that was cancelled or that the time of the run ended.
  bool is_verdict() const {
    return outcome == "setup_failed" || outcome == "out_of_memory" || outcome == "cancelled" ||
           outcome == "time_limit";
  }
};

/// What the exception being handled means; to be called in a catch clause.
Failure current_failure();

/// The exit code that f() answers, or of what it throws, which standard error is told; that of a
/// failure too where standard output could not be written.
int guarded(std::function<int()> const& f) noexcept;

}  // namespace tcsolve
