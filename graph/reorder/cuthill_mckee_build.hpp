// SPDX-License-Identifier: Apache-2.0
/// The reverse Cuthill-McKee order (graph/reorder/cuthill_mckee.hpp), written once for both
/// backends (kernels/convert.hpp). All components are searched at the same time, level by level,
/// and the order is that of the serial code, vertex by vertex:
///
///     graph     A's own rows where the pattern is symmetric, else those of A + A^T
///     renumber  vertices by (degree, number): from here on "by ascending degree, ties by number"
///               is "ascending", and a row of the graph lists neighbours in that order
///     parts     connected components by union-find, the least (given) number its root
///               (Jaiganesh and Burtscher 2018)
///     search    from a vertex of each component: breadth-first levels, of which only the numbers
///               matter and not the order within; the next start is the least vertex of the last
///               level, until there are no more levels than before (George and Liu 1979)
///     number    level k + 1 from level k: the parent of a vertex is its neighbour of least
///               position; each parent counts its children, a scan of the counts gives the first
///               position of each parent's children, and the parent writes them in row order
///     reverse   component by component
///
/// The order is the same on every run: the level of a vertex does not depend on which thread
/// reaches it first, and all other steps are minima, sums and stable sorts.
///
///   kernels  one per level of a search, and a copy of the level sizes to the host every 16 levels;
///            four per level of the numbering
///   bytes    of scratch: 8 per entry, 32 if A + A^T must be formed; 180 per row; about 1000 per
///   level
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <tcsolve/graph/reorder/adjacency_build.hpp>

namespace tcsolve::ordering {

// ---- searches ----

struct Begin {
  Component* components;
  Index first;  ///< first level of this search; numbers increase over all searches, so level <
                ///< first is unvisited
  Index *level, *queue, *count;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    Component& here = components[c];
    if (here.active == 0) return;
    here.first = here.last = first, here.further = far_away;
    level[here.start] = first;
    queue[atomic_add(count, 1)] = here.start;
  }
};

/// Appends the unvisited neighbours of vertex i of a level to the next level, in any order.
struct Expand {
  PatternView graph;
  Index first, next;
  Index* level;
  Index const* from;
  Index *to, *count;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const v = from[i];
    Offset const begin = graph.offsets[v], end = graph.offsets[v + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        Index const w = graph.columns[k];
        if (glance(level + w) < first && atomic_exchange(level + w, next) < first)
          to[atomic_add(count, 1)] = w;
      }
    });
  }
};

/// For a graph of one component: its last level is the last level of the search.
struct LastOfOne {
  Component* component;
  Index last;
  TCSOLVE_HD void operator()(std::int64_t) const { component->last = last; }
};
struct Deepest {
  Index const *of, *level;
  Component* components;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    Component& here = components[of[v]];
    if (here.active != 0) raise_to(&here.last, level[v]);
  }
};
struct Furthest {
  Index const *of, *level;
  Component* components;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    Component& here = components[of[v]];
    if (here.active != 0 && level[v] == here.last) lower_to(&here.further, static_cast<Index>(v));
  }
};
/// Starts the next search from `further` if the last search had more levels than the one before.
struct Turn {
  Component* components;
  Index* going_on;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    Component& here = components[c];
    if (here.active == 0) return;
    Index const height = here.last - here.first + 1;
    here.active = height > here.height;
    if (here.active == 0) return;
    here.height = height, here.start = here.further;
    put(going_on, 1);
  }
};

/// Computes the levels of all vertices, counted from a pseudo-peripheral vertex of each component.
template <class On>
class Search {
 public:
  Search(On& on, PatternView const& graph, Components const& parts, Offset most_levels)
      : on_(on), graph_(graph), parts_(parts), most_(std::numeric_limits<Index>::max() - batch) {
    std::int64_t const n = graph.rows;
    if (most_levels > 0) most_ = std::min<Offset>(most_, most_levels);
    counts_ = std::min<Offset>(most_, n) + batch + 1;
    level_ = on.template take<Index>(n);
    for (Index*& queue : queue_) queue = on.template take<Index>(n);
    count_ = on.template take<Index>(counts_);
    going_on_ = on.template take<Index>(1);
    on.clear(level_, n);
  }
  /// Returns false if the levels of all searches together exceed `most_levels`.
  bool run() {
    std::int64_t const n = graph_.rows;
    for (Index going_on = 1, first = 1; going_on != 0;) {
      Index const levels = levels_from(first);
      if (levels == 0) return false;
      first += levels;
      widest_ = std::max(widest_, levels);
      if (parts_.count == 1)
        on_.each(1, LastOfOne{parts_.all, first - 1});
      else
        on_.each(n, Deepest{parts_.of, level_, parts_.all});
      on_.each(n, Furthest{parts_.of, level_, parts_.all});
      on_.clear(going_on_, 1);
      on_.each(parts_.count, Turn{parts_.all, going_on_});
      on_.read(going_on_, &going_on, 1);
    }
    return true;
  }
  Index const* levels() const { return level_; }
  Index most() const { return widest_; }  ///< largest number of levels of a component

 private:
  /// Returns the number of levels; 0 if the limit is exceeded.
  Index levels_from(Index first) {
    std::int64_t const n = graph_.rows;
    on_.clear(count_, counts_);
    on_.each(parts_.count, Begin{parts_.all, first, level_, queue_[0], count_});
    Index met[batch];
    for (Index k = 0; first - 1 + k < most_; k += batch) {
      for (Index step = k; step < k + batch; ++step)
        on_.each_warp(count_ + step, n,
                      Expand{graph_, first, first + step + 1, level_, queue_[step % 2],
                             queue_[(step + 1) % 2], count_ + step + 1});
      on_.read(count_ + k + 1, met, batch);
      for (Index step = 0; step < batch; ++step)
        if (met[step] == 0) return k + step + 1;
    }
    return 0;
  }

