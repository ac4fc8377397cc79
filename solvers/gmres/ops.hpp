// SPDX-License-Identifier: Apache-2.0
/// The Arnoldi process with a basis that stays on the device: classical Gram-Schmidt with delayed
/// reorthogonalisation (Swirydowicz et al. 2021; DCGS2 in Bielich et al. 2022), which is as good as
/// Gram-Schmidt twice and reads the basis half as often: once for all inner products of a step,
/// once for all updates. Before step j there are
///
///     V = v_0 .. v_{j-1}   orthonormal,  A V = [V v_j] H
///     u                    the candidate for v_j, orthogonalised once, of norm about 1:
///                          A v_{j-1} = V h + 2^e u
///     w = A u              (A M u, with a preconditioner)
///
/// and the step is
///
///     s = V^T u,  t = V^T w,  <u, u>,  <u, w>,  <w, w>      Gram
///
///     rho     = sqrt(<u, u> - <s, s>)
///     v_j     = (u - V s) / rho                             u, orthogonalised again
///
///     kappa   = (<u, w> - <s, t>) / rho                     = <v_j, w>
///     h       = ([t; kappa] - H s) / rho                    = [V v_j]^T A v_j
///     2^e u'  = (w - V t - kappa v_j) / rho                 = A v_j - [V v_j] h
///
/// What the second pass finds belongs to the column of H before, 2^e s, but that is roundoff of
/// ||A||, so the column stays. Only in h it counts, where rho may be small.
/// Which column is being made, j, is the step number of the loop: one recording serves all j.
///
/// V may be stored in a type S that is narrower than the T of u and w (solvers/gmres/basis.hpp).
/// Then V is orthonormal, and A V = [V v_j] H true, to the roundoff of S: x = V y has a residual of
/// that times ||A|| ||y||, however small the rotations say it is. So a cycle ends where its own
/// account has fallen by that much, by Stop::stagnated with Cause::values, and the next one begins
/// from the true residual, as refinement does.
#pragma once

#include <cmath>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>
#include <tcsolve/solvers/gmres/basis.hpp>

namespace tcsolve {

/// The small arrays of one GMRES cycle, in the Context's space; m = columns of a cycle.
struct Hessenberg {
  Index m;
  double* sums;   ///< (m + 1, 2)   (s_k, t_k), k < j;  (<u, u>, <u, w>);  <w, w>
  double* h;      ///< (m + 1, m)   column-major: H
  double* R;      ///< (m, m)       column-major: H rotated to triangular form
  double *c, *s;  ///< (m)          the rotations
  double* g;      ///< (m + 1)      rotated right-hand side
  double* y;      ///< (m)          R^-1 g, once the cycle is complete
  // Of this step: 1 / rho, kappa, 1 / (2^e rho), 2^e.
  double *to_v, *kappa, *to_u, *scale;
  double* norm2;        ///< square of the residual's norm
  double* columns;      ///< columns of R that can be used
  double* left;         ///< columns that BackSubstitute left out
  double* size;         ///< of ||A||: the longest column of H so far
  double* S = nullptr;  ///< (m, m)   column j: s of step j, then 1 / rho; null: not kept

  TCSOLVE_HD double& at(Index row, Index column) const {  ///< of H
    return h[std::int64_t{column} * (m + 1) + row];
  }
};

/// u = r / ||r||, g = ||r|| e_1.
template <class T>
struct ArnoldiStart {
  static constexpr char const* name = "arnoldi_start";
  std::int64_t n;
  Hessenberg H;
  T const* r;
  T* u;
  struct Coefficients {
    double scale;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.scale = *H.norm2 > 0 ? 1 / sqrt(*H.norm2) : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    u[i] = T(double(r[i]) * c.scale);
  }
  TCSOLVE_HD void finish(Frame, double const*) const {
    H.g[0] = sqrt(*H.norm2);
    *H.columns = 0;
    *H.left = *H.size = 0;
  }
};

/// The inner products of a step (s, t, <u, u>, <u, w>, <w, w>; reads (j + 2) n) and what follows
/// from them: rho, kappa, column j of H. The one reduction whose width is known only on the device:
/// it has kernels of its own, which call entry() and finish() when the sums are there.
template <class T, class S = T>
struct Gram {
  static constexpr char const* name = "gram";
  static constexpr bool only_sums = true;
  static constexpr bool narrow = !std::is_same_v<S, T>;
  std::int64_t n;
  Basis<S> V;
  T const *u, *w;
  Hessenberg H;
  double roundoff;   ///< of the vectors
  double size_A;     ///< of ||A|| where it is known, else 0: then the column's size is taken
  double* partials;  ///< (2 m + 1, gram_blocks(ctx)): scratch

