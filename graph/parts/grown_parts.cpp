// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/parts/grown_parts.hpp>

#include <algorithm>
#include <numeric>

#include <tcsolve/graph/search/pseudo_peripheral.hpp>

namespace tcsolve {
namespace {

/// Components one after another, each in the order of a search from a pseudo-peripheral vertex.
std::vector<Index> seeds(Graph const& graph, CancelFlag cancel) {
  std::vector<Index> order;
  order.reserve(static_cast<std::size_t>(graph.vertices()));
  QueueSearch search(graph.vertices());
  for (Index v = 0; v < graph.vertices(); ++v) {
    if (search.ever_visited(v)) continue;
    std::vector<Index> const component =
        pseudo_peripheral(graph, v, search, cancel).levels.vertices;
    order.insert(order.end(), component.begin(), component.end());
  }
  return order;
}

/// The neighbours of the growing part by their edges into it, in the order in which they got so
/// many.
class Beside {
 public:
  void push(Index v, Index edges) {
    if (static_cast<std::size_t>(edges) >= with_.size())
      with_.resize(static_cast<std::size_t>(edges) + 1);
    with_[edges].vertices.push_back(v);
    most_ = std::max(most_, edges);
  }
  /// Takes out a vertex with most edges that is current(vertex, edges), the first of them; -1 if
  /// there is none.
  template <class Current>
  Index pop(Current const& current) {
    for (; most_ > 0; with_[most_--].clear()) {
      Queue& queue = with_[most_];
      while (queue.head < queue.vertices.size()) {
        Index const v = queue.vertices[queue.head++];
        if (current(v, most_)) return v;
      }
    }
    return -1;
  }
  void clear() {
    for (; most_ > 0; --most_) with_[most_].clear();
  }

 private:
  struct Queue {
    std::vector<Index> vertices;
    std::size_t head = 0;
    void clear() { vertices.clear(), head = 0; }
  };
  std::vector<Queue> with_{1};  // 0, 1, 2, ... edges
  Index most_ = 0;
};

class PartGrower {
 public:
  explicit PartGrower(Graph const& graph)
      : graph_(graph),
        parts_{std::vector<Index>(static_cast<std::size_t>(graph.vertices()), -1)},
        edges_(parts_.of.size(), {-1, 0}) {}

  bool taken(Index v) const { return edges_[v].count < 0; }
  Parts& parts() { return parts_; }

  /// A part of `rows` vertices from v, or of fewer where it cannot grow further.
  void grow(Index v, Index rows) {
    beside_.clear();
    auto const current = [&](Index w, Index edges) { return edges_[w].count == edges; };
    for (Index own = 0; v >= 0; v = beside_.pop(current)) {
      parts_.of[v] = parts_.count;
      edges_[v].count = in_a_part;
      if (++own == rows) break;
      for (Index const w : graph_.of(v)) {
        EdgesInto& of_w = edges_[w];
        if (of_w.count == in_a_part) continue;
        if (of_w.part != parts_.count) of_w = {parts_.count, 0};
        beside_.push(w, ++of_w.count);
      }
    }
    ++parts_.count;
  }

 private:
  static constexpr Index in_a_part = -1;
  struct EdgesInto {
    Index part, count;
  };
  Graph const& graph_;
  Parts parts_;
  std::vector<EdgesInto> edges_;  // of a vertex, into the part that grew when it was last seen
  Beside beside_;
};

/// Joins parts of fewer than `crumb` vertices to a part beside them, up to `most`.
Parts join_crumbs(Graph const& graph, Parts const& grown, Index crumb, Index most) {
  auto const count = static_cast<std::size_t>(grown.count);
  std::vector<Index> size(count, 0), into(count);
  std::iota(into.begin(), into.end(), Index{0});
  for (Index const p : grown.of) ++size[p];
  std::vector<std::vector<Index>> rows(count);  // of crumbs
  for (Index v = 0; v < graph.vertices(); ++v)
    if (size[grown.of[v]] < crumb) rows[grown.of[v]].push_back(v);
  auto const joined = [&](Index p) {
    while (into[p] != p) p = into[p] = into[into[p]];
    return p;
  };
  std::vector<Index> edges(count, 0), beside;
  for (Index p = 0; p < grown.count; ++p) {
    if (into[p] != p || size[p] >= crumb) continue;
    beside.clear();
    for (Index const v : rows[p])
      for (Index const w : graph.of(v)) {
        Index const q = joined(grown.of[w]);
        if (q != p && edges[q]++ == 0) beside.push_back(q);
      }
    Index best = -1;
    for (Index const q : beside)
      if (size[q] + size[p] <= most && (best < 0 || edges[q] > edges[best])) best = q;
    for (Index const q : beside) edges[q] = 0;
    if (best < 0) continue;
    into[p] = best;
    size[best] += size[p];
  }
  Parts parts{std::vector<Index>(grown.of.size())};
  std::vector<Index> number(count, -1);
  for (Index p = 0; p < grown.count; ++p)
    if (into[p] == p) number[p] = parts.count++;
  for (std::size_t v = 0; v < grown.of.size(); ++v) parts.of[v] = number[joined(grown.of[v])];
  return parts;
}

}  // namespace

Parts grown_parts(Graph const& graph, Index size, CancelFlag cancel) {
  if (size < 1) throw ShapeError(cat("grown_parts: parts of ", size, " rows; needed is 1 or more"));
  PartGrower grower(graph);
  CancelEvery at_times(cancel, std::int64_t{1} << 16);
  for (Index const v : seeds(graph, cancel)) {
    at_times.add(graph.degree(v));
    if (!grower.taken(v)) grower.grow(v, size - size / 8);
  }
  return join_crumbs(graph, grower.parts(), size / 4, size);
}

}  // namespace tcsolve
