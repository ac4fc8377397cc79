// SPDX-License-Identifier: Apache-2.0
/// A vertex of a component from which others are about as far as they can be.
#pragma once

#include <tcsolve/graph/search/queue_search.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

struct PseudoPeripheral {
  Index vertex = -1;
  SearchLevels levels;  ///< from it
};

/// From v to a vertex of least (degree, number) in the last level of its breadth-first levels,
/// until there are no more levels than before (George and Liu 1979, "An implementation of a
/// pseudoperipheral node finder"). `search` belongs to the graph. Cost: some three searches of v's
/// component. Throws Cancelled.
PseudoPeripheral pseudo_peripheral(Graph const& graph, Index v, QueueSearch& search,
                                   CancelFlag cancel = {});

}  // namespace tcsolve
