// SPDX-License-Identifier: Apache-2.0
/// What a user sees while a solve runs.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/core/events.hpp>

#include <chrono>
#include <iosfwd>
#include <string>

namespace tcsolve {

/// Whether standard error is a terminal that goes back to the beginning of a line.
bool rewrites_lines();

/// On a terminal one line that is rewritten ten times a second; else a line after iterations 1, 2,
/// 5, 10, 20, ... or every N. A phase is shown on a terminal while it lasts, and becomes a line
/// where it took a second or more. Log entries become lines of their own.
class ProgressDisplay final : public Observer {
 public:
  struct Options {
    Talk talk = Talk::normal;
    bool terminal = false;
    int every = 0;          ///< iterations between plain lines; 0: 1, 2, 5, 10, 20, ...
    double time_limit = 0;  ///< seconds; may be infinite
  };
  ProgressDisplay(std::ostream& out, Options const& options) : out_(out), options_(options) {}

  void set_time_limit(double seconds) { options_.time_limit = seconds; }
  void on(IterationEvent const&) override;
  void on(PhaseEvent const&) override;
  void on(LogEvent const&) override;
  /// Takes the rewritten line away, so that what follows begins a line; where lines are plain,
  /// prints that of the last iteration unless it has been.
  void clear();

 private:
  void erase();
  void rewrite(std::string text);
  std::string line(IterationEvent const&) const;

  std::ostream& out_;
  Options options_;
  std::chrono::steady_clock::time_point shown_{};
  std::string solver_;  // that was heard of last
  Index next_ = 1, last_ = 0;
  std::string unshown_;    // the newest line that was not printed, where plain lines are
  std::size_t width_ = 0;  // of the line on the terminal
};

}  // namespace tcsolve