  static TCSOLVE_HD Index sums(Index j) { return 2 * j + 3; }
  TCSOLVE_HD int sum_count() const { return sums(H.m - 1); }
  /// Column k of [V u].
  TCSOLVE_HD T const* column(Index j, Index k) const {
    static_assert(!narrow);
    return k < j ? V.data + std::int64_t{k} * n : u;
  }

  /// Entry k of column j of H, k = 0 .. j. O(j).
  TCSOLVE_HD void entry(Index j, Index k) const {
    Candidate const v = candidate(j);
    double a = k < j ? t(k) : v.kappa;
    for (Index l = k > 0 ? k - 1 : 0; l < j; ++l) a -= H.at(k, l) * s(l);
    H.at(k, j) = a / v.rho;
    if (H.S != nullptr) H.S[std::int64_t{j} * H.m + k] = k < j ? s(k) : 1 / v.rho;
  }

  /// The scalars of the update. One thread, when the sums are there.
  TCSOLVE_HD void finish(Frame f) const {
    Index j = f.step();
    Candidate const v = candidate(j);
    // Twice is enough (Giraud et al. 2005): what loses half of itself again was roundoff.
    if (v.rho2 < 0.25 * v.uu) return retract(f, j - 1);
    // The norm of what the update leaves, foretold; a floor where the difference is roundoff.
    double ww = H.sums[2 * j + 2], left2 = ww - v.tt - v.kappa * v.kappa;
    double norm = sqrt(left2 > 1e-8 * ww ? left2 : 1e-8 * ww) / v.rho;
    double scale = norm > 0 && is_finite(norm) ? ldexp(1.0, ilogb(norm)) : 1.0;
    *H.to_v = 1 / v.rho;
    *H.kappa = v.kappa;
    *H.to_u = 1 / (scale * v.rho);
    *H.scale = scale;
  }