  static constexpr Index batch = 16;
  On& on_;
  PatternView graph_;
  Components parts_;
  Offset most_, counts_;
  Index *level_, *queue_[2], *count_, *going_on_;
  Index widest_ = 0;
};

// ---- numbers ----

struct LevelKeys {
  Index const *of, *level;
  Component const* components;
  std::uint32_t* key;
  Index* vertex;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    key[v] = static_cast<std::uint32_t>(level[v] - components[of[v]].first);
    vertex[v] = static_cast<Index>(v);
  }
};
/// starts[k] is the number of vertices in levels below k.
struct LevelStarts {
  std::uint32_t const* key;
  std::int64_t n;
  Index* starts;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    starts[k] = static_cast<Index>(lower_bound(key, n, static_cast<std::uint32_t>(k)));
  }
};

struct Forget {
  Index *place, *parent, *children;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    place[v] = far_away, parent[v] = -1, children[v] = 0;
  }
};
struct NumberStarts {
  Index const* list;
  Index *order, *place;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    order[i] = list[i], place[list[i]] = static_cast<Index>(i);
  }
};
/// The parent of vertex i of a level is its neighbour of least position. Vertices of this level and
/// the next still have the position far_away, so the minimum is a vertex of the level before.
struct Adopt {
  PatternView graph;
  Index const *list, *place;
  Index *parent, *children;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const v = list[i];
    Offset const begin = graph.offsets[v], end = graph.offsets[v + 1];
    typename Warp::template Of<std::uint32_t> first;
    warp.each([&](int lane) {
      first[lane] = far_away;
      for (Offset k = begin + lane; k < end; k += 32) {
        auto const here = static_cast<std::uint32_t>(place[graph.columns[k]]);
        first[lane] = here < first[lane] ? here : first[lane];
      }
    });
    auto const least = static_cast<Index>(warp.least(first));
    warp.each([&](int lane) {
      if (lane == 0) parent[v] = least, atomic_add(children + least, 1);
    });
  }
};
/// Parent i writes its children in the order of its row.
struct NumberChildren {
  PatternView graph;
  Index begin, next;  ///< first positions of the parents' level and of the children's level
  Index const *parent, *before;
  Index *order, *place;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const here = static_cast<Index>(begin + i), v = order[here];
    Index to = next + before[here];
    Offset const end = graph.offsets[v + 1];
    for (Offset first = graph.offsets[v]; first < end; first += 32) {
      typename Warp::template Of<std::uint32_t> child;
      warp.each([&](int lane) {
        child[lane] = first + lane < end && parent[graph.columns[first + lane]] == here;
      });
      auto rank = child;
      auto const found = static_cast<Index>(warp.rank(rank));
      warp.each([&](int lane) {
        if (child[lane] == 0) return;
        Index const w = graph.columns[first + lane], at = to + static_cast<Index>(rank[lane]);
        order[at] = w, place[w] = at;
      });
      to += found;
    }
  }
};

/// Reverses the order; the sort key is the component.
struct Reverse {
  Index const *order, *of, *given;
  std::int64_t n;
  std::uint32_t* key;
  Index* old_numbers;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index const v = order[n - 1 - i];
    key[i] = static_cast<std::uint32_t>(of[v]), old_numbers[i] = given[v];
  }
};

/// Returns the vertices in Cuthill-McKee order; each step numbers one level of all components.
template <class On>
Index* number(On& on, PatternView const& graph, Components const& parts, Search<On> const& search) {
  std::int64_t const n = graph.rows;
  Index const levels = search.most();
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const list = on.template take<Index>(n);
  auto* const starts = on.template take<Index>(levels + std::size_t{1});
  on.each(n, LevelKeys{parts.of, search.levels(), parts.all, key, list});
  on.sort(key, list, n, static_cast<std::uint32_t>(levels));
  on.each(levels + std::int64_t{1}, LevelStarts{key, n, starts});
  std::vector<Index> start(levels + std::size_t{1});
  on.read(starts, start.data(), levels + std::int64_t{1});

  auto* const order = on.template take<Index>(n);
  auto* const place = on.template take<Index>(n);
  auto* const parent = on.template take<Index>(n);
  auto* const children = on.template take<Index>(n);
  auto* const before = on.template take<Index>(n);
  on.each(n, Forget{place, parent, children});
  on.each(start[1], NumberStarts{list, order, place});
  for (Index k = 0; k + 1 < levels && start[k + 1] < n; ++k) {
    Index const begin = start[k], next = start[k + 1];
    on.each_warp(start[k + 2] - next, Adopt{graph, list + next, place, parent, children});
    on.scan(children + begin, before + begin, next - begin, Plus{});
    on.each_warp(next - begin, NumberChildren{graph, begin, next, parent, before, order, place});
  }
  return order;
}

template <class On>
bool build(On& on, PatternView const& a, CuthillMckeeLimits const& limits, Index* old_numbers) {
  std::int64_t const n = a.rows;
  if (n == 0) return true;
  PatternView graph = a;
  if (!symmetrize(on, graph, limits.longest)) return false;
  ByDegree const sorted = by_degree(on, graph);
  Components const parts = components(on, graph, sorted);
  Search<On> search(on, sorted.graph, parts, limits.levels);
  if (!search.run()) return false;
  Index const* const order = number(on, sorted.graph, parts, search);
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const reversed = on.template take<Index>(n);
  on.each(n, Reverse{order, parts.of, sorted.given, n, key, reversed});
  if (parts.count > 1) on.sort(key, reversed, n, static_cast<std::uint32_t>(parts.count));
  on.read(reversed, old_numbers, n);
  return true;
}

}  // namespace tcsolve::ordering
