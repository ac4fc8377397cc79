// SPDX-License-Identifier: Apache-2.0
/// An order by colours: no two neighbours have the same, so that triangular solves have as many
/// steps as there are colours.
///
///     1 - 2 - 3 - 4     colours  0 1 0 1     order  1 3 2 4
#pragma once

#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

struct Colouring {
  std::vector<Index> colour;  ///< of each vertex, from 0
  Index colours = 0;
  Permutation order;  ///< vertices by colour, ascending in each
};

/// Each vertex in turn takes the smallest colour that no neighbour has (Saad 2003, section 3.3.3).
/// At most one colour more than the largest degree. Cost: O(edges), serial.
Colouring colouring(Graph const& graph);

}  // namespace tcsolve
