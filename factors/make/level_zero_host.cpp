// SPDX-License-Identifier: Apache-2.0
/// Patterns of level 0 and level schedules on the host (factors/make/level_zero.hpp).
#include <tcsolve/factors/make/level_zero_build.hpp>
#include <tcsolve/kernels/host/steps.hpp>

namespace tcsolve::host {

std::optional<LevelZero> level_zero(Host&, Arena& arena, PatternView const& a, Index most_levels) {
  Converter on(arena);
  return level_zeros::build(on, a, most_levels);
}
bool has_small_diagonal(Host&, Arena& arena, CsrView<double> const& a) {
  Converter on(arena);
  return level_zeros::has_small_diagonal(on, a);
}

}  // namespace tcsolve::host
