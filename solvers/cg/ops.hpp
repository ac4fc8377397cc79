// SPDX-License-Identifier: Apache-2.0
/// The fused updates of conjugate gradients (Saad 2003, Algorithm 9.1). x is updated one pass late,
/// where p is read anyway; a diagonal M is folded in, so that z = M r is never stored:
///
///     update_direction  x += a p;  p = z + (rho / rho_prev) p      reads r, D, p, x    writes p, x
///     (product)         q = A p;   sigma = <p, q>                  reads p             writes q
///     update_residual   a = rho / sigma;  r -= a q;  <r, r>, rho   reads q, r, D       writes r
///
/// 12 values a row besides the matrix with a diagonal M; Saad's order of updates takes 13.
#pragma once

#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/curvature.hpp>
#include <tcsolve/solvers/driver/judge_ops.hpp>
#include <tcsolve/solvers/driver/lanczos_steps.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

struct CgScalars {
  double rho, rho_prev;  ///< <r, M r>, now and one step ago
  double sigma;          ///< <p, A p>
  double a;              ///< the step along p that x still lacks, 0 = none
  double rr;             ///< ||r||^2
  double pp;             ///< <p, M^-1 p>
  double largest;        ///< <p, A p> / <p, M^-1 p> of any p so far: a lower bound of ||M A||
  double kernel;         ///< not 0: a p lay in the kernel of A as far as FP64 can tell
  Reach reach;           ///< of the x that r belongs to
  double keep;           ///< not 0: x, without its last step, is to be kept
  double turn;           ///< <r, p> / <r, M r> of an r that was made anew
  double before2;        ///< what the iterate before the step is worth (best_iterate.hpp)
  double rate;           ///< <r, M r> / ||r||^2 before the step
  LanczosSteps* steps;   ///< where they are noted: where r is made anew on the way; null: nowhere

  /// A curvature that may be nothing but its own rounding error makes a step of any length. It is
  /// taken, since it may be right (a Hilbert matrix), and remembered. In FP64, as the sums are:
  /// matrices of condition 1e7 are common, and to FP32 no kernel. ||p|| costs no sum:
  /// <p, M^-1 p> = rho + beta^2 <p, M^-1 p>_prev, since <r, p_prev> = 0.
  TCSOLVE_HD void update_bounds() {
    double beta = rho_prev > 0 ? rho / rho_prev : 0.0;
    pp = beta > 0 ? rho + beta * (beta * pp) : rho;
    if (sigma <= 0x1p-53 * (largest * pp)) kernel = 1;
    if (sigma > largest * pp) largest = sigma / pp;
  }
  /// Names a singular A as the cause of a claim, which the driver then verifies.
  TCSOLVE_HD void classify(LoopState& state) const {
    if (kernel != 0 && static_cast<Stop>(state.stop) == Stop::claimed)
      state.cause = static_cast<std::int32_t>(Cause::singular_operator);
  }
};

/// rr = ||r||^2, rho = <r, D r>, and no step pending.                                     reads 2 n
template <class T>
struct CgStart {
  static constexpr char const* name = "cg_start";
  static constexpr int sums = 2;
  std::int64_t n;
  CgScalars* k;
  Attempt attempt;
  double size;  ///< of ||M A||, 0 when it is not known
  Diagonal<T> D;
  T const* r;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double ri = double(r[i]);
    sum[0] += ri * ri;
    sum[1] += ri * D(i, ri);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    k->rr = sum[0], k->rho = sum[1], k->rho_prev = 0, k->a = 0;
    k->reach = {0}, k->keep = 0;
    if (k->steps != nullptr) k->steps->begin();
    if (attempt.first()) k->largest = size, k->kernel = 0;
  }
};

/// beta = -<z, q> / sigma = <z, r - r_prev> / rho_prev, which makes p = z + beta p A-orthogonal to
/// the p before whatever M has become; with a fixed M it is rho / rho_prev. Left as the rho_prev
/// that gives this beta.                                                                 reads 2 n
template <class T>
struct CgFlexibleBeta {
  static constexpr char const* name = "cg_flexible_beta";
  static constexpr int sums = 1;
  std::int64_t n;
  CgScalars* k;
  T const *z, *q;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame f, Coefficients&) const { return !f.first(); }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double* sum) const {
    sum[0] += double(z[i]) * double(q[i]);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    // p = z where that sum is 0: rho_prev is infinite then.
    k->rho_prev = -k->rho * k->sigma / sum[0];
  }
};

