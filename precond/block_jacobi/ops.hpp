// SPDX-License-Identifier: Apache-2.0
/// The fused operation that applies block Jacobi.
#pragma once

#include <cstddef>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// y = B x, B block diagonal with dense blocks: row i of its block starts at column start[i], has
/// width[i] values from byte offset[i] of `values` on, each of bytes[i] bytes: fp64, fp32 or fp16.
template <class T>
struct BlockMultiply {
  static constexpr char const* name = "block_multiply";
  std::int64_t n;
  double alpha;
  Index const *start, *width;
  std::uint8_t const* bytes;
  Offset const* offset;
  std::byte const* values;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e / y.cols, j = e % y.cols;
    double const a = bytes[i] == 8   ? row<double>(i, j)
                     : bytes[i] == 4 ? row<float>(i, j)
                                     : row<half>(i, j);
    y[e] = T(beta == 0 ? alpha * a : alpha * a + beta * double(y[e]));
  }
  /// Of column j of x; sums are FP64.
  template <class S>
  TCSOLVE_HD double row(std::int64_t i, std::int64_t j) const {
    auto const* const v = reinterpret_cast<S const*>(values + offset[i]);
    double a = 0;
    for (Index k = 0; k < width[i]; ++k)
      a += double(v[k]) * double(x[(std::int64_t{start[i]} + k) * y.cols + j]);
    return a;
  }
  void const* gathered() const { return x.data; }
};

template <class T>
using BlockJacobiOps = OpList<BlockMultiply<T>>;

}  // namespace tcsolve
