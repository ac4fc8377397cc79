// SPDX-License-Identifier: Apache-2.0
/// Parts of a graph's vertices by the way that a config names.
#pragma once

#include <array>
#include <utility>

#include <tcsolve/graph/parts/grown_parts.hpp>

namespace tcsolve {

enum class PartsBy { automatic, grow, metis, rows };
constexpr auto names(PartsBy) {
  return std::array{std::pair{PartsBy::automatic, "auto"}, std::pair{PartsBy::grow, "grow"},
                    std::pair{PartsBy::metis, "metis"}, std::pair{PartsBy::rows, "rows"}};
}

/// Parts of about `size` vertices, none of them empty.
///
///   grow       grown_parts()
///   metis      partition() (graph/reorder/graph_partition.hpp): parts of nearly the same size, a
///   few may
///              have some percent more than `size`, or be in pieces
///   rows       vertices that follow each other
///   automatic  grow
///
///   throws     ShapeError for a size below 1; by metis NotBuilt where this build has none, and
///   what
///              partition() throws; Cancelled
Parts parts_of(Graph const& graph, Index size, PartsBy by, CancelFlag cancel = {});

}  // namespace tcsolve
