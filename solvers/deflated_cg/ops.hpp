// SPDX-License-Identifier: Apache-2.0
/// The operations of deflated conjugate gradients (Saad, Yeung, Erhel and Guyomarc'h 2000,
/// Algorithm 3.5) beside those on blocks (kernels/blocks.hpp):
///
///     direction   p = t + (rho / rho_prev) p, t = z - W mu     reads t, p        writes p
///     keep        a column of Z is p, of A Z is q              reads p, q        writes 2 columns
///     update      a = rho / sigma;  x += a p;  r -= a q;  rr   reads p, q, x, r  writes x, r
#pragma once

#include <cmath>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/small_matrix.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

struct DeflatedCgScalars {
  double rho, rho_prev;  ///< <r, M r>, now and one step ago
  double sigma;          ///< <p, A p>
  double rr;             ///< ||r||^2; before the first step of the r that was given
  double left;           ///< ||r||^2 of what the space leaves of that r
};

/// T, so that the columns of W T are A-orthonormal, from E = W^T A W and N = W^T W: what depends on
/// others, lies in the kernel of A but for rounding, or finds A not definite, becomes a zero
/// column.
struct DeflationBasis {
  static constexpr char const* name = "deflation_basis";
  Index k;
  double const *E, *N;  ///< (k, k)
  double* T;            ///< (k, k)
  double size;          ///< ||A||; 0 where it is not known
  Index work() const { return 2 * k * k + 2 * k + 2; }
  TCSOLVE_HD void run(SmallTeam t, Frame, double* memory) const {
    constexpr double rounding = 64 * 0x1p-53;  // of w^T A w, beside ||A|| ||w||^2
    double* const floor = memory + 2 * k * k + k;
    t.each(k, [&](Index i) { floor[i] = rounding * size * N[i * k + i]; });
    Dependence const rule{.scale = true, .drop = 1e-10, .least = 0, .floor = floor};
    orthogonalise(t, k, E, T, rule, memory);
  }
};

/// p = t + (rho / rho_prev) p, in the first step p = t. rho = <r, M r> is positive, or M is not
/// positive definite. Where the space holds the solution there is no step: r is rounding.
struct DeflatedCgDirection {
  static constexpr char const* name = "deflated_cg_direction";
  std::int64_t n;
  DeflatedCgScalars const* k;
  double const* t;
  double* p;
  struct Coefficients {
    double beta;
    bool first;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    double const now = k->rho;
    // However loose the tolerance, without a space one step is made.
    if (f.first() && k->left <= f.state->threshold2 && k->left < k->rr)
      return f.raise(Stop::claimed, Cause::none, k->left);
    if (!is_finite(now)) return f.raise(Stop::nonfinite, Cause::preconditioner, now);
    if (now < 0) return f.raise(Stop::indefinite_preconditioner, Cause::none, now);
    if (now == 0) return f.raise(Stop::breakdown, Cause::singular_operator, now);  // M r = 0
    c = {f.first() ? 0.0 : now / k->rho_prev, f.first()};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    p[i] = c.first ? t[i] : t[i] + c.beta * p[i];
  }
};

/// The first `most` directions, of A-norm 1, and their products become columns of Z and A Z.
struct DeflatedCgKeep {
  static constexpr char const* name = "deflated_cg_keep";
  std::int64_t n;
  DeflatedCgScalars const* k;
  Index most;
  std::int64_t ld;
  double const *p, *q;
  double *Z, *AZ;  ///< their first columns
  struct Coefficients {
    double scale;
    std::int32_t column;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c = {1 / sqrt(k->sigma), f.step()};
    return f.step() < most && k->sigma > 0 && is_finite(c.scale);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    Z[i * ld + c.column] = c.scale * p[i];
    AZ[i * ld + c.column] = c.scale * q[i];
  }
};

/// a = rho / sigma;  x += a p;  r -= a q;  rr = ||r||^2;  then the stopping test. sigma > 0, or A
/// is not positive definite. ||mu||^2 is the part of <z, A z> in the space, and sigma is no less
/// than <z, A z> over the condition of M A: where it is, z lies in the space, and p is rounding.
struct DeflatedCgUpdate {
  static constexpr char const* name = "deflated_cg_update";
  static constexpr int sums = 1;
  std::int64_t n;
  DeflatedCgScalars* k;
  double const *p, *q;
  double *x, *r;
  Index space;
  double const* mu;  ///< (space)
  struct Coefficients {
    double a;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    constexpr double nothing = 0x1p-80;
    double const curvature = k->sigma;
    if (!is_finite(curvature)) return f.raise(Stop::nonfinite, Cause::matrix, curvature);
    double held = 0;
    for (Index i = 0; i < space; ++i) held += mu[i] * mu[i];
    if (magnitude(curvature) < nothing * held)
      return f.raise(Stop::claimed, Cause::none, curvature);
    if (curvature <= 0) return f.raise(Stop::indefinite_operator, Cause::none, curvature);
    c.a = k->rho / curvature;
    return is_finite(c.a) ? true : f.raise(Stop::breakdown, Cause::sigma, curvature);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    double const xi = x[i], ri = r[i] - c.a * q[i];
    x[i] = xi + c.a * p[i];
    r[i] = ri;
    sum[0] += ri * ri;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    k->rho_prev = k->rho;
    k->rr = sum[0];
  }
  TCSOLVE_HD void after(Frame f) const { Observe{0, &k->rr}.finish(f, nullptr); }
};

using DeflatedCgOps = OpList<DeflatedCgDirection, DeflatedCgKeep, DeflatedCgUpdate>;

namespace host {
void execute(Host&, LoopState*, DeflationBasis const&);
}
namespace cuda {
void execute(Device&, LoopState*, DeflationBasis const&);
}

}  // namespace tcsolve
