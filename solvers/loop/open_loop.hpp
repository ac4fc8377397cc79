// SPDX-License-Identifier: Apache-2.0
/// How a run of a loop begins, where the loop runs: from the square of the method's norm, which is
/// not copied to the host.
#pragma once

#include <tcsolve/core/judgement.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve {

/// When a run ends by its norm; `target`, `divergence` and `residual` are in the units of b.
struct RunLimits {
  double target;      ///< claimed where ||r|| falls to it
  double divergence;  ///< diverged where ||r|| rises above it
  double residual;    ///< ||r|| as the run begins
  double roundoff;    ///< of the method's vectors
  /// r is to be made anew where its gap is sqrt(renew2) ||A|| ||x|| (LoopState); 0: never.
  double renew2 = 0;
};

/// A state in which nothing has been done yet, from the square of the monitored norm. It says stop
/// where a run cannot begin (before_first_step).
TCSOLVE_HD void open(LoopState& loop, double norm2, RunLimits const& limits) {
  loop.start2 = loop.best2 = loop.kept2 = loop.newest2 = norm2;
  if (Verdict const unfit = before_first_step(norm2); unfit.stop != Stop::running) {
    loop.stop = static_cast<std::int32_t>(unfit.stop);
    loop.cause = static_cast<std::int32_t>(unfit.cause);
    loop.value = norm2;
    loop.limit = 0;  // no step is taken
    return;
  }
  Ends const ends =
      ends_of(limits.target, limits.divergence, limits.residual, norm2, limits.roundoff);
  loop.threshold2 = ends.threshold2;
  loop.divergence2 = ends.divergence2;
  loop.renew2 = limits.renew2;
  loop.largest2 = norm2;
}

/// *state = `initial`, opened from *norm2. A request to end that has come before stays.
struct OpenLoop {
  static constexpr char const* name = "open_loop";
  std::int64_t n = 0;
  double const* norm2;
  RunLimits limits;
  LoopState initial;
  LoopState* state;
  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame, double const*) const {
    LoopState const now = opened();
    *state = now;
    tell(now);
  }
  TCSOLVE_HD LoopState opened() const {
    LoopState now = initial;
    now.cancel = state->cancel;
    open(now, *norm2, limits);
    return now;
  }
  /// The host learns of it.
  TCSOLVE_HD void tell(LoopState const& now) const {
    if (now.progress == nullptr) return;
    Progress volatile* p = now.progress;
    p->norm2 = *norm2;
    p->start2 = *norm2;
    p->stop = now.stop;
  }
};

}  // namespace tcsolve
