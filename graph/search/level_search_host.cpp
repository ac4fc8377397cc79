// SPDX-License-Identifier: Apache-2.0
/// Searches by levels and bit tiles on the host.
#include <tcsolve/graph/search/bit_tiles_build.hpp>
#include <tcsolve/graph/search/level_search_steps.hpp>
#include <tcsolve/graph/search/search_patterns_build.hpp>
#include <tcsolve/kernels/host/steps.hpp>

namespace tcsolve::host {

template <class W>
BitTileArrays<W> build_bit_tiles(Host&, Arena& arena, PatternView const& a, Index least) {
  Converter on(arena);
  return searching::build_bit_tiles<W>(on, a, least);
}
template <class W>
void run_levels(Host&, Arena& arena, LevelSearch<W> const& search) {
  Converter on(arena);
  cooperate(on, searching::Levels<W>{search});
}
void order_by_levels(Host&, Arena& arena, Index const* level, Index rows, Index levels,
                     Index* vertices, Index* starts) {
  Converter on(arena);
  searching::order_by_levels(on, level, rows, levels, vertices, starts);
}
SearchPatterns search_patterns(Host&, Arena& arena, PatternView const& a, bool both) {
  Converter on(arena);
  return searching::search_patterns(on, a, both);
}

Index number_components(Host&, Arena& arena, PatternView const& a, Index* of) {
  Converter on(arena);
  return searching::number_components(on, a, of);
}

#define TCSOLVE_INSTANTIATE(W)                                                            \
  template BitTileArrays<W> build_bit_tiles<W>(Host&, Arena&, PatternView const&, Index); \
  template void run_levels<W>(Host&, Arena&, LevelSearch<W> const&);
TCSOLVE_INSTANTIATE(std::uint32_t)
TCSOLVE_INSTANTIATE(std::uint64_t)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::host