 private:
  struct Candidate {
    double uu, tt, rho2, rho, kappa;
  };
  TCSOLVE_HD double s(Index k) const { return H.sums[2 * k]; }
  TCSOLVE_HD double t(Index k) const { return H.sums[2 * k + 1]; }
  TCSOLVE_HD Candidate candidate(Index j) const {
    double ss = 0, st = 0, tt = 0;
    for (Index k = 0; k < j; ++k) ss += s(k) * s(k), st += s(k) * t(k), tt += t(k) * t(k);
    double rho2 = s(j) - ss, rho = sqrt(rho2);
    return {s(j), tt, rho2, rho, (t(j) - st) / rho};
  }
  /// The candidate that came with column k was no direction: the subspace is invariant, and the
  /// last rotation is undone.
  TCSOLVE_HD void retract(Frame f, Index k) const {
    double* column = H.R + std::int64_t{k} * H.m;
    double size2 = 0;
    for (Index i = 0; i <= k; ++i) size2 += H.at(i, k) * H.at(i, k);
    double size = sqrt(size2) > size_A ? sqrt(size2) : size_A;
    column[k] *= H.c[k];
    H.g[k] = H.c[k] * H.g[k] - H.s[k] * H.g[k + 1];
    if (narrow) {
      f.raise(Stop::stagnated, Cause::values, 0);  // or V is no more orthonormal than S allows
      return;
    }
    if (magnitude(column[k]) > 10 * roundoff * size) {
      f.raise(Stop::claimed, Cause::none, 0);
    } else {
      *H.columns = k;
      f.raise(Stop::breakdown, Cause::singular_operator, column[k]);
    }
  }
};

/// v_j = (u - V s) / rho;  u = (w - V t - kappa v_j) / (rho 2^e);  column j of H, rotated to
/// triangular form (Saad 2003, eq. 6.37); the residual's norm; the stopping test. An invariant
/// subspace is recognised.                                     reads (j + 2) n, writes 2 n
template <class T, class S = T>
struct ArnoldiUpdate {
  static constexpr char const* name = "arnoldi_update";
  static constexpr int sums = 1;
  std::int64_t n;
  Basis<S> V;
  T* u;
  T const* w;
  Hessenberg H;
  double roundoff;  ///< of the vectors: h_{j+1,j} below this fraction of A's size is zero
  double size_A;    ///< see Gram
  Observe observe;
  struct Coefficients {
    Index j;
    double to_v, kappa, to_u;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c = {f.step(), *H.to_v, *H.kappa, *H.to_u};
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    double a = double(u[i]), b = double(w[i]);
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
    for (Index k = 0; k < c.j; ++k) {
      double vk = double(V.at(k, i));
      a -= vk * H.sums[2 * k];
      b -= vk * H.sums[2 * k + 1];
    }
    sum[0] += write(i, c, a, b);
  }
  /// Row i of v_j and of the next u from a = (u - V s)_i and b = (w - V t)_i; the square of the
  /// latter.
  TCSOLVE_HD double write(std::int64_t i, Coefficients const& c, double a, double b) const {
    return write_next(i, c, double(V.put(c.j, i, a * c.to_v)), b);
  }
  /// The next u from v_j as it is stored.
  TCSOLVE_HD double write_next(std::int64_t i, Coefficients const& c, double v, double b) const {
    T next = T((b - c.kappa * v) * c.to_u);
    u[i] = next;
    return double(next) * double(next);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    Index j = f.step();
    double* column = H.R + std::int64_t{j} * H.m;
    double column2 = 0;
    double a = rotated(j, column, column2);
    double below = sqrt(sum[0]) * *H.scale;
    if (!is_finite(column2) || !is_finite(below)) {
      f.raise(Stop::nonfinite, Cause::none, column2);
      return;
    }
    double size = sqrt(column2 + below * below);
    if (size > *H.size) *H.size = size;
    if (size < size_A) size = size_A;
    bool invariant = below <= 10 * roundoff * size;
    if (invariant) below = 0;
    H.at(j + 1, j) = below;
    double radius = sqrt(a * a + below * below);
    if (radius <= 10 * roundoff * size) {
      // The invariant subspace does not contain a solution: A is singular on it.
      f.raise(Stop::breakdown, Cause::singular_operator, radius);
      return;
    }
    H.c[j] = a / radius;
    H.s[j] = below / radius;
    column[j] = radius;
    H.g[j + 1] = -H.s[j] * H.g[j];
    H.g[j] = H.c[j] * H.g[j];
    *H.norm2 = H.g[j + 1] * H.g[j + 1];
    *H.columns = j + 1;
  }
  TCSOLVE_HD void after(Frame f) const {
    observe.finish(f, nullptr);
    if (std::is_same_v<S, T> || f.stopped()) return;
    // Of a smaller residual V says nothing.
    constexpr double least = basis_roundoff<S> * basis_roundoff<S>;
    if (*H.norm2 > least * f.state->start2) return;
    f.raise(Stop::stagnated, Cause::values, *H.norm2);
    observe.finish(f, nullptr);  // the step is counted; this tells of its end
  }

 private:
  /// Column j of H through the rotations so far, into R but for its last entry, which is returned.
  TCSOLVE_HD double rotated(Index j, double* column, double& column2) const {
    double last = H.at(0, j);
    column2 = last * last;
    for (Index i = 0; i < j; ++i) {
      double b = H.at(i + 1, j), c = H.c[i], s = H.s[i];
      column2 += b * b;
      column[i] = c * last + s * b;
      last = -s * last + c * b;
    }
    return last;
  }
};

/// Z_j = z: flexible GMRES keeps what the preconditioner made.
template <class T>
struct StoreColumn {
  static constexpr char const* name = "store_column";
  std::int64_t n;
  T const* z;
  T* Z;
  struct Coefficients {
    Index column;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c.column = f.step();
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    Z[c.column * n + i] = z[i];
  }
};

/// y = R^-1 g, column by column from the last. m^2 / 2 products by one thread. Where S is kept, y
/// is for what was multiplied, z_j = M u_j: the columns of H are those of z'_j = (z_j - sum_k s_k
/// z'_k) / rho, as v_j is of u. For any M, also one that changes.
///
/// With k columns the residual's norm is that of g_k, g_{k+1}, ..., in exact arithmetic; a y so
/// large that its rounding error, 10 roundoff ||A|| ||y||, exceeds that (R is singular but for
/// rounding) has no such residual. Then only as many columns are used as make the larger of the two
/// smallest: the one falls with k, the other grows, so they are found by bisection.
struct BackSubstitute {
  static constexpr char const* name = "back_substitute";
  std::int64_t n = 0;
  Hessenberg H;
  double roundoff = 0;  ///< of the vectors; 0: all columns are used
  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame f, double const*) const {
    auto const all = static_cast<Index>(*H.columns);
    Index const k = usable(all);
    if (k != all) solve(k);
    *H.columns = k;
    *H.left = all - k;
    // The cause for a batch; a single solve reads H.left on the host (saw_singular).
    bool const claimed = f.state != nullptr && static_cast<Stop>(f.state->stop) == Stop::claimed;
    if (k != all && claimed) f.state->cause = static_cast<std::int32_t>(Cause::singular_operator);
    if (H.S == nullptr) return;
    for (Index j = k - 1; j >= 0; --j) {
      double const* s = H.S + std::int64_t{j} * H.m;
      H.y[j] *= s[j];
      double const y = H.y[j];
      for (Index i = 0; i < j; ++i) H.y[i] -= s[i] * y;
    }
  }

