// SPDX-License-Identifier: Apache-2.0
/// The driver of solvers/driver/krylov_solver.hpp as operations, for the systems of a batch: a team
/// judges its own system, and the host is notified once, at the end.
///
///     r = b - A x                  judge_start    norms, tolerance; solved already?
///     until there is a verdict:
///       r~ = 2^-e r, d = 0         judge_scale    e: so that ||r~|| is in [1, 2)
///       (begin), judge_cycle                      limits of the loop
///       (steps, complete)
///       x' = x + 2^e d             judge_trial
///       r' = b - A x'              judge_verdict  the same judgement (core/judgement.hpp)
///       x, r = x', r' if better    judge_accept
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/judgement.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/loop/open_loop.hpp>
#include <tcsolve/solvers/loop/system_state.hpp>

namespace tcsolve {

/// The sum of squares in three ranges, none of which overflows or underflows (Blue 1978).
struct Squares {
  static constexpr int sums = 3;
  TCSOLVE_HD static void add(double* sum, double v) {
    double size = magnitude(v);
    if (size > 0x1p+486)
      sum[0] += (v * 0x1p-538) * (v * 0x1p-538);
    else if (size < 0x1p-480)
      sum[2] += (v * 0x1p+537) * (v * 0x1p+537);
    else  // NaN too
      sum[1] += v * v;
  }
  TCSOLVE_HD static bool finite(double const* sum) { return is_finite(sum[0] + sum[1] + sum[2]); }
  TCSOLVE_HD static double norm(double const* sum) {
    if (!finite(sum)) return sum[0] + sum[1] + sum[2];
    if (sum[0] > 0) return sqrt(sum[0] + (sum[1] * 0x1p-538) * 0x1p-538) * 0x1p+538;
    if (sum[1] > 0) return sqrt(sum[1] + (sum[2] * 0x1p-537) * 0x1p-537);
    return sqrt(sum[2]) * 0x1p-537;
  }
};

/// Which run of a method within a solve begins: known to the host, or, in a batch, to the system.
struct Attempt {
  std::int32_t runs = 0, breakdowns = 0;  ///< before it
  SystemState const* system = nullptr;
  TCSOLVE_HD bool first() const { return (system != nullptr ? system->restarts : runs) == 0; }
};

/// The norms of b, x and r = b - A x and of the sizes of its rows; what the tolerance is, and
/// whether it is met already.
struct JudgeStart {
  static constexpr char const* name = "judge_start";
  static constexpr int sums = 4 * Squares::sums;
  std::int64_t n;
  JudgeRules rules;
  SystemState* s;
  double const *b, *x, *r, *size;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    Squares::add(sum, b[i]);
    Squares::add(sum + 3, x[i]);
    Squares::add(sum + 6, r[i]);
    Squares::add(sum + 9, size[i]);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    s->rhs_norm = Squares::norm(sum);
    s->x_norm = Squares::norm(sum + 3);
    double residual = Squares::norm(sum + 6);
    s->true_residual = s->initial_residual = std::numeric_limits<double>::quiet_NaN();
    Verdict const verdict = before_solving(
        {s->rhs_norm, s->x_norm, residual, Squares::finite(sum), Squares::finite(sum + 3)});
    if (verdict.cause == Cause::zero_rhs) s->true_residual = s->initial_residual = s->x_norm = 0;
    if (verdict.stop != Stop::running) return s->end(verdict.stop, verdict.cause);
    s->true_residual = s->initial_residual = s->recurrence_residual = residual;
    s->tolerance = tolerance_of(rules.baseline, rules.rtol, rules.atol, s->rhs_norm, residual);
    s->attainable = s->rounding(Squares::norm(sum + 9));
    if (residual <= s->tolerance)
      s->end(Stop::converged, Cause::exact_guess);
    else if (rules.max_iters == 0)
      s->end(Stop::max_iterations, Cause::none);
  }
};

/// x = 0 where b = 0.
struct JudgeZero {
  static constexpr char const* name = "judge_zero";
  std::int64_t n;
  SystemState const* s;
  double* x;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame, Coefficients&) const {
    return s->cause == static_cast<std::int32_t>(Cause::zero_rhs);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double*) const { x[i] = 0; }
};

/// r = 2^-e residual, d = 0.
struct JudgeScale {
  static constexpr char const* name = "judge_scale";
  std::int64_t n;
  SystemState* s;
  double const* residual;
  double *r, *d;
  struct Coefficients {
    double factor, factor2;  ///< 2^-e itself may be out of range
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    int e = -ilogb(s->true_residual);
    c = {ldexp(1.0, e / 2), ldexp(1.0, e - e / 2)};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    r[i] = residual[i] * c.factor * c.factor2;
    d[i] = 0;
  }
  TCSOLVE_HD void finish(Frame, double const*) const { s->exponent = ilogb(s->true_residual); }
};

