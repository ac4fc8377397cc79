// SPDX-License-Identifier: Apache-2.0
/// The Arnoldi processes of several columns side by side, and their least-squares problems. Vector
/// j of column c is column c of block V_j; the products of two blocks are matrices of w x w of
/// which the diagonals are wanted, so the passes are those on blocks (kernels/blocks.hpp), and what
/// joins different columns is set to 0:
///
///     V_i^T W = [ h_0  .   .  ]        W -= V_i diag(h_0, h_1, h_2)
///               [  .  h_1  .  ]
///               [  .   .  h_2 ]
///
/// Each column has its Hessenberg matrix, rotations and right-hand side (Saad 2003, section 6.5.3).
#pragma once

#include <cmath>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/solvers/driver/column_runs.hpp>

namespace tcsolve {

/// The small arrays of a cycle of m steps with w columns, in the Context's space.
struct PseudoHessenberg {
  Index m, w;
  double *C, *again;  ///< (m, w, w) V_i^T W, and what the second pass adds
  double* WW;         ///< (w, w)    W^T W
  double* scale;      ///< (w) what makes w the next vector; 0: there is none
  double* Y;          ///< (m, w, w) diagonals: the solutions
  double* R;          ///< (w, m, m) triangular, column-major
  double* rotations;  ///< (w, m, 2) cosine and sine
  double* g;          ///< (w, m + 1)
  double* size;       ///< (w) of ||A M||: the longest column of H so far
  double* used;       ///< (w) columns of R that can be used
  double* count;      ///< blocks of V
  double* most;       ///< the largest of `used`, once the cycle is complete
  ColumnRuns runs;
  double roundoff;                                ///< of the vectors
  TCSOLVE_HD double* r(Index c, Index k) const {  ///< column k of R of column c
    return R + (std::int64_t{c} * m + k) * m;
  }
};

/// V_0 = R / ||r||, g = ||r|| e_0 in each column; R^T R lies in WW.
struct PseudoGmresStart {
  static constexpr char const* name = "pseudo_gmres_start";
  PseudoHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    Index const w = H.w;
    t.each(w, [&](Index c) {
      double const rr = H.WW[c * w + c];
      H.scale[c] = rr > 0 ? 1 / sqrt(rr) : 0.0;
      H.runs.open(c, rr);
      H.g[c * (H.m + 1)] = sqrt(rr);
      H.size[c] = H.used[c] = 0;
    });
    if (!t.leads()) return;
    *H.count = 1;
    H.runs.open_all();
  }
};

/// V_j = U.
template <class T>
struct PseudoGmresStore {
  static constexpr char const* name = "pseudo_gmres_store";
  std::int64_t n;
  T const* U;
  T* V;
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

/// U = W diag(scale): the next vector of every column, 0 where there is none. No number of a column
/// meets those of another, lest one that is none spreads.
template <class T>
struct PseudoGmresNext {
  static constexpr char const* name = "pseudo_gmres_next";
  BlockShape shape;
  double const* scale;
  T const* W;
  T* U;
  struct Coefficients {
    double scale;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c.scale = scale[f.j];
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    U[e] = c.scale == 0 ? T(0) : static_cast<T>(c.scale * W[e]);
  }
};

/// Of products with the basis only what stays in a column is left.
struct PseudoGmresDiagonal {
  static constexpr char const* name = "pseudo_gmres_diagonal";
  PseudoHessenberg H;
  double* C;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    Index const w = H.w;
    t.each(static_cast<Index>(*H.count) * w * w, [&](Index e) {
      if (e / w % w != e % w) C[e] = 0;
    });
  }
};

