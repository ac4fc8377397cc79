// SPDX-License-Identifier: Apache-2.0
/// Aggregates, written once for both backends (kernels/convert.hpp).
#pragma once

#include <utility>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/aggregates.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

TCSOLVE_HD Offset degree_of(PatternView const& graph, std::int64_t i) {
  return graph.offsets[i + 1] - graph.offsets[i];
}

/// A member of an independent set is a root where it has `least` neighbours.
struct IsRoot {
  PatternView graph;
  Index const* members;
  Offset least;
  Index* root;  // (nodes + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    root[i] = i < graph.rows && members[i] >= 0 && degree_of(graph, i) >= least;
  }
};

/// Roots and their neighbours; no two roots have a neighbour in common.
struct JoinRoot {
  PatternView graph;
  Index const *root, *number;
  Index first;
  Index* of;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (root[i] != 0) {
      of[i] = first + number[i];
      return;
    }
    for (Offset k = graph.offsets[i], end = graph.offsets[i + 1]; k < end; ++k)
      if (root[graph.columns[k]] != 0) {
        of[i] = first + number[graph.columns[k]];
        return;
      }
  }
};

struct InNone {
  Index* of;
  TCSOLVE_HD void operator()(std::int64_t i) const { of[i] = -1; }
};

struct KeepBetweenLeft {
  PatternView graph;
  Index const* of;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Offset k = graph.offsets[i], end = graph.offsets[i + 1]; k < end; ++k)
      keep[k] = of[i] < 0 && of[graph.columns[k]] < 0;
  }
};

/// The aggregate that most of the neighbours of a node are in; of several the first.
struct JoinMost {
  static constexpr int most = 64;  // neighbours looked at
  PatternView graph;
  Index const* before;  ///< aggregates without this pass
  Index* of;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (before[i] >= 0) return;
    Index around[most];
    int n = 0;
    for (Offset k = graph.offsets[i], end = graph.offsets[i + 1]; k < end && n < most; ++k)
      if (before[graph.columns[k]] >= 0) around[n++] = before[graph.columns[k]];
    int best = 0;
    for (int p = 0; p < n; ++p) {
      int same = 0;
      for (int q = 0; q < n; ++q) same += around[q] == around[p];
      if (same > best || (same == best && around[p] < of[i])) best = same, of[i] = around[p];
    }
  }
};

/// Numbers of the roots from `first` on, and their neighbours'; returns the next number.
template <class On>
Index join_roots(On& on, PatternView const& graph, Index const* members, Offset least, Index first,
                 Index* of) {
  std::int64_t const n = std::int64_t{graph.rows} + 1;
  auto* const root = on.template take<Index>(n);
  auto* const number = on.template take<Index>(n);
  on.each(n, IsRoot{graph, members, least, root});
  on.scan(root, number, n, Plus{});
  on.each(graph.rows, JoinRoot{graph, root, number, first, of});
  Index count = 0;
  on.read(number + graph.rows, &count, 1);
  return first + count;
}

template <class On>
LeftNodes aggregate_around(On& on, PatternView const& strong, Index const* members) {
  LeftNodes left;
  left.aggregates.of = Array<Index>(on.space(), static_cast<std::size_t>(strong.rows));
  left.keep = Array<std::uint8_t>(on.space(), static_cast<std::size_t>(strong.entries));
  Index* const of = left.aggregates.of.data();
  on.each(strong.rows, InNone{of});
  left.aggregates.count = join_roots(on, strong, members, 1, 0, of);
  on.each(strong.rows, KeepBetweenLeft{strong, of, left.keep.data()});
  return left;
}

template <class On>
Aggregates aggregate_left(On& on, PatternView const& strong, PatternView const& between,
                          Index const* members, LeftNodes left) {
  Aggregates made = std::move(left.aggregates);
  made.count = join_roots(on, between, members, 2, made.count, made.of.data());
  auto* const before = on.template take<Index>(strong.rows);
  on.each(strong.rows, sparse::Copy<Index>{made.of.data(), before});
  on.each(strong.rows, JoinMost{strong, before, made.of.data()});
  return made;
}

}  // namespace tcsolve
