// SPDX-License-Identifier: Apache-2.0
/// The fused updates of LSMR (Fong and Saunders 2011, section 2.7), min ||A x - b||_2 without
/// damping. u and v are kept with their norms beta and alpha beside them instead of being divided.
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

struct LsmrScalars {
  double alpha, beta;  ///< ||v||, ||u||
  double alpha_prev;   ///< ||v|| one step ago
  double alphabar, zetabar, zeta, rho, rhobar, cbar, sbar;
  double hbar_scale, step, h_scale;                        ///< coefficients of the vector updates
  double betadd, betad, rhodold, tautildeold, thetatilde;  ///< for ||r||, section 2.8
  double norm_A2;      ///< Frobenius norm of the bidiagonal matrix, squared
  double normal;       ///< ||A^T r||
  double alpha_first;  ///< ||A^T r|| / ||r|| at the start
  double progress2;    ///< ||A^T r||^2 over the same at the start, times ||r||^2 at the start
  double norm2;        ///< ||r||^2
  double target;       ///< least squares: done when ||A^T r|| / ||r|| has fallen to this ...
  double done;         ///< 1 when it has
  double rhobar_min, rhobar_max;  ///< so far
  double condition;               ///< of A M, section 3.4
};

/// After v = A^T u for the first u, uu = ||u||^2: everything at its start, h = v / alpha.
template <class T>
struct LsmrStart {
  static constexpr char const* name = "lsmr_start";
  static constexpr int sums = 1;
  std::int64_t n;
  LsmrScalars* s;
  double const* uu;
  double reduction;  ///< of ||A^T r|| / ||r|| that is enough
  T const* t;        ///< A^T u
  T *v, *h, *hbar;
  struct Coefficients {
    double scale;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.scale = *uu > 0 ? 1 / sqrt(*uu) : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    T vi = T(double(t[i]) * c.scale);
    v[i] = vi;
    h[i] = vi;  // divided by alpha with the first update, through h_scale
    hbar[i] = T(0);
    sum[0] += double(vi) * double(vi);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    double beta = sqrt(*uu), alpha = sqrt(sum[0]);
    LsmrScalars k{};
    k.alpha = k.alpha_prev = alpha;
    k.beta = beta;
    k.alphabar = alpha;
    k.zetabar = alpha * beta;
    k.rho = k.rhobar = k.cbar = 1;
    k.betadd = beta;
    k.rhodold = 1;
    k.norm_A2 = alpha * alpha;
    k.normal = alpha * beta;
    k.alpha_first = alpha;
    k.progress2 = beta * beta;
    k.norm2 = beta * beta;
    k.target = reduction * alpha;
    k.done = alpha == 0 ? 1 : 0;
    k.rhobar_min = std::numeric_limits<double>::infinity();
    k.condition = 1;
    *s = k;
  }
};

/// u = A v / alpha - (alpha / beta) u, q = A v.
template <class T>
struct BidiagonalU {
  static constexpr char const* name = "bidiagonal_u";
  static constexpr int sums = 1;
  std::int64_t n;
  LsmrScalars* s;
  T const* q;
  T* u;
  struct Coefficients {
    double a, b;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.a = s->alpha > 0 ? 1 / s->alpha : 0.0;
    c.b = s->beta > 0 ? s->alpha / s->beta : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    T now = T(c.a * double(q[i]) - c.b * double(u[i]));
    u[i] = now;
    sum[0] += double(now) * double(now);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    if (!is_finite(sum[0])) f.raise(Stop::nonfinite, Cause::none, sum[0]);
    s->beta = sqrt(sum[0]);
  }
};

