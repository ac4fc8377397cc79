// SPDX-License-Identifier: Apache-2.0
/// An order in which a factorisation fills in little.
#pragma once

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// The approximate minimum degree order (Amestoy, Davis and Duff 1996), by Eigen. The same on every
/// run. Throws Cancelled at once, and leaves Eigen behind (core/left_behind.hpp). Cost: about
/// O(edges) for most graphs; serial; 24 bytes an edge.
Permutation minimum_degree(Graph const& graph, CancelFlag cancel = {});

}  // namespace tcsolve
