// SPDX-License-Identifier: Apache-2.0
/// The graph of a symmetric renumbering, written once for both backends (kernels/convert.hpp). The
/// graph is the pattern of A + A^T; A's own arrays are used if A's pattern is symmetric. Its
/// vertices are sorted by (degree, number), and its connected components are found by union-find
/// (Jaiganesh and Burtscher 2018). graph/reorder/cuthill_mckee_build.hpp orders the graph.
#pragma once

#include <limits>

#include <tcsolve/graph/reorder/permute_build.hpp>
#include <tcsolve/kernels/atomics.hpp>

namespace tcsolve::ordering {

constexpr Index far_away = std::numeric_limits<Index>::max();

/// Returns the index of the first of `n` ascending keys that is >= wanted; n if there is none.
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

/// Sets *found to 1 if some a_ij is stored and a_ji is not.
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

/// Merges row i of A and row i of A^T: counts the columns if `to` is null, else writes them.
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

/// Whether a_ji is stored wherever a_ij is.
template <class On>
bool has_symmetric_pattern(On& on, PatternView const& a) {
  auto* const unmatched = on.template take<Index>(1);
  on.clear(unmatched, 1);
  on.each_warp(a.rows, Unmatched{a, unmatched});
  Index found = 0;
  on.read(unmatched, &found, 1);
  return found == 0;
}

/// Replaces `a` by the pattern of A + A^T, diagonal included; keeps A's own arrays if the pattern
/// is symmetric. Returns false if a row or a column has more than `most` entries (0: no limit).
template <class On>
bool symmetrize(On& on, PatternView& a, Offset most) {
  if (most > 0 && longest(on, a.offsets, a.rows) > most) return false;
  if (has_symmetric_pattern(on, a)) return true;
  // A stable sort of the entries by column gives the rows of A^T, in each of which the row indices
  // ascend.
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

/// The degree of each vertex; a diagonal entry does not count.
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

/// The vertices sorted by (degree, number), and the graph in that numbering.
struct ByDegree {
  PatternView graph;
  Index *given, *rank;  ///< sorted number -> given number, and its inverse
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

/// A union-find forest: the parent of a vertex has a smaller number; a root is its own parent.
struct Forest {
  Index* parent;
  TCSOLVE_HD Index root(Index v) const {
    Index here = glance(parent + v);
    for (Index below = v, up; here > (up = glance(parent + here)); here = up)
      put(parent + below, up),
          below = here;  // path compression of vertices that are not roots and never become roots
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
      v = seen;  // smaller than v; the atomic returns the current value, a plain load may return an
                 // older one
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

/// The state of the search in each component.
struct Component {
  Index start;    ///< start vertex of the current search
  Index further;  ///< least vertex of its last level
  Index last;     ///< its last level
  Index first;    ///< its first level
  Index height;   ///< number of levels of the previous search
  Index active;
};

/// Sets of[v], the component of vertex v (sorted number); components are numbered in the order of
/// their roots.
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

}  // namespace tcsolve::ordering
