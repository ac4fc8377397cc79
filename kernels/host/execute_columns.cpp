// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/execute_columns.hpp>

namespace tcsolve::host {

std::int64_t column_partials(Host&, BlockShape const& shape, int sums) {
  return (shape.n + chunk_rows - 1) / chunk_rows * shape.w * sums;
}

}  // namespace tcsolve::host
