// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/row_split.hpp>

namespace tcsolve {

RowSplit split_rows(Context& ctx, std::int64_t first_row, CsrView64 const& a,
                    std::int64_t first_column, Index own_columns) {
  return ctx.visit([&](auto& on) {
    return split_rows(on, ctx.arena(), first_row, a, first_column, own_columns);
  });
}

SplitValues split_values(Context& ctx, EntryPlaces const& places, double const* values,
                         Array<double>& own) {
  return ctx.visit([&](auto& on) { return split_values(on, ctx.arena(), places, values, own); });
}

}  // namespace tcsolve
