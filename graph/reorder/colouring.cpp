// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/colouring.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {

Colouring colouring(Graph const& graph) {
  Index const n = graph.vertices();
  Colouring result;
  result.colour.assign(n, -1);
  std::vector<Index> taken_by;  // taken_by[c]: the last vertex with a neighbour of colour c
  for (Index i = 0; i < n; ++i) {
    for (Index const j : graph.of(i))
      if (Index const c = result.colour[j]; c >= 0) taken_by[c] = i;
    Index c = 0;
    while (c < result.colours && taken_by[c] == i) ++c;
    if (c == result.colours) {
      taken_by.push_back(-1);
      ++result.colours;
    }
    result.colour[i] = c;
  }
  std::vector<Index> next(result.colours + 1, 0), old_numbers(n);
  for (Index const c : result.colour) ++next[c + 1];
  for (Index c = 0; c < result.colours; ++c) next[c + 1] += next[c];
  for (Index i = 0; i < n; ++i) old_numbers[next[result.colour[i]]++] = i;
  result.order = Permutation(std::move(old_numbers));
  return result;
}

}  // namespace tcsolve
