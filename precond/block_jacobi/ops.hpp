// SPDX-License-Identifier: Apache-2.0
/// The fused operation that applies block Jacobi.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// y = B x, B block diagonal with dense blocks: row i of its block starts at column start[i], has
/// width[i] values from values[offset[i]].
template <class T>
struct BlockMultiply {
  static constexpr char const* name = "block_multiply";
  std::int64_t n;
  double alpha;
  Index const *start, *width;
  Offset const* offset;
  T const* values;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e / y.cols, j = e % y.cols;
    double a = 0;
    for (Index k = 0; k < width[i]; ++k)
      a += double(values[offset[i] + k]) * double(x[(std::int64_t{start[i]} + k) * y.cols + j]);
    y[e] = T(beta == 0 ? alpha * a : alpha * a + beta * double(y[e]));
  }
  void const* gathered() const { return x.data; }
};

template <class T>
using BlockJacobiOps = OpList<BlockMultiply<T>>;

}  // namespace tcsolve
