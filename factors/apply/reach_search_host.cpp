// SPDX-License-Identifier: Apache-2.0
/// Searches for reaches on the host (factors/apply/reach_search.hpp).
#include <tcsolve/factors/apply/reach_search_build.hpp>
#include <tcsolve/kernels/host/steps.hpp>

namespace tcsolve::host {

bool prepare_reach(Host&, Arena& arena, TriangleGraph const& lower, TriangleGraph const& upper,
                   Index const* from, ReachView const& of_lower, ReachView const& of_upper,
                   SeedsView const& seeds) {
  Converter on(arena);
  return reaches::prepare(on, lower, upper, from, of_lower, of_upper, seeds);
}

void columns_of(Host&, Arena& arena, TriangleGraph const& t, Array<Index>& starts,
                Array<Index>& rows) {
  Converter on(arena);
  reaches::make_columns(on, t, starts, rows);
}

void find_reach(Host&, Arena& arena, ReachView const& lower, ReachView const& upper,
                SeedsView const& seeds, double const* x, std::int64_t stride) {
  Converter on(arena);
  on.each_warp((std::int64_t{seeds.rows} + 31) / 32, reaches::Look{seeds, x, stride});
  in_one_block(on, reaches::Search{lower, upper, seeds});
}

}  // namespace tcsolve::host
