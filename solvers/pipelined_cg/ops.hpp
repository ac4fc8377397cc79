// SPDX-License-Identifier: Apache-2.0
/// The fused updates of the conjugate gradients that need one reduction an iteration: Chronopoulos
/// and Gear 1989, and the pipelined form of Ghysels and Vanroose 2014, Algorithm 4. Letters as in
/// the latter: u = M r, w = A u; s = A p, q = M s, z = A q. The coefficients of a step come from
/// sums that are there before its direction p is:
///
///     beta  = gamma / gamma_prev,        gamma = <r, u>
///     sigma = delta + beta <s, u>,       delta = <w, u>;  <p, A p> when p is conjugate to its past
///     alpha = gamma / sigma
///
/// The papers put -gamma / alpha_prev for <s, u>, which takes <r_prev, u> for 0. With <s, u>
/// itself, one sum more in the same pass, an error of the step before stays in that step: it is
/// <r_next, u> that this sigma makes 0.
///
/// x is updated one step late, where the p of that step is still there: by then the norms of x and
/// of its successor are both known, and x may be kept (solvers/driver/best_iterate.hpp).
#pragma once

#include <cmath>

#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>

namespace tcsolve {

struct OneReductionScalars {
  double gamma, delta, su, rr;  ///< <r, u>, <w, u>, <s, u>, ||r||^2
  double gamma_prev;            ///< of the step before; meaningless in the first
  double worth;                 ///< of the x of this r (solvers/driver/best_iterate.hpp)
  double a;                     ///< the step along p that x still lacks, 0 = none
  double keep;                  ///< not 0: x, without that step, is to be kept
  // Of Chronopoulos and Gear's form alone (see CgScalars):
  double pp, largest;
  Reach reach;
  // Of the pipelined form alone:
  double sigma;                       ///< the last curvature
  double x, p, u, q;                  ///< norms
  double gap_r, gap_s, gap_w, gap_z;  ///< rounding errors of r, s, w and z since `fresh`
  double gap_before;                  ///< of r until then: r itself is never made anew
  bool fresh;                         ///< u, w, s, q, z were made anew after the last step

  /// The newest r belongs to an x worth `now2`; x lacks the step that made it, so that x as it lies
  /// there may be kept.
  TCSOLVE_HD void judge(Frame f, double now2) {
    if (f.state != nullptr) {
      keep = Keep::wanted(*f.state, worth, now2) ? 1 : 0;
      if (keep != 0) Keep::note(*f.state, worth, f.step());
      f.state->newest2 = now2;
    }
    worth = now2;
  }
};

/// The coefficients of a step: all that both methods do before their vectors.
struct OneReductionStep {
  double alpha, beta, sigma;
  double a;
  bool keep;
  TCSOLVE_HD bool prepare(Frame f, OneReductionScalars const& s) {
    a = s.a;
    keep = s.keep != 0;
    if (!is_finite(s.gamma)) return f.raise(Stop::nonfinite, Cause::preconditioner, s.gamma);
    if (s.gamma <= 0) return f.raise(Stop::indefinite_preconditioner, Cause::none, s.gamma);
    beta = f.first() ? 0.0 : s.gamma / s.gamma_prev;
    sigma = beta == 0 ? s.delta : s.delta + beta * s.su;
    if (!is_finite(sigma)) return f.raise(Stop::nonfinite, Cause::matrix, sigma);
    if (sigma <= 0) return f.raise(Stop::indefinite_operator, Cause::none, sigma);
    alpha = s.gamma / sigma;
    return is_finite(alpha) ? true : f.raise(Stop::breakdown, Cause::sigma, sigma);
  }
};

/// <r, u>, <w, u>, <s, u>, ||r||^2: the one reduction.           reads 4 n
template <class T>
struct OneReduction {
  static constexpr char const* name = "one_reduction";
  static constexpr int sums = 4;
  std::int64_t n;
  T const *r, *u, *w, *s;
  OneReductionScalars* scalars;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double ri = double(r[i]), ui = double(u[i]);
    sum[0] += ri * ui, sum[1] += double(w[i]) * ui;
    sum[2] += double(s[i]) * ui, sum[3] += ri * ri;
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    OneReductionScalars& now = *scalars;
    now.gamma = sum[0], now.delta = sum[1];
    now.su = sum[2], now.rr = sum[3];
    constexpr double e = unit_roundoff<T>;
    now.judge(f, now.reach.worth2(now.rr, now.gamma, e, now.largest));
  }
};

/// x += a p;  p = u + beta p;  s = w + beta s;  r -= alpha s.   reads 6 n, writes 4 n
template <class T>
struct GearUpdate {
  static constexpr char const* name = "gear_update";
  std::int64_t n;
  OneReductionScalars* scalars;
  T const *u, *w;
  T *p, *s;
  Iterate<T> it;
  T* r;
  using Coefficients = OneReductionStep;
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const { return c.prepare(f, *scalars); }
  struct Loaded {
    T u, w, p, s, x, r;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {u[i], w[i], p[i], s[i], it.x[i], r[i]};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c, double*) const {
    it.advance(i, c.a, c.keep, l.x, l.p);
    T pi = c.beta == 0 ? l.u : T(double(l.u) + c.beta * double(l.p));
    T si = c.beta == 0 ? l.w : T(double(l.w) + c.beta * double(l.s));
    p[i] = pi;
    s[i] = si;
    r[i] = T(double(l.r) - c.alpha * double(si));
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame f, double const*) const {
    OneReductionScalars& now = *scalars;
    Coefficients c{};
    c.prepare(f, now);
    now.gamma_prev = now.gamma;
    now.a = c.alpha;
    now.keep = 0;
    now.pp = now.gamma + c.beta * (c.beta * now.pp);  // see CgScalars
    if (c.sigma > now.largest * now.pp) now.largest = c.sigma / now.pp;
    now.reach.x2 += c.alpha * c.alpha * now.pp;
  }
};

