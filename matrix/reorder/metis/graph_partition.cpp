// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/reorder/graph_partition.hpp>

#include <metis.h>

#include <limits>

namespace tcsolve {

static_assert(sizeof(idx_t) == sizeof(Index) || sizeof(idx_t) == sizeof(Offset));

bool metis_built() { return true; }
void require_metis() {}

bool metis_holds(Graph const& graph) {
  return graph.neighbours.size() <= static_cast<std::size_t>(std::numeric_limits<idx_t>::max());
}

std::vector<Index> partition(Graph const& graph, Index parts) {
  if (!metis_holds(graph))
    throw SizeError(cat("metis: the graph lists ", graph.neighbours.size(),
                        " neighbours, this METIS holds ", std::numeric_limits<idx_t>::max(),
                        "; take reorder: rcm"));
  std::vector<idx_t> part(static_cast<std::size_t>(graph.vertices()), 0);
  // METIS divides by the number of edges.
  if (parts > 1 && !graph.neighbours.empty()) {
    std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end());
    std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
    idx_t vertices = graph.vertices(), constraints = 1, count = parts, cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int const outcome =
        METIS_PartGraphKway(&vertices, &constraints, offsets.data(), neighbours.data(), nullptr,
                            nullptr, nullptr, &count, nullptr, nullptr, options, &cut, part.data());
    if (outcome == METIS_ERROR_MEMORY)
      throw MemoryError(cat("metis: no memory to partition ", vertices, " vertices with ",
                            neighbours.size() / 2, " edges; take reorder: rcm"));
    if (outcome != METIS_OK) throw Error(cat("metis: partitioning failed with code ", outcome));
  }
  return {part.begin(), part.end()};
}

}  // namespace tcsolve
