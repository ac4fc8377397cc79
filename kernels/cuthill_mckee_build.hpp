// SPDX-License-Identifier: Apache-2.0
/// The reverse Cuthill-McKee order (formats/cuthill_mckee.hpp), written once for both backends
/// (kernels/convert.hpp). All components are searched at the same time, level by level, and the
/// order is that of the serial code, vertex by vertex:
///
///     graph     A's own rows where the pattern is symmetric, else those of A + A^T
///     renumber  vertices by (degree, number): from here on "by ascending degree, ties by number"
///               is "ascending", and a row of the graph lists neighbours in that order
///     parts     connected components by union-find, the least (given) number its root
///               (Jaiganesh and Burtscher 2018)
///     search    from a vertex of each component: breadth-first levels, of which only the numbers
///               matter and not the order within; the next start is the least vertex of the last
///               level, until there are no more levels than before (George and Liu 1979)
///     number    level k + 1 from level k: a vertex follows the neighbour that comes first
///               (least position), a parent counts its children, a scan tells where each parent's
///               begin, and the parent walks its row once more and writes them, ascending
///     reverse   component by component
///
/// Levels are the same whoever reaches a vertex first, and all else is minima, sums and stable
/// sorts: the same order on every run.
///
///   kernels  one a level of a search, with a look at the outcome every 16 levels; four a level
///            of the numbering
///   bytes    of scratch: 8 an entry, 32 where A + A^T must be made; 180 a row; about 1000 a level
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/permute_build.hpp>

namespace tcsolve::ordering {

constexpr Index far_away = std::numeric_limits<Index>::max();

/// The first of `n` ascending keys that is not below.
template <class K>
TCSOLVE_HD Offset lower_bound(K const* key, Offset n, K wanted) {
  Offset low = 0, high = n;
  while (low < high) {
    Offset const middle = low + (high - low) / 2;
    if (key[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- the graph ----

struct Lengths {
  OffsetsView offsets;
  Index rows;
  Index* length;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    length[i] = i < rows ? static_cast<Index>(offsets[i + 1] - offsets[i]) : 0;
  }
};
struct Most {
  TCSOLVE_HD Index operator()(Index a, Index b) const { return a > b ? a : b; }
};

/// Raises *found where a_ij is stored and a_ji is not.
struct Unmatched {
  PatternView a;
  Index* found;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end && glance(found) == 0; k += 32) {
        Index const j = a.columns[k];
        Offset const first = a.offsets[j], count = a.offsets[j + 1] - first;
        Offset const at = lower_bound(a.columns + first, count, static_cast<Index>(i));
        if (at == count || a.columns[first + at] != i) put(found, 1);
      }
    });
  }
};

struct ListEntries {
  PatternView a;
  std::uint32_t* column;
  Index* row;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32)
        column[k] = static_cast<std::uint32_t>(a.columns[k]), row[k] = static_cast<Index>(i);
    });
  }
};

struct Starts {
  std::uint32_t const* column;
  Offset entries;
  Offset* starts;
  TCSOLVE_HD void operator()(std::int64_t j) const {
    starts[j] = lower_bound(column, entries, static_cast<std::uint32_t>(j));
  }
};

/// Row i of A and row i of A^T as one: how many, and where `to` is given, which.
struct Merge {
  PatternView a;
  Offset const* starts;
  Index const* mirrored;
  Offset* lengths;
  Offset const* offsets;
  Index* to;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const inside = i < a.rows;
    Offset p = inside ? a.offsets[i] : 0, q = inside ? starts[i] : 0, length = 0;
    Offset const p_end = inside ? a.offsets[i + 1] : 0, q_end = inside ? starts[i + 1] : 0;
    Index* const row = to != nullptr && inside ? to + offsets[i] : nullptr;
    for (; p < p_end || q < q_end; ++length) {
      Index const one = p < p_end ? a.columns[p] : far_away;
      Index const other = q < q_end ? mirrored[q] : far_away;
      if (row != nullptr) row[length] = one < other ? one : other;
      p += one <= other, q += other <= one;
    }
    if (to == nullptr) lengths[i] = length;
  }
};

