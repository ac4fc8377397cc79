// SPDX-License-Identifier: Apache-2.0
/// Rows split on the device (distributed/row_split.hpp).
#include <tcsolve/distributed/row_split_build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>

namespace tcsolve::cuda {

RowSplit split_rows(Device& device, Arena& arena, std::int64_t first_row, CsrView64 const& a,
                    std::int64_t first_column, Index own_columns) {
  Converter on(device, arena);
  return tcsolve::split_rows(on, first_row, a, first_column, own_columns);
}
SplitValues split_values(Device& device, Arena& arena, EntryPlaces const& places,
                         double const* values, Array<double>& own) {
  Converter on(device, arena);
  return tcsolve::split_values(on, places, values, own);
}

}  // namespace tcsolve::cuda
