// SPDX-License-Identifier: Apache-2.0
/// The block Arnoldi process with a basis that stays on the device, and the least-squares problem
/// of its block Hessenberg matrix. Blocks have w columns of which the first p_j are directions and
/// the others zero (kernels/blocks.hpp); H is packed, o_j = p_0 + .. + p_{j-1} directions come
/// before block j:
///
///               o_0 o_1 o_2
///             +---+---+---+        block column j of H:  C_ij = V_i^T A M V_j, i <= j, from two
///        o_0  | C | C | C |                              passes of classical Gram-Schmidt, and
///             +---+---+---+                              below it  V_{j+1}^T of what is left
///        o_1  | B | C | C |
///             +---+---+---+        Q_j^T turns rows o_j .. o_{j+2} of block column j to triangular
///        o_2      | B | C |        form, and of every later one and of g = V_0^T R e_0 as well
///
/// A direction that is left out makes the next block narrower and takes no row and no column of H.
#pragma once

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/householder.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// The small arrays of a cycle of m steps with w columns, in the Context's space, row-major.
struct BlockHessenberg {
  Index m, w;
  double *C, *again;    ///< (m, w, w) V_i^T A M V_j of the first pass, and what the second adds
  double* below;        ///< (w, w)    V_{j+1}^T A M V_j
  double* column;       ///< ((m + 1) w, w) block column j
  double* R;            ///< (m w, m w) triangular
  double* Q;            ///< (m, 2 w, 2 w) Q_j^T
  double* g;            ///< ((m + 1) w, w)
  double* Y;            ///< (m, w, w) the solution, block by block
  double* offsets;      ///< (m + 2)   o_j
  double* count;        ///< blocks of V
  double* used;         ///< blocks whose columns of R can be used
  double* size;         ///< of ||A M||: the longest column of H so far
  double* floor;        ///< (w) squares of lengths that are rounding of A M V_j's columns
  double* measure2;     ///< the largest ||r_j||^2 / goal_j^2
  double const* goal2;  ///< (w)
  OrthonormalBlock orth;

  static constexpr double roundoff = 0x1p-53;
  TCSOLVE_HD Index offset(Index j) const { return static_cast<Index>(offsets[j]); }
  TCSOLVE_HD Index directions(Index j) const { return offset(j + 1) - offset(j); }
  TCSOLVE_HD double& r(Index i, Index k) const { return R[std::int64_t{i} * m * w + k]; }
  /// The largest sum of squares over rows [first, end) of a column of v, each divided by `by`, null
  /// for 1; sums: (w) scratch.
  TCSOLVE_HD double largest2(SmallTeam t, double const* v, Index first, Index end, double const* by,
                             double* sums) const {
    t.each(w, [&](Index c) {
      double sum = 0;
      for (Index i = first; i < end; ++i) sum += v[i * w + c] * v[i * w + c];
      sums[c] = by == nullptr ? sum : sum / by[c];
    });
    double largest = 0;
    for (Index c = 0; c < w; ++c)
      if (largest == largest && !(sums[c] <= largest)) largest = sums[c];  // NaN stays
    t.sync();                                                              // all have looked
    return largest;
  }
};

/// A cycle begins: V_0 has orth.rank directions, g = V_0^T R lies in `below` and R^T R in C.
struct BlockGmresStart {
  static constexpr char const* name = "block_gmres_start";
  BlockHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    Index const w = H.w;
    t.each(w * w, [&](Index e) { H.g[e] = H.below[e]; });
    t.each(w, [&](Index c) { H.floor[c] = 0; });
    if (!t.leads()) return;
    double const rank = *H.orth.rank;
    H.offsets[0] = 0;
    H.offsets[1] = rank > 0 ? rank : 0;
    *H.count = 1;
    *H.used = *H.size = 0;
    double largest = 0;
    for (Index c = 0; c < w; ++c) {
      double const now = H.C[c * w + c] / H.goal2[c];
      if (largest == largest && !(now <= largest)) largest = now;
    }
    *H.measure2 = largest;
  }
};