/// x += a p, the step of the iteration before;  p = z + (rho / rho_prev) p, z = D r; in the first
/// step p = z. rho = <r, z> must be positive: otherwise M is not positive definite. Where
/// UpdateResidual has asked for it, x is copied to `kept` before it changes
/// (solvers/driver/best_iterate.hpp).
template <class T>
struct UpdateDirection {
  static constexpr char const* name = "cg_update_direction";
  std::int64_t n;
  CgScalars const* k;
  Diagonal<T> D;
  T const* r;
  T *p, *x;
  T* kept = nullptr;
  struct Coefficients {
    double a, beta;
    bool first, keep;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    double now = k->rho;
    if (!is_finite(now)) return f.raise(Stop::nonfinite, Cause::preconditioner, now);
    if (now <= 0) return f.raise(Stop::indefinite_preconditioner, Cause::none, now);
    c = {k->a, f.first() ? 0.0 : now / k->rho_prev, f.first(), kept != nullptr && k->keep != 0};
    return true;
  }
  struct Loaded {
    T r, d, p, x;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const& c) const {
    return {r[i], D.at(i), c.first ? T(0) : p[i], x[i]};  // p holds anything at first
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c, double*) const {
    double const z = D.times(l.d, double(l.r)), pi = double(l.p);
    if (c.keep) kept[i] = l.x;
    if (!c.first) x[i] = T(double(l.x) + c.a * pi);
    p[i] = c.first ? T(z) : T(z + c.beta * pi);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
};

/// a = rho / sigma;  r -= a q;  rr = ||r||^2;  when D is M, rho = <r, D r>;  then the stopping
/// test. sigma = <p, A p> must be positive: otherwise A is not positive definite.
template <class T>
struct UpdateResidual {
  static constexpr char const* name = "cg_update_residual";
  static constexpr int sums = 2;
  std::int64_t n;
  CgScalars* k;
  Diagonal<T> D;
  bool folded;  ///< D is M
  T const* q;
  T* r;
  Observe observe;
  static constexpr double e = unit_roundoff<T>;
  struct Coefficients {
    double a;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    double curvature = k->sigma;
    c.a = k->rho / curvature;
    bool steps = curvature > 0 && is_finite(curvature) && is_finite(c.a);
    if (f.lead) k->a = steps ? c.a : 0.0;
    if (steps) return true;
    if (!is_finite(curvature)) return f.raise(Stop::nonfinite, Cause::matrix, curvature);
    if (curvature <= 0) return f.raise(Stop::indefinite_operator, Cause::none, curvature);
    return f.raise(Stop::breakdown, Cause::sigma, curvature);
  }
  struct Loaded {
    T r, q, d;
  };
  TCSOLVE_HD Loaded load(std::int64_t i, Coefficients const&) const {
    return {r[i], q[i], folded ? D.at(i) : T(0)};
  }
  TCSOLVE_HD void element(std::int64_t i, Loaded const& l, Coefficients const& c,
                          double* sum) const {
    T const now = T(double(l.r) - c.a * double(l.q));
    r[i] = now;
    double const ri = double(now);
    sum[0] += ri * ri;
    if (folded) sum[1] += ri * D.times(l.d, ri);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    element(i, load(i, c), c, sum);
  }
  TCSOLVE_HD void meanwhile(Frame f) const {
    k->update_bounds();
    if (f.state == nullptr) return;
    if (k->steps != nullptr && f.speaks)  // in one kernel every block has the scalars
      k->steps->note(k->a, k->rho_prev > 0 ? k->rho / k->rho_prev : 0.0);
    k->before2 = k->reach.worth2(k->rr, k->rho, e, k->largest);
    k->reach.x2 += k->a * k->a * k->pp;
    k->rate = k->rho / k->rr;
    f.state->gap2 = k->reach.gap2(k->rr, k->rho, k->largest);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    if (f.state != nullptr) judge_iterates(f, sum[0]);
    k->rho_prev = k->rho;
    k->rr = sum[0];
    if (folded) k->rho = sum[1];
  }
  /// x lacks its last step still: is it to be kept? <r, M r> of the new r is taken to have changed
  /// as ||r||^2 has, since a general M makes it later.
  TCSOLVE_HD void judge_iterates(Frame f, double rr) const {
    double const now2 = k->reach.worth2(rr, k->rate * rr, e, k->largest);
    k->keep = Keep::wanted(*f.state, k->before2, now2) ? 1 : 0;
    if (k->keep != 0) Keep::note(*f.state, k->before2, f.step());
    f.state->newest2 = now2;
  }
  TCSOLVE_HD void after(Frame f) const {
    if (f.state != nullptr) observe.finish(f, nullptr);
  }
};

/// x += a p: the step that x lacks when the loop has ended; x without it may have to be kept.
template <class T>
struct CgComplete {
  static constexpr char const* name = "cg_complete";
  std::int64_t n;
  CgScalars const* k;
  T const* p;
  T* x;
  T* kept = nullptr;
  struct Coefficients {
    double a;
    bool keep;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c = {k->a, kept != nullptr && k->keep != 0};
    return c.a != 0;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    if (c.keep) kept[i] = x[i];
    x[i] = T(double(x[i]) + c.a * double(p[i]));
  }
};

/// rr = ||r||^2, rho = <r, D z> and <r, p> of an r that was made anew from x, which is 0 again: no
/// step is pending. Where D is M, z is r.                                               reads 4 n
template <class T>
struct CgRenew {
  static constexpr char const* name = "cg_renew";
  static constexpr int sums = 3;
  std::int64_t n;
  CgScalars* k;
  Diagonal<T> D;
  T const *r, *z, *p;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double const ri = double(r[i]);
    sum[0] += ri * ri;
    sum[1] += ri * D(i, double(z[i]));
    sum[2] += ri * double(p[i]);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    k->rr = sum[0], k->rho = sum[1];
    k->turn = sum[1] > 0 ? sum[2] / sum[1] : 0.0;
    k->a = k->keep = 0, k->reach = {0};
  }
};

