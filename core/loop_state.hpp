// SPDX-License-Identifier: Apache-2.0
/// The state of a running Krylov loop. It lives beside the vectors, on the device for a device
/// loop: operations set a stop reason in it and the monitor counts in it, without the host.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/stop.hpp>

namespace tcsolve {

/// What the host may watch while the loop runs: host memory that the device can write.
struct Progress {
  std::int32_t iteration;  ///< finished steps of this run of the loop
  std::int32_t stop;       ///< a Stop
  double norm2;            ///< square of the monitored norm after that step ...
  double start2;           ///< ... and before the first one
};

struct LoopState {
  std::int32_t stop = 0;   ///< a Stop; anything but `running` turns every operation into a no-op
  std::int32_t cause = 0;  ///< a Cause
  std::int32_t iteration = 0;  ///< finished steps of this run of the loop
  std::int32_t limit = 0;      ///< steps this run may take
  std::int32_t cancel = 0;     ///< a Stop that the host requests: cancelled or time_limit
  std::int32_t window = 0;     ///< stagnation: steps without a new best norm, 0 = never
  std::int32_t best_iteration = 0;
  std::int32_t agreed = 0;  ///< the same as `cancel`, of all ranks of devices
  double value = 0;         ///< the number that raised the stop, e.g. the curvature <p, A p>
  double threshold2 = 0;    ///< claimed when norm2 <= threshold2
  double divergence2 = 0;   ///< diverged when norm2 > divergence2
  double start2 = 0;        ///< norm2 before the first step
  double best2 = 0;         ///< smallest norm2 so far
  double kept2 = 0;    ///< what the kept iterate is worth (solvers/driver/best_iterate.hpp) ...
  double newest2 = 0;  ///< ... and the newest one
  std::int32_t kept_step = 0;   ///< steps before the kept iterate
  std::int32_t over_ranks = 0;  ///< not 0: devices run it together and `agreed` ends it
  double renew2 = 0;    ///< r is to be made anew when renew2 gap2 > norm2, see Observe; 0 = never
  double gap2 = 0;      ///< (||A|| ||x||)^2: the gap of r to b - A x, in units of the roundoff
  double largest2 = 0;  ///< of norm2 since r was last made anew
  double* history = nullptr;  ///< norm2 after each step from history_start on
  std::int32_t history_start = 0;
  Progress* progress = nullptr;         ///< host-visible, may be null
  std::int32_t report_every = 1;        ///< steps between two words to the host, a power of two
  unsigned long long while_handle = 0;  ///< conditional node of a recorded loop, 0 = none
};

/// The Stop that is requested, the same on all ranks.
TCSOLVE_HD std::int32_t requested(LoopState const& s) {
  return s.over_ranks != 0 ? s.agreed : s.cancel;
}

/// The loop around a fused operation, as one of its threads sees it (no loop: state == nullptr).
struct Frame {
  LoopState* state = nullptr;
  bool lead = true;  ///< exactly one thread of a fused operation leads: it alone writes the state
  /// The leader reports to the host. In a persistent loop every block has a state and a leader of
  /// its own, and one of them speaks.
  bool speaks = true;

  TCSOLVE_HD bool stopped() const { return state != nullptr && state->stop != 0; }
  TCSOLVE_HD bool first() const { return state->iteration == 0; }
  TCSOLVE_HD std::int32_t step() const { return state->iteration; }
  /// Ends the loop: the first reason raised stands. Returns false, for `return f.raise(...)`.
  TCSOLVE_HD bool raise(Stop s, Cause c, double value) const {
    if (!lead || state == nullptr) return false;
    // Volatile: others do not read it, not even in vain.
    if (*static_cast<std::int32_t const volatile*>(&state->stop) == 0) {
      state->value = value;
      state->cause = static_cast<std::int32_t>(c);
      state->stop = static_cast<std::int32_t>(s);
    }
    return false;
  }
};

}  // namespace tcsolve
