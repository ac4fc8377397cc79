// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/graph_partition.hpp>

#include <metis.h>

#include <limits>
#include <mutex>
#include <numeric>

#include <tcsolve/core/left_behind.hpp>

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

/// A graph as METIS takes it. METIS has state of its own in the process, rand()'s, so that one call
/// runs at a time.
struct MetisGraph {
  std::vector<idx_t> offsets, neighbours;
  idx_t vertices;
  explicit MetisGraph(Graph const& graph)
      : offsets(graph.offsets.begin(), graph.offsets.end()),
        neighbours(graph.neighbours.begin(), graph.neighbours.end()),
        vertices(graph.vertices()) {}
};

/// f(options), one at a time; `task` is what it could not do for lack of memory, or at all.
template <class F>
void one_at_a_time(char const* task, MetisGraph const& graph, char const* remedy, F const& f) {
  static std::mutex& running = *new std::mutex;  // of a call left behind at the end of the process
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  int outcome;
  {
    std::lock_guard const one(running);
    outcome = f(options);
  }
  if (outcome == METIS_ERROR_MEMORY)
    throw MemoryError(cat("metis: no memory to ", task, " ", graph.vertices, " vertices with ",
                          graph.neighbours.size() / 2, " edges; take ", remedy));
  if (outcome != METIS_OK) throw Error(cat("metis: to ", task, " failed with code ", outcome));
}

}  // namespace

std::vector<Index> nested_dissection(Graph const& graph, CancelFlag cancel) {
  require_held(graph);
  std::vector<Index> order(static_cast<std::size_t>(graph.vertices()));
  std::iota(order.begin(), order.end(), Index{0});
  if (graph.neighbours.empty()) return order;  // METIS divides by the number of edges
  cancel = for_entries(cancel, static_cast<std::int64_t>(graph.neighbours.size()));
  return leaving_behind(cancel, [own = MetisGraph(graph)]() mutable -> std::vector<Index> {
    std::vector<idx_t> old(static_cast<std::size_t>(own.vertices)), position(old.size());
    one_at_a_time("dissect", own, "order: amd", [&](idx_t* options) {
      return METIS_NodeND(&own.vertices, own.offsets.data(), own.neighbours.data(), nullptr,
                          options, old.data(), position.data());
    });
    return {old.begin(), old.end()};
  });
}

std::vector<Index> partition(Graph const& graph, Index parts, CancelFlag cancel) {
  require_held(graph);
  if (parts <= 1 || graph.neighbours.empty())  // METIS divides by the number of edges
    return std::vector<Index>(static_cast<std::size_t>(graph.vertices()), 0);
  cancel = for_entries(cancel, static_cast<std::int64_t>(graph.neighbours.size()));
  return leaving_behind(cancel, [own = MetisGraph(graph), parts]() mutable -> std::vector<Index> {
    std::vector<idx_t> part(static_cast<std::size_t>(own.vertices), 0);
    idx_t constraints = 1, count = parts, cut = 0;
    one_at_a_time("partition", own, "reorder: rcm", [&](idx_t* options) {
      return METIS_PartGraphKway(&own.vertices, &constraints, own.offsets.data(),
                                 own.neighbours.data(), nullptr, nullptr, nullptr, &count, nullptr,
                                 nullptr, options, &cut, part.data());
    });
    return {part.begin(), part.end()};
  });
}

}  // namespace tcsolve
