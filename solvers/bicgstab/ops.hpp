// SPDX-License-Identifier: Apache-2.0
/// The fused updates of BiCGStab (van der Vorst 1992; Saad 2003, Algorithm 7.7), with the right
/// preconditioner's products y = M p and z = M s named apart.
#pragma once

#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/judge_ops.hpp>

namespace tcsolve {

/// The scalars of one BiCGStab recurrence.
struct BicgstabScalars {
  double rho;  ///< <r~, r>
  double rho_prev;
  double sigma;  ///< <r~, v>, v = A M p
  double vv;     ///< ||v||^2
  double alpha, omega;
  double ts, tt;   ///< <t, s>, ||t||^2, t = A M s
  double ss;       ///< ||s||^2
  double rr;       ///< ||r||^2
  double shadow2;  ///< ||r~||^2
  double xx;       ///< ||x||^2; meaningless in the first step
};

/// |a| <= eps sqrt(b c): a is zero beside the vectors whose product it is.
TCSOLVE_HD bool negligible(double a, double b, double c) { return a * a <= 4.9e-32 * b * c; }

/// shadow = r, and after a breakdown something random added, of about its size.
template <class T>
struct BicgShadow {
  static constexpr char const* name = "bicg_shadow";
  std::int64_t n;
  Attempt attempt;
  std::uint64_t seed;
  T const* r;
  T* shadow;
  std::int64_t first_row;  ///< the number of row 0 among those of all ranks ...
  std::int64_t all_rows;   ///< ... and how many these have
  struct Coefficients {
    std::int32_t breakdowns;
    std::int64_t first;
    double size;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    SystemState const* s = attempt.system;
    if (s != nullptr)
      c = {s->judgement.breakdowns, s->first, 1 / sqrt(double(s->rows))};
    else
      c = {attempt.breakdowns, -first_row, 1 / sqrt(double(all_rows))};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    double value = double(r[i]);
    if (c.breakdowns > 0) value += c.size * random_value(seed + c.breakdowns, i - c.first);
    shadow[i] = T(value);
  }
};

/// p = r + beta (p - omega v), beta = (rho / rho_prev)(alpha / omega), in the first step p = r;
/// y = M p for a diagonal M.
template <class T>
struct BicgDirection {
  static constexpr char const* name = "bicg_direction";
  std::int64_t n;
  BicgstabScalars* s;
  Diagonal<T> M;
  T const *r, *v;
  T* p;
  T* y;  ///< null: M is not diagonal, and y is made elsewhere
  struct Coefficients {
    double beta, omega;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    if (!is_finite(s->rho)) return f.raise(Stop::nonfinite, Cause::none, s->rho);
    // omega = 0 makes rho = 0 as well: it is the cause.
    if (!f.first() && s->omega == 0) return f.raise(Stop::breakdown, Cause::omega, s->omega);
    if (negligible(s->rho, s->rr, s->shadow2)) return f.raise(Stop::breakdown, Cause::rho, s->rho);
    c.beta = 0;
    c.omega = 0;
    if (f.first()) return true;
    c.beta = s->rho / s->rho_prev * (s->alpha / s->omega);
    c.omega = s->omega;
    return is_finite(c.beta) ? true : f.raise(Stop::breakdown, Cause::rho, s->rho_prev);
  }
  struct Loaded {
    T r, p, v, m;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const& c) const {
    bool const first = c.beta == 0;  // p and v hold anything then
    return {r[i], first ? T(0) : p[i], first ? T(0) : v[i], y != nullptr ? M.at(i) : T(0)};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c, double*) const {
    T const now =
        c.beta == 0 ? l.r : T(double(l.r) + c.beta * (double(l.p) - c.omega * double(l.v)));
    p[i] = now;
    if (y != nullptr) y[i] = T(M.times(l.m, double(now)));
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame, double const*) const { s->rho_prev = s->rho; }
};

/// alpha = rho / sigma;  s = r - alpha v (s takes the place of r);  ss = ||s||^2;  z = M s for a
/// diagonal M.
template <class T>
struct BicgHalf {
  static constexpr char const* name = "bicg_half";
  static constexpr int sums = 1;
  std::int64_t n;
  BicgstabScalars* s;
  Diagonal<T> M;
  T const* v;
  T* r;
  T* z;  ///< null: M is not diagonal, and z is made elsewhere
  struct Coefficients {
    double alpha;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    if (!is_finite(s->sigma) || !is_finite(s->vv))
      return f.raise(Stop::nonfinite, Cause::none, s->sigma);
    if (negligible(s->sigma, s->vv, s->shadow2))
      return f.raise(Stop::breakdown, Cause::sigma, s->sigma);
    c.alpha = s->rho / s->sigma;
    return true;
  }
  struct Loaded {
    T r, v, m;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {r[i], v[i], z != nullptr ? M.at(i) : T(0)};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c,
                          double* sum) const {
    T const si = T(double(l.r) - c.alpha * double(l.v));
    r[i] = si;
    if (z != nullptr) z[i] = T(M.times(l.m, double(si)));
    sum[0] += double(si) * double(si);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    s->alpha = s->rho / s->sigma;
    s->ss = sum[0];
  }
};

/// omega = <t, s> / <t, t>;  x += alpha y + omega z;  r = s - omega t;  rr = ||r||^2,
/// rho = <r~, r>. omega = 0 when s is small enough already: then this is the half step. The x of
/// the step before may have to be kept (solvers/driver/best_iterate.hpp): its successor's norm is
/// foretold,
/// ||s - omega t||^2 = ||s||^2 - omega <t, s>, and one that falls by more than a hundred is not
/// believed, since the size of the new x is not known yet.
template <class T>
struct BicgFull {
  static constexpr char const* name = "bicg_full";
  static constexpr int sums = 3;
  std::int64_t n;
  BicgstabScalars* s;
  T const *y, *z, *t, *shadow;
  T *x, *r;
  T* kept = nullptr;
  double size = 0;  ///< of ||A||, 0 when it is not known
  struct Coefficients {
    double alpha, omega;
    bool keep;
  };
  TCSOLVE_HD bool half_step(Frame f) const { return s->ss <= f.state->threshold2 || s->tt == 0; }
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    bool half = half_step(f);
    if (!half && !(is_finite(s->ts) && is_finite(s->tt)))
      return f.raise(Stop::nonfinite, Cause::none, s->tt);
    c.alpha = s->alpha;
    c.omega = half ? 0.0 : s->ts / s->tt;
    c.keep = kept != nullptr && keeps(f, c.omega);
    return true;
  }
  TCSOLVE_HD double worth2(double rr, double xx) const {
    double const e = unit_roundoff<T> * size;
    return Keep::worth2(rr, e * e * xx);
  }
  TCSOLVE_HD double before2(Frame f) const { return worth2(s->rr, f.first() ? 0.0 : s->xx); }
  TCSOLVE_HD bool keeps(Frame f, double omega) const {
    constexpr double well = 1e-12, much = 1e-4;  // of cancellation; squared, of a fall
    double const foretold = s->ss * (1 + well) - omega * s->ts;
    bool const doubtful = foretold < much * s->rr;
    double const before = before2(f);
    return Keep::wanted(*f.state, before, doubtful ? 2 * before : foretold);
  }
  struct Loaded {
    T x, y, r, shadow, z, t;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const& c) const {
    bool const full = c.omega != 0;
    return {x[i], y[i], r[i], shadow[i], full ? z[i] : T(0), full ? t[i] : T(0)};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c,
                          double* sum) const {
    if (c.keep) kept[i] = l.x;
    double step = c.alpha * double(l.y), ri = double(l.r);
    if (c.omega != 0) {
      step += c.omega * double(l.z);
      ri -= c.omega * double(l.t);
    }
    T const xi = T(double(l.x) + step), now = T(ri);
    x[i] = xi;
    r[i] = now;
    sum[0] += double(now) * double(now);
    sum[1] += double(l.shadow) * double(now);
    sum[2] += double(xi) * double(xi);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    if (kept != nullptr && keeps(f, half_step(f) ? 0.0 : s->ts / s->tt))
      Keep::note(*f.state, before2(f), f.step());
    f.state->newest2 = worth2(sum[0], sum[2]);
    f.state->gap2 = size * size * sum[2];
    s->xx = sum[2];
    bool none = half_step(f) || negligible(s->ts, s->tt, s->ss);
    s->omega = none ? 0.0 : s->ts / s->tt;
    s->rr = sum[0];
    s->rho = sum[1];
  }
};

template <class T>
using BicgstabOps = OpList<BicgShadow<T>, BicgDirection<T>, BicgHalf<T>, BicgFull<T>>;

}  // namespace tcsolve
