// SPDX-License-Identifier: Apache-2.0
/// The fused updates of conjugate gradients (Saad 2003, Algorithm 9.1).
#pragma once

#include <tcsolve/kernels/verbs/basic.hpp>

namespace tcsolve {

/// p = z + (rho / rho_prev) p, in the first step p = z.
/// rho = <r, z> must be positive: otherwise M is not positive definite.     reads 2 n, writes n
template <class T>
struct Extend {
  static constexpr char const* name = "extend";
  std::int64_t n;
  double const *rho, *rho_prev;
  T const* z;
  T* p;
  struct Coefficients {
    double beta;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    double now = *rho;
    if (!is_finite(now)) return f.raise(Stop::nonfinite, Cause::preconditioner, now);
    if (now <= 0) return f.raise(Stop::indefinite_preconditioner, Cause::none, now);
    c.beta = f.first() ? 0.0 : now / *rho_prev;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    p[i] = c.beta == 0 ? z[i] : T(double(z[i]) + c.beta * double(p[i]));
  }
};

/// a = rho / sigma;  x += a p;  r -= a q;  rr = ||r||^2;  rho_prev = rho, for the next extend.
/// sigma = <p, A p> must be positive: otherwise A is not positive definite.  reads 4 n, writes 2 n
template <class T>
struct Descend {
  static constexpr char const* name = "descend";
  static constexpr int sums = 1;
  std::int64_t n;
  double const *rho, *sigma;
  T const *p, *q;
  T *x, *r;
  double *rr, *rho_prev;
  struct Coefficients {
    double a;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    double curvature = *sigma;
    if (!is_finite(curvature)) return f.raise(Stop::nonfinite, Cause::matrix, curvature);
    if (curvature <= 0) return f.raise(Stop::indefinite_operator, Cause::none, curvature);
    c.a = *rho / curvature;
    if (!is_finite(c.a)) return f.raise(Stop::breakdown, Cause::sigma, curvature);
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    T pi = p[i], qi = q[i], xi = x[i], ri = r[i];
    x[i] = T(double(xi) + c.a * double(pi));
    ri = T(double(ri) - c.a * double(qi));
    r[i] = ri;
    sum[0] += double(ri) * double(ri);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *rr = sum[0], *rho_prev = *rho; }
};

template <class T>
void extend(Context& ctx, double const* rho, double const* rho_prev, In<T> z, Out<T> p) {
  sweep(ctx, Extend<T>{p.rows, rho, rho_prev, z.data, p.data});
}
template <class T>
void descend(Context& ctx, double const* rho, double const* sigma, In<T> p, In<T> q, Out<T> x,
             Out<T> r, double* rr, double* rho_prev) {
  sweep(ctx, Descend<T>{r.rows, rho, sigma, p.data, q.data, x.data, r.data, rr, rho_prev});
}

}  // namespace tcsolve
