// SPDX-License-Identifier: Apache-2.0
/// The stopping test, run where the loop runs. It is the last operation of every step.
#pragma once

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// Counts the step, writes its norm to the history and decides whether the loop goes on.
/// `done` is a method's own claim (LSMR: A^T r is small), null for none. `progress2` is the
/// quantity whose decrease rules out stagnation, null for the norm. Where the vectors or A are
/// narrower than the residual that counts, it also says when r is to be made anew
/// (KrylovSolver::renew).
struct Observe {
  static constexpr char const* name = "observe";
  static constexpr bool always = true;  // also after a stop: it ends the graph's WHILE node
  std::int64_t n = 0;
  double const* norm2;
  double const* done = nullptr;
  double const* progress2 = nullptr;

  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame f, double const*) const {
    LoopState& s = *f.state;
    double norm = *norm2;
    if (f.stopped()) return report(f, norm);
    if (f.speaks) s.history[s.iteration - s.history_start] = norm;
    ++s.iteration;
    if (norm > s.largest2) s.largest2 = norm;
    if (!is_finite(norm))
      f.raise(Stop::nonfinite, Cause::none, norm);
    else if (norm <= s.threshold2 || (done != nullptr && *done != 0))
      f.raise(Stop::claimed, Cause::none, norm);
    else if (norm > s.divergence2)
      f.raise(Stop::diverged, Cause::none, norm);
    else if (requested(s) != 0)
      f.raise(static_cast<Stop>(requested(s)), Cause::none, norm);
    else if (s.window > 0 && stalls(s, progress2 != nullptr ? *progress2 : norm))
      f.raise(Stop::stagnated, Cause::none, norm);
    else if (s.iteration >= s.limit)
      f.raise(Stop::cycle_end, Cause::none, norm);
    else if (is_due(s, norm))
      f.raise(Stop::replacement, Cause::none, norm);
    report(f, norm);
  }

 private:
  /// Writes the progress, which the host may read at any time, and the condition of the graph's
  /// while node.
  TCSOLVE_HD static void report(Frame f, double norm) {
    LoopState& s = *f.state;
    if (s.progress != nullptr && f.speaks && (s.stop != 0 || s.iteration % s.report_every == 0)) {
      Progress volatile* p = s.progress;
      p->norm2 = norm;
      p->stop = s.stop;
      p->iteration = s.iteration;
    }
#if defined(__CUDA_ARCH__)
    if (s.while_handle != 0) cudaGraphSetConditional(s.while_handle, s.stop == 0 ? 1u : 0u);
#endif
  }
  /// r is to be made anew: it has fallen by half at least, and what it may have lost to rounding
  /// since the last time is a part of it that counts (van der Vorst and Ye 2000, section 3).
  TCSOLVE_HD static bool is_due(LoopState const& s, double norm) {
    constexpr double fallen2 = 0.25;
    return s.renew2 * s.gap2 > norm && norm < fallen2 * s.largest2;
  }
  /// A new best counts when it is at least 0.1 % below the old one.
  TCSOLVE_HD static bool stalls(LoopState& s, double norm) {
    if (norm < 0.998 * s.best2) {
      s.best2 = norm;
      s.best_iteration = s.iteration;
    }
    return s.iteration - s.best_iteration >= s.window;
  }
};

/// Ends the step in progress: `norm2` is its monitored norm, squared.
inline void observe(Context& ctx, double const* norm2, double const* done = nullptr,
                    double const* progress2 = nullptr) {
  submit(ctx, Observe{0, norm2, done, progress2});
}

/// Ends the loop for a reason that the host has found: the step in progress changes nothing more.
struct Raise {
  static constexpr char const* name = "raise";
  std::int64_t n = 0;
  Stop stop;
  Cause cause = Cause::none;
  double value = 0;
  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame f, double const*) const { f.raise(stop, cause, value); }
};

}  // namespace tcsolve
