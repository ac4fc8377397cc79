// SPDX-License-Identifier: Apache-2.0
/// The operations every method shares: fill, axpby, dot, norms, products with a diagonal.
/// All scalars are FP64 and every sum is FP64, whatever T is.
#pragma once

#include <optional>
#include <type_traits>

#include <tcsolve/core/precision.hpp>
#include <tcsolve/kernels/operation.hpp>
#include <tcsolve/kernels/operation_facts.hpp>

namespace tcsolve {

TCSOLVE_HD bool is_finite(double a) { return a - a == 0; }
TCSOLVE_HD double magnitude(double a) { return a < 0 ? -a : a; }

/// The row of element e of a block of so many columns. A division of 64 bits is a hundred
/// instructions on a device.
TCSOLVE_HD std::int64_t row_of_element(std::int64_t e, Index cols) {
  auto const low = static_cast<std::uint32_t>(e);
  return low == e ? low / static_cast<std::uint32_t>(cols) : e / cols;
}

/// Element e of a block of vectors, counted row by row whatever the layout.
template <class T>
struct Elements {
  T* data;
  std::int64_t row_stride, col_stride;
  Index cols;
  bool packed;  ///< row-major, without gaps

  Elements(MultiView<T> v)
      : data(v.data),
        row_stride(v.layout == Layout::row_major ? v.ld : 1),
        col_stride(v.layout == Layout::row_major ? 1 : v.ld),
        cols(v.cols),
        packed(row_stride == cols && col_stride == 1) {}
  TCSOLVE_HD T& operator[](std::int64_t e) const {
    if (packed) return data[e];
    if (cols == 1) return data[e * row_stride];
    std::int64_t const i = row_of_element(e, cols);
    return data[i * row_stride + (e - i * cols) * col_stride];
  }
};

/// y = value.
template <class T>
struct Fill {
  static constexpr char const* name = "fill";
  std::int64_t n;
  double value;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const { y[i] = T(value); }
};

/// Uniform in [-1, 1), a function of seed and i alone (SplitMix64, Steele et al. 2014).
TCSOLVE_HD double random_value(std::uint64_t seed, std::int64_t i) {
  std::uint64_t z =
      seed * 0xd1342543de82ef95u + (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return double(z >> 11) * 0x1p-52 - 1.0;
}

/// y_i random in [-1, 1).
template <class T>
struct Random {
  static constexpr char const* name = "random";
  std::int64_t n;
  std::uint64_t seed;
  T* y;
  std::int64_t first = 0;  ///< the number of row 0 among those of all ranks
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    y[i] = T(random_value(seed, first + i));
  }
};

/// y = alpha x + beta y.  beta == 0 writes y and never reads it; likewise alpha == 0 and x.
template <class T, class U>
struct Axpby {
  static constexpr char const* name = "axpby";
  std::int64_t n;
  double alpha;
  Elements<T const> x;
  double beta;
  Elements<U> y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    double v = alpha == 0 ? 0.0 : alpha * double(x[i]);
    y[i] = U(beta == 0 ? v : v + beta * double(y[i]));
  }
};

/// sigma = <x, y>.
template <class T>
struct Dot {
  static constexpr char const* name = "dot";
  static constexpr int sums = 1;
  static constexpr bool only_sums = true;
  std::int64_t n;
  T const *x, *y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    sum[0] += double(conjugate(x[i])) * double(y[i]);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
};

/// sigma = <x, y>, yy = <y, y> in one pass.
template <class T>
struct Dot2 {
  static constexpr char const* name = "dot2";
  static constexpr int sums = 2;
  static constexpr bool only_sums = true;
  std::int64_t n;
  T const *x, *y;
  double *sigma, *yy;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double v = double(y[i]);
    sum[0] += double(conjugate(x[i])) * v;
    sum[1] += double(conjugate(y[i])) * v;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0], *yy = sum[1]; }
};

/// value = max |x_i|; NaN when any x_i is.
template <class T>
struct MaxAbs {
  static constexpr char const* name = "max_abs";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;
  T const* x;
  double* value;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double a = magnitude(double(x[i]));
    sum[0] = (a != a || a > sum[0]) ? a : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *value = sum[0]; }
};

/// The squares of the lengths of a few vectors in one pass, and the sums of their magnitudes, which
/// tell a vector of zeros from one whose squares are below the range of FP64.
struct Lengths {
  static constexpr char const* name = "lengths";
  static constexpr int most = 3;
  static constexpr int sums = 2 * most;
  static constexpr bool only_sums = true;
  std::int64_t n;  ///< the longest one
  double const* v[most];
  std::int64_t rows[most];  ///< 0 where there is no vector
  double* out;              ///< (2 most): squares, then magnitudes
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    for (int k = 0; k < most; ++k)
      if (i < rows[k]) {
        sum[k] += v[k][i] * v[k][i];
        sum[most + k] += magnitude(v[k][i]);
      }
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < sums; ++k) out[k] = sum[k];
  }
};

