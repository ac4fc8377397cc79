// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/reorder/graph_partition.hpp>

#include <metis.h>

#include <limits>
#include <numeric>

namespace tcsolve {

static_assert(sizeof(idx_t) == sizeof(Index) || sizeof(idx_t) == sizeof(Offset));

bool metis_built() { return true; }
void require_metis() {}

bool metis_holds(Graph const& graph) {
  return graph.neighbours.size() <= static_cast<std::size_t>(std::numeric_limits<idx_t>::max());
}

namespace {

void require_held(Graph const& graph) {
  if (!metis_holds(graph))
    throw SizeError(cat("metis: the graph lists ", graph.neighbours.size(),
                        " neighbours, this METIS holds ", std::numeric_limits<idx_t>::max(),
                        "; take reorder: rcm"));
}

}  // namespace

std::vector<Index> nested_dissection(Graph const& graph) {
  require_held(graph);
  idx_t vertices = graph.vertices();
  std::vector<idx_t> old(static_cast<std::size_t>(vertices)), position(old.size());
  if (graph.neighbours.empty()) {  // METIS divides by the number of edges
    std::iota(old.begin(), old.end(), idx_t{0});
  } else {
    std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end());
    std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int const outcome = METIS_NodeND(&vertices, offsets.data(), neighbours.data(), nullptr, options,
                                     old.data(), position.data());
    if (outcome == METIS_ERROR_MEMORY)
      throw MemoryError(cat("metis: no memory to dissect ", vertices, " vertices with ",
                            neighbours.size() / 2, " edges; take order: amd"));
    if (outcome != METIS_OK) throw Error(cat("metis: dissection failed with code ", outcome));
  }
  return {old.begin(), old.end()};
}

std::vector<Index> partition(Graph const& graph, Index parts) {
  require_held(graph);
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