/// x += a p;                                                             m = M w, n = A m
/// z = n + beta z;  q = m + beta q;  s = w + beta s;  p = u + beta p;
/// r -= alpha s;  u -= alpha q;  w -= alpha z;
/// and the sums of the next step in the same pass, and its m where M is diagonal.
///                                                              reads 10 n, writes 8 n
///
/// What the recurrences round off is estimated as in Cools, Yetkin, Agullo, Giraud and Vanroose
/// 2018, section 3: in norms, with e for roundoff ||A||,
///
///     A q - z          gap_z = beta gap_z + e (||m|| + beta ||q||)
///     A p - s          gap_s = gap_w + beta gap_s + e (||u|| + beta ||p||)
///     r_0 - A x - r    gap_r = gap_r + alpha gap_s + e (||x|| + alpha ||p||)
///     A u - w          gap_w = gap_w + alpha gap_z + e (||u|| + alpha ||q||)
///
/// A step that finds them too large, or a curvature that may be negative by rounding alone, raises
/// Stop::replacement. e = 0, for an A of unknown size, leaves the latter.
template <class T>
struct PipelinedUpdate {
  static constexpr char const* name = "pipelined_update";
  static constexpr int sums = 8;
  std::int64_t n;
  OneReductionScalars* scalars;
  double roundoff, size;  ///< of T; of ||A||, 0 when it is not known
  T const *m, *Am;
  T *z, *q, *s, *p;
  Iterate<T> it;
  T *r, *u, *w;
  Diagonal<T> M;
  T* next_m;  ///< null: M is not diagonal, and the next m = M w is made elsewhere
  using Coefficients = OneReductionStep;

  /// r gets a gap that its own size (van der Vorst and Ye 2000, section 3) and the tolerance feel,
  /// or w one that delta feels beside sigma; and both are well above what a replacement leaves.
  TCSOLVE_HD bool drifts(Frame f, OneReductionScalars const& s) const {
    constexpr double well = 100, felt = 1e-6;
    double e = roundoff * size;
    bool r_drifts = s.gap_r > sqrt(roundoff * s.rr) && s.gap_r > sqrt(f.state->threshold2);
    bool w_drifts = s.gap_w * s.u > felt * s.sigma;
    return (r_drifts && s.gap_r > well * e * s.x) || (w_drifts && s.gap_w > well * e * s.u);
  }
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    OneReductionScalars const& s = *scalars;
    if (!f.first() && !s.fresh &&
        (drifts(f, s) || s.gamma <= 0 || s.delta + s.gamma / s.gamma_prev * s.su <= 0))
      return f.raise(Stop::replacement, Cause::none, s.gap_r);
    return c.prepare(f, s);
  }
  struct Loaded {
    T m, Am, z, q, s, p, x, r, u, w, d;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {m[i], Am[i], z[i], q[i], s[i], p[i], it.x[i], r[i], u[i], w[i], M.at(i)};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c,
                          double* sum) const {
    auto next = [&](T a, T b) {  // a + beta b; b is anything in the first step
      return c.beta == 0 ? a : T(double(a) + c.beta * double(b));
    };
    auto less = [&](T a, T b) { return T(double(a) - c.alpha * double(b)); };
    double const before = double(it.advance(i, c.a, c.keep, l.x, l.p));
    T const zi = next(l.Am, l.z), qi = next(l.m, l.q), si = next(l.w, l.s), pi = next(l.u, l.p);
    T const rn = less(l.r, si), un = less(l.u, qi), wn = less(l.w, zi);
    z[i] = zi, q[i] = qi, s[i] = si, p[i] = pi, r[i] = rn, u[i] = un, w[i] = wn;
    double const xi = double(T(before + c.alpha * double(pi)));  // as the next pass will write it
    double const ri = double(rn), ui = double(un), wi = double(wn);
    if (next_m != nullptr) next_m[i] = T(M.times(l.d, wi));
    sum[0] += ri * ui, sum[1] += wi * ui, sum[2] += double(si) * ui, sum[3] += ri * ri;
    sum[4] += xi * xi, sum[5] += double(pi) * double(pi);
    sum[6] += ui * ui, sum[7] += double(qi) * double(qi);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    Coefficients c{};
    OneReductionScalars before = *scalars, &now = *scalars;
    c.prepare(f, before);
    now.gamma = sum[0], now.delta = sum[1], now.su = sum[2], now.rr = sum[3];
    now.x = sqrt(sum[4]), now.p = sqrt(sum[5]), now.u = sqrt(sum[6]), now.q = sqrt(sum[7]);
    now.gamma_prev = before.gamma, now.sigma = c.sigma, now.fresh = false;
    now.a = c.alpha;
    double a = c.alpha, b = c.beta, e = roundoff * size;  // and ||m|| <= ||q|| + b ||q before||
    now.gap_z = b * before.gap_z + e * (now.q + 2 * b * before.q);
    now.gap_s = before.gap_w + b * before.gap_s + e * (before.u + b * before.p);
    now.gap_r = before.gap_r + a * now.gap_s + e * (now.x + a * now.p);
    now.gap_w = before.gap_w + a * now.gap_z + e * (before.u + a * now.q);
    double const gap = now.gap_before + now.gap_r;
    now.judge(f, Keep::worth2(now.rr, gap * gap));
  }
};

template <class T>
using PipelinedCgOps = OpList<OneReduction<T>, GearUpdate<T>, PipelinedUpdate<T>>;

}  // namespace tcsolve