/// Entries of the longest row.
template <class On>
Offset longest(On& on, OffsetsView const& offsets, Index rows) {
  std::int64_t const n = rows;
  auto* const length = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  on.each(n + 1, Lengths{offsets, rows, length});
  on.scan(length, before, n + 1, Most{});
  Index most = 0;
  on.read(before + n, &most, 1);
  return most;
}

/// The pattern of A + A^T, diagonal and all; A's own arrays where that is the same. False where a
/// row or a column is longer than `most` (0: any).
template <class On>
bool symmetrize(On& on, PatternView& a, Offset most) {
  if (most > 0 && longest(on, a.offsets, a.rows) > most) return false;
  auto* const unmatched = on.template take<Index>(1);
  on.clear(unmatched, 1);
  on.each_warp(a.rows, Unmatched{a, unmatched});
  Index found = 0;
  on.read(unmatched, &found, 1);
  if (found == 0) return true;
  // The columns of A, by stable sorting: rows ascend in each.
  auto* const column = on.template take<std::uint32_t>(a.entries);
  auto* const mirrored = on.template take<Index>(a.entries);
  auto* const starts = on.template take<Offset>(a.rows + std::size_t{1});
  on.each_warp(a.rows, ListEntries{a, column, mirrored});
  on.sort(column, mirrored, a.entries, static_cast<std::uint32_t>(a.rows));
  on.each(a.rows + std::int64_t{1}, Starts{column, a.entries, starts});
  if (most > 0 && longest(on, starts, a.rows) > most) return false;
  auto* const lengths = on.template take<Offset>(a.rows + std::size_t{1});
  auto* const offsets = on.template take<Offset>(a.rows + std::size_t{1});
  on.each(a.rows + std::int64_t{1}, Merge{a, starts, mirrored, lengths, nullptr, nullptr});
  on.scan(lengths, offsets, a.rows + std::int64_t{1}, Plus{});
  Offset entries = 0;
  on.read(offsets + a.rows, &entries, 1);
  auto* const columns = on.template take<Index>(entries);
  on.each(a.rows, Merge{a, starts, mirrored, lengths, offsets, columns});
  a.entries = entries, a.offsets = offsets, a.columns = columns;
  return true;
}

// ---- by degree ----

/// Neighbours of each vertex, itself not among them.
struct Degrees {
  PatternView graph;
  std::uint32_t* degree;
  Index* vertex;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const first = graph.offsets[i], count = graph.offsets[i + 1] - first;
    Offset const at = lower_bound(graph.columns + first, count, static_cast<Index>(i));
    bool const itself = at < count && graph.columns[first + at] == i;
    degree[i] = static_cast<std::uint32_t>(count - itself);
    vertex[i] = static_cast<Index>(i);
  }
};

struct Invert {
  Index const* old_numbers;
  Index* new_numbers;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    new_numbers[old_numbers[i]] = static_cast<Index>(i);
  }
};

/// Vertices by (degree, number), and the graph in that numbering.
struct ByDegree {
  PatternView graph;
  Index *given, *rank;  ///< the given number of each; and back
};

template <class On>
ByDegree by_degree(On& on, PatternView const& graph) {
  std::int64_t const n = graph.rows;
  ByDegree sorted{graph, on.template take<Index>(n), on.template take<Index>(n)};
  auto* const degree = on.template take<std::uint32_t>(n);
  on.each(n, Degrees{graph, degree, sorted.given});
  on.sort(degree, sorted.given, n, static_cast<std::uint32_t>(n));
  on.each(n, Invert{sorted.given, sorted.rank});
  auto* const offsets = on.template take<Offset>(n + 1);
  auto* const columns = on.template take<Index>(graph.entries);
  CsrView<void> const given{graph.rows,    graph.cols, graph.entries, graph.offsets,
                            graph.columns, nullptr,    on.space()};
  permuting::permute_into(on, given, sorted.given, sorted.rank, offsets, columns,
                          static_cast<void*>(nullptr));
  sorted.graph.offsets = offsets, sorted.graph.columns = columns;
  return sorted;
}

// ---- components ----

