// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/deflated_cg/ritz.hpp>

#include <algorithm>

#include <Eigen/Eigenvalues>

namespace tcsolve {

// With G = V D V^T and S = V D^(-1/2) of the eigenvalues that are more than rounding, the problem
// is S^T F S u = theta u, y = S u.
std::vector<double> smallest_ritz(std::vector<double> const& F, std::vector<double> const& G,
                                  Index n, Index k) {
  using Matrix = Eigen::MatrixXd;
  constexpr double dependent = 1e-12;
  auto const symmetric = [n](std::vector<double> const& a) -> Matrix {
    Eigen::Map<Matrix const> const m(a.data(), n, n);
    return 0.5 * (m + m.transpose());
  };
  Matrix const f = symmetric(F), g = symmetric(G);
  if (!f.allFinite() || !g.allFinite()) return {};
  Eigen::SelfAdjointEigenSolver<Matrix> const of_g(g);
  Eigen::VectorXd const& d = of_g.eigenvalues();  // ascending
  Index first = 0;
  while (first < n && !(d[first] > dependent * d[n - 1])) ++first;
  if (first == n) return {};
  Matrix const S = of_g.eigenvectors().rightCols(n - first) *
                   d.tail(n - first).cwiseSqrt().cwiseInverse().asDiagonal();
  Eigen::SelfAdjointEigenSolver<Matrix> const reduced(S.transpose() * f * S);
  Index const found = std::min(k, n - first);
  Matrix const y = S * reduced.eigenvectors().leftCols(found);
  std::vector<double> Y(static_cast<std::size_t>(n) * static_cast<std::size_t>(k), 0.0);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < found; ++j) Y[static_cast<std::size_t>(i * k + j)] = y(i, j);
  return Y;
}

}  // namespace tcsolve
