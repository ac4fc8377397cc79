// SPDX-License-Identifier: Apache-2.0
/// Where a product writes its rows if a smoothing step takes them.
#pragma once

#include <tcsolve/kernels/cuda/range.cuh>
#include <tcsolve/kernels/smoothing_step.hpp>

namespace tcsolve::cuda {

/// y_row = alpha sum + beta y_row, of adjacent rows, and the step that takes y_row.
template <class T>
struct SteppingRange {
  Range<T> y;
  SmoothingStep<T> step;
  template <class U>
  __device__ void write(Index row, U sum) const {
    y.write(row, sum);
    step.take(row, y.y[row]);
  }
};

}  // namespace tcsolve::cuda
