// SPDX-License-Identifier: Apache-2.0
/// How a computation that has no Context learns that its caller wants it to end.
#pragma once

#include <atomic>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

/// A view of somebody's flag (Context::cancel_flag()), or of none, which is never raised.
class CancelFlag {
 public:
  CancelFlag() = default;
  explicit CancelFlag(std::atomic<bool> const& flag) : flag_(&flag) {}
  /// Throws Cancelled once the flag is raised. Cost: one relaxed load.
  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Cancelled();
  }

 private:
  std::atomic<bool> const* flag_ = nullptr;
};

}  // namespace tcsolve
