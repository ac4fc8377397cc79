// SPDX-License-Identifier: Apache-2.0
/// The fused updates of BiCGStab (van der Vorst 1992; Saad 2003, Algorithm 7.7) in each column of a
/// block, with the right preconditioner's products y = M p and z = M s named apart:
///
///     direction  p = r + beta (p - omega v)                        reads r, p, v     writes p
///     first      sigma = <r~, v>,  ||v||                           reads r~, v
///     half       alpha = rho / sigma;  s = r - alpha v             reads r, v        writes s
///     second     <t, s>, <t, t>                                    reads s, t
///     full       omega = <t, s> / <t, t>;
///                x += alpha y + omega z;  r = s - omega t          reads 6           writes x, r
///
/// s takes the place of r. 19 passes over n x w values.
#pragma once

#include <cmath>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/column_runs.hpp>

namespace tcsolve {

/// The scalars of one column; as those of one BiCGStab recurrence.
struct PseudoBicgScalars {
  double rho, rho_prev;  ///< <r~, r>; rho_prev = 0 before the first step
  double sigma, vv;      ///< <r~, v>, ||v||^2, v = A M p
  double alpha, omega;
  double ts, tt;   ///< <t, s>, ||t||^2, t = A M s
  double ss, rr;   ///< ||s||^2, ||r||^2
  double shadow2;  ///< ||r~||^2
  /// |a| <= eps sqrt(b c): a is zero beside the vectors whose product it is.
  static TCSOLVE_HD bool negligible(double a, double b, double c) {
    return a * a <= 4.9e-32 * b * c;
  }
};

/// r~ = r, and in another attempt something random of about its size added.
template <class T>
struct PseudoBicgShadow {
  static constexpr char const* name = "pseudo_bicg_shadow";
  static constexpr int sums = 3;
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars* k;
  Index attempt;
  std::uint64_t seed;
  T const* R;
  T* shadow;
  std::int64_t first_row;  ///< the number of row 0 among those of all ranks ...
  std::int64_t all_rows;   ///< ... and how many these have
  struct Coefficients {
    double size;
  };
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients& c) const {
    c.size = 1 / sqrt(double(all_rows));
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    double const r = double(R[e]);
    double v = r;
    if (attempt > 0) v += c.size * random_value(seed + attempt, first_row + e / shape.ld);
    shadow[e] = T(v);
    v = double(shadow[e]);
    sum[0] += r * r;
    sum[1] += r * v;
    sum[2] += v * v;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoBicgScalars s{};
    s.rr = sum[0], s.rho = sum[1], s.shadow2 = sum[2];
    k[f.j] = s;
    runs.open(f.j, s.rr);
  }
  TCSOLVE_HD void after(Frame) const { runs.open_all(); }
};

/// p = r + beta (p - omega v), beta = (rho / rho_prev)(alpha / omega), in the first step p = r.
template <class T>
struct PseudoBicgDirection {
  static constexpr char const* name = "pseudo_bicg_direction";
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars const* k;
  T const *R, *V;
  T* P;
  struct Coefficients {
    double beta, omega;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (runs.ended(f.j)) return false;
    PseudoBicgScalars const& s = k[f.j];
    bool const first = s.rho_prev == 0;
    if (!is_finite(s.rho)) return runs.raise(f, Stop::nonfinite, Cause::none, s.rho);
    // omega = 0 makes rho = 0 as well: it is the cause.
    if (!first && s.omega == 0) return runs.raise(f, Stop::breakdown, Cause::omega, s.omega);
    if (s.negligible(s.rho, s.rr, s.shadow2))
      return runs.raise(f, Stop::breakdown, Cause::rho, s.rho);
    c = {0, 0};
    if (first) return true;
    c = {s.rho / s.rho_prev * (s.alpha / s.omega), s.omega};
    return is_finite(c.beta) ? true : runs.raise(f, Stop::breakdown, Cause::rho, s.rho_prev);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    P[e] = c.beta == 0 ? R[e] : T(double(R[e]) + c.beta * (double(P[e]) - c.omega * double(V[e])));
  }
};

/// sigma = <r~, v>,  vv = ||v||^2.
template <class T>
struct PseudoBicgFirst {
  static constexpr char const* name = "pseudo_bicg_first";
  static constexpr int sums = 2;
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars* k;
  T const *shadow, *V;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const v = double(V[e]);
    sum[0] += double(shadow[e]) * v;
    sum[1] += v * v;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    k[f.j].sigma = sum[0], k[f.j].vv = sum[1];
    k[f.j].rho_prev = k[f.j].rho;
  }
};

