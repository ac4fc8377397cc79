// SPDX-License-Identifier: Apache-2.0
/// The fused operations of a matrix with a correction on its diagonal.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// (D x)_i of column c of a block of vectors; D is (rows, block).
template <class T>
struct DiagonalBlocks {
  float const* d;
  int block;
  TCSOLVE_HD double operator()(Elements<T const> const& x, std::int64_t i, std::int64_t c) const {
    std::int64_t const k = x.cols;
    if (block == 1) return double(d[i]) * double(x[i * k + c]);
    std::int64_t const first = i - static_cast<Index>(i) % block;
    double sum = 0;
    for (int j = 0; j < block; ++j)
      sum += double(d[i * block + j]) * double(x[(first + j) * k + c]);
    return sum;
  }
};

/// y += alpha D x, x and y blocks of vectors.
template <class T>
struct AddDiagonal {
  static constexpr char const* name = "add_diagonal";
  std::int64_t n;
  double alpha;
  DiagonalBlocks<T> D;
  Elements<T const> x;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const k = y.cols, i = k == 1 ? e : row_of_element(e, y.cols);
    y[e] = T(double(y[e]) + alpha * D(x, i, e - i * k));
  }
};

/// The same of one column, and sigma = <x, y>.
template <class T>
struct AddDiagonalDot {
  static constexpr char const* name = "add_diagonal_dot";
  static constexpr int sums = 1;
  std::int64_t n;
  double alpha;
  DiagonalBlocks<T> D;
  Elements<T const> x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    T const v = T(double(y[i]) + alpha * D(x, i, 0));
    y[i] = v;
    sum[0] += conjugate(double(x[i])) * double(v);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
};

template <class T>
using CorrectedOps = OpList<AddDiagonal<T>, AddDiagonalDot<T>>;

}  // namespace tcsolve
