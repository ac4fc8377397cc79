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
/// (kernels/steps.hpp). On a device both loops are cooperative kernels, which CuthillMckeeLimits
/// can forbid; where they are forbidden or refused, each step is a kernel of its own.
///
///   steps    one per level of a search, two per level of the numbering
///   copies   in one kernel: none; with a kernel a step: the level sizes come to the host every 16
///            levels of a search, and all at once for the numbering
///   bytes    of scratch: 8 per entry, 32 if A + A^T must be formed; 180 per row; 4 per level,
///   which
///            a kernel a step needs
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <tcsolve/graph/reorder/adjacency_build.hpp>
#include <tcsolve/graph/reorder/renumber.hpp>
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
/// clears the count of the level after that where `after` is not null.
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
      if (i == 0 && lane == 0 && after != nullptr) *after = 0;
      for (Offset k = begin + lane; k < end; k += 32) {
        Index const w = graph.columns[k];
        if (glance(level + w) < first && atomic_exchange(level + w, next) < first)
          to[atomic_add(count, 1)] = w;
      }
    });
  }
};

/// What the levels of a search are counted with.
struct SearchCounts {
  Index found[3];  ///< vertices of the present level, of the next one and of the one after it, in
                   ///< turn; a kernel a level counts elsewhere
  Index going_on;  ///< not 0: some component is searched once more
  Index widest;    ///< largest number of levels of a component; 0: the limit was exceeded
};

/// Where a graph has several components: the last level of each.
struct Deepest {
  Index const *of, *level;
  Component* components;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    Component& here = components[of[v]];
    if (here.active != 0) raise_to(&here.last, level[v]);
  }
};
/// Finds the least vertex of each component's last level, and clears the counts for the next
/// search.
struct Furthest {
  Index const *of, *level;
  Component* components;
  Index last;  ///< of the only component; 0: there are several, each has its own
  SearchCounts* counts;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    if (v == 0) {
      for (Index& found : counts->found) found = 0;
      counts->going_on = 0;
    }
    Component& here = components[of[v]];
    if (here.active != 0 && level[v] == (last != 0 ? last : here.last))
      lower_to(&here.further, static_cast<Index>(v));
  }
};
/// Starts the next search from `further` if the last search had more levels than the one before.
struct Turn {
  Component* components;
  Index last;  ///< as in Furthest
  Index widest;
  SearchCounts* counts;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    if (c == 0) counts->widest = widest;
    Component& here = components[c];
    if (here.active == 0) return;
    Index const height = (last != 0 ? last : here.last) - here.first + 1;
    here.active = height > here.height;
    if (here.active == 0) return;
    here.height = height, here.start = here.further;
    put(&counts->going_on, 1);
  }
};

struct GiveUp {
  SearchCounts* counts;
  TCSOLVE_HD void operator()(std::int64_t) const { counts->widest = 0; }
};

/// What the searches read and write.
struct SearchState {
  PatternView graph;
  Components parts;
  Index* level;          ///< zeros; in the end the levels of the last search of each vertex
  Index *even, *odd;     ///< queues of even and odd levels
  SearchCounts* counts;  ///< zeros
  Index most;            ///< levels of all searches together

  /// Levels that there are at least if a search with the first level `first` has more than d. The
  /// first search is followed by one from the vertex furthest away, which has as many or more.
  TCSOLVE_HD std::int64_t at_least(Index first, Index d) const {
    return first == 1 ? 2 * (std::int64_t{d} + 1) : std::int64_t{first} + d;
  }

  /// Of level d: a choice, since a subscript would keep all of this in a device's local memory.
  TCSOLVE_HD Index* queue(Index d) const { return d % 2 == 0 ? even : odd; }

  /// Ends a search whose last level is `last`: chooses where the next one starts.
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void turn(Steps const& steps, Index last, Index widest) const {
    Index const only = parts.count == 1 ? last : 0;
    if (only == 0) steps.each(graph.rows, Deepest{parts.of, level, parts.all});
    steps.each(graph.rows, Furthest{parts.of, level, parts.all, only, counts});
    steps.each(parts.count, Turn{parts.all, only, widest, counts});
  }
};

