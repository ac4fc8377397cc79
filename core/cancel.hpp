// SPDX-License-Identifier: Apache-2.0
/// How a computation that has no Context learns that its caller wants it to end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

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

/// Is told of every CancelFlag::check(), by the thread that asks: a test measures how often a
/// set-up asks.
struct CheckListener {
  virtual ~CheckListener() = default;
  virtual void on_check() noexcept = 0;
};

/// A view of somebody's flag (Context::cancel_flag()), or of none, which is never raised; and a
/// time by which the work is to be done.
class CancelFlag {
 public:
  CancelFlag() = default;
  explicit CancelFlag(std::atomic<bool> const& flag, Deadline until = Deadline::max(),
                      CheckListener* listener = nullptr)
      : flag_(&flag), until_(until), listener_(listener) {}
  /// Whether there is a flag, or a deadline: check() may throw.
  bool watched() const { return flag_ != nullptr || until_ != Deadline::max(); }
  Deadline until() const { return until_; }
  /// Throws Cancelled once the flag is raised, OutOfTime after the deadline. Cost: one relaxed
  /// load; with a deadline, a look at the clock.
  void check() const {
    if (listener_ != nullptr) listener_->on_check();
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Cancelled();
    if (is_over(until_)) throw OutOfTime();
  }

 private:
  std::atomic<bool> const* flag_ = nullptr;
  Deadline until_ = Deadline::max();
  CheckListener* listener_ = nullptr;
};

/// check() at every so many steps of a serial loop.
class CancelEvery {
 public:
  CancelEvery(CancelFlag cancel, std::int64_t work) : cancel_(cancel), each_(work), left_(0) {}
  /// `work` more has been done, in the unit of the constructor's.
  void add(std::int64_t work) {
    if ((left_ -= work) > 0) return;
    left_ = each_;
    cancel_.check();
  }

 private:
  CancelFlag cancel_;
  std::int64_t each_, left_;
};

}  // namespace tcsolve
