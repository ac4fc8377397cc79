// SPDX-License-Identifier: Apache-2.0
/// What `tcsolve info MATRIX --graph` adds: the graph of A + A^T.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

struct GraphFacts {
  Index vertices = 0;
  Offset edges = 0;                    ///< each once, without the diagonal
  Index components = 0, isolated = 0;  ///< isolated: of one vertex
  Index largest = 0;                   ///< vertices of the largest component
  Index least_degree = 0, most_degree = 0;
  int tile_side = 0;                 ///< of tiles of bits (graph/search/bit_tiles.hpp)
  Index tiles = 0;                   ///< that a search stores
  Offset in_tiles = 0, in_rest = 0;  ///< edges both ways, the diagonal included
  Index from = -1;            ///< a pseudo-peripheral vertex of the largest component, from 1
  std::vector<Index> levels;  ///< vertices of each level from there
  Space searched_on = Space::host;
  double level_us = 0;  ///< microseconds a level of that search, the median of five
};

/// Throws ShapeError unless A is square.
GraphFacts graph_facts(Csr<double> const& a);
/// Lines as those of `info`.
std::string text(GraphFacts const&);

}  // namespace tcsolve
