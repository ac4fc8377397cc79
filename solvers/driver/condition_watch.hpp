// SPDX-License-Identifier: Apache-2.0
/// A run in narrow types that ends where its steps have seen more of cond(M A) than the caller
/// wants such runs to meet (StoppingParams::most_condition). What they see, they see better and
/// better: it is looked at after 20 steps, 40, 80 and so on, so that long runs are asked a few
/// times.
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/core/context.hpp>

namespace tcsolve {

class ConditionWatch {
 public:
  /// most: infinite where nothing is watched.
  explicit ConditionWatch(double most)
      : most_(most), next_(std::isfinite(most) ? 20 : std::numeric_limits<double>::infinity()) {}

  bool watches() const { return std::isfinite(most_); }
  /// How many steps after `done` the condition is to be looked at.
  double steps_after(Index done) const { return next_ - done; }
  /// Whether the method's steps have seen more, by now. Waits for the device.
  template <class Method>
  bool is_exceeded(Context& ctx, Method& method) const {
    return watches() && method.seen_condition(ctx) > most_;
  }
  /// The same after so many steps, where it is to be looked at.
  template <class Method>
  bool is_over(Context& ctx, Method& method, Index done) {
    if (done < next_) return false;
    next_ *= 2;
    return is_exceeded(ctx, method);
  }

 private:
  double most_, next_;
};

}  // namespace tcsolve