/// v_{j+1} = A^T u / beta - (beta / alpha) v_j, t = A^T u; then the rotations and norm estimates.
template <class T>
struct BidiagonalV {
  static constexpr char const* name = "bidiagonal_v";
  static constexpr int sums = 1;
  std::int64_t n;
  LsmrScalars* s;
  double roundoff;
  T const* t;
  T* v;
  struct Coefficients {
    double a, b;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.a = s->beta > 0 ? 1 / s->beta : 0.0;
    c.b = s->alpha > 0 ? s->beta / s->alpha : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    T now = T(c.a * double(t[i]) - c.b * double(v[i]));
    v[i] = now;
    sum[0] += double(now) * double(now);
  }
  TCSOLVE_HD static void rotation(double a, double b, double& c, double& sn, double& r) {
    r = sqrt(a * a + b * b);
    c = r > 0 ? a / r : 1.0;
    sn = r > 0 ? b / r : 0.0;
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    LsmrScalars k = *s;
    double alpha = sqrt(sum[0]), beta = k.beta;
    if (!is_finite(alpha)) f.raise(Stop::nonfinite, Cause::none, alpha);
    k.norm_A2 += beta * beta;
    double norm_A = sqrt(k.norm_A2);
    k.norm_A2 += alpha * alpha;
    if (alpha <= 10 * roundoff * norm_A) alpha = 0;  // the bidiagonalisation has ended
    // Section 2.7, step 5 to 7: the two rotations.
    double c, sn, rho, cbar, sbar, rhobar;
    double rho_old = k.rho, rhobar_old = k.rhobar, zeta_old = k.zeta;
    rotation(k.alphabar, beta, c, sn, rho);
    double theta = sn * alpha;
    double thetabar = k.sbar * rho, rho_temp = k.cbar * rho;
    rotation(rho_temp, theta, cbar, sbar, rhobar);
    // Section 3.4: the diagonal that the second rotations leave, its last element provisional.
    double least = magnitude(rho_temp), most = least;
    if (k.rhobar_max > 0) {
      least = least < k.rhobar_min ? least : k.rhobar_min;
      most = most > k.rhobar_max ? most : k.rhobar_max;
    }
    k.condition = least > 0 ? most / least : std::numeric_limits<double>::infinity();
    k.rhobar_min = rhobar < k.rhobar_min ? rhobar : k.rhobar_min;
    k.rhobar_max = rhobar > k.rhobar_max ? rhobar : k.rhobar_max;
    k.alphabar = c * alpha;
    k.zeta = cbar * k.zetabar;
    k.zetabar = -sbar * k.zetabar;
    // Step 8: hbar = h - (thetabar rho / (rho_old rhobar_old)) hbar, and so on.
    k.hbar_scale = thetabar * rho / (rho_old * rhobar_old);
    k.step = rho * rhobar != 0 ? k.zeta / (rho * rhobar) : 0.0;
    k.h_scale = rho != 0 ? theta / rho : 0.0;
    k.rho = rho, k.rhobar = rhobar, k.cbar = cbar, k.sbar = sbar;
    // Section 2.8: the norm of r without forming it.
    double betahat = c * k.betadd;
    k.betadd = -sn * k.betadd;
    double theta_old = k.thetatilde, ctilde, stilde, rhotilde;
    rotation(k.rhodold, thetabar, ctilde, stilde, rhotilde);
    k.thetatilde = stilde * rhobar;
    k.rhodold = ctilde * rhobar;
    k.betad = -stilde * k.betad + ctilde * betahat;
    k.tautildeold = rhotilde != 0 ? (zeta_old - theta_old * k.tautildeold) / rhotilde : 0.0;
    double taud = k.rhodold != 0 ? (k.zeta - k.thetatilde * k.tautildeold) / k.rhodold : 0.0;
    double rest = k.betad - taud;
    k.norm2 = rest * rest + k.betadd * k.betadd;
    k.normal = magnitude(k.zetabar);
    double fallen = k.alpha_first > 0 ? k.normal / k.alpha_first : 0.0;
    k.progress2 = fallen * fallen;
    k.done = k.normal <= k.target * sqrt(k.norm2) || alpha == 0 ? 1 : 0;
    k.alpha_prev = k.alpha;
    k.alpha = alpha;
    *s = k;
  }
};

/// hbar = h - hbar_scale hbar;  x += step hbar;  h = v / alpha - h_scale h.
template <class T>
struct LsmrUpdate {
  static constexpr char const* name = "lsmr_update";
  std::int64_t n;
  LsmrScalars const* s;
  T const* v;
  T *h, *hbar, *x;
  struct Coefficients {
    double inverse, first, hbar_scale, step, h_scale;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c = {s->alpha > 0 ? 1 / s->alpha : 0.0,
         f.first() && s->alpha_prev > 0 ? 1 / s->alpha_prev : 1.0,  // the first h is still v
         s->hbar_scale, s->step, s->h_scale};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    double hi = double(h[i]) * c.first;
    double hb = hi - c.hbar_scale * double(hbar[i]);
    hbar[i] = T(hb);
    x[i] = T(double(x[i]) + c.step * hb);
    h[i] = T(double(v[i]) * c.inverse - c.h_scale * hi);
  }
};

template <class T>
using LsmrOps = OpList<LsmrStart<T>, BidiagonalU<T>, BidiagonalV<T>, LsmrUpdate<T>>;

}  // namespace tcsolve
