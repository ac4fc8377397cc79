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
/// All searches are the steps of one loop, and so are all levels of the numbering
/// (kernels/steps.hpp): two cooperative kernels.
///
///   steps    one per level of a search, four or five per level of the numbering
///   bytes    of scratch: 8 per entry, 32 if A + A^T must be formed; 180 per row
#pragma once

#include <algorithm>
#include <limits>

#include <tcsolve/graph/reorder/adjacency_build.hpp>
#include <tcsolve/kernels/steps.hpp>

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

/// Appends the unvisited neighbours of vertex i of a level to the next level, in any order, and
/// clears the count of the level after that.
struct Expand {
  PatternView graph;
  Index first, next;
  Index* level;
  Index const* from;
  Index *to, *count, *after;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const v = from[i];
    Offset const begin = graph.offsets[v], end = graph.offsets[v + 1];
    warp.each([&](int lane) {
      if (i == 0 && lane == 0) *after = 0;
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

/// What the levels of a search are counted with.
struct SearchCounts {
  Index found[3];  ///< vertices of the present level, of the next one and of that after it, in turn
  Index going_on;  ///< some component is searched once more
  Index widest;    ///< largest number of levels of a component; 0: the limit was exceeded
};
struct ClearCounts {
  SearchCounts* counts;
  TCSOLVE_HD void operator()(std::int64_t) const {
    for (Index& found : counts->found) found = 0;
    counts->going_on = 0;
  }
};
struct Conclude {
  SearchCounts* counts;
  Index widest;
  TCSOLVE_HD void operator()(std::int64_t) const { counts->widest = widest; }
};

/// The levels of all vertices, counted from a pseudo-peripheral vertex of each component: searches
/// until none has more levels than the one before, or all have more than `most` together.
struct Searches {
  PatternView graph;
  Components parts;
  Index* level;  ///< zeros; in the end levels of the last search of each vertex
  Index* queue[2];
  SearchCounts* counts;  ///< zeros
  Index most;

  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    std::int64_t const n = graph.rows;
    Index widest = 0;
    for (Index first = 1, going_on = 1; going_on != 0;) {
      Index const levels = levels_from(steps, first);
      if (levels == 0) return;
      first += levels;
      widest = levels > widest ? levels : widest;
      if (parts.count == 1)
        steps.each(1, LastOfOne{parts.all, first - 1});
      else
        steps.each(n, Deepest{parts.of, level, parts.all});
      steps.each(n, Furthest{parts.of, level, parts.all});
      steps.each(1, ClearCounts{counts});
      steps.each(parts.count, Turn{parts.all, &counts->going_on});
      going_on = steps.value(&counts->going_on);
    }
    steps.each(1, Conclude{counts, widest});
  }

 private:
  /// Returns the number of levels; 0 if the limit is exceeded.
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD Index levels_from(Steps const& steps, Index first) const {
    steps.each(parts.count, Begin{parts.all, first, level, queue[0], counts->found});
    for (Index d = 0;; ++d) {
      Index const here = steps.value(counts->found + d % 3);
      if (here == 0) return d;
      if (first - 1 + d >= most) return 0;
      steps.each_warp(here,
                      Expand{graph, first, first + d + 1, level, queue[d % 2], queue[(d + 1) % 2],
                             counts->found + (d + 1) % 3, counts->found + (d + 2) % 3});
    }
  }
};

/// The levels and the largest number of them; 0: together they are more than `most_levels`.
struct FoundLevels {
  Index const* level;
  Index widest;
};
template <class On>
FoundLevels find_levels(On& on, PatternView const& graph, Components const& parts,
                        Offset most_levels) {
  auto const n = static_cast<std::size_t>(graph.rows);
  constexpr Offset no_limit = std::numeric_limits<Index>::max() / 2;
  Searches const searches{
      graph,
      parts,
      on.template take<Index>(n),
      {on.template take<Index>(n), on.template take<Index>(n)},
      on.template take<SearchCounts>(1),
      static_cast<Index>(most_levels > 0 ? std::min(most_levels, no_limit) : no_limit)};
  on.clear(searches.level, graph.rows);
  on.clear(searches.counts, 1);
  cooperate(on, searches);
  SearchCounts counts{};
  on.read(searches.counts, &counts, 1);
  return {searches.level, counts.widest};
}

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

/// Numbers level k + 1 from level k, of all components.
struct Number {
  PatternView graph;
  Index levels;
  Index const *list, *starts;  ///< vertices by (level, number), and where each level begins
  Index *order, *place, *parent, *children, *before;

  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    steps.each(graph.rows, Forget{place, parent, children});
    Index begin = 0, next = steps.value(starts + 1);
    steps.each(next, NumberStarts{list, order, place});
    for (Index k = 0; k + 1 < levels && next < graph.rows; ++k) {
      Index const end = steps.value(starts + k + 2);
      steps.each_warp(end - next, Adopt{graph, list + next, place, parent, children});
      steps.scan(children + begin, before + begin, next - begin);
      steps.each_warp(next - begin,
                      NumberChildren{graph, begin, next, parent, before, order, place});
      begin = next, next = end;
    }
  }
};

/// Returns the vertices in Cuthill-McKee order.
template <class On>
Index* number(On& on, PatternView const& graph, Components const& parts, FoundLevels const& found) {
  std::int64_t const n = graph.rows;
  Index const levels = found.widest;
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const list = on.template take<Index>(n);
  auto* const starts = on.template take<Index>(levels + std::size_t{1});
  on.each(n, LevelKeys{parts.of, found.level, parts.all, key, list});
  on.sort(key, list, n, static_cast<std::uint32_t>(levels));
  on.each(levels + std::int64_t{1}, LevelStarts{key, n, starts});
  Number const steps{graph,
                     levels,
                     list,
                     starts,
                     on.template take<Index>(n),
                     on.template take<Index>(n),
                     on.template take<Index>(n),
                     on.template take<Index>(n),
                     on.template take<Index>(n)};
  cooperate(on, steps);
  return steps.order;
}

template <class On>
bool build(On& on, PatternView const& a, CuthillMckeeLimits const& limits, Index* old_numbers) {
  std::int64_t const n = a.rows;
  if (n == 0) return true;
  PatternView graph = a;
  if (!symmetrize(on, graph, limits.longest)) return false;
  ByDegree const sorted = by_degree(on, graph);
  Components const parts = components(on, graph, sorted);
  FoundLevels const found = find_levels(on, sorted.graph, parts, limits.levels);
  if (found.widest == 0) return false;
  Index const* const order = number(on, sorted.graph, parts, found);
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const reversed = on.template take<Index>(n);
  on.each(n, Reverse{order, parts.of, sorted.given, n, key, reversed});
  if (parts.count > 1) on.sort(key, reversed, n, static_cast<std::uint32_t>(parts.count));
  on.read(reversed, old_numbers, n);
  return true;
}

}  // namespace tcsolve::ordering
