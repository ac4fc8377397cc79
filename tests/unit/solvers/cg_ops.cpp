// SPDX-License-Identifier: Apache-2.0
/// What the scalars of CG know of the directions they never see.
#include <gtest/gtest.h>

#include <Eigen/Core>

#include <tcsolve/solvers/cg/ops.hpp>

namespace tcsolve::test {

namespace {

using Vector = Eigen::VectorXd;

/// (k I + the path Laplacian), rows and columns scaled.
Eigen::MatrixXd path(int n, double shift) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i + 1 < n; ++i) {
    A(i, i) += 1, A(i + 1, i + 1) += 1;
    A(i, i + 1) = A(i + 1, i) = -1;
  }
  return A + shift * Eigen::MatrixXd::Identity(n, n);
}

/// Conjugate gradients in Eigen (Saad 2003, Algorithm 9.1); `look` sees the scalars of each step
/// and its p.
template <class Look>
void conjugate_gradients(Eigen::MatrixXd const& A, Vector const& D, Vector r, int steps,
                         CgScalars& k, Look const& look) {
  Vector p = D.cwiseProduct(r);
  k.rho = r.dot(p);
  for (int step = 0; step < steps; ++step) {
    Vector q = A * p;
    k.sigma = p.dot(q);
    k.update_bounds();
    look(p);
    r -= k.rho / k.sigma * q;
    Vector z = D.cwiseProduct(r);
    k.rho_prev = k.rho;
    k.rho = r.dot(z);
    p = z + k.rho / k.rho_prev * p;
  }
}

TEST(CgScalars, KnowTheSizesOfDirectionsAndOfTheOperator) {
  int n = 40;
  Vector D = Vector::LinSpaced(n, 0.5, 3);
  CgScalars k{};
  double largest = 0;
  conjugate_gradients(path(n, 0.1), D, Vector::LinSpaced(n, -1, 2).array().sin(), 25, k,
                      [&](Vector const& p) {
                        double size = p.dot(p.cwiseQuotient(D));
                        EXPECT_NEAR(k.pp, size, 1e-10 * size);
                        largest = std::max(largest, k.sigma / size);
                      });
  EXPECT_NEAR(k.largest, largest, 1e-10 * largest);
  EXPECT_EQ(k.kernel, 0);
}

TEST(CgScalars, RememberADirectionInTheKernel) {
  int n = 12;
  Vector ones = Vector::Ones(n),
         r = path(n, 0) * Vector::LinSpaced(n, -1, 2).array().cos().matrix();
  CgScalars k{};
  conjugate_gradients(path(n, 0), ones, r, 4, k, [](Vector const&) {});
  EXPECT_EQ(k.kernel, 0) << "r is in the range";
  k = {};
  conjugate_gradients(path(n, 0), ones, r + 1e-6 * ones, 20, k, [](Vector const&) {});
  EXPECT_NE(k.kernel, 0) << "r is not";
}

}  // namespace

}  // namespace tcsolve::test