/// y = 2^e x rounded to U, yy = ||y||^2. Two factors, so that 2^e itself may be out of range.
template <class T, class U>
struct Rescale {
  static constexpr char const* name = "rescale";
  static constexpr int sums = 1;
  std::int64_t n;
  double factor, factor2;
  T const* x;
  U* y;
  double* yy;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    U v = U(double(x[i]) * factor * factor2);
    y[i] = v;
    sum[0] += double(v) * double(v);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *yy = sum[0]; }
};

/// t = x + 2^e d in FP64: an iterate is corrected.
template <class T>
struct Correct {
  static constexpr char const* name = "correct";
  std::int64_t n;
  double factor, factor2;
  T const* d;
  double const* x;
  double* t;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    t[i] = x[i] + double(d[i]) * factor * factor2;
  }
};

/// y = alpha d o x + beta y, d a diagonal (rows), x and y blocks of vectors.
template <class T>
struct Multiply {
  static constexpr char const* name = "multiply";
  std::int64_t n;
  double alpha;
  T const* d;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    double v = alpha * (double(d[y.cols == 1 ? i : row_of_element(i, y.cols)]) * double(x[i]));
    y[i] = T(beta == 0 ? v : v + beta * double(y[i]));
  }
  /// Where it is one column of adjacent entries and beta = 0.
  std::optional<DiagonalScaling> scaling() const requires std::is_same_v<T, double> {
    if (beta != 0 || x.cols != 1 || x.row_stride != 1) return std::nullopt;
    return DiagonalScaling{{d, alpha}, x.data, y.data};
  }
};

/// z = alpha d o r, rho = <r, z>: the Jacobi preconditioner and its inner product in one pass.
template <class T>
struct MultiplyDot {
  static constexpr char const* name = "multiply_dot";
  static constexpr int sums = 1;
  std::int64_t n;
  double alpha;
  T const *d, *r;
  T* z;
  double* rho;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double ri = double(r[i]), zi = alpha * (double(d[i]) * ri);
    z[i] = T(zi);
    sum[0] += conjugate(ri) * zi;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *rho = sum[0]; }
};

/// y_i = x_{p(i)}, row by row of blocks of vectors; x and y are distinct. A permutation p gives P
/// x, its inverse P^T x.
template <class T>
struct Permute {
  static constexpr char const* name = "permute";
  std::int64_t n;
  Index const* p;  // (rows)
  Elements<T const> x;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    std::int64_t const k = y.cols, row = k == 1 ? i : row_of_element(i, y.cols);
    y[i] = x[p[row] * k + (i - row * k)];
  }
};

template <class T>
void fill(Context& ctx, Out<T> y, double value) {
  submit(ctx, Fill<T>{y.size(), value, y});
}
/// y uniform in [-1, 1), the same values whichever rank has which rows; `stream` tells uses apart.
template <class T>
void random_vector(Context& ctx, std::uint64_t stream, Out<T> y) {
  submit(ctx, Random<T>{y.rows, ctx.options().seed + stream, y.data,
                        ctx.communicator().first_row(y.rows)});
}
template <class T, class U>
void axpby(Context& ctx, double alpha, In<T> x, double beta, Out<U> y) {
  submit(ctx, Axpby<T, U>{y.size(), alpha, x, beta, y});
}
/// y = x, whatever the layouts; both in the Context's space.
template <class T, class U>
void copy(Context& ctx, In<T> x, Out<U> y) {
  axpby(ctx, 1.0, x, 0.0, y);
}
template <class T>
void permute(Context& ctx, Index const* p, In<T> x, Out<T> y) {
  submit(ctx, Permute<T>{y.size(), p, x, y});
}
template <class T>
void dot(Context& ctx, In<T> x, In<T> y, double* sigma) {
  submit(ctx, Dot<T>{y.rows, x.data, y.data, sigma});
}
template <class T>
void dot2(Context& ctx, In<T> x, In<T> y, double* sigma, double* yy) {
  submit(ctx, Dot2<T>{y.rows, x.data, y.data, sigma, yy});
}
template <class T>
void max_abs(Context& ctx, In<T> x, double* value) {
  submit(ctx, MaxAbs<T>{x.rows, x.data, value});
}

}  // namespace tcsolve
