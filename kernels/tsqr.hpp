// SPDX-License-Identifier: Apache-2.0
/// An orthonormal basis of a block by Householder QR (kernels/householder.hpp), where two rounds of
/// CholeskyQR do not suffice (kernels/blocks.hpp). Three operations:
///
///     TsqrLeaves    W_s = V_s R_s              a strip of rows each: a block of threads, or one of
///                                              the host's
///     TsqrRoot      [R_0; R_1; ..] D -> C_s    one block of threads; the number of columns kept
///     TsqrForm      P_s = V_s [C_s; 0]         strips
///
/// Of several ranks each makes one R of its strips, all have those of all in rank order, and the
/// root is the same computation on each; what it gives goes back down in each by itself:
///
///     TsqrReduce    [R_0; R_1; ..] = V R       of the rank's strips
///     BlockGram     R of every rank            a sum over ranks of what is zero on the others
///     TsqrRoot      of these
///     TsqrSpread    C -> C_s
///
/// D scales columns to length 1; a column whose rest is longer than `drop` is a direction.
/// P^T P = I to a few roundoffs, whatever the condition of W. 6 n w^2 flops and, strips being
/// larger than what is close to a multiprocessor, some 3 w passes over n x w values: a fall-back.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/householder.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve {

/// What the three share.
struct Tsqr {
  std::int64_t n;
  Index w, strips;
  double* V;                ///< (n, w)
  Reflection* reflections;  ///< (strips + 2, w): of the strips, of the stack of R, of the last R
  double* R;                ///< (strips w, w)
  double* C;                ///< (strips w, w)
  double* last;             ///< (2 w, w)
  double const* wanted;     ///< nothing happens where this is 0

  TCSOLVE_HD std::int64_t first(Index strip) const { return n * strip / strips; }
  TCSOLVE_HD std::int64_t rows(Index strip) const { return first(strip + 1) - first(strip); }
};

struct TsqrLeaves {
  static constexpr char const* name = "tsqr_leaves";
  Tsqr q;
  double const* W;
  std::int64_t ldw;
  TCSOLVE_HD void run(SmallTeam t, Index strip, double* scratch) const {
    Index const w = q.w;
    ReflectionTeam const r(t, w, scratch);
    std::int64_t const m = q.rows(strip);
    double* const V = q.V + q.first(strip) * w;
    if (!r.idle())
      for (std::int64_t i = r.group(); i < m; i += r.groups())
        for (Index k = r.lane(); k < w; k += r.lanes())
          V[i * w + k] = W[(q.first(strip) + i) * ldw + k];
    t.sync();
    factor_strip(r, m, V, q.reflections + std::int64_t{strip} * w);
    double* const R = q.R + std::int64_t{strip} * w * w;
    t.each(w * w, [&](Index e) {
      Index const i = e / w, k = e % w;
      R[e] = k >= i && i < m ? V[e] : 0.0;
    });
  }
};

struct TsqrRoot {
  static constexpr char const* name = "tsqr_root";
  Tsqr q;
  double drop;
  double* rank;
  double const* floor;  ///< (w) squares of lengths that count as 0; null: none do
  TCSOLVE_HD void run(SmallTeam t, Index, double* scratch) const {
    constexpr double negligible = 1e-290;  // a square that may have lost its digits
    Index const w = q.w;
    ReflectionTeam const r(t, w, scratch);
    std::int64_t const m = std::int64_t{q.strips} * w;
    Reflection* const of_stack = q.reflections + m;
    double *const R = q.last, *const C = q.last + w * w;
    factor_strip(r, m, q.R, of_stack);
    t.each(w, [&](Index k) {
      double length2 = 0;
      for (Index i = 0; i <= k; ++i) length2 += q.R[i * w + k] * q.R[i * w + k];
      bool const counts = length2 > negligible && (floor == nullptr || length2 > floor[k]);
      double const scale = counts ? 1 / sqrt(length2) : 0.0;
      for (Index i = 0; i < w; ++i) R[i * w + k] = i <= k ? scale * q.R[i * w + k] : 0.0;
    });
    Index const found = pivoted_basis(r, R, of_stack + w, drop, C);
    form_strip(r, m, q.R, of_stack, C, q.C, w);
    if (t.leads()) *rank = found;
  }
};

/// The R of a rank's strips. told (ranks, w, w): its transpose in the place of this rank, zeros in
/// the others; E (w, w): the identity.
struct TsqrReduce {
  static constexpr char const* name = "tsqr_reduce";
  Tsqr q;
  Index rank, ranks;
  double *told, *E;
  TCSOLVE_HD void run(SmallTeam t, Index, double* scratch) const {
    Index const w = q.w;
    ReflectionTeam const r(t, w, scratch);
    std::int64_t const m = std::int64_t{q.strips} * w;
    factor_strip(r, m, q.R, q.reflections + m);
    double const* const R = q.R;
    Index const mine = rank;
    double *const to = told, *const one = E;
    t.each(ranks * w * w, [&](Index e) {
      Index const i = e % (w * w) / w, k = e % w;
      to[e] = e / (w * w) == mine && k <= i ? R[k * w + i] : 0.0;
    });
    t.each(w * w, [&](Index e) { one[e] = e / w == e % w ? 1.0 : 0.0; });
  }
};

/// C_s of a rank's strips from C (w, w), its part of what the root has given.
struct TsqrSpread {
  static constexpr char const* name = "tsqr_spread";
  Tsqr q;
  double const* C;
  TCSOLVE_HD void run(SmallTeam t, Index, double* scratch) const {
    std::int64_t const m = std::int64_t{q.strips} * q.w;
    form_strip(ReflectionTeam(t, q.w, scratch), m, q.R, q.reflections + m, C, q.C, q.w);
  }
};

struct TsqrForm {
  static constexpr char const* name = "tsqr_form";
  Tsqr q;
  double* P;
  std::int64_t ldp;
  TCSOLVE_HD void run(SmallTeam t, Index strip, double* scratch) const {
    ReflectionTeam const r(t, q.w, scratch);
    form_strip(r, q.rows(strip), q.V + q.first(strip) * q.w,
               q.reflections + std::int64_t{strip} * q.w, q.C + std::int64_t{strip} * q.w * q.w,
               P + q.first(strip) * ldp, ldp);
  }
};

namespace host {
Index tsqr_strips(Host&, std::int64_t n, Index w);
void execute(Host&, LoopState*, TsqrLeaves const&);
void execute(Host&, LoopState*, TsqrReduce const&);
void execute(Host&, LoopState*, TsqrRoot const&);
void execute(Host&, LoopState*, TsqrSpread const&);
void execute(Host&, LoopState*, TsqrForm const&);
}  // namespace host
namespace cuda {
Index tsqr_strips(Device&, std::int64_t n, Index w);
void execute(Device&, LoopState*, TsqrLeaves const&);
void execute(Device&, LoopState*, TsqrReduce const&);
void execute(Device&, LoopState*, TsqrRoot const&);
void execute(Device&, LoopState*, TsqrSpread const&);
void execute(Device&, LoopState*, TsqrForm const&);
}  // namespace cuda

/// P = an orthonormal basis of the columns of W, *rank of them and zeros. W and P are distinct.
/// Nothing happens where *wanted is 0; null: it always happens. `floor` as in TsqrRoot. Of all
/// ranks' rows together, with the same w on each.
void householder_basis(Context&, In<double> W, double drop, double* rank, Out<double> P,
                       double const* wanted, double const* floor = nullptr);

}  // namespace tcsolve
