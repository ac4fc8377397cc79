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
    // Copied at once: a field that is read after another has been written is waited for by itself.
    LoopState s = *f.state;
    double const norm = *norm2, progress = progress2 != nullptr ? *progress2 : norm;
    bool const is_done = done != nullptr && *done != 0;
    if (s.stop != 0) return report(f, s, norm);
    if (f.speaks) s.history[s.iteration - s.history_start] = norm;
    ++s.iteration;
    if (norm > s.largest2) s.largest2 = norm;
    Stop const stop = decide(s, norm, progress, is_done);
    f.state->iteration = s.iteration;
    f.state->largest2 = s.largest2;
    f.state->best2 = s.best2;
    f.state->best_iteration = s.best_iteration;
    if (stop != Stop::running) {
      f.raise(stop, Cause::none, norm);
      s.stop = static_cast<std::int32_t>(stop);
    }
    report(f, s, norm);
  }

 private:
  TCSOLVE_HD static Stop decide(LoopState& s, double norm, double progress, bool is_done) {
    if (!is_finite(norm)) return Stop::nonfinite;
    if (norm <= s.threshold2 || is_done) return Stop::claimed;
    if (norm > s.divergence2) return Stop::diverged;
    if (requested(s) != 0) return static_cast<Stop>(requested(s));
    if (s.window > 0 && stalls(s, progress)) return Stop::stagnated;
    if (s.iteration >= s.limit) return Stop::cycle_end;
    return is_due(s, norm) ? Stop::replacement : Stop::running;
  }
  /// Writes the progress, which the host may read at any time, and the condition of the graph's
  /// while node.
  TCSOLVE_HD static void report(Frame f, LoopState const& s, double norm) {
    if (s.progress != nullptr && f.speaks &&
        (s.stop != 0 || (s.iteration & (s.report_every - 1)) == 0)) {
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
