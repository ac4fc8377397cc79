// SPDX-License-Identifier: Apache-2.0
/// Searches for reaches on the device (factors/apply/reach_search.hpp).
#include <tcsolve/factors/apply/reach_search_build.hpp>
#include <tcsolve/kernels/cuda/steps.cuh>

namespace tcsolve::cuda {

bool prepare_reach(Device& device, Arena& arena, TriangleGraph const& lower,
                   TriangleGraph const& upper, Index const* from, ReachView const& of_lower,
                   ReachView const& of_upper, SeedsView const& seeds) {
  Converter on(device, arena);
  return reaches::prepare(on, lower, upper, from, of_lower, of_upper, seeds);
}

void columns_of(Device& device, Arena& arena, TriangleGraph const& t, Array<Index>& starts,
                Array<Index>& rows) {
  Converter on(device, arena);
  reaches::make_columns(on, t, starts, rows);
}

void find_reach(Device& device, Arena& arena, ReachView const& lower, ReachView const& upper,
                SeedsView const& seeds, double const* x, std::int64_t stride) {
  SteppingConverter on(device, arena);
  on.each_warp((std::int64_t{seeds.rows} + 31) / 32, reaches::Look{seeds, x, stride});
  in_one_block(on, reaches::Search{lower, upper, seeds});
}

}  // namespace tcsolve::cuda
