// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/partition_order.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve {
namespace {

/// A vertex for each part, an edge where an edge of the graph joins two.
Graph quotient(Graph const& graph, std::vector<Index> const& part, Index parts) {
  std::vector<std::pair<Index, Index>> edges;
  for (Index v = 0; v < graph.vertices(); ++v)
    for (Index const w : graph.of(v))
      if (part[v] != part[w]) edges.emplace_back(part[v], part[w]);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Graph small;
  small.offsets.assign(static_cast<std::size_t>(parts) + 1, 0);
  for (auto const& [from, to] : edges) {
    ++small.offsets[from + 1];
    small.neighbours.push_back(to);
  }
  for (Index p = 0; p < parts; ++p) small.offsets[p + 1] += small.offsets[p];
  return small;
}

/// The graph without the edges between parts.
Graph within(Graph const& graph, std::vector<Index> const& part) {
  Graph inner;
  inner.offsets.reserve(graph.offsets.size());
  inner.neighbours.reserve(graph.neighbours.size());
  for (Index v = 0; v < graph.vertices(); ++v) {
    for (Index const w : graph.of(v))
      if (part[v] == part[w]) inner.neighbours.push_back(w);
    inner.offsets.push_back(static_cast<Offset>(inner.neighbours.size()));
  }
  return inner;
}

}  // namespace

Permutation partition_order(Graph const& graph, Index part_rows, CancelFlag cancel) {
  Index const n = graph.vertices();
  if (part_rows < 1) throw ShapeError(cat("partition_order: parts of ", part_rows, " rows"));
  Index const parts = n / part_rows + (n % part_rows != 0);
  std::vector<Index> const part = partition(graph, parts, cancel);
  Permutation const by_part = reverse_cuthill_mckee(quotient(graph, part, parts),
                                                    Permutation::identity(parts).old_numbers());
  auto const place = [&](Index v) { return by_part.new_numbers()[part[v]]; };
  std::vector<Index> first(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), Index{0});
  std::stable_sort(first.begin(), first.end(),
                   [&](Index v, Index w) { return place(v) < place(w); });
  // A part is one component of its inner graph, or a few: they follow each other.
  return reverse_cuthill_mckee(within(graph, part), first);
}

Permutation partition_order(Pattern const& a, Index part_rows, CancelFlag cancel) {
  return partition_order(adjacency(a), part_rows, cancel);
}

}  // namespace tcsolve