/// p -= (<r, p> / <r, D z>) D z: orthogonal to r, as the recurrences take it to be.
template <class T>
struct CgTurn {
  static constexpr char const* name = "cg_turn";
  std::int64_t n;
  CgScalars const* k;
  Diagonal<T> D;
  T const* z;
  T* p;
  struct Coefficients {
    double turn;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.turn = k->turn;
    return is_finite(c.turn);
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    p[i] = T(double(p[i]) - c.turn * D(i, double(z[i])));
  }
};

/// Where a loop has ended at a direction p: is A indefinite, or singular?
/// (solvers/driver/curvature.hpp)
template <class T>
struct CgClassifyStop {
  static constexpr char const* name = "cg_classify_stop";
  static constexpr int sums = 2;
  std::int64_t n;
  CgScalars const* k;
  double const* norm_A;
  double roundoff;
  T const *p, *q;
  struct Coefficients {};
  TCSOLVE_HD bool prepare(Frame f, Coefficients&) const {
    return Curvature::decides(static_cast<Stop>(f.state->stop));
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const&, double* sum) const {
    sum[0] += double(p[i]) * double(p[i]);
    sum[1] += double(q[i]) * double(q[i]);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    Curvature{k->sigma, sqrt(sum[0]), sqrt(sum[1]), *norm_A, roundoff}.classify(*f.state);
    k->classify(*f.state);
  }
};

/// x += a p;  p = z + (rho / rho_prev) p, z = D r.
template <class T>
void update_direction(Context& ctx, CgScalars const* k, Diagonal<T> D, In<T> r, Out<T> p, Out<T> x,
                      T* kept = nullptr) {
  submit(ctx, UpdateDirection<T>{p.rows, k, D, r.data, p.data, x.data, kept});
}
/// a = rho / sigma;  r -= a q;  ||r||^2; when D is M (`folded`), rho = <r, D r>. `test` follows.
template <class T>
void update_residual(Context& ctx, CgScalars* k, Diagonal<T> D, bool folded, In<T> q, Out<T> r,
                     Observe const& test) {
  submit(ctx, UpdateResidual<T>{r.rows, k, D, folded, q.data, r.data, test});
}

template <class T>
using CgOps = OpList<CgStart<T>, CgFlexibleBeta<T>, UpdateDirection<T>, UpdateResidual<T>,
                     CgComplete<T>, CgRenew<T>, CgTurn<T>, CgClassifyStop<T>>;

}  // namespace tcsolve
