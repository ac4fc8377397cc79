// SPDX-License-Identifier: Apache-2.0
/// Breadth-first levels of vertices by a queue, for algorithms that search many times: a search
/// costs what it visits, not the size of the graph.
///
///     0 - 1 - 2        from {0}:   vertices  0 | 1 3 | 2 4 | 5
///     |   |   |                    starts    0   1     3     5   6
///     3 - 4 - 5
///
/// A level's vertices stand in the order of their discovery: by their parent, then as the parent
/// lists them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// The vertices that a search reached: level l is vertices[starts[l]] .. vertices[starts[l + 1] -
/// 1].
struct SearchLevels {
  std::vector<Index> vertices;
  std::vector<std::size_t> starts{0};

  Index count() const { return static_cast<Index>(starts.size() - 1); }
  std::span<Index const> level(Index l) const {
    return std::span(vertices).subspan(starts[l], starts[l + 1] - starts[l]);
  }
};

/// Where a search ends before it has reached all it can.
struct SearchLimits {
  Index depth = -1;       ///< edges from a source at most; -1: any number
  std::size_t most = -1;  ///< vertices at most: those discovered first
};

/// Remembers by a stamp which vertices the present search has visited: a new search forgets them in
/// O(1). 4 bytes a vertex.
class QueueSearch {
 public:
  explicit QueueSearch(Index vertices) : stamp_(static_cast<std::size_t>(vertices), 0) {}

  /// Begins a search: no vertex is visited.
  void begin() {
    if (now_ == std::numeric_limits<Index>::max()) {
      for (Index& stamp : stamp_) stamp = stamp > 0;
      now_ = 1;
    }
    ++now_;
  }
  /// Whether a search before the present one, or this one, has visited v.
  bool ever_visited(Index v) const { return stamp_[v] != 0; }
  /// Marks v. Returns whether the present search had not visited it.
  bool visit(Index v) { return std::exchange(stamp_[v], now_) != now_; }

  /// The levels from `sources`, distinct vertices, each within the graph.
  ///
  ///   neighbours(v)  the vertices that edges of v lead to
  ///   may_enter(v)   false: v is not entered, and as a source has no edges
  ///   cost           vertices and edges visited; asks `cancel` once a level and 2^20 edges
  template <class Neighbours, class MayEnter>
  SearchLevels levels(std::span<Index const> sources, Neighbours const& neighbours,
                      MayEnter const& may_enter, SearchLimits limits = {}, CancelFlag cancel = {}) {
    begin();
    SearchLevels found;
    std::vector<Index>& queue = found.vertices;
    for (Index const v : sources) {
      visit(v);
      queue.push_back(v);
    }
    CancelEvery at_times(cancel, std::int64_t{1} << 20);
    for (std::size_t begin = 0; begin < queue.size();) {
      std::size_t const end = queue.size();
      found.starts.push_back(end);
      if (limits.depth >= 0 && found.count() > limits.depth) break;
      cancel.check();
      for (std::size_t k = begin; k < end && queue.size() < limits.most; ++k) {
        Index const v = queue[k];
        if (!may_enter(v)) continue;
        auto const edges = neighbours(v);
        at_times.add(static_cast<std::int64_t>(edges.size()));
        for (Index const w : edges)
          if (queue.size() < limits.most && may_enter(w) && visit(w)) queue.push_back(w);
      }
      begin = end;
    }
    return found;
  }
  template <class Neighbours>
  SearchLevels levels(std::span<Index const> sources, Neighbours const& neighbours,
                      SearchLimits limits = {}, CancelFlag cancel = {}) {
    return levels(
        sources, neighbours, [](Index) { return true; }, limits, cancel);
  }

 private:
  std::vector<Index> stamp_;  // the last search that visited the vertex; 0: none
  Index now_ = 0;
};

}  // namespace tcsolve
