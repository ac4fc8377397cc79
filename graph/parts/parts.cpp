// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/parts/parts.hpp>

#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve {
namespace {

/// The same parts numbered without those that are empty, in the order of their least vertices.
Parts numbered(std::vector<Index> of, Index count) {
  std::vector<Index> number(static_cast<std::size_t>(count), -1);
  Parts parts{std::move(of)};
  for (Index& p : parts.of) {
    if (number[p] < 0) number[p] = parts.count++;
    p = number[p];
  }
  return parts;
}

}  // namespace

Parts parts_of(Graph const& graph, Index size, PartsBy by, CancelFlag cancel) {
  if (size < 1) throw ShapeError(cat("parts of ", size, " rows; needed is 1 or more"));
  Index const n = graph.vertices();
  Index const count = n / size + (n % size != 0);
  if (by == PartsBy::metis) {
    require_metis();
    return numbered(partition(graph, count > 0 ? count : 1, cancel), count);
  }
  if (by != PartsBy::rows) return grown_parts(graph, size, cancel);
  std::vector<Index> of(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) of[i] = i / size;
  return {std::move(of), count};
}

}  // namespace tcsolve
