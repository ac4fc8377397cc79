// SPDX-License-Identifier: Apache-2.0
/// Where a product writes its rows.
#pragma once

#include <cstdint>

#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

/// y_row = alpha v + beta y_row, v = sum times the row's scale where there is one; y is not read
/// when beta is 0.
template <class T>
struct Range {
  T alpha, beta;
  T* y;
  std::int64_t stride;
  T const* scale;
  template <class U>
  __device__ void write(Index row, U sum) const {
    T v = scale == nullptr ? T(sum) : T(sum) * scale[row];
    T& out = y[row * stride];
    out = beta == T(0) ? alpha * v : alpha * v + beta * out;
  }
};

}  // namespace tcsolve::cuda
