// SPDX-License-Identifier: Apache-2.0
/// The fused updates of preconditioned MINRES (Paige and Saunders 1975; in the form of Elman,
/// Silvester and Wathen 2014, Algorithm 4.1). The three-term recurrences shift in place, so that
/// one recording serves every step.
#pragma once

#include <cmath>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>

namespace tcsolve {

struct MinresScalars {
  double gamma, gamma_prev;  ///< M-norms of the Lanczos vectors
  double gamma2;             ///< <z, v> of the newest Lanczos vector, gamma squared
  double delta;              ///< <A z, z>
  double eta;                ///< signed norm of the residual in the M-norm
  double c, c_prev, s, s_prev;
  double norm2;   ///< eta^2
  double size2;   ///< square of the largest column of the Lanczos matrix so far
  double start2;  ///< norm2 before the first step
  double doubt;   ///< how far above its recurrence the rounding of x may be (MinresUpdate), squared
  double look;    ///< not 0: the driver is to look at the true residual before the next step
  double a;       ///< the step along w that x still lacks, 0 = none
  double keep;    ///< not 0: x, without that step, is to be kept
  double worth;   ///< of x with that step (solvers/driver/best_iterate.hpp)
};

/// z /= gamma with gamma^2 = <z, v>: the first Lanczos vector.
template <class T>
struct MinresStart {
  static constexpr char const* name = "minres_start";
  std::int64_t n;
  MinresScalars* s;
  double size;  ///< of ||A|| where it is known, else 0
  T const* zn;
  T* z;
  struct Coefficients {
    double scale;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.scale = s->gamma2 > 0 ? 1 / sqrt(s->gamma2) : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    z[i] = T(double(zn[i]) * c.scale);
  }
  TCSOLVE_HD void finish(Frame, double const*) const {
    double gamma = s->gamma2 > 0 ? sqrt(s->gamma2) : 0.0;
    *s = {gamma,     1.0,         s->gamma2, 0.0, gamma, 1.0, 1.0, 0.0,      0.0,
          s->gamma2, size * size, s->gamma2, 1.0, 0.0,   0.0, 0.0, s->gamma2};
  }
};

/// Stop::replacement, before anything of the step is done, where the driver is to look.
/// v_{j+1} = q - (delta / gamma_j) v_j - (gamma_j / gamma_{j-1}) v_{j-1}, q = A z_j; then shift.
template <class T>
struct Lanczos {
  static constexpr char const* name = "lanczos";
  std::int64_t n;
  MinresScalars const* s;
  T const* q;
  T *v, *v_prev;
  struct Coefficients {
    double a, b;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    if (s->look != 0) return f.raise(Stop::replacement, Cause::none, s->norm2);
    if (!is_finite(s->delta)) return f.raise(Stop::nonfinite, Cause::matrix, s->delta);
    c.a = s->delta / s->gamma;
    c.b = s->gamma / s->gamma_prev;
    return true;
  }
  struct Loaded {
    T v, q, v_prev;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {v[i], q[i], v_prev[i]};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c, double*) const {
    v[i] = T(double(l.q) - c.a * double(l.v) - c.b * double(l.v_prev));
    v_prev[i] = l.v;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
};

/// Rotates the new column of the Lanczos matrix, then
///   x += a w_j, the step before;  w_{j+1} = (z_j - a3 w_{j-1} - a2 w_j) / a1;  a = c_{j+1} eta;
///   z_{j+1} = M v_{j+1} / gamma_{j+1};  ||x + a w_{j+1}||^2.
/// x is updated one step late, where w_j is read anyway, so that it may be kept
/// (solvers/driver/best_iterate.hpp). eta, the norm of r by its recurrence, does not contain the
/// rounding errors of x. With `rounding` = 100 roundoff ||A||, r and x scaled to ||r_0|| = 1: once
/// rounding ||x|| exceeds eta, and whenever that ratio has grown fourfold, `look` asks the driver
/// for the true residual; also where the Krylov space all but ends, since what follows is made of
/// rounding errors. reads 5 n, writes 4 n
template <class T>
struct MinresUpdate {
  static constexpr char const* name = "minres_update";
  static constexpr int sums = 1;
  std::int64_t n;
  MinresScalars* s;
  double roundoff;
  double rounding;
  T const* zn;  ///< M v_{j+1}, not normalised
  T *z, *w, *w_prev;
  Iterate<T> it;
  struct Coefficients {
    double a;
    bool keep;
    double a1, a2, a3, step, scale;
    double gamma_next, c_next, s_next;
    double size2;
  };
  TCSOLVE_HD bool rotate(Frame f, Coefficients& c) const {
    if (!is_finite(s->gamma2)) return f.raise(Stop::nonfinite, Cause::preconditioner, s->gamma2);
    double above = f.first() ? 0.0 : s->gamma;  // at first gamma is the norm of r
    double column2 = s->delta * s->delta + above * above + magnitude(s->gamma2);
    c.size2 = column2 > s->size2 ? column2 : s->size2;
    bool invariant = magnitude(s->gamma2) <= 100 * roundoff * roundoff * c.size2;
    if (s->gamma2 < 0 && !invariant)
      return f.raise(Stop::indefinite_preconditioner, Cause::none, s->gamma2);
    c.gamma_next = invariant ? 0.0 : sqrt(s->gamma2);
    double a0 = s->c * s->delta - s->c_prev * s->s * s->gamma;
    c.a1 = sqrt(a0 * a0 + c.gamma_next * c.gamma_next);
    c.a2 = s->s * s->delta + s->c_prev * s->c * s->gamma;
    c.a3 = s->s_prev * s->gamma;
    // ||A r|| of the residual so far, over |eta| (Choi, Paige and Saunders 2011): 0 when r cannot
    // become smaller. The recurrences make it some hundred roundoffs at best.
    double optimality = sqrt(a0 * a0 + s->c * c.gamma_next * s->c * c.gamma_next);
    if (optimality <= (f.first() ? 10 : 500) * roundoff * sqrt(c.size2))
      return f.raise(Stop::breakdown, Cause::singular_operator, c.a1);
    c.c_next = a0 / c.a1;
    c.s_next = c.gamma_next / c.a1;
    c.step = c.c_next * s->eta;
    c.scale = c.gamma_next > 0 ? 1 / c.gamma_next : 0.0;
    c.a = s->a;
    c.keep = s->keep != 0;
    return true;
  }
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const { return rotate(f, c); }
  struct Loaded {
    T x, w, w_prev, z, zn;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {it.x[i], w[i], w_prev[i], z[i], zn[i]};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c,
                          double* sum) const {
    double const x = double(it.advance(i, c.a, c.keep, l.x, l.w));
    double const now = (double(l.z) - c.a3 * double(l.w_prev) - c.a2 * double(l.w)) / c.a1;
    w_prev[i] = l.w;
    w[i] = T(now);
    double const next = double(T(x + c.step * double(T(now))));
    sum[0] += next * next;
    z[i] = T(double(l.zn) * c.scale);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    Coefficients c{};
    rotate(f, c);
    double eta = -c.s_next * s->eta;
    double const lost2 = rounding * rounding * sum[0] * s->start2;
    bool const drowns = lost2 > s->doubt * (eta * eta);
    // Where gamma becomes small: with an outlying eigenvalue it is small in every step.
    bool const small = !f.first() && s->gamma * s->gamma < 1e-8 * c.size2;
    bool const ends = s->gamma2 < 1e-8 * c.size2 && !small;
    double const look = drowns || ends ? 1 : 0;
    double const doubt = drowns && eta != 0 ? 16 * (lost2 / (eta * eta)) : s->doubt;
    double const worth = Keep::worth2(eta * eta, lost2 * (0.01 * 0.01));
    bool const keep = f.state != nullptr && Keep::wanted(*f.state, s->worth, worth);
    if (keep) Keep::note(*f.state, s->worth, f.step());
    if (f.state != nullptr) f.state->newest2 = worth;
    MinresScalars next = *s;
    next.gamma = c.gamma_next, next.gamma_prev = s->gamma;
    next.eta = eta, next.norm2 = eta * eta;
    next.c = c.c_next, next.c_prev = s->c;
    next.s = c.s_next, next.s_prev = s->s;
    next.size2 = c.size2;
    next.doubt = doubt, next.look = look;
    next.a = c.step, next.keep = keep ? 1 : 0, next.worth = worth;
    *s = next;
  }
};

template <class T>
using MinresOps = OpList<MinresStart<T>, Lanczos<T>, MinresUpdate<T>>;

}  // namespace tcsolve