/// The limits of the loop that follows; no loop when the monitored norm is none.
struct JudgeCycle {
  static constexpr char const* name = "judge_cycle";
  std::int64_t n = 0;
  JudgeRules rules;
  SystemState* s;
  double const* norm2;
  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame f, double const*) const {
    LoopState& loop = *f.state;
    std::int32_t cancel = loop.cancel, left = rules.max_iters - s->iterations;
    loop = LoopState{};
    loop.cancel = cancel;
    s->norm2_start = *norm2;
    loop.limit = left < rules.cycle ? left : rules.cycle;
    loop.window = rules.window;
    double far = s->rhs_norm > s->initial_residual ? s->rhs_norm : s->initial_residual;
    open(loop, *norm2,
         {s->judgement.tighten * s->tolerance, rules.divtol * far, s->true_residual,
          rules.roundoff});
  }
};

/// x' = x + 2^e d, with the d that was kept where the last one is worse
/// (solvers/driver/best_iterate.hpp).
struct JudgeTrial {
  static constexpr char const* name = "judge_trial";
  std::int64_t n;
  SystemState const* s;
  double const *x, *d, *kept;
  double* trial;
  struct Coefficients {
    double factor, factor2;
    double const* d;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    LoopState const& loop = *f.state;
    bool keeps = kept != nullptr && loop.kept2 < s->norm2_start && !(loop.newest2 <= loop.kept2);
    c = {ldexp(1.0, s->exponent / 2), ldexp(1.0, s->exponent - s->exponent / 2), keeps ? kept : d};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    trial[i] = x[i] + c.d[i] * c.factor * c.factor2;
  }
};

/// The norms of x' and r', and what follows from them.
struct JudgeVerdict {
  static constexpr char const* name = "judge_verdict";
  static constexpr int sums = 3 * Squares::sums;
  std::int64_t n;
  JudgeRules rules;
  SystemState* s;
  double const* norm2;  ///< the monitored norm, squared, as the loop ended
  double const *trial, *trial_residual, *size;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    Squares::add(sum, trial[i]);
    Squares::add(sum + 3, trial_residual[i]);
    Squares::add(sum + 6, size[i]);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    LoopState const& loop = *f.state;
    double const trial_norm = Squares::norm(sum), residual = Squares::norm(sum + 3);
    constexpr double unknown = std::numeric_limits<double>::infinity();
    bool finite = is_finite(trial_norm) && is_finite(residual);
    s->iterations += loop.iteration;
    if (loop.iteration > 0)
      s->recurrence_residual = sqrt(*norm2 / s->norm2_start) * s->true_residual;
    s->value = loop.value;
    auto const step = Judgement::step(finite, s->true_residual, residual, unknown, unknown);
    s->keep = step.takes;
    if (step.takes) {
      s->true_residual = residual;
      s->x_norm = trial_norm;
      s->attainable = s->rounding(Squares::norm(sum + 6));
    }
    Verdict const verdict =
        s->judgement.after({.stop = static_cast<Stop>(loop.stop),
                            .cause = static_cast<Cause>(loop.cause),
                            .overflow = !finite && is_finite(loop.value),
                            .gain = step.gain,
                            .residual = s->true_residual,
                            .tolerance = s->tolerance,
                            .rhs_norm = s->rhs_norm,
                            .limit = s->attainable,
                            .lost = lost_to_underflow(s->norm_A, double(s->rows)),
                            .normal = unknown,
                            .optimal = 0,
                            .noise = 0,
                            .monitors_residual = rules.monitors_residual,
                            .roundoff = rules.roundoff,
                            .exhausted = s->iterations >= rules.max_iters});
    // The operation that found the value may have stored which operand it came from.
    bool known = verdict.stop == Stop::nonfinite && loop.cause != 0;
    s->end(verdict.stop, known ? static_cast<Cause>(loop.cause) : verdict.cause);
    if (s->running()) ++s->restarts;
  }
};

/// x = x', residual = r' where they are better.
struct JudgeAccept {
  static constexpr char const* name = "judge_accept";
  std::int64_t n;
  SystemState const* s;
  double const *trial, *trial_residual;
  double *x, *residual;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame, Coefficients&) const { return s->keep != 0; }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double*) const {
    x[i] = trial[i];
    residual[i] = trial_residual[i];
  }
};

/// count = entries of a batch's matrix that lie outside the block of their system.
struct BatchCheck {
  static constexpr char const* name = "batch_check";
  static constexpr int sums = 1;
  std::int64_t n;  ///< rows
  CsrView<double> a;
  Index systems;
  Index const* starts;
  double* count;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    Index low = 0, high = systems;  // starts[low] <= i < starts[high]
    while (high - low > 1) {
      Index middle = low + (high - low) / 2;
      (starts[middle] <= i ? low : high) = middle;
    }
    while (starts[low + 1] <= i) ++low;  // systems without rows
    for (Offset e = a.offsets[i], end = a.offsets[i + 1]; e < end; ++e)
      sum[0] += a.columns[e] < starts[low] || a.columns[e] >= starts[low + 1];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *count = sum[0]; }
};

/// The entries of each system.
struct BatchMeasure {
  static constexpr char const* name = "batch_measure";
  std::int64_t n;  ///< systems
  CsrView<double> a;
  Index const* starts;
  Offset* entries;
  TCSOLVE_HD void element(std::int64_t k, NoCoefficients, double*) const {
    entries[k] = a.offsets[starts[k + 1]] - a.offsets[starts[k]];
  }
};

}  // namespace tcsolve
