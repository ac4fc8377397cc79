// SPDX-License-Identifier: Apache-2.0
/// A run in narrow types that ends where its steps have seen more of cond(M A) than the caller
/// wants such runs to meet (StoppingParams::most_condition). What they see, they see better and
/// better: it is looked at after 20 steps (or `first`), 40, 80 and so on, so that long runs are
/// asked a few times.
///
/// Where the steps of a method tell nothing of A, an update of r does (KrylovSolver::renew). It is
/// due once rounding may have opened a gap of sqrt(e) ||r||, e the roundoff: e ||A|| ||d|| is as
/// large then, d what the steps have made of an r0. And since A d = r0 - r, with f = ||r|| /
/// ||r0||,
///
///     cond(A)  >=  ||A|| ||d|| / (||r0|| + ||r||)  >=  f / ((1 + f) sqrt(e))
///
/// An r that falls by three digits from one update to the next sees little, one that is halved the
/// most that can be seen so: FP32 knows by then no more than the way to the next update. A run that
/// comes to no update, since r does not fall, ends where it has got nowhere in half of its steps.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/loop_state.hpp>

namespace tcsolve {

class ConditionWatch {
 public:
  /// most: infinite where nothing is watched.
  explicit ConditionWatch(double most, double first = 20)
      : most_(most), next_(std::isfinite(most) ? first : std::numeric_limits<double>::infinity()) {}

  bool watches() const { return std::isfinite(most_); }
  /// How many steps after `done` the condition is to be looked at.
  double steps_after(Index done) const { return next_ - done; }
  /// Whether the method's steps have seen more, by now. Waits for the device.
  template <class Method>
  bool is_exceeded(Context& ctx, Method& method) const {
    return watches() && method.seen_condition(ctx) > most_;
  }
  /// The same of a loop that is there, or that it has got nowhere, where it is to be looked at.
  template <class Method>
  bool is_over(Context& ctx, Method& method, LoopState const& state) {
    constexpr int enough = 160;       // steps: many residuals rise at first
    constexpr double progress = 0.9;  // less is none
    if (state.iteration < next_) return false;
    next_ *= 2;
    double const before = std::exchange(best2_, state.best2), seen = method.seen_condition(ctx);
    if (seen > 0) return seen > most_;
    return state.iteration >= enough && state.best2 > progress * progress * before;
  }

 private:
  double most_, next_;
  double best2_ = std::numeric_limits<double>::infinity();  // the smallest norm at the last look
};

/// Of an update that was due: what cond(A) is at least where ||r|| has become `fall` times what it
/// was.
inline double condition_of_update(double fall, double roundoff) {
  return fall / ((1 + fall) * std::sqrt(roundoff));
}

}  // namespace tcsolve