/// Trees of vertices, each below its parent; a root is its own.
struct Forest {
  Index* parent;
  TCSOLVE_HD Index root(Index v) const {
    Index here = glance(parent + v);
    for (Index below = v, up; here > (up = glance(parent + here)); here = up)
      put(parent + below, up), below = here;  // none of these is a root, nor will be
    return here;
  }
  TCSOLVE_HD void unite(Index v, Index w) const {
    for (v = root(v), w = root(w); v != w; v = root(v)) {
      if (v < w) {
        Index const greater = w;
        w = v, v = greater;
      }
      Index const seen = atomic_replace(parent + v, v, w);
      if (seen == v) return;
      v = seen;  // below v, and fresh: plain loads may be behind
    }
  }
};
struct Plant {
  PatternView graph;
  Forest forest;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const first = graph.offsets[i];
    bool const below = first < graph.offsets[i + 1] && graph.columns[first] < i;
    forest.parent[i] = below ? graph.columns[first] : static_cast<Index>(i);
  }
};
struct Unite {
  PatternView graph;
  Forest forest;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const begin = graph.offsets[i], end = graph.offsets[i + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end && graph.columns[k] < i; k += 32)
        forest.unite(static_cast<Index>(i), graph.columns[k]);
    });
  }
};
struct Roots {
  Forest forest;
  Index rows;
  Index *root, *is_root;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (i < rows) root[i] = forest.root(static_cast<Index>(i));
    is_root[i] = i < rows && root[i] == i;
  }
};

/// What each component knows of its search.
struct Component {
  Index start;    ///< of the search under way
  Index further;  ///< least vertex of its last level
  Index last;     ///< its last level
  Index first;    ///< its first level
  Index height;   ///< levels of the search before
  Index active;
};

/// `of` the vertices, which are numbered by degree; components in the order of their roots.
struct Enlist {
  ByDegree sorted;
  Index const *root, *before;
  Index* of;
  Component* components;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index const v = sorted.rank[i], c = before[root[i]];
    of[v] = c;
    if (root[i] == i) components[c] = {v, far_away, 0, 0, 0, 1};
  }
};

struct Components {
  Index count = 0;
  Index* of;
  Component* all;
};

template <class On>
Components components(On& on, PatternView const& graph, ByDegree const& sorted) {
  std::int64_t const n = graph.rows;
  Forest const forest{on.template take<Index>(n)};
  auto* const root = on.template take<Index>(n);
  auto* const is_root = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  on.each(n, Plant{graph, forest});
  on.each_warp(n, Unite{graph, forest});
  on.each(n + 1, Roots{forest, graph.rows, root, is_root});
  on.scan(is_root, before, n + 1, Plus{});
  Components parts;
  on.read(before + n, &parts.count, 1);
  parts.of = on.template take<Index>(n);
  parts.all = on.template take<Component>(parts.count);
  on.each(n, Enlist{sorted, root, before, parts.of, parts.all});
  return parts;
}

// ---- searches ----

struct Begin {
  Component* components;
  Index first;  ///< levels are counted on from one search to the next: what is below is not met yet
  Index *level, *queue, *count;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    Component& here = components[c];
    if (here.active == 0) return;
    here.first = here.last = first, here.further = far_away;
    level[here.start] = first;
    queue[atomic_add(count, 1)] = here.start;
  }
};

/// What vertex i of a level reaches first is the next level, in any order.
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

/// Where there is one component, its last level is the last there is.
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
/// The search goes on from the other end, as long as that is further.
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

/// Levels of all vertices from the pseudo-peripheral ones that the components start with.
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
  /// False once there are more than `most_levels`.
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
  Index most() const { return widest_; }  ///< levels of any component

 private:
  /// 0 beyond the limit.
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
/// starts[k]: vertices before level k.
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
/// Vertex i of a level takes the first of its neighbours: only those of the level before have a
/// place yet, or none that is earlier.
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
/// Parent i writes its children, in the order of its row.
struct NumberChildren {
  PatternView graph;
  Index begin, next;  ///< where the parents' level begins, and that of the children
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

/// From the last to the first, by component.
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

/// Vertices in the order of Cuthill and McKee, level by level, all components at once.
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