/// The levels of all vertices, counted from a pseudo-peripheral vertex of each component: searches
/// until none has more levels than the one before, or all have more than `most` together, which
/// leaves counts->widest = 0.
struct Searches {
  SearchState state;

  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    Index widest = 0;
    for (Index first = 1, going_on = 1; going_on != 0;) {
      Index const levels = levels_from(steps, first);
      if (levels == 0) {
        steps.each(1, GiveUp{state.counts});
        return;
      }
      first += levels;
      widest = levels > widest ? levels : widest;
      state.turn(steps, first - 1, widest);
      going_on = steps.value(&state.counts->going_on);
    }
  }

 private:
  /// Returns the number of levels; 0 if the limit is exceeded.
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD Index levels_from(Steps const& steps, Index first) const {
    SearchState const& s = state;
    Index* const found = s.counts->found;
    steps.each(s.parts.count, Begin{s.parts.all, first, s.level, s.even, found});
    for (Index d = 0;; ++d) {
      Index const here = steps.value(found + d % 3);
      if (here == 0) return d;
      if (s.at_least(first, d) > s.most) return 0;
      steps.each_warp(here, Expand{s.graph, first, first + d + 1, s.level, s.queue(d),
                                   s.queue(d + 1), found + (d + 1) % 3, found + (d + 2) % 3});
    }
  }
};
/// The steps of kernels/steps.hpp as kernels of their own.
template <class On>
struct OneByOne {
  On& on;
  template <class F>
  void each(std::int64_t n, F const& f) const {
    on.each(n, f);
  }
  template <class F>
  void each_warp(std::int64_t n, F const& f) const {
    on.each_warp(n, f);
  }
  void scan(Index const* in, Index* out, std::int64_t n) const { on.scan(in, out, n, Plus{}); }
};

/// The same searches with a kernel a level, of which 16 are launched before their sizes are read.
/// Returns the largest number of levels of a component; 0 if the limit is exceeded.
template <class On>
Index search_one_by_one(On& on, SearchState const& s) {
  constexpr Index batch = 16;
  std::int64_t const n = s.graph.rows;
  std::int64_t const most = std::min<std::int64_t>(s.most, std::numeric_limits<Index>::max() / 2);
  std::int64_t const counts = std::min(most, n) + batch + 1;
  auto* const count = on.template take<Index>(static_cast<std::size_t>(counts));
  auto const levels_from = [&](Index first) -> Index {
    on.clear(count, counts);
    on.each(s.parts.count, Begin{s.parts.all, first, s.level, s.even, count});
    Index met[batch];
    for (Index k = 0; s.at_least(first, k) <= most; k += batch) {
      for (Index d = k; d < k + batch; ++d)
        on.each_warp(count + d, n,
                     Expand{s.graph, first, first + d + 1, s.level, s.queue(d), s.queue(d + 1),
                            count + d + 1, nullptr});
      on.read(count + k + 1, met, batch);
      for (Index step = 0; step < batch; ++step)
        if (met[step] == 0) return k + step + 1;
    }
    return 0;
  };
  Index widest = 0;
  for (Index first = 1, going_on = 1; going_on != 0;) {
    Index const levels = levels_from(first);
    if (levels == 0) return 0;
    first += levels;
    widest = std::max(widest, levels);
    s.turn(OneByOne<On>{on}, first - 1, widest);
    on.read(&s.counts->going_on, &going_on, 1);
  }
  return widest;
}

