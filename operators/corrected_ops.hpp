// SPDX-License-Identifier: Apache-2.0
/// The fused operations of a matrix with a correction on its diagonal.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// A row of D times what x holds of its block: at(j) is entry j of a column of x.
struct DiagonalBlocks {
  float const* d;  // (rows, block)
  int block;
  template <class At>
  TCSOLVE_HD double operator()(Index i, At const& at) const {
    if (block == 1) return double(d[i]) * double(at(i));
    Index const first = i - i % block;
    float const* const row = d + std::int64_t{i} * block;
    double sum = 0;
    for (int j = 0; j < block; ++j) sum += double(row[j]) * double(at(first + j));
    return sum;
  }
};

/// OpFacts::cache_share: another pass, and of blocks another barrier, cost one kernel what it gains
/// beyond some 25 MB (FP16 of 27 points on an H200, us an iteration as one kernel and as a graph:
/// 32^3 27.2, 30.3; 64^3 40.6, 42.6; 7 points 100^3 45.9, 43.4; 96^3 80.7, 73.7).
constexpr double corrected_cache_share = 0.4;

/// y += alpha D x, x and y blocks of vectors.
template <class T>
struct AddDiagonal {
  static constexpr char const* name = "add_diagonal";
  static constexpr double cache_share = corrected_cache_share;
  std::int64_t n;
  double alpha;
  DiagonalBlocks D;
  Elements<T const> x;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const k = y.cols, i = k == 1 ? e : row_of_element(e, y.cols), c = e - i * k;
    auto const at = [&](std::int64_t j) { return x[j * k + c]; };
    y[e] = T(double(y[e]) + alpha * D(static_cast<Index>(i), at));
  }
  void const* gathered() const { return D.block > 1 ? x.data : nullptr; }
  Index columns() const { return y.cols; }
};

/// The same of one column of adjacent entries, and sigma = <x, y>.
template <class T>
struct AddDiagonalDot {
  static constexpr char const* name = "add_diagonal_dot";
  static constexpr double cache_share = corrected_cache_share;
  static constexpr int sums = 1;
  std::int64_t n;
  double alpha;
  DiagonalBlocks D;
  T const* x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    T const before = y[i];
    T const v = T(double(before) + alpha * D(static_cast<Index>(i), [&](Index j) { return x[j]; }));
    y[i] = v;
    sum[0] += conjugate(double(x[i])) * double(v);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
  void const* gathered() const { return D.block > 1 ? x : nullptr; }
};

template <class T>
using CorrectedOps = OpList<AddDiagonal<T>, AddDiagonalDot<T>>;

}  // namespace tcsolve
