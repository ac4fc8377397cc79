// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/minimum_degree.hpp>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include <algorithm>
#include <utility>

#include <tcsolve/core/left_behind.hpp>

namespace tcsolve {

Permutation minimum_degree(Graph const& graph, CancelFlag cancel) {
  using Matrix = Eigen::SparseMatrix<char, Eigen::ColMajor, Index>;
  Index const n = graph.vertices();
  auto const entries = static_cast<std::int64_t>(graph.neighbours.size()) + n;
  // Its numbers are of 32 bits, with room for the elements that are eliminated.
  narrow(2 * entries + 2 * std::int64_t{n}, "minimum degree: entries");
  Matrix pattern(n, n);
  pattern.resizeNonZeros(static_cast<Index>(entries));
  Index* to = pattern.innerIndexPtr();
  for (Index i = 0; i < n; ++i) {
    pattern.outerIndexPtr()[i] = static_cast<Index>(to - pattern.innerIndexPtr());
    *to++ = i;  // it leaves a vertex that is not its own neighbour out of the order
    to = std::copy(graph.of(i).begin(), graph.of(i).end(), to);
  }
  pattern.outerIndexPtr()[n] = static_cast<Index>(entries);
  std::fill_n(pattern.valuePtr(), entries, char{1});
  return Permutation(
      leaving_behind(for_entries(cancel, entries), [own = std::move(pattern), n]() mutable {
        Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> order;
        Eigen::internal::minimum_degree_ordering(own, order);
        return std::vector<Index>(order.indices().data(), order.indices().data() + n);
      }));
}

}  // namespace tcsolve