/// The levels and the largest number of them; 0: together they are more than the limit.
struct FoundLevels {
  Index const* level;
  Index widest;
};
template <class On>
FoundLevels find_levels(On& on, PatternView const& graph, Components const& parts,
                        CuthillMckeeLimits const& limits) {
  auto const n = static_cast<std::size_t>(graph.rows);
  constexpr Offset no_limit = std::numeric_limits<Index>::max() / 2;
  SearchState const state{
      graph,
      parts,
      on.template take<Index>(n),
      on.template take<Index>(n),
      on.template take<Index>(n),
      on.template take<SearchCounts>(1),
      static_cast<Index>(limits.levels > 0 ? std::min(limits.levels, no_limit) : no_limit)};
  on.clear(state.level, graph.rows);
  on.clear(state.counts, 1);
  if (!limits.one_kernel || !cooperate_in_one_kernel(on, Searches{state}))
    return {state.level, search_one_by_one(on, state)};
  SearchCounts counts{};
  on.read(state.counts, &counts, 1);
  return {state.level, counts.widest};
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
  Index *place, *parent, *children, *group;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    place[v] = far_away, parent[v] = -1, children[v] = 0;
    if (v % 32 == 0) group[v / 32] = 0;
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
  Index* group;  ///< children of each 32 positions
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
      if (lane != 0) return;
      parent[v] = least;
      atomic_add(children + least, 1);
      atomic_add(group + least / 32, 1);
    });
  }
};
/// Parent i writes its children in the order of its row. They follow those of the parents before
/// it, which a warp counts by groups of 32 positions.
struct NumberChildren {
  PatternView graph;
  Index begin, next;  ///< first positions of the parents' level and of the children's level
  Index const *parent, *children, *group;
  Index const* before;  ///< children of the level's parents before each; null: not scanned
  Index *order, *place;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const here = static_cast<Index>(begin + i), count = children[here];
    if (count == 0) return;
    Index const v = order[here], last = next + children_before(warp, here) + count;
    Offset const end = graph.offsets[v + 1];
    Index to = last - count;
    for (Offset first = graph.offsets[v]; first < end && to < last; first += 32) {
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

 private:
  /// Of the parents begin .. here - 1: whole groups from that of `begin` on and the positions of
  /// here's own group, less what the first group has before `begin`. Sums are modulo 2^32.
  template <class Warp>
  TCSOLVE_HD Index children_before(Warp const& warp, Index here) const {
    if (before != nullptr) return before[here];
    Index const first = begin / 32, own = here / 32;
    typename Warp::template Of<std::uint32_t> sum;
    warp.each([&](int lane) {
      sum[lane] = 0;
      for (Index g = first + lane; g < own; g += 32)
        sum[lane] += static_cast<std::uint32_t>(group[g]);
      if (32 * own + lane < here)
        sum[lane] += static_cast<std::uint32_t>(children[32 * own + lane]);
      if (32 * first + lane < begin)
        sum[lane] -= static_cast<std::uint32_t>(children[32 * first + lane]);
    });
    return static_cast<Index>(static_cast<std::uint32_t>(warp.sum(sum)));
  }
};

/// Numbers level k + 1 from level k, of all components.
struct Number {
  /// Parents of a level whose children are summed by each warp anew, at most 16 loads a lane; more
  /// are scanned, which takes up to two steps.
  static constexpr Index most_summed = 16384;
  PatternView graph;
  Index levels;
  Index const *list, *starts;  ///< vertices by (level, number), and where each level begins
  Index *order, *place, *parent, *children, *group, *before;

  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    number(steps, [&](Index k) { return steps.value(starts + k); });
  }
  /// start(k): where level k begins.
  TCSOLVE_EITHER_SIDE
  template <class Steps, class Start>
  TCSOLVE_HD void number(Steps const& steps, Start const& start) const {
    steps.each(graph.rows, Forget{place, parent, children, group});
    Index begin = 0, next = start(1);
    steps.each(next, NumberStarts{list, order, place});
    for (Index k = 0; k + 1 < levels && next < graph.rows; ++k) {
      Index const end = start(k + 2);
      steps.each_warp(end - next, Adopt{graph, list + next, place, parent, children, group});
      bool const scanned = next - begin > most_summed;
      if (scanned) steps.scan(children + begin, before + begin, next - begin);
      steps.each_warp(next - begin, NumberChildren{graph, begin, next, parent, children, group,
                                                   scanned ? before : nullptr, order, place});
      begin = next, next = end;
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

/// Returns the vertices in Cuthill-McKee order.
template <class On>
Index* number(On& on, PatternView const& graph, Components const& parts, FoundLevels const& found,
              bool one_kernel) {
  std::int64_t const n = graph.rows;
  Index const levels = found.widest;
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const list = on.template take<Index>(n);
  auto* const starts = on.template take<Index>(levels + std::size_t{1});
  on.each(n, LevelKeys{parts.of, found.level, parts.all, key, list});
  on.sort(key, list, n, static_cast<std::uint32_t>(levels));
  on.each(levels + std::int64_t{1}, LevelStarts{key, n, starts});
  Number const body{graph,
                    levels,
                    list,
                    starts,
                    on.template take<Index>(n),
                    on.template take<Index>(n),
                    on.template take<Index>(n),
                    on.template take<Index>(n),
                    on.template take<Index>(n / 32 + 1),
                    on.template take<Index>(n)};
  if (one_kernel && cooperate_in_one_kernel(on, body)) return body.order;
  std::vector<Index> start(levels + std::size_t{1});
  on.read(starts, start.data(), levels + std::int64_t{1});
  body.number(OneByOne<On>{on}, [&](Index k) { return start[static_cast<std::size_t>(k)]; });
  return body.order;
}

template <class On>
bool build(On& on, PatternView const& a, CuthillMckeeLimits const& limits, Index* old_numbers) {
  std::int64_t const n = a.rows;
  if (n == 0) return true;
  PatternView graph = a;
  if (!symmetrize(on, graph, limits.longest)) return false;
  ByDegree const sorted = by_degree(on, graph);
  Components const parts = components(on, graph, sorted);
  FoundLevels const found = find_levels(on, sorted.graph, parts, limits);
  if (found.widest == 0) return false;
  Index const* const order = number(on, sorted.graph, parts, found, limits.one_kernel);
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const reversed = on.template take<Index>(n);
  on.each(n, Reverse{order, parts.of, sorted.given, n, key, reversed});
  if (parts.count > 1) on.sort(key, reversed, n, static_cast<std::uint32_t>(parts.count));
  on.read(reversed, old_numbers, n);
  return true;
}

}  // namespace tcsolve::ordering
