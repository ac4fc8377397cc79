// SPDX-License-Identifier: Apache-2.0
/// Patterns of level 0 and level schedules on the device (factors/make/level_zero.hpp).
#include <tcsolve/factors/make/level_zero_build.hpp>
#include <tcsolve/kernels/cuda/steps.cuh>

namespace tcsolve::cuda {

std::optional<LevelZero> level_zero(Device& device, Arena& arena, PatternView const& a,
                                    Index most_levels) {
  SteppingConverter on(device, arena);
  return level_zeros::build(on, a, most_levels);
}
bool has_small_diagonal(Device& device, Arena& arena, CsrView<double> const& a) {
  Converter on(device, arena);
  return level_zeros::has_small_diagonal(on, a);
}

}  // namespace tcsolve::cuda
