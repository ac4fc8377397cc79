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

}  // namespace tcsolve::searching
