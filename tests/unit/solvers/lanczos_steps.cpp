// SPDX-License-Identifier: Apache-2.0
/// The condition that conjugate gradients see on their way, against the eigenvalues of their
/// Lanczos matrix and of the matrix.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>

#include <gtest/gtest.h>

#include <tcsolve/core/types.hpp>
#include <tcsolve/solvers/driver/lanczos_steps.hpp>

namespace tcsolve::test {
namespace {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

/// Of conjugate gradients without a preconditioner on a diagonal matrix.
std::unique_ptr<LanczosSteps> steps_of(Column const& eigenvalues, int count) {
  Column r(eigenvalues.size());
  for (Index i = 0; i < r.size(); ++i) r[i] = std::cos(double(i * i));
  Column p = r;
  double rho = r.dot(r), beta = 0;
  auto out = std::make_unique<LanczosSteps>();
  out->begin();
  for (int j = 0; j < count && rho > 1e-200; ++j) {
    Column const q = eigenvalues.cwiseProduct(p);
    double const a = rho / p.dot(q);
    out->note(a, beta);
    r -= a * q;
    double const before = std::exchange(rho, r.dot(r));
    beta = rho / before;
    p = r + beta * p;
  }
  return out;
}

Matrix lanczos(LanczosSteps const& s, int count) {
  Matrix T = Matrix::Zero(count, count);
  for (int j = 0; j < count; ++j) {
    T(j, j) = 1 / s.a[j] + (j > 0 ? s.b[j] / s.a[j - 1] : 0.0);
    if (j > 0) T(j, j - 1) = T(j - 1, j) = std::sqrt(s.b[j]) / s.a[j - 1];
  }
  return T;
}

Column graded(Index n, double decades, double power) {
  Column values(n);
  for (Index i = 0; i < n; ++i)
    values[i] = std::pow(10.0, -decades * std::pow(double(i) / (n - 1), power));
  return values;
}

TEST(LanczosSteps, HaveTheConditionOfTheirMatrix) {
  for (double const decades : {0.5, 3.0, 6.0})
    for (double const power : {1.0, 3.0}) {
      SCOPED_TRACE(decades);
      auto const s = steps_of(graded(300, decades, power), 80);
      for (int const k : {1, 2, 3, 10, 80}) {
        s->count = k;
        Eigen::SelfAdjointEigenSolver<Matrix> const exact(lanczos(*s, k));
        double const condition = exact.eigenvalues()[k - 1] / exact.eigenvalues()[0];
        EXPECT_NEAR(s->condition() / condition, 1, 0.05) << k << " steps";
      }
    }
}

TEST(LanczosSteps, TendToTheConditionOfTheMatrixFromBelow) {
  for (double const decades : {1.0, 3.0, 5.0}) {
    double const condition = std::pow(10.0, decades);
    auto const s = steps_of(graded(60, decades, 1), 400);
    double before = 0;
    int const all = s->count;
    for (int const k : {5, 20, 50, all}) {
      s->count = k;
      double const seen = s->condition();
      EXPECT_GE(seen, 0.95 * before);
      EXPECT_LE(seen, 1.05 * condition);
      before = seen;
    }
    EXPECT_GE(before, 0.95 * condition);
  }
}

TEST(LanczosSteps, AreAsManyAsThereIsRoomFor) {
  LanczosSteps s;
  s.begin();
  EXPECT_EQ(s.condition(), 0);
  for (int k = 0; k < LanczosSteps::room + 5; ++k) s.note(0.25, k == 0 ? 0.0 : 1.0);
  EXPECT_EQ(s.count, LanczosSteps::room);
  EXPECT_GT(s.condition(), 1e5);  // T = 4 (2 I + neighbours): 4 / (pi / 2048)^2
  s.begin();
  s.note(0.25, 0);
  EXPECT_NEAR(s.condition(), 1, 0.05);
  s.note(NAN, 1), s.note(0, 1);
  EXPECT_EQ(s.count, 1);
}

/// A scaled matrix has the same condition.
TEST(LanczosSteps, AreHomogeneous) {
  auto const s = steps_of(graded(40, 2, 1), 20), scaled = steps_of(graded(40, 2, 1), 20);
  for (int const exponent : {300, -300}) {
    for (int k = 0; k < 20; ++k) scaled->a[k] = std::ldexp(s->a[k], exponent);
    EXPECT_NEAR(scaled->condition() / s->condition(), 1, 0.05) << exponent;
  }
}

}  // namespace
}  // namespace tcsolve::test
