// SPDX-License-Identifier: Apache-2.0
/// How a computation that has no Context learns that its caller wants it to end.
#pragma once

#include <atomic>
#include <chrono>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

using Deadline = std::chrono::steady_clock::time_point;  ///< max(): none

/// `seconds` after `start`; none where that is beyond the clock.
inline Deadline deadline_after(Deadline start, double seconds) {
  std::chrono::duration<double> const left = Deadline::max() - start;
  if (!(seconds < left.count())) return Deadline::max();
  return start +
         std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

inline bool is_over(Deadline deadline) {
  return deadline != Deadline::max() && std::chrono::steady_clock::now() > deadline;
}

/// A view of somebody's flag (Context::cancel_flag()), or of none, which is never raised; and a
/// time by which the work is to be done.
class CancelFlag {
 public:
  CancelFlag() = default;
  explicit CancelFlag(std::atomic<bool> const& flag, Deadline until = Deadline::max())
      : flag_(&flag), until_(until) {}
  /// Throws Cancelled once the flag is raised, OutOfTime after the deadline. Cost: one relaxed
  /// load; with a deadline, a look at the clock.
  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Cancelled();
    if (is_over(until_)) throw OutOfTime();
  }

 private:
  std::atomic<bool> const* flag_ = nullptr;
  Deadline until_ = Deadline::max();
};

}  // namespace tcsolve