/// V_j = U.
struct BlockGmresStore {
  static constexpr char const* name = "block_gmres_store";
  std::int64_t n;
  double const* U;
  double* V;
  struct Coefficients {
    std::int64_t first;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c.first = n * f.step();
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    V[c.first + i] = U[i];
  }
};

/// Where a column of A M V_j, whose length is that of its products with the basis or more, is left
/// with nothing but rounding.
struct BlockGmresFloor {
  static constexpr char const* name = "block_gmres_floor";
  BlockHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    constexpr double rounding = 64 * BlockHessenberg::roundoff;
    auto const blocks = static_cast<Index>(*H.count);
    t.each(H.w, [&](Index c) {
      double sum = 0;
      for (Index i = 0; i < blocks * H.w; ++i) sum += H.C[i * H.w + c] * H.C[i * H.w + c];
      H.floor[c] = rounding * rounding * sum;
    });
  }
};

/// Block column j of H from its products; through the reflections so far; Q_j; g; the measure. A
/// pivot that is rounding means that A M is singular on the space: the block is not used.
struct BlockGmresColumn {
  static constexpr char const* name = "block_gmres_column";
  BlockHessenberg H;
  static constexpr Index threads = 256;
  TCSOLVE_HD Index wide() const { return 4 * H.w; }  ///< [block column, g, identity]
  Index work() const { return ReflectionTeam::scratch(threads, wide()) + 2 * H.w * wide(); }

  TCSOLVE_HD void run(SmallTeam t, Frame f, double* memory) const {
    Index const j = f.step();
    if (*H.orth.rank < 0) {
      if (t.leads()) f.raise(Stop::nonfinite, Cause::none, *H.orth.rank);
      return;
    }
    Index const o = H.offset(j), p = H.directions(j), next = static_cast<Index>(*H.orth.rank);
    double* const A = memory + ReflectionTeam::scratch(threads, wide());
    assemble(t, j, next);
    double const size = sqrt(H.largest2(t, H.column, 0, o + p + next, nullptr, memory));
    if (!is_finite(size)) {
      if (t.leads()) f.raise(Stop::nonfinite, Cause::none, size);
      return;
    }
    if (t.leads() && size > *H.size) *H.size = size;
    for (Index i = 0; i < j; ++i) turn(t, i, A);
    double const least = triangulate({t, wide(), memory}, j, next, A);
    // Of A M and not of its rounding: before anything is used.
    if (least <= 10 * BlockHessenberg::roundoff * *H.size) {
      if (t.leads()) f.raise(Stop::breakdown, Cause::singular_operator, least);
      return;
    }
    keep(t, j, next, A, memory);
  }

