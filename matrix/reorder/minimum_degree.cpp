// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/reorder/minimum_degree.hpp>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace tcsolve {

Permutation minimum_degree(Graph const& graph) {
  using Matrix = Eigen::SparseMatrix<char, Eigen::ColMajor, Index>;
  Index const n = graph.vertices();
  // Its numbers are of 32 bits, with room for the elements that are eliminated.
  narrow(3 * static_cast<std::int64_t>(graph.neighbours.size()), "minimum degree: neighbours");
  Matrix pattern(n, n);
  pattern.resizeNonZeros(static_cast<Index>(graph.neighbours.size()));
  for (Index i = 0; i <= n; ++i)
    pattern.outerIndexPtr()[i] = static_cast<Index>(graph.offsets[i]);
  std::copy(graph.neighbours.begin(), graph.neighbours.end(), pattern.innerIndexPtr());
  std::fill_n(pattern.valuePtr(), graph.neighbours.size(), char{1});
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> order;
  Eigen::internal::minimum_degree_ordering(pattern, order);
  return Permutation(std::vector<Index>(order.indices().data(), order.indices().data() + n));
}

}  // namespace tcsolve
