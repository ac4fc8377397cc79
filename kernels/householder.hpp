// SPDX-License-Identifier: Apache-2.0
/// Householder QR of a block of n x w vectors in strips of rows (TSQR: Demmel, Grigori, Hoemmen and
/// Langou 2012), for blocks whose Gram matrix has lost small directions to rounding: the basis is
/// orthonormal to rounding whatever the condition.
///
///     W = [ V_0 R_0 ]                         leaf    every strip by itself, its reflectors in V
///         [ V_1 R_1 ]
///         [   ...   ]
///     [R_0; R_1; ..] = Q R,  R D P = U S      root    D: columns of length 1; the largest one
///                                                     that remains first: what is left of a
///                                                     dependent column is not in U
///     Y_s = V_s [(Q U)_s; 0]                  form    the basis, strip by strip
///
/// Each is a loop over rows by the threads of a team (kernels/small_matrix.hpp), written once: on
/// the device a strip is a block of threads. Rows are added in a fixed order.
#pragma once

#include <cmath>

#include <tcsolve/kernels/small_matrix.hpp>

namespace tcsolve {

/// One reflection I - tau v v^T, v_j = 1, v_i = s x_i below, x as it lies in V.
struct Reflection {
  double tau, s;
};

/// What all functions here share: scratch of reflection_scratch(team, w) doubles.
struct ReflectionTeam {
  SmallTeam t;
  Index w;
  double* sums;  ///< (row groups, w)
  double* dots;  ///< (w)
  TCSOLVE_HD ReflectionTeam(SmallTeam team, Index w_, double* scratch)
      : t(team), w(w_), sums(scratch), dots(scratch + std::int64_t{groups()} * w_) {}

  /// Threads side by side take neighbouring columns, groups of them rows in turn.
  TCSOLVE_HD Index lanes() const { return t.size < w ? t.size : w; }
  TCSOLVE_HD Index groups() const { return t.size / lanes(); }
  TCSOLVE_HD Index lane() const { return t.rank % lanes(); }
  TCSOLVE_HD Index group() const { return t.rank / lanes(); }
  TCSOLVE_HD bool idle() const { return group() >= groups(); }
  static TCSOLVE_HD Index scratch(Index threads, Index w) {
    return (threads / (threads < w ? threads : w) + 1) * w;
  }

