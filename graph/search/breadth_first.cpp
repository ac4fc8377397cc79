// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/search/breadth_first.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <tcsolve/graph/search/queue_search.hpp>

namespace tcsolve {
namespace {

/// The pattern of A^T.
Graph reversed(Pattern const& a) {
  Graph graph;
  graph.offsets.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  graph.neighbours.resize(static_cast<std::size_t>(a.entries));
  for (Offset k = 0; k < a.entries; ++k) ++graph.offsets[a.columns[k] + 1];
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  std::vector<Offset> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row(i)) graph.neighbours[next[j]++] = i;
  return graph;
}

void require_vertex(Index v, Index rows, char const* what) {
  if (v < 0 || v >= rows)
    throw ShapeError(cat("breadth-first search: ", what, " ", v, " is outside [0, ", rows, ")"));
}

template <class Neighbours>
BreadthFirst search(Index rows, SearchRequest const& request, Neighbours const& neighbours,
                    CancelFlag cancel) {
  BreadthFirst found;
  found.level.assign(static_cast<std::size_t>(rows), -1);
  found.parent.assign(static_cast<std::size_t>(rows), -1);
  std::vector<std::uint8_t> wanted(static_cast<std::size_t>(rows), 0);
  for (Index const v : request.until) wanted[v] = 1;
  auto const may_enter = [&](Index v) {
    return request.may_enter.empty() || request.may_enter[v] != 0;
  };
  std::vector<Index>& queue = found.vertices;
  auto const reach = [&](Index v, Index level, Index parent) {
    found.level[v] = level;
    found.parent[v] = parent;
    found.found = found.found || wanted[v] != 0;
    queue.push_back(v);
  };
  for (Index const v : request.sources)
    if (found.level[v] < 0) reach(v, 0, -1);
  CancelEvery at_times(cancel, std::int64_t{1} << 20);
  for (std::size_t begin = 0; begin < queue.size();) {
    // A level in ascending order meets the least parent of a vertex first.
    std::sort(queue.begin() + static_cast<std::ptrdiff_t>(begin), queue.end());
    std::size_t const end = queue.size();
    found.starts.push_back(static_cast<Index>(end));
    if (found.found || (request.depth >= 0 && found.levels() > request.depth)) break;
    cancel.check();
    for (std::size_t k = begin; k < end; ++k) {
      Index const v = queue[k];
      if (!may_enter(v)) continue;
      auto const edges = neighbours(v);
      at_times.add(static_cast<std::int64_t>(edges.size()));
      for (Index const w : edges)
        if (found.level[w] < 0 && may_enter(w)) reach(w, found.levels(), v);
    }
    begin = end;
  }
  return found;
}

}  // namespace

void require_searchable(Index rows, Index cols, SearchRequest const& request) {
  if (rows != cols)
    throw ShapeError(cat("breadth-first search: the matrix is ", rows, " x ", cols,
                         "; a graph has as many rows as columns"));
  if (request.sources.empty())
    throw ShapeError("breadth-first search: no source is given; name at least one row");
  for (Index const v : request.sources) require_vertex(v, rows, "source");
  for (Index const v : request.until) require_vertex(v, rows, "vertex of 'until'");
  if (request.depth < -1)
    throw ShapeError(cat("breadth-first search: depth ", request.depth, "; needed is -1 or more"));
  if (!request.may_enter.empty() && request.may_enter.size() != static_cast<std::size_t>(rows))
    throw ShapeError(cat("breadth-first search: may_enter has ", request.may_enter.size(),
                         " elements, the matrix ", rows, " rows"));
}

BreadthFirst breadth_first(Pattern const& a, SearchRequest const& request, CancelFlag cancel) {
  require_searchable(a.rows, a.cols, request);
  if (request.along == Along::rows)
    return search(
        a.rows, request, [&](Index v) { return a.row(v); }, cancel);
  Graph const graph = request.along == Along::columns ? reversed(a) : adjacency(a);
  return search(
      a.rows, request, [&](Index v) { return graph.of(v); }, cancel);
}

Components connected_components(Graph const& graph, CancelFlag cancel) {
  Components components;
  components.of.assign(static_cast<std::size_t>(graph.vertices()), -1);
  QueueSearch search(graph.vertices());
  for (Index v = 0; v < graph.vertices(); ++v) {
    if (components.of[v] >= 0) continue;
    SearchLevels const reached = search.levels(
        std::array{v}, [&](Index w) { return graph.of(w); }, {}, cancel);
    for (Index const w : reached.vertices) components.of[w] = components.count();
    components.sizes.push_back(static_cast<Index>(reached.vertices.size()));
  }
  return components;
}

}  // namespace tcsolve
