// SPDX-License-Identifier: Apache-2.0
/// The fused updates of conjugate gradients (Saad 2003, Algorithm 9.1) in each column of a block:
///
///     inner       rho = <r, z>                                 reads r, z
///     direction   p = z + (rho / rho_prev) p                   reads z, p         writes p
///     curvature   sigma = <p, q>,  ||p||, ||q||                reads p, q
///     update      a = rho / sigma;  x += a p;  r -= a q;  rr   reads p, q, x, r   writes x, r
///
/// 13 passes over n x w values, 11 without a preconditioner.
#pragma once

#include <cmath>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/column_runs.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>
#include <tcsolve/solvers/driver/lanczos_steps.hpp>

namespace tcsolve {

/// The scalars of one column.
struct PseudoCgScalars {
  double rho, rho_prev;  ///< <r, M r>, now and one step ago; rho_prev = 0 before the first step
  double sigma, pp, qq;  ///< <p, A p>, ||p||^2, ||A p||^2
  double size;           ///< ||A|| or, where that is not known, the largest ||A p|| / ||p|| so far
  double kernel;         ///< not 0: a p lay in the kernel of A as far as FP64 can tell
  double turn;           ///< <r, p> / <r, M r> of an r that was made anew
  double pp_M, largest;  ///< <p, M^-1 p>, and the largest sigma / <p, M^-1 p>: a bound of ||M A||
  Reach reach;           ///< of the x that r belongs to

  /// As CgScalars::update_bounds(), for the step of length a from an r of this size.
  TCSOLVE_HD double gap2_after(double a, double rr) {
    double const beta = rho_prev > 0 ? rho / rho_prev : 0.0;
    pp_M = beta > 0 ? rho + beta * (beta * pp_M) : rho;
    if (sigma > largest * pp_M) largest = sigma / pp_M;
    reach.x2 += a * a * pp_M;
    return reach.gap2(rr, rho, largest);
  }
};

/// What the operations share.
struct PseudoCg {
  BlockShape shape;
  ColumnRuns runs;
  PseudoCgScalars* k;  ///< (w)
  bool preconditioned;
  double roundoff;  ///< of a curvature: that of the vectors, or of A's entries where it is coarser
  LanczosSteps* steps;  ///< of the first column; null: not noted
};

/// rr = ||r||^2: every column begins.
template <class T>
struct PseudoCgStart {
  static constexpr char const* name = "pseudo_cg_start";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  double norm_A;
  T const* R;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients&) const { return true; }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const r = double(R[e]);
    sum[0] += r * r;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    cg.k[f.j] = {.rho = sum[0], .size = norm_A};
    if (f.j == 0 && cg.steps != nullptr) cg.steps->begin();
    cg.runs.open(f.j, sum[0]);
  }
  TCSOLVE_HD void after(Frame) const { cg.runs.open_all(); }
};

/// rho = <r, z>.
template <class T>
struct PseudoCgInner {
  static constexpr char const* name = "pseudo_cg_inner";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  T const *R, *Z;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !cg.runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    sum[0] += double(R[e]) * double(Z[e]);
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const { cg.k[f.j].rho = sum[0]; }
};

/// p = z + (rho / rho_prev) p; in the first step p = z. rho > 0, else M is not positive definite.
template <class T>
struct PseudoCgDirection {
  static constexpr char const* name = "pseudo_cg_direction";
  BlockShape shape;
  PseudoCg cg;
  T const* Z;
  T* P;
  struct Coefficients {
    double beta;
    bool first;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (cg.runs.ended(f.j)) return false;
    PseudoCgScalars const& k = cg.k[f.j];
    auto raise = [&](Stop stop, Cause cause) { return cg.runs.raise(f, stop, cause, k.rho); };
    if (!is_finite(k.rho)) return raise(Stop::nonfinite, Cause::preconditioner);
    if (k.rho < 0) return raise(Stop::indefinite_preconditioner, Cause::none);
    if (k.rho == 0) return raise(Stop::breakdown, Cause::singular_operator);  // M r = 0
    bool const first = k.rho_prev == 0;
    c = {first ? 0.0 : k.rho / k.rho_prev, first};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    P[e] = c.first ? Z[e] : T(double(Z[e]) + c.beta * double(P[e]));
  }
};

/// sigma = <p, q>, q = A p, and what tells a singular A from an indefinite one.
template <class T>
struct PseudoCgCurvature {
  static constexpr char const* name = "pseudo_cg_curvature";
  static constexpr int sums = 3;
  BlockShape shape;
  PseudoCg cg;
  T const *P, *Q;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !cg.runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const p = double(P[e]), q = double(Q[e]);
    sum[0] += p * q;
    sum[1] += p * p;
    sum[2] += q * q;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoCgScalars& k = cg.k[f.j];
    k.sigma = sum[0], k.pp = sum[1], k.qq = sum[2];
    double const size = sqrt(k.qq) / sqrt(k.pp);
    if (size > k.size) k.size = size;
  }
};

