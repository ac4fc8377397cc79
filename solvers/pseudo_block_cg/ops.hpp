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
#include <tcsolve/solvers/driver/column_runs.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>

namespace tcsolve {

/// The scalars of one column.
struct PseudoCgScalars {
  double rho, rho_prev;  ///< <r, M r>, now and one step ago
  double sigma, pp, qq;  ///< <p, A p>, ||p||^2, ||A p||^2
  double size;           ///< ||A|| or, where that is not known, the largest ||A p|| / ||p|| so far
  double kernel;         ///< not 0: a p lay in the kernel of A as far as FP64 can tell
};

/// What the operations share.
struct PseudoCg {
  BlockShape shape;
  ColumnRuns runs;
  PseudoCgScalars* k;  ///< (w)
  bool preconditioned;
};

/// rr = ||r||^2: every column begins.
struct PseudoCgStart {
  static constexpr char const* name = "pseudo_cg_start";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  double norm_A;
  double const* R;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients&) const { return true; }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    sum[0] += R[e] * R[e];
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    cg.k[f.j] = {sum[0], 0, 0, 0, 0, norm_A, 0};
    cg.runs.open(f.j, sum[0]);
  }
  TCSOLVE_HD void after(Frame) const { cg.runs.open_all(); }
};

/// rho = <r, z>.
struct PseudoCgInner {
  static constexpr char const* name = "pseudo_cg_inner";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  double const *R, *Z;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !cg.runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    sum[0] += R[e] * Z[e];
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const { cg.k[f.j].rho = sum[0]; }
};

/// p = z + (rho / rho_prev) p; in the first step p = z. rho > 0, else M is not positive definite.
struct PseudoCgDirection {
  static constexpr char const* name = "pseudo_cg_direction";
  BlockShape shape;
  PseudoCg cg;
  double const* Z;
  double* P;
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
    c = {f.loop.first() ? 0.0 : k.rho / k.rho_prev, f.loop.first()};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    P[e] = c.first ? Z[e] : Z[e] + c.beta * P[e];
  }
};

/// sigma = <p, q>, q = A p, and what tells a singular A from an indefinite one.
struct PseudoCgCurvature {
  static constexpr char const* name = "pseudo_cg_curvature";
  static constexpr int sums = 3;
  BlockShape shape;
  PseudoCg cg;
  double const *P, *Q;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !cg.runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const p = P[e], q = Q[e];
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
struct PseudoCgUpdate {
  static constexpr char const* name = "pseudo_cg_update";
  static constexpr int sums = 1;
  BlockShape shape;
  PseudoCg cg;
  double const *P, *Q;
  double *X, *R;
  struct Coefficients {
    double a;
  };
  TCSOLVE_HD Curvature curvature(Index j) const {
    PseudoCgScalars const& k = cg.k[j];
    return {k.sigma, sqrt(k.pp), sqrt(k.qq), k.size, 0x1p-53};
  }
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (cg.runs.ended(f.j)) return false;
    PseudoCgScalars const& k = cg.k[f.j];
    auto raise = [&](Stop stop, Cause cause) { return cg.runs.raise(f, stop, cause, k.sigma); };
    if (!is_finite(k.sigma)) return raise(Stop::nonfinite, Cause::matrix);
    if (k.sigma <= 0) {
      Curvature const at = curvature(f.j);
      if (at.vanishes() && at.singular()) return raise(Stop::breakdown, Cause::singular_operator);
      return raise(Stop::indefinite_operator, Cause::none);
    }
    c.a = k.rho / k.sigma;
    return is_finite(c.a) ? true : raise(Stop::breakdown, Cause::sigma);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    double const x = X[e], r = R[e] - c.a * Q[e];
    X[e] = x + c.a * P[e];
    R[e] = r;
    sum[0] += r * r;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoCgScalars& k = cg.k[f.j];
    Curvature const at = curvature(f.j);
    if (at.vanishes() && at.singular()) k.kernel = 1;
    k.rho_prev = k.rho;
    if (!cg.preconditioned) k.rho = sum[0];
    cg.runs.judge(f, sum[0], k.kernel != 0 ? Cause::singular_operator : Cause::none);
  }
  TCSOLVE_HD void after(Frame f) const {
    cg.runs.conclude(f);
    cg.runs.observe().finish(f, nullptr);
  }
};

using PseudoCgOps =
    OpList<PseudoCgStart, PseudoCgInner, PseudoCgDirection, PseudoCgCurvature, PseudoCgUpdate>;

}  // namespace tcsolve
