// SPDX-License-Identifier: Apache-2.0
/// The Arnoldi process with a basis that stays on the device (Saad 2003, sections 6.3 and 6.5.3).
/// Which column is being made, j, is the step number of the loop: the same recording serves all j.
#pragma once

#include <cmath>

#include <tcsolve/kernels/verbs/basic.hpp>

namespace tcsolve {

/// The small arrays of one GMRES cycle, in the Context's space; m = columns of a cycle.
struct Hessenberg {
  Index m;
  double* h;        ///< (m + 1)      first Gram-Schmidt pass, V^T w
  double* again;    ///< (m + 1)      second pass
  double* R;        ///< (m, m)       column-major: the Hessenberg matrix, rotated to triangular
  double *c, *s;    ///< (m)          the rotations
  double* g;        ///< (m + 1)      rotated right-hand side
  double* y;        ///< (m)          R^-1 g, once the cycle is complete
  double* ww;       ///< ||w||^2 after both passes
  double* norm2;    ///< square of the residual's norm
  double* next;     ///< h_{j+1,j}, 0 after a lucky breakdown
  double* columns;  ///< columns of R that can be used
};

/// v = r / ||r||, V_0 = v, g = ||r|| e_1.
template <class T>
struct ArnoldiStart {
  static constexpr char const* name = "arnoldi_start";
  std::int64_t n;
  Hessenberg H;
  T const* r;
  T *v, *V;
  struct Coefficients {
    double scale;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.scale = *H.norm2 > 0 ? 1 / sqrt(*H.norm2) : 0.0;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    v[i] = V[i] = T(double(r[i]) * c.scale);
  }
  TCSOLVE_HD void finish(Frame, double const*) const {
    H.g[0] = sqrt(*H.norm2);
    *H.columns = 0;
  }
};

/// w -= V h, ww = ||w||^2; V is n x (j + 1), column after column.
template <class T>
struct Orthogonalize {
  static constexpr char const* name = "orthogonalize";
  static constexpr int sums = 1;
  std::int64_t n;
  T const* V;
  double const* h;
  T* w;
  double* ww;
  struct Coefficients {
    Index columns;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c.columns = f.step() + 1;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    double a = double(w[i]);
    for (Index j = 0; j < c.columns; ++j) a -= double(V[j * n + i]) * h[j];
    T now = T(a);
    w[i] = now;
    sum[0] += double(now) * double(now);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *ww = sum[0]; }
};

/// Column j of H is complete: rotate it to triangular form (Saad 2003, eq. 6.37), update the
/// residual norm, and recognise an invariant subspace.
struct RotateHessenberg {
  static constexpr char const* name = "rotate_hessenberg";
  std::int64_t n = 0;
  Hessenberg H;
  double roundoff;  ///< of the vectors: h_{j+1,j} below this fraction of A's size is zero
  double size_A;    ///< of ||A|| where it is known, else 0: then the column's size stands for it

  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame f, double const*) const {
    Index j = f.step();
    double* column = H.R + std::int64_t{j} * H.m;
    double column2 = 0;
    for (Index i = 0; i <= j; ++i) {
      column[i] = H.h[i] + H.again[i];
      column2 += column[i] * column[i];
    }
    double below = sqrt(*H.ww);
    if (!is_finite(column2) || !is_finite(below)) {
      f.raise(Stop::nonfinite, Cause::none, column2);
      return;
    }
    double size = sqrt(column2 + below * below);
    if (size < size_A) size = size_A;
    bool invariant = below <= 10 * roundoff * size;
    if (invariant) below = 0;
    for (Index i = 0; i < j; ++i) {
      double a = column[i], b = column[i + 1];
      column[i] = H.c[i] * a + H.s[i] * b;
      column[i + 1] = -H.s[i] * a + H.c[i] * b;
    }
    double a = column[j], radius = sqrt(a * a + below * below);
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
    *H.next = below;
    *H.norm2 = H.g[j + 1] * H.g[j + 1];
    *H.columns = j + 1;
  }
};

/// v = w / h_{j+1,j}, V_{j+1} = v.
template <class T>
struct ArnoldiNext {
  static constexpr char const* name = "arnoldi_next";
  std::int64_t n;
  double const* next;
  T const* w;
  T *v, *V;
  struct Coefficients {
    double scale;
    Index column;
  };
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const {
    c.scale = *next > 0 ? 1 / *next : 0.0;
    c.column = f.step() + 1;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    v[i] = V[c.column * n + i] = T(double(w[i]) * c.scale);
  }
};

/// Z_j = z: flexible GMRES keeps what the preconditioner made.
template <class T>
struct KeepColumn {
  static constexpr char const* name = "keep_column";
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

/// y = R^-1 g, column by column from the last; g is used up. m^2 / 2 products by one thread.
struct BackSubstitute {
  static constexpr char const* name = "back_substitute";
  std::int64_t n = 0;
  Hessenberg H;
  TCSOLVE_HD void element(std::int64_t, NoCoefficients, double*) const {}
  TCSOLVE_HD void finish(Frame, double const*) const {
    for (Index j = static_cast<Index>(*H.columns) - 1; j >= 0; --j) {
      double const* column = H.R + std::int64_t{j} * H.m;
      double y = H.g[j] / column[j];
      H.y[j] = y;
      for (Index i = 0; i < j; ++i) H.g[i] -= column[i] * y;
    }
  }
};

/// u = V y, y of `columns` entries.
template <class T>
struct Combine {
  static constexpr char const* name = "combine";
  std::int64_t n;
  double const* columns;
  T const* V;
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
    for (Index j = 0; j < c.columns; ++j) a += double(V[j * n + i]) * y[j];
    u[i] = T(a);
  }
};

/// h = V^T w for the j + 1 columns made so far, j the step of the loop.     reads (j + 2) n
/// The one reduction whose width is known only on the device: it has kernels of its own.
template <class T>
struct Gram {
  static constexpr char const* name = "gram";
  std::int64_t n;
  T const *V, *w;
  double* h;
  double* partials;  ///< (columns, gram_blocks(ctx)): scratch
};
namespace host {
template <class T>
void gram(Host&, LoopState*, Gram<T> const&);
}
namespace cuda {
template <class T>
void gram(Device&, LoopState*, Gram<T> const&);
int gram_blocks(Device&);
}  // namespace cuda
/// Partial sums that a Gram needs for each column.
inline int gram_blocks(Context& ctx) {
  return ctx.visit([](cuda::Device& on) { return cuda::gram_blocks(on); }, [](Host&) { return 1; });
}
template <class T>
void gram(Context& ctx, Gram<T> const& verb) {
  ctx.submit_verb(verb, [verb](Context& c) {
    LoopState* state = c.loop();
    c.visit([&](cuda::Device& on) { cuda::gram(on, state, verb); },
            [&](Host& on) { host::gram(on, state, verb); });
  });
}

}  // namespace tcsolve
