// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/search/pseudo_peripheral.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tcsolve {

PseudoPeripheral pseudo_peripheral(Graph const& graph, Index v, QueueSearch& search,
                                   CancelFlag cancel) {
  auto const levels_from = [&](Index from) {
    return search.levels(
        std::array{from}, [&](Index w) { return graph.of(w); }, {}, cancel);
  };
  auto const before = [&](Index p, Index q) {
    return std::pair(graph.degree(p), p) < std::pair(graph.degree(q), q);
  };
  SearchLevels levels = levels_from(v);
  for (;;) {
    auto const last = levels.level(levels.count() - 1);
    Index const far = *std::ranges::min_element(last, before);
    SearchLevels further = levels_from(far);
    if (further.count() <= levels.count()) return {far, std::move(further)};
    levels = std::move(further);
  }
}

}  // namespace tcsolve