 private:
  /// Rows o_0 .. o_{j+2} of the block column; those of block j + 1 begin at o_{j+1}.
  TCSOLVE_HD void assemble(SmallTeam t, Index j, Index next) const {
    Index const w = H.w;
    t.each((j + 1) * w * w, [&](Index e) {
      Index const i = e / (w * w), a = e / w % w, c = e % w;
      if (a < H.directions(i)) H.column[(H.offset(i) + a) * w + c] = H.C[e] + H.again[e];
    });
    t.each(next * w, [&](Index e) { H.column[H.offset(j + 1) * w + e] = H.below[e]; });
  }
  /// Rows o_i .. o_{i+2} of the block column, times Q_i^T.
  TCSOLVE_HD void turn(SmallTeam t, Index i, double* turned) const {
    Index const w = H.w, o = H.offset(i), rows = H.offset(i + 2) - o;
    double const* const Q = H.Q + std::int64_t{i} * 4 * w * w;
    t.each(rows * w, [&](Index e) {
      double sum = 0;
      for (Index b = 0; b < rows; ++b) sum += Q[e / w * 2 * w + b] * H.column[(o + b) * w + e % w];
      turned[e] = sum;
    });
    t.each(rows * w, [&](Index e) { H.column[o * w + e] = turned[e]; });
  }
  /// A = Q_j^T [column, g, I] of rows o_j .. o_{j+2}; returns the smallest pivot.
  TCSOLVE_HD double triangulate(ReflectionTeam const& r, Index j, Index next, double* A) const {
    Index const w = H.w, wide = r.w, o = H.offset(j), p = H.directions(j), rows = p + next;
    r.t.each(rows * wide, [&](Index e) {
      Index const i = e / wide, k = e % wide;
      A[e] = k < w       ? H.column[(o + i) * w + k]
             : k < 2 * w ? (i < p ? H.g[(o + i) * w + k - w] : 0.0)
                         : (k - 2 * w == i ? 1.0 : 0.0);
    });
    for (Index c = 0; c < p; ++c) {
      r.multiply(rows, c, c, A, A, wide);
      double beta = 0;
      Reflection const h = reflection(A[c * wide + c], r.dots[c], beta);
      r.t.sync();  // all have looked
      r.reflect(rows, c, c + 1, h, A, A, wide);
      if (r.t.leads()) A[c * wide + c] = beta;
      r.t.sync();
    }
    double least = p > 0 ? magnitude(A[0]) : 0.0;
    for (Index c = 1; c < p; ++c) {
      double const pivot = magnitude(A[c * wide + c]);
      least = pivot < least ? pivot : least;
    }
    return least;
  }
  TCSOLVE_HD void keep(SmallTeam t, Index j, Index next, double const* A, double* sums) const {
    Index const w = H.w, wide = 4 * w, o = H.offset(j), p = H.directions(j), rows = p + next;
    t.each((o + p) * p, [&](Index e) {
      Index const i = e / p, c = e % p;
      H.r(i, o + c) = i < o ? H.column[i * w + c] : i - o <= c ? A[(i - o) * wide + c] : 0.0;
    });
    double* const Q = H.Q + std::int64_t{j} * 4 * w * w;
    t.each(rows * rows, [&](Index e) {
      Q[e / rows * 2 * w + e % rows] = A[e / rows * wide + 2 * w + e % rows];
    });
    t.each(rows * w, [&](Index e) { H.g[o * w + e] = A[e / w * wide + w + e % w]; });
    double const measure2 = H.largest2(t, H.g, o + p, o + rows, H.goal2, sums);
    if (!t.leads()) return;
    H.offsets[j + 2] = o + rows;
    *H.used = j + 1;
    *H.count = j + 2 < H.m ? j + 2 : H.m;
    *H.measure2 = measure2;
  }
};

/// Y = R^-1 g of the blocks that are used, and how many there are.
struct BlockGmresSolve {
  static constexpr char const* name = "block_gmres_solve";
  BlockHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    Index const w = H.w;
    auto const blocks = static_cast<Index>(*H.used);
    Index const all = H.offset(blocks);
    for (Index k = all - 1; k >= 0; --k) {
      t.each(w, [&](Index c) { H.g[k * w + c] /= H.r(k, k); });
      t.each(k * w, [&](Index e) { H.g[e] -= H.r(e / w, k) * H.g[k * w + e % w]; });
    }
    t.each(blocks * w * w, [&](Index e) {
      Index const i = e / (w * w), a = e / w % w;
      H.Y[e] = a < H.directions(i) ? H.g[(H.offset(i) + a) * w + e % w] : 0.0;
    });
  }
};

namespace host {
void execute(Host&, LoopState*, BlockGmresStart const&);
void execute(Host&, LoopState*, BlockGmresFloor const&);
void execute(Host&, LoopState*, BlockGmresColumn const&);
void execute(Host&, LoopState*, BlockGmresSolve const&);
}  // namespace host
namespace cuda {
void execute(Device&, LoopState*, BlockGmresStart const&);
void execute(Device&, LoopState*, BlockGmresFloor const&);
void execute(Device&, LoopState*, BlockGmresColumn const&);
void execute(Device&, LoopState*, BlockGmresSolve const&);
}  // namespace cuda

}  // namespace tcsolve