  /// dots[k] = sum over rows i > j of v_i a_ik, k >= first; v is column j of V, a column k of A.
  TCSOLVE_HD void multiply(std::int64_t m, Index j, Index first, double const* V, double const* A,
                           std::int64_t lda) const {
    if (!idle()) {
      for (Index k = lane(); k < w; k += lanes()) sums[group() * w + k] = 0;
      for (std::int64_t i = j + 1 + group(); i < m; i += groups()) {
        double const v = V[i * w + j];
        for (Index k = lane(); k < w; k += lanes())
          if (k >= first) sums[group() * w + k] += v * A[i * lda + k];
      }
    }
    t.sync();
    t.each(w, [&](Index k) {
      double sum = 0;
      for (Index g = 0; g < groups(); ++g) sum += sums[g * w + k];
      dots[k] = sum;
    });
  }
  /// Columns k >= first of A become (I - tau v v^T) a_k, where multiply() has left dots.
  TCSOLVE_HD void reflect(std::int64_t m, Index j, Index first, Reflection h, double const* V,
                          double* A, std::int64_t lda) const {
    t.each(w, [&](Index k) {
      if (k < first) return;
      double const along = h.tau * (A[j * lda + k] + h.s * dots[k]);  // tau <v, a_k>
      A[j * lda + k] -= along;
      dots[k] = h.s * along;
    });
    if (!idle())
      for (std::int64_t i = j + 1 + group(); i < m; i += groups()) {
        double const v = V[i * w + j];
        for (Index k = lane(); k < w; k += lanes())
          if (k >= first) A[i * lda + k] -= v * dots[k];
      }
    t.sync();
  }
};

/// That which maps column j, alpha at its top and sigma = ||x||^2 below, onto beta e_1.
///                                                     Golub and Van Loan 2013, section 5.1.3
TCSOLVE_HD Reflection reflection(double alpha, double sigma, double& beta) {
  constexpr double negligible = 1e-280;
  beta = alpha;
  if (!(sigma > negligible)) return {0, 0};
  double const norm = sqrt(alpha * alpha + sigma);
  beta = alpha > 0 ? -norm : norm;
  return {(beta - alpha) / beta, 1 / (alpha - beta)};
}

/// A (m x w, rows w apart) becomes R above and the vectors of the reflections below its diagonal;
/// reflections: (w). 2 m w^2 flops.
TCSOLVE_HD void factor_strip(ReflectionTeam const& r, std::int64_t m, double* A,
                             Reflection* reflections) {
  Index const w = r.w;
  for (Index j = 0; j < w; ++j) {
    if (j >= m) {
      if (r.t.leads()) reflections[j] = {0, 0};
      continue;
    }
    r.multiply(m, j, j, A, A, w);
    double beta = 0;
    Reflection const h = reflection(A[j * w + j], r.dots[j], beta);
    r.t.sync();  // all have looked
    r.reflect(m, j, j + 1, h, A, A, w);
    if (r.t.leads()) {
      A[j * w + j] = beta;
      reflections[j] = h;
    }
    r.t.sync();
  }
}

/// Y (m x w) = H_0 .. H_{w-1} [C; 0], C w x w, rows w apart. 4 m w^2 flops.
TCSOLVE_HD void form_strip(ReflectionTeam const& r, std::int64_t m, double const* V,
                           Reflection const* reflections, double const* C, double* Y,
                           std::int64_t ldy) {
  Index const w = r.w;
  if (!r.idle())
    for (std::int64_t i = r.group(); i < m; i += r.groups())
      for (Index k = r.lane(); k < w; k += r.lanes()) Y[i * ldy + k] = i < w ? C[i * w + k] : 0.0;
  r.t.sync();
  for (Index j = w - 1; j >= 0; --j) {
    if (j >= m || reflections[j].tau == 0) continue;
    Reflection const h = reflections[j];
    r.multiply(m, j, 0, V, Y, ldy);
    r.reflect(m, j, 0, h, V, Y, ldy);
  }
}

/// QR of R (w x w, overwritten) with the largest remaining column first; returns the number of
/// columns whose remaining length exceeds `drop`, and C (w x w): an orthonormal basis of their
/// span, then zeros.      Golub and Van Loan 2013, Algorithm 5.4.1
TCSOLVE_HD Index pivoted_basis(ReflectionTeam const& r, double* R, Reflection* reflections,
                               double drop, double* C) {
  Index const w = r.w;
  SmallTeam const t = r.t;
  Index rank = 0;
  for (; rank < w; ++rank) {
    Index const j = rank;
    t.each(w, [&](Index k) {
      double sum = 0;
      for (Index i = j; i < w; ++i) sum += R[i * w + k] * R[i * w + k];
      r.dots[k] = sum;
    });
    Index p = -1;
    double largest = drop * drop;
    for (Index k = j; k < w; ++k) {
      if (!(r.dots[k] > largest)) continue;
      largest = r.dots[k];
      p = k;
    }
    t.sync();  // all have looked
    if (p < 0) break;
    t.each(w, [&](Index i) {
      double const here = R[i * w + j];
      R[i * w + j] = R[i * w + p];
      R[i * w + p] = here;
    });
    r.multiply(w, j, j, R, R, w);
    double beta = 0;
    Reflection const h = reflection(R[j * w + j], r.dots[j], beta);
    t.sync();  // all have looked
    r.reflect(w, j, j + 1, h, R, R, w);
    if (t.leads()) {
      R[j * w + j] = beta;
      reflections[j] = h;
    }
    t.sync();
  }
  t.each(w * w, [&](Index e) { C[e] = e / w == e % w && e / w < rank ? 1.0 : 0.0; });
  for (Index j = rank - 1; j >= 0; --j) {
    Reflection const h = reflections[j];
    if (h.tau == 0) continue;
    r.multiply(w, j, 0, R, C, w);
    r.reflect(w, j, 0, h, R, C, w);
  }
  return rank;
}

}  // namespace tcsolve
