// SPDX-License-Identifier: Apache-2.0
/// What block CG does with matrices of k x k between two passes (solvers/block_cg/block_cg.hpp).
/// They lie in the Context's space and nothing waits for the host.
#pragma once

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/small_matrix.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// The small arrays of a block of w columns, (w, w) row-major where no other shape is given.
struct BlockCgScalars {
  Index w;
  double* PQ;           ///< P^T Q, then its Cholesky factor
  double* lengths;      ///< P^T R, then alpha
  double* turns;        ///< Z^T Q, then beta
  double* RR;           ///< R^T R; its diagonal is wanted
  double* RZ;           ///< Z^T R, likewise; RR without a preconditioner, where Z = R
  double* G;            ///< of orthonormalise()
  OrthonormalBlock P;   ///< P, as orthonormalise() has made it
  double const* goal2;  ///< (w)  squares of what the norms of R's columns are to fall to
  double* measure2;     ///< the largest ||r_j||^2 / goal_j^2: at 1 all columns are there
  bool parts;           ///< R's columns are parts of one vector: its norm is that of their sum
  double* narrow;       ///< 1: so many columns are there that a narrower block is to go on, else 0

  static constexpr std::size_t doubles(Index w) { return 7 * std::size_t(w) * w + 5; }
};

/// alpha = (P^T Q)^-1 P^T R. P^T A P has to be positive definite. Raises Stop::replacement, before
/// anything has changed, where a narrower block is to go on.
struct BlockCgLengths {
  static constexpr char const* name = "block_cg_lengths";
  BlockCgScalars k;
  Index work() const { return 2 * k.w * k.w; }
  TCSOLVE_HD void run(SmallTeam t, Frame f, double* memory) const {
    Index const w = k.w, r = static_cast<Index>(*k.P.rank);
    auto raise = [&](Stop stop, Cause cause, double value) {
      if (t.leads()) f.raise(stop, cause, value);
    };
    if (*k.narrow != 0) return raise(Stop::replacement, Cause::none, *k.measure2);
    if (r < 0) return raise(Stop::nonfinite, Cause::preconditioner, *k.P.rank);
    if (r == 0) return raise(Stop::breakdown, Cause::singular_operator, 0);
    double sum = 0, largest = 0;
    for (Index i = 0; i < r; ++i) {
      double const d = k.PQ[i * w + i];
      sum += d;
      largest = magnitude(d) > largest ? magnitude(d) : largest;
    }
    if (!is_finite(sum)) return raise(Stop::nonfinite, Cause::matrix, sum);
    double *const L = memory, *const a = memory + w * w;
    t.each(w * w, [&](Index e) {
      L[e] = k.PQ[e];
      a[e] = e / w < r ? k.lengths[e] : 0.0;
    });
    SmallFactor const made = factor_cholesky(t, r, L, w);
    if (made.rows < r) {
      // The columns of P have length 1: a curvature that may be nothing but rounding.
      bool const vanishes = magnitude(made.pivot) <= 64 * 0x1p-53 * largest;
      if (!is_finite(made.pivot)) return raise(Stop::nonfinite, Cause::matrix, made.pivot);
      if (vanishes) return raise(Stop::breakdown, Cause::singular_operator, made.pivot);
      return raise(Stop::indefinite_operator, Cause::none, made.pivot);
    }
    solve_cholesky(t, r, L, w, a, w);
    t.each(w * w, [&](Index e) {
      k.PQ[e] = L[e];
      k.lengths[e] = a[e];
    });
  }
};

/// beta = -(P^T Q)^-1 (Z^T Q)^T, and how far the columns are from their goals. A narrower block
/// goes on, from its residuals, when half of the columns are there and one of the others has two
/// digits to go: what is lost by beginning again is less than what the finished ones cost. `first`:
/// there is no P yet; an M that is not positive definite makes the measure one that no loop begins
/// from (core/judgement.hpp, before_first_step).
struct BlockCgTurn {
  static constexpr char const* name = "block_cg_turn";
  BlockCgScalars k;
  bool first;
  Index work() const { return 2 * k.w * k.w; }
  TCSOLVE_HD void run(SmallTeam t, Frame f, double* memory) const {
    Index const w = k.w, r = static_cast<Index>(*k.P.rank);
    constexpr double far2 = 1e4, fallen2 = 0.25;
    double measure2 = 0, largest = 0;
    Index finished = 0;
    bool positive = true;
    double rho = 1;
    for (Index j = 0; j < w; ++j) {
      double const m = k.RR[j * w + j] / k.goal2[j];
      if (measure2 == measure2 && !(m <= measure2)) measure2 = m;  // NaN stays
      if (k.parts ? m == 0 : m <= 1) {
        ++finished;
        continue;
      }
      largest = k.RR[j * w + j] > largest ? k.RR[j * w + j] : largest;
      if (k.RZ == k.RR) continue;
      double const now = k.RZ[j * w + j];
      if (now > 0 && is_finite(now)) continue;
      positive = false;
      rho = now;
    }
    if (k.parts && measure2 == measure2) {
      t.each(w, [&](Index i) {
        double row = 0;
        for (Index j = 0; j < w; ++j) row += k.RR[i * w + j];
        memory[i] = row;
      });
      double sum = 0;  // ||sum_j r_j||^2
      for (Index i = 0; i < w; ++i) sum += memory[i];
      measure2 = sum > 0 ? sum / k.goal2[0] : 0;
      t.sync();  // all have looked
    }
    if (t.leads()) {
      *k.measure2 = first && !positive ? rho : measure2;
      *k.narrow = !k.parts && 2 * finished >= w && measure2 > far2 && largest < fallen2 ? 1 : 0;
      if (!positive && !is_finite(rho)) f.raise(Stop::nonfinite, Cause::preconditioner, rho);
      if (!positive) f.raise(Stop::indefinite_preconditioner, Cause::none, rho);
    }
    if (first || !positive) return;
    double *const L = memory, *const b = memory + w * w;
    t.each(w * w, [&](Index e) {
      L[e] = k.PQ[e];
      b[e] = e / w < r ? -k.turns[e % w * w + e / w] : 0.0;
    });
    solve_cholesky(t, r, L, w, b, w);
    t.each(w * w, [&](Index e) { k.turns[e] = b[e]; });
  }
};

namespace host {
void execute(Host&, LoopState*, BlockCgLengths const&);
void execute(Host&, LoopState*, BlockCgTurn const&);
}  // namespace host
namespace cuda {
void execute(Device&, LoopState*, BlockCgLengths const&);
void execute(Device&, LoopState*, BlockCgTurn const&);
}  // namespace cuda

}  // namespace tcsolve
