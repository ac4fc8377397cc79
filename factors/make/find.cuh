// SPDX-License-Identifier: Apache-2.0
/// Columns of a row on the device.
#pragma once

#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

/// The place of j in c[from, count), ascending; -1 where it is not there.
__device__ inline int find(Index const* c, int from, int count, Index j) {
  int low = from, high = count;
  while (low < high) {
    int const middle = (low + high) / 2;
    if (c[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && c[low] == j ? low : -1;
}

}  // namespace tcsolve::cuda
