// SPDX-License-Identifier: Apache-2.0
/// Searches by levels and bit tiles on the device.
#include <tcsolve/graph/search/bit_tiles_build.hpp>
#include <tcsolve/graph/search/level_search_steps.hpp>
#include <tcsolve/graph/search/search_patterns_build.hpp>
#include <tcsolve/kernels/cuda/steps.cuh>

namespace tcsolve::cuda {

template <class W>
BitTileArrays<W> build_bit_tiles(Device& device, Arena& arena, PatternView const& a, Index least) {
  Converter on(device, arena);
  return searching::build_bit_tiles<W>(on, a, least);
}
template <class W>
void run_levels(Device& device, Arena& arena, LevelSearch<W> const& search) {
  SteppingConverter on(device, arena);
  cooperate(on, searching::Levels<W>{search});
}
void order_by_levels(Device& device, Arena& arena, Index const* level, Index rows, Index levels,
                     Index* vertices, Index* starts) {
  Converter on(device, arena);
  searching::order_by_levels(on, level, rows, levels, vertices, starts);
}
SearchPatterns search_patterns(Device& device, Arena& arena, PatternView const& a, bool both) {
  Converter on(device, arena);
  return searching::search_patterns(on, a, both);
}

Index number_components(Device& device, Arena& arena, PatternView const& a, Index* of) {
  Converter on(device, arena);
  return searching::number_components(on, a, of);
}

#define TCSOLVE_INSTANTIATE(W)                                                              \
  template BitTileArrays<W> build_bit_tiles<W>(Device&, Arena&, PatternView const&, Index); \
  template void run_levels<W>(Device&, Arena&, LevelSearch<W> const&);
TCSOLVE_INSTANTIATE(std::uint32_t)
TCSOLVE_INSTANTIATE(std::uint64_t)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