/// alpha = rho / sigma;  s = r - alpha v;  ss = ||s||^2.
template <class T>
struct PseudoBicgHalf {
  static constexpr char const* name = "pseudo_bicg_half";
  static constexpr int sums = 1;
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars* k;
  T const* V;
  T* R;
  struct Coefficients {
    double alpha;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (runs.ended(f.j)) return false;
    PseudoBicgScalars const& s = k[f.j];
    if (!is_finite(s.sigma) || !is_finite(s.vv))
      return runs.raise(f, Stop::nonfinite, Cause::none, s.sigma);
    if (s.negligible(s.sigma, s.vv, s.shadow2))
      return runs.raise(f, Stop::breakdown, Cause::sigma, s.sigma);
    c.alpha = s.rho / s.sigma;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    R[e] = T(double(R[e]) - c.alpha * double(V[e]));
    double const s = double(R[e]);
    sum[0] += s * s;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoBicgScalars& s = k[f.j];
    s.alpha = s.rho / s.sigma;
    s.ss = sum[0];
  }
};

/// ts = <t, s>,  tt = ||t||^2.
template <class T>
struct PseudoBicgSecond {
  static constexpr char const* name = "pseudo_bicg_second";
  static constexpr int sums = 2;
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars* k;
  T const *S, *AZ;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients&) const { return !runs.ended(f.j); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const t = double(AZ[e]);
    sum[0] += double(S[e]) * t;
    sum[1] += t * t;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    k[f.j].ts = sum[0], k[f.j].tt = sum[1];
  }
};

/// omega = <t, s> / <t, t>;  x += alpha y + omega z;  r = s - omega t;  rr = ||r||^2,
/// rho = <r~, r>;  then the tests. omega = 0 when s is small enough already: then this is the half
/// step.
template <class T>
struct PseudoBicgFull {
  static constexpr char const* name = "pseudo_bicg_full";
  static constexpr int sums = 3;
  BlockShape shape;
  ColumnRuns runs;
  PseudoBicgScalars* k;
  T const *Y, *Z, *AZ, *shadow;
  T *X, *R;
  double size;  ///< of ||A||, 0 where it is not known
  struct Coefficients {
    double alpha, omega;
  };
  TCSOLVE_HD bool half_step(Index j) const { return k[j].ss <= runs.goal2[j] || k[j].tt == 0; }
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    if (runs.ended(f.j)) return false;
    PseudoBicgScalars const& s = k[f.j];
    bool const half = half_step(f.j);
    if (!half && !(is_finite(s.ts) && is_finite(s.tt)))
      return runs.raise(f, Stop::nonfinite, Cause::none, s.tt);
    c = {s.alpha, half ? 0.0 : s.ts / s.tt};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    double x = double(X[e]) + c.alpha * double(Y[e]), r = double(R[e]);
    if (c.omega != 0) {
      x += c.omega * double(Z[e]);  // Z may be R
      r -= c.omega * double(AZ[e]);
    }
    X[e] = T(x);
    R[e] = T(r);
    x = double(X[e]), r = double(R[e]);
    sum[0] += r * r;
    sum[1] += double(shadow[e]) * r;
    sum[2] += x * x;
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    PseudoBicgScalars& s = k[f.j];
    bool const none = half_step(f.j) || s.negligible(s.ts, s.tt, s.ss);
    s.omega = none ? 0.0 : s.ts / s.tt;
    s.rr = sum[0];
    s.rho = sum[1];
    runs.judge(f, s.rr);
    runs.renew_if_due(f, s.rr, size * size * sum[2]);
  }
  TCSOLVE_HD void after(Frame f) const {
    runs.conclude(f);
    runs.observe().finish(f, nullptr);
  }
};

/// rr = ||r||^2, rho = <r~, r> of an r that was made anew: a column begins, with something random
/// in r~, or goes on with p, v and r~. Where the last step was a half one, it goes on from p = r.
/// reads 2 n w
template <class T>
struct PseudoBicgRenew {
  static constexpr char const* name = "pseudo_bicg_renew";
  static constexpr int sums = 3;
  PseudoBicgShadow<T> anew;
  ColumnStart const* starts;  ///< (w)
  BlockShape shape = anew.shape;
  struct Coefficients {
    typename PseudoBicgShadow<T>::Coefficients anew;
    bool goes_on;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    anew.prepare(f, c.anew);
    c.goes_on = starts[f.j] == ColumnStart::goes_on;
    return anew.runs.takes_part(f, starts[f.j]);
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double* sum) const {
    if (!c.goes_on) return anew.element(e, c.anew, sum);
    double const r = double(anew.R[e]);
    sum[0] += r * r;
    sum[1] += r * double(anew.shadow[e]);
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    if (starts[f.j] != ColumnStart::goes_on) return anew.finish(f, sum);
    PseudoBicgScalars& s = anew.k[f.j];
    s.rr = sum[0], s.rho = sum[1];
    if (s.omega == 0) s.rho_prev = 0;
    anew.runs.open(f.j, s.rr);
  }
  TCSOLVE_HD void after(Frame) const { anew.runs.open_all(); }
};

template <class T>
using PseudoBicgstabOps =
    OpList<PseudoBicgShadow<T>, PseudoBicgDirection<T>, PseudoBicgFirst<T>, PseudoBicgHalf<T>,
           PseudoBicgSecond<T>, PseudoBicgFull<T>, PseudoBicgRenew<T>>;

}  // namespace tcsolve
