// SPDX-License-Identifier: Apache-2.0
/// Where a product writes its rows.
#pragma once

#include <cstdint>

#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

/// y_row = alpha sum + beta y_row; y is not read when beta is 0.
template <class T>
struct Range {
  T alpha, beta;
  T* y;
  std::int64_t stride;
  template <class U>
  __device__ void write(Index row, U sum) const {
    T const v = T(sum);
    T& out = y[row * stride];
    out = beta == T(0) ? alpha * v : alpha * v + beta * out;
  }
};

}  // namespace tcsolve::cuda