/// a = rho / sigma;  x += a p;  r -= a q;  rr = ||r||^2;  then the tests. sigma > 0, else A is not
/// positive definite, or singular (solvers/driver/curvature.hpp).
template <class T>
struct PseudoCgUpdate {
  static constexpr char const* name = "pseudo_cg_update";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  T const *P, *Q;
  T *X, *R;
  struct Coefficients {
    double a;
  };
  TCSOLVE_HD Curvature curvature(Index j, double roundoff) const {
    PseudoCgScalars const& k = cg.k[j];
    return {k.sigma, sqrt(k.pp), sqrt(k.qq), k.size, roundoff};
  }
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (cg.runs.ended(f.j)) return false;
    PseudoCgScalars const& k = cg.k[f.j];
    auto raise = [&](Stop stop, Cause cause) { return cg.runs.raise(f, stop, cause, k.sigma); };
    if (!is_finite(k.sigma)) return raise(Stop::nonfinite, Cause::matrix);
    if (k.sigma <= 0) {
      Curvature const at = curvature(f.j, cg.roundoff);
      if (at.vanishes() && at.singular()) return raise(Stop::breakdown, Cause::singular_operator);
      bool const by_rounding = at.vanishes() && cg.roundoff > Curvature::fp64();
      return raise(Stop::indefinite_operator, by_rounding ? Cause::values : Cause::none);
    }
    c.a = k.rho / k.sigma;
    return is_finite(c.a) ? true : raise(Stop::breakdown, Cause::sigma);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    T const now = T(double(R[e]) - c.a * double(Q[e]));
    X[e] = T(double(X[e]) + c.a * double(P[e]));
    R[e] = now;
    double const r = double(now);
    sum[0] += r * r;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoCgScalars& k = cg.k[f.j];
    // In FP64, as the sums are: matrices of condition 1e7 are common, and to FP32 no kernel.
    Curvature const at = curvature(f.j, Curvature::fp64());
    if (at.vanishes() && at.singular()) k.kernel = 1;
    if (f.j == 0 && cg.steps != nullptr)
      cg.steps->note(k.rho / k.sigma, k.rho_prev > 0 ? k.rho / k.rho_prev : 0.0);
    double const gap2 = k.gap2_after(k.rho / k.sigma, cg.runs.rr(f.j));
    k.rho_prev = k.rho;
    if (!cg.preconditioned) k.rho = sum[0];
    cg.runs.judge(f, sum[0], k.kernel != 0 ? Cause::singular_operator : Cause::none);
    cg.runs.renew_if_due(f, sum[0], gap2);
  }
  TCSOLVE_HD void after(Frame f) const {
    cg.runs.conclude(f);
    cg.runs.observe().finish(f, nullptr);
  }
};

/// rr = ||r||^2, <r, z> and <r, p> of an r that was made anew: a column begins, or goes on with p.
/// reads 3 n w
template <class T>
struct PseudoCgRenew {
  static constexpr char const* name = "pseudo_cg_renew";
  static constexpr int sums = 3;
  BlockShape shape;
  PseudoCg cg;
  double norm_A;
  ColumnStart const* starts;  ///< (w)
  T const *R, *Z, *P;
  struct Coefficients {
    bool goes_on;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c.goes_on = starts[f.j] == ColumnStart::goes_on;
    return cg.runs.takes_part(f, starts[f.j]);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    double const r = double(R[e]);
    sum[0] += r * r;
    sum[1] += r * double(Z[e]);
    if (c.goes_on) sum[2] += r * double(P[e]);
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoCgScalars& k = cg.k[f.j];
    bool const goes_on = starts[f.j] == ColumnStart::goes_on;
    if (!goes_on) k = {.size = norm_A};
    if (!goes_on && f.j == 0 && cg.steps != nullptr) cg.steps->begin();
    k.reach = {0};
    k.rho = cg.preconditioned ? sum[1] : sum[0];
    k.turn = goes_on && k.rho > 0 ? sum[2] / k.rho : 0.0;
    cg.runs.open(f.j, sum[0]);
  }
  TCSOLVE_HD void after(Frame) const { cg.runs.open_all(); }
};

/// p -= (<r, p> / <r, z>) z: orthogonal to r, as the recurrences take it to be.
template <class T>
struct PseudoCgTurn {
  static constexpr char const* name = "pseudo_cg_turn";
  BlockShape shape;
  PseudoCg cg;
  ColumnStart const* starts;
  T const* Z;
  T* P;
  struct Coefficients {
    double turn;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c.turn = cg.k[f.j].turn;
    return starts[f.j] == ColumnStart::goes_on && is_finite(c.turn);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    P[e] = T(double(P[e]) - c.turn * double(Z[e]));
  }
};

template <class T>
using PseudoCgOps =
    OpList<PseudoCgStart<T>, PseudoCgInner<T>, PseudoCgDirection<T>, PseudoCgCurvature<T>,
           PseudoCgUpdate<T>, PseudoCgRenew<T>, PseudoCgTurn<T>>;

}  // namespace tcsolve
