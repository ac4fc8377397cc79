// SPDX-License-Identifier: Apache-2.0
/// Events instead of printing: progress tables, logs and files are observers that the program or a
/// caller attaches to its Context. With none attached an event costs a branch.
#pragma once

#include <string>
#include <string_view>

#include <tcsolve/core/stop.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// The monitored norm after one iteration, in the units of b. `seconds` and `iteration` count from
/// where `solver` began.
struct IterationEvent {
  std::string_view solver;
  Index iteration;
  double norm;
  double tolerance;
  double seconds;
  int depth = 0;  ///< solves that run within one another, this one innermost; emit() sets it
};

/// A part of a run before or after its iterations begins (`ended` is false) or has ended.
struct PhaseEvent {
  std::string_view name;  ///< e.g. "reading A.mtx"
  bool ended;
  double seconds;  ///< that it took; 0 when it begins
};

enum class Severity { detail, note, warning };

struct LogEvent {
  Severity severity;
  std::string text;
};

struct Observer {
  virtual ~Observer() = default;
  virtual void on(IterationEvent const&) {}
  virtual void on(PhaseEvent const&) {}
  virtual void on(LogEvent const&) {}
};

}  // namespace tcsolve