/// Column j of every H: rotated, with the tests of the column. Where what is left of w is rounding,
/// the space is invariant and holds the solution, unless the pivot is rounding too.
struct PseudoGmresColumn {
  static constexpr char const* name = "pseudo_gmres_column";
  PseudoHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame f, double*) const {
    Index const w = H.w, j = f.step();
    t.each(w, [&](Index c) {
      H.scale[c] = 0;
      if (!H.runs.ended(c)) extend({{f.state, true}, c}, j);
    });
    if (!t.leads()) return;
    *H.count = j + 2 < H.m ? j + 2 : H.m;
    H.runs.conclude(f);
  }

 private:
  TCSOLVE_HD void extend(ColumnFrame f, Index j) const {
    Index const w = H.w, c = f.j;
    double* const column = H.r(c, j);
    double* const turns = H.rotations + std::int64_t{c} * H.m * 2;
    double* const g = H.g + std::int64_t{c} * (H.m + 1);
    double last = 0, length2 = 0;
    for (Index i = 0; i <= j; ++i) {
      std::int64_t const at = (std::int64_t{i} * w + c) * w + c;
      double const h = H.C[at] + H.again[at];
      length2 += h * h;
      if (i > 0) {
        double const cosine = turns[2 * i - 2], sine = turns[2 * i - 1];
        column[i - 1] = cosine * last + sine * h;
        last = -sine * last + cosine * h;
      } else {
        last = h;
      }
    }
    double const below2 = H.WW[c * w + c];
    double const size = sqrt(length2 + below2);
    if (!is_finite(size)) {
      H.runs.raise(f, Stop::nonfinite, Cause::none, size);
      return;
    }
    if (size > H.size[c]) H.size[c] = size;
    double const rounding = 10 * H.roundoff * H.size[c];
    double const below = sqrt(below2) > rounding ? sqrt(below2) : 0.0;
    double const radius = sqrt(last * last + below * below);
    if (radius <= rounding) {
      H.runs.raise(f, Stop::breakdown, Cause::singular_operator, radius);
      return;
    }
    turns[2 * j] = last / radius;
    turns[2 * j + 1] = below / radius;
    column[j] = radius;
    g[j + 1] = -turns[2 * j + 1] * g[j];
    g[j] *= turns[2 * j];
    H.used[c] = j + 1;
    if (below > 0) H.scale[c] = 1 / below;
    H.runs.judge(f, g[j + 1] * g[j + 1]);
  }
};

/// Y = R^-1 g in each column, of the columns of R that can be used.
struct PseudoGmresSolve {
  static constexpr char const* name = "pseudo_gmres_solve";
  PseudoHessenberg H;
  Index work() const { return 1; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double*) const {
    Index const w = H.w;
    t.each(H.m * w * w, [&](Index e) { H.Y[e] = 0; });
    t.each(w, [&](Index c) {
      double* const g = H.g + std::int64_t{c} * (H.m + 1);
      for (Index k = static_cast<Index>(H.used[c]) - 1; k >= 0; --k) {
        double const* const column = H.r(c, k);
        double const y = g[k] / column[k];
        H.Y[(std::int64_t{k} * w + c) * w + c] = y;
        for (Index i = 0; i < k; ++i) g[i] -= column[i] * y;
      }
    });
    if (!t.leads()) return;
    double most = 0;
    for (Index c = 0; c < w; ++c) most = H.used[c] > most ? H.used[c] : most;
    *H.most = most;
  }
};

namespace host {
void execute(Host&, LoopState*, PseudoGmresStart const&);
void execute(Host&, LoopState*, PseudoGmresDiagonal const&);
void execute(Host&, LoopState*, PseudoGmresColumn const&);
void execute(Host&, LoopState*, PseudoGmresSolve const&);
}  // namespace host
namespace cuda {
void execute(Device&, LoopState*, PseudoGmresStart const&);
void execute(Device&, LoopState*, PseudoGmresDiagonal const&);
void execute(Device&, LoopState*, PseudoGmresColumn const&);
void execute(Device&, LoopState*, PseudoGmresSolve const&);
}  // namespace cuda

}  // namespace tcsolve
