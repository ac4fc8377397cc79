// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/cuda/execute_columns.cuh>

namespace tcsolve::cuda {

/// No more than four on a multiprocessor: their sums are added one block after the other.
unsigned int column_blocks(Device& on, BlockShape const& shape) {
  std::int64_t const rows = column_block / (shape.w > 0 ? shape.w : 1);
  std::int64_t const wanted = (shape.n + rows - 1) / rows,
                     most = 4ll * on.properties.multiProcessorCount;
  return static_cast<unsigned int>(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

std::int64_t column_partials(Device& on, BlockShape const& shape, int sums) {
  return std::int64_t{column_blocks(on, shape)} * shape.w * sums;
}

}  // namespace tcsolve::cuda
