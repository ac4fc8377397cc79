// SPDX-License-Identifier: Apache-2.0
/// The fused operations of the K cycle: two steps of a Krylov method on a coarse level, whose
/// preconditioner is the cycle from that level on (Notay 2010, An aggregation-based algebraic
/// multigrid method, Algorithm 3.2). By flexible conjugate gradients, l = c, where A is symmetric,
/// by GCR, l = A c, where it is not:
///
///     c = cycle(f)     v = A c     rho  = <l, v>      alpha = <l, f>
///     r = f - (alpha / rho) v
///     d = cycle(r)     w = A d     gamma = <l', v>    beta  = <l', w>    delta = <l', r>
///     x = (alpha / rho - gamma delta / (rho tau)) c + (delta / tau) d    tau = beta - gamma^2 / rho
///
/// l' is d or A d. Both steps are always made (Notay leaves the second one out where the first has
/// reduced the residual to a quarter), so that nothing is decided by the host. Of each column.
#pragma once

#include <tcsolve/kernels/column_operation.hpp>
#include <tcsolve/kernels/op_list.hpp>

namespace tcsolve {

struct KrylovScalars {
  double rho, alpha;          ///< of the first step
  double gamma, beta, delta;  ///< of the second

  struct Weights {
    double c, d;
  };
  /// Of c alone; 1 where A, or M, shows itself not positive definite.
  TCSOLVE_HD double first() const {
    double const step = alpha / rho;
    return rho > 0 && is_finite(step) ? step : 1.0;
  }
  TCSOLVE_HD Weights both() const {
    double const tau = beta - gamma * (gamma / rho), step = delta / tau;
    if (!(rho > 0 && tau > 0 && is_finite(step))) return {first(), 0};
    return {first() - gamma / rho * step, step};
  }
};

/// rho, alpha                                                                        reads 2 or 3 n
template <class T>
struct KrylovFirst {
  static constexpr char const* name = "krylov_first";
  static constexpr int sums = 2;
  BlockShape shape;
  T const *l, *v, *f;
  KrylovScalars* k;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients&) const { return true; }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    sum[0] += double(l[e]) * double(v[e]);
    sum[1] += double(l[e]) * double(f[e]);
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    k[f.j].rho = sum[0], k[f.j].alpha = sum[1];
  }
};

/// f -= (alpha / rho) v, and r = f, which the cycle uses up.               reads 2 n, writes 2 n
template <class T>
struct KrylovResidual {
  static constexpr char const* name = "krylov_residual";
  BlockShape shape;
  T const* v;
  T *f, *r;
  KrylovScalars const* k;
  struct Coefficients {
    double step;
  };
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c.step = k[f.j].first();
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    r[e] = f[e] = T(double(f[e]) - c.step * double(v[e]));
  }
};

/// gamma, beta, delta                                                                reads 3 or 4 n
template <class T>
struct KrylovSecond {
  static constexpr char const* name = "krylov_second";
  static constexpr int sums = 3;
  BlockShape shape;
  T const *l, *v, *w, *r;
  KrylovScalars* k;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(ColumnFrame, Coefficients&) const { return true; }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const&, double* sum) const {
    double const own = double(l[e]);
    sum[0] += own * double(v[e]);
    sum[1] += own * double(w[e]);
    sum[2] += own * double(r[e]);
  }
  TCSOLVE_HD void finish(ColumnFrame f, double const* sum) const {
    k[f.j].gamma = sum[0], k[f.j].beta = sum[1], k[f.j].delta = sum[2];
  }
};

/// x = the combination of x = c and d.                                       reads 2 n, writes n
template <class T>
struct KrylovCombine {
  static constexpr char const* name = "krylov_combine";
  BlockShape shape;
  T const* d;
  T* x;
  KrylovScalars const* k;
  using Coefficients = KrylovScalars::Weights;
  TCSOLVE_HD bool prepare(ColumnFrame f, Coefficients& c) const {
    c = k[f.j].both();
    return true;
  }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const {
    x[e] = T(c.c * double(x[e]) + c.d * double(d[e]));
  }
};

using KrylovOps =
    OpList<KrylovFirst<double>, KrylovFirst<float>, KrylovResidual<double>, KrylovResidual<float>,
           KrylovSecond<double>, KrylovSecond<float>, KrylovCombine<double>, KrylovCombine<float>>;

}  // namespace tcsolve
