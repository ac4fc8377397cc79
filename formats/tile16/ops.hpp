// SPDX-License-Identifier: Apache-2.0
/// Products with tiles as fused operations (kernels/operation.hpp): one element function for host
/// and device.
#pragma once

#include <tcsolve/formats/tile16/lines.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// The sum over row i of a_ij x_j, in storage order.
template <class S, class T>
TCSOLVE_HD T tile16_row(Tile16View<S> const& a, std::int64_t i, T const* x, std::int64_t stride) {
  struct Add {
    T const* x;
    std::int64_t stride;
    T sum;
    TCSOLVE_HD void operator()(Index column, S v) { sum += T(v) * x[column * stride]; }
  } add{x, stride, T(0)};
  walk(a, i, add);
  return add.sum;
}

/// y = alpha A x + beta y, blocks of vectors.
template <class S, class T>
struct Tile16Multiply {
  static constexpr char const* name = "tile16_multiply";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< rows times columns of y
  T alpha;
  Tile16View<S> a;
  Elements<T const> x;
  T beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const i = e / y.cols, j = e % y.cols;
    T const sum = alpha * tile16_row(a, i, x.data + j * x.col_stride, x.row_stride);
    y[e] = beta == T(0) ? sum : sum + beta * y[e];
  }
  void const* gathered() const { return x.data; }
  Index columns() const { return y.cols; }
};

/// y = alpha A x, sigma = <x, y>, one column.
template <class S, class T>
struct Tile16MultiplyDot {
  static constexpr char const* name = "tile16_multiply_dot";
  static constexpr bool long_elements = true;
  static constexpr int sums = 1;
  std::int64_t n;
  T alpha;
  Tile16View<S> a;
  T const* x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    y[i] = alpha * tile16_row(a, i, x, 1);
    sum[0] += double(x[i]) * double(y[i]);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
  void const* gathered() const { return x; }
};

using Tile16ExactOps = OpList<ExactResidual<Tile16View<double>>>;
using Tile16Ops = Join<ForValuePairs<Tile16Multiply, Tile16MultiplyDot>, Tile16ExactOps>;

}  // namespace tcsolve
