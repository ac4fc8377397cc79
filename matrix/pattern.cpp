// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/pattern.hpp>

#include <algorithm>
#include <iterator>

namespace tcsolve {

void require_square(Pattern const& a) {
  if (a.rows != a.cols)
    throw ShapeError(cat("reordering: the matrix is ", a.rows, " x ", a.cols,
                         "; rows and columns are renumbered alike, which needs a square one"));
}

Graph adjacency(Pattern const& a) {
  require_square(a);
  // The columns of A, that is the rows of A^T: ascending, since the rows are visited in order.
  std::vector<Offset> starts(static_cast<std::size_t>(a.rows) + 1, 0);
  for (Offset k = 0; k < a.entries; ++k) ++starts[a.columns[k] + 1];
  for (Index i = 0; i < a.rows; ++i) starts[i + 1] += starts[i];
  std::vector<Index> mirrored(static_cast<std::size_t>(a.entries));
  std::vector<Offset> next(starts.begin(), starts.end() - 1);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row(i)) mirrored[next[j]++] = i;

  Graph graph;
  graph.offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
  graph.neighbours.reserve(static_cast<std::size_t>(a.entries));
  std::vector<Index> both;
  for (Index i = 0; i < a.rows; ++i) {
    both.clear();
    std::span<Index const> const row = a.row(i);
    std::set_union(row.begin(), row.end(), mirrored.begin() + starts[i],
                   mirrored.begin() + starts[i + 1], std::back_inserter(both));
    for (Index const j : both)
      if (j != i) graph.neighbours.push_back(j);
    graph.offsets.push_back(static_cast<Offset>(graph.neighbours.size()));
  }
  return graph;
}

}  // namespace tcsolve
