// SPDX-License-Identifier: Apache-2.0
/// The patterns that a search walks, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/graph/reorder/adjacency_build.hpp>
#include <tcsolve/graph/search/search_patterns.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::searching {

struct WidenOffsets {
  OffsetsView from;
  Offset* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class On>
SearchPatterns search_patterns(On& on, PatternView const& a, bool both) {
  SearchPatterns made;
  PatternView graph = a;
  if (both) {
    ordering::symmetrize(on, graph, 0);
    made.symmetric = true;
  } else {
    made.symmetric = ordering::has_symmetric_pattern(on, a);
  }
  made.longest = ordering::longest(on, graph.offsets, graph.rows);
  if (graph.columns == a.columns) return made;
  auto* const offsets = on.template take<Offset>(static_cast<std::size_t>(graph.rows) + 1);
  on.each(std::int64_t{graph.rows} + 1, WidenOffsets{graph.offsets, offsets});
  made.both = sparse::with_offsets(on, graph.rows, graph.cols, offsets);
  on.each(graph.entries, sparse::Copy<Index>{graph.columns, made.both.columns.data()});
  return made;
}

/// The root of a component is its least vertex.
struct TakeComponent {
  Index const *root, *before;
  Index* of;
  TCSOLVE_HD void operator()(std::int64_t v) const { of[v] = before[root[v]]; }
};
template <class On>
Index number_components(On& on, PatternView const& a, Index* of) {
  PatternView graph = a;
  ordering::symmetrize(on, graph, 0);
  std::int64_t const n = graph.rows;
  ordering::Forest const forest{on.template take<Index>(n)};
  auto* const root = on.template take<Index>(n);
  auto* const is_root = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  on.each(n, ordering::Plant{graph, forest});
  on.each_warp(n, ordering::Unite{graph, forest});
  on.each(n + 1, ordering::Roots{forest, graph.rows, root, is_root});
  on.scan(is_root, before, n + 1, Plus{});
  on.each(n, TakeComponent{root, before, of});
  Index count = 0;
  on.read(before + n, &count, 1);
  return count;
}

}  // namespace tcsolve::searching
