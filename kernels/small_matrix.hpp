// SPDX-License-Identifier: Apache-2.0
/// Dense matrices of at most 64 x 64, as block methods need them between two passes: factors and
/// solutions by the threads of one block, or by one thread of the host. Every function is called by
/// all threads of the team, whose decisions are the same, and ends with a barrier. Row-major, the
/// next row `w` elements on. The result does not depend on the number of threads.
#pragma once

#include <cmath>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Threads that share a matrix: those of one block on the device, one on the host.
struct SmallTeam {
  int rank = 0, size = 1;
  TCSOLVE_HD bool leads() const { return rank == 0; }
  TCSOLVE_HD void sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
  /// f(i) for i in [0, n), shared out.
  template <class F>
  TCSOLVE_HD void each(Index n, F const& f) const {
    for (Index i = rank; i < n; i += size) f(i);
    sync();
  }
};

/// How a Cholesky factorisation ended: `rows` of it are made, the next pivot is `pivot` where that
/// is less than all.
struct SmallFactor {
  Index rows;
  double pivot;
};

/// G = L L^T of the leading r x r part: L takes the place of the lower triangle. Stops at a pivot
/// that is not positive.                                        Golub and Van Loan 2013,
/// section 4.2
TCSOLVE_HD SmallFactor factor_cholesky(SmallTeam t, Index r, double* G, Index w) {
  auto length = [&](Index j) { return 1 / sqrt(G[j * w + j]); };
  SmallFactor made{r, 0};
  // Columns are scaled at the end, so that a step has one barrier.
  for (Index j = 0; j < r; ++j) {
    double const pivot = G[j * w + j];
    if (!(pivot > 0)) {
      made = {j, pivot};
      break;
    }
    double const s = 1 / sqrt(pivot);
    Index const m = r - j - 1;
    t.each(m * m, [&](Index e) {
      Index const i = j + 1 + e / m, k = j + 1 + e % m;
      if (k <= i) G[i * w + k] -= (G[i * w + j] * s) * (G[k * w + j] * s);
    });
  }
  t.each(r * made.rows, [&](Index e) {
    Index const i = e / made.rows, j = e % made.rows;
    if (i > j) G[i * w + j] *= length(j);
  });
  t.each(made.rows, [&](Index j) { G[j * w + j] *= length(j); });
  return made;
}

/// B = (L L^T)^-1 B: L of r rows, B of r rows and q columns, its rows w elements apart too. A
/// thread takes a column, which needs nothing of the others.
TCSOLVE_HD void solve_cholesky(SmallTeam t, Index r, double const* L, Index q, double* B, Index w) {
  t.each(q, [&](Index c) {
    for (Index j = 0; j < r; ++j) {
      double const x = B[j * w + c] *= 1 / L[j * w + j];
      for (Index i = j + 1; i < r; ++i) B[i * w + c] -= L[i * w + j] * x;
    }
    for (Index j = r - 1; j >= 0; --j) {
      double const x = B[j * w + c] *= 1 / L[j * w + j];
      for (Index i = 0; i < j; ++i) B[i * w + c] -= L[j * w + i] * x;
    }
  });
}

/// When a column of a Gram matrix counts as dependent on those taken before it.
struct Dependence {
  bool scale;    ///< columns are scaled to length 1 first
  double drop;   ///< a column is dependent if its pivot, its rest squared, is at most this
  double least;  ///< dependent columns are kept, as if their pivot were at least this; 0: left out
  double const* floor = nullptr;  ///< squares of lengths that count as 0, with `scale`; null: none
};

/// What became of the columns: `taken` independent ones, the smallest of whose pivots is `pivot`.
struct Independent {
  Index taken;
  double pivot;
};

/// T (w x w), so that the columns of W T are orthonormal where G = W^T W: by the Cholesky
/// factorisation with the largest pivot first, whose order the columns of W T have. Columns that
/// depend on others come last, their rest divided by sqrt(max(pivot, least)), or as zeros where
/// least = 0. `work`: 2 w^2 + w doubles.           Golub and Van Loan 2013, section 4.2.8
TCSOLVE_HD Independent orthogonalise(SmallTeam t, Index w, double const* G, double* T,
                                     Dependence const& rule, double* work) {
  constexpr double negligible = 1e-290;  // a square that may have lost its digits
  double *const H = work, *const U = work + w * w, *const place = U + w * w;
  auto length = [&](Index i) {
    double const g = G[i * w + i];
    double const least =
        rule.floor != nullptr && rule.floor[i] > negligible ? rule.floor[i] : negligible;
    return !rule.scale ? 1.0 : g > least ? 1 / sqrt(g) : 0.0;
  };
  t.each(w * w, [&](Index e) {
    Index const i = e / w, j = e % w;
    H[e] = length(i) * G[e] * length(j);
    U[e] = i == j ? length(i) : 0.0;
    if (e < w) place[e] = -1;  // the column of T that column e goes to
    T[e] = 0;
  });
  Index taken = 0;
  double smallest = 1;
  for (; taken < w; ++taken) {
    Index p = -1;
    double pivot = rule.drop;
    for (Index i = 0; i < w; ++i) {
      if (place[i] < 0 && H[i * w + i] > pivot) {
        pivot = H[i * w + i];
        p = i;
      }
    }
    t.sync();  // all have looked
    if (p < 0) break;
    smallest = pivot < smallest ? pivot : smallest;
    double const s = 1 / sqrt(pivot);
    // Row p of H and column p of U are read by all and stay as they are: they are not needed again.
    t.each(w * w, [&](Index e) {
      Index const i = e / w, j = e % w;
      if (j == p) {
        T[i * w + taken] = U[e] * s;
        if (i == p) place[p] = taken;
        return;
      }
      if (place[j] >= 0) return;
      double const c = H[p * w + j] * s;
      U[e] -= (U[i * w + p] * s) * c;
      if (i != p && place[i] < 0) H[e] -= (H[p * w + i] * s) * c;
    });
  }
  if (rule.least > 0) {
    t.each(w * w, [&](Index e) {
      Index const i = e / w, j = e % w;
      if (place[j] >= 0) return;
      Index at = taken;
      for (Index k = 0; k < j; ++k) at += place[k] < 0;
      double const left = H[j * w + j];
      T[i * w + at] = U[e] / sqrt(left > rule.least ? left : rule.least);
    });
  }
  return {taken, smallest};
}

}  // namespace tcsolve