 private:
  /// y of the first k columns; returns ||y||.
  TCSOLVE_HD double solve(Index k) const {
    double yy = 0;
    for (Index i = 0; i < k; ++i) H.y[i] = H.g[i];
    for (Index j = k - 1; j >= 0; --j) {
      double const* column = H.R + std::int64_t{j} * H.m;
      double const y = H.y[j] / column[j];
      H.y[j] = y;
      yy += y * y;
      for (Index i = 0; i < j; ++i) H.y[i] -= column[i] * y;
    }
    return sqrt(yy);
  }
  /// ||r|| with k columns: what the rotations have not yet moved into g_0 .. g_{k-1}.
  TCSOLVE_HD double residual(Index k) const {
    double rest = 0;
    for (auto j = static_cast<Index>(*H.columns); j >= k; --j) rest += H.g[j] * H.g[j];
    return sqrt(rest);
  }
  /// Of `all` columns, how many to use; H.y is that of all.
  TCSOLVE_HD Index usable(Index all) const {
    double const e = 10 * roundoff * *H.size, every = e * solve(all);
    if (every <= residual(all) || all == 0) return all;
    Index good = 0, bad = all;
    while (bad - good > 1) {
      Index const k = good + (bad - good) / 2;
      (e * solve(k) <= residual(k) ? good : bad) = k;
    }
    double const before = residual(good), after = e * solve(bad);
    double const best = before < after ? before : after;
    Index const k = before < after ? good : bad;
    // All columns, unless fewer are a good deal better.
    Index const chosen = best < 0.5 * every ? k : all;
    if (chosen == all) solve(all);
    return chosen;
  }
};

/// u = V y, y of `columns` entries.
template <class T, class S = T>
struct CombineBasis {
  static constexpr char const* name = "combine";
  std::int64_t n;
  double const* columns;
  Basis<S> V;
  double const* y;
  T* u;
  struct Coefficients {
    Index columns;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.columns = static_cast<Index>(*columns);
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    double a = 0;
    for (Index j = 0; j < c.columns; ++j) a += double(V.at(j, i)) * y[j];
    u[i] = T(a);
  }
};

namespace host {
template <class T, class S>
void gram(Host&, LoopState*, Gram<T, S> const&);
}
namespace cuda {
template <class T, class S>
void gram(Device&, LoopState*, Gram<T, S> const&);
int gram_blocks(Device&);
// On the device an update has a kernel of its own.
template <class T, class S>
void execute(Device&, LoopState*, ArnoldiUpdate<T, S> const&);
}  // namespace cuda
/// Partial sums that a Gram needs for each of its own.
inline int gram_blocks(Context& ctx) {
  return ctx.visit([]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      return gram_blocks(on);
    else
      return 1;
  });
}
template <class T, class S>
void gram(Context& ctx, Gram<T, S> const& op) {
  ctx.submit_op(op, [op](Context& c) {
    LoopState* state = c.loop();
    c.visit([&](auto& on) { gram(on, state, op); });
  });
}

template <class T>
using GmresOps = OpList<ArnoldiStart<T>, StoreColumn<T>>;

/// f(T, S) for each type of the vectors and each S that a basis under them may be stored in.
#define TCSOLVE_EACH_BASIS(f)                                                               \
  f(double, double) f(double, float) f(double, half) f(double, bfloat16) f(double, Fixed16) \
      f(float, float) f(float, half) f(float, bfloat16) f(float, Fixed16)

}  // namespace tcsolve
