// SPDX-License-Identifier: Apache-2.0
/// lsmr with preconditioners on the right: the same least-squares solution and verdict, in fewer
/// iterations.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/api/systems.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Tall, of full rank, its columns of lengths over six decades; neighbouring columns are nearly
/// parallel.
Matrix tall(Index rows, Index cols) {
  Matrix a = Matrix::Zero(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      if (std::abs(i * cols / rows - j) < 3) a(i, j) = 1 + 0.2 * uniform(3, i * cols + j);
  for (Index j = 0; j < cols; ++j) a.col(j) *= std::pow(10.0, 3 * uniform(5, j));
  return a;
}

class LeastSquares : public OnEachBackend {
 protected:
  SolveReport solved(Matrix const& a, std::string const& preconditioner, Column const& b,
                     Column& x) {
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), csr(a).view(),
        "solver: {type: lsmr, max_iters: 20000, rtol: 1e-10}\npreconditioner: " + preconditioner +
            "\n");
    x = Column::Zero(a.cols());
    return solve(solver, b, x);
  }
};
TCSOLVE_ON_EACH_BACKEND(LeastSquares);

TEST_P(LeastSquares, PreconditionersChangeTheIterationsAlone) {
  Matrix const a = tall(300, 100);
  Column const inside = a * (a.colwise().norm().cwiseInverse().transpose().cwiseProduct(
                                random_column(100, 1))),
               outside = random_column(300, 2);
  for (bool consistent : {true, false}) {
    Column const b = consistent ? inside : outside;
    Column const exact = least_squares_solution(a, b);
    double const least = (b - a * exact).norm();
    std::vector<Index> iterations;
    for (std::string const M : {"{type: none}", "{type: column_scaling}",
                                "{type: normal_ic, drop_tolerance: 1e-3}", "{type: auto}"}) {
      SCOPED_TRACE(cat(M, consistent ? ", consistent" : ""));
      Column x;
      SolveReport const report = solved(a, M, b, x);
      if (M == "{type: none}") {
        iterations.push_back(report.iterations);
        continue;  // that it may fail is why there are others
      }
      EXPECT_EQ(report.reason, consistent ? Stop::converged : Stop::least_squares)
          << report.message;
      EXPECT_LE((b - a * x).norm(), consistent ? 1.01e-10 * b.norm() : (1 + 1e-8) * least);
      EXPECT_NEAR(report.true_residual, (b - a * x).norm(), 1e-10 * b.norm());
      iterations.push_back(report.iterations);
    }
    EXPECT_LT(iterations[1], iterations[0] / 2) << "scaled";
    EXPECT_LT(iterations[2], iterations[1] / 2) << "by a factor of A^T A";
    EXPECT_EQ(iterations[3], iterations[1]) << "auto scales";
  }
}

// ILU of a square matrix stands on the right, too.
TEST_P(LeastSquares, TakeFactorsOfASquareMatrix) {
  Matrix const a = at_time(0);
  Column const b = random_column(a.rows(), 3);
  Column x, y;
  SolveReport const plain = solved(a, "{type: none}", b, x), with = solved(a, "{type: ilu}", b, y);
  EXPECT_TRUE(plain.converged() && with.converged()) << with.message;
  EXPECT_LT(with.iterations, plain.iterations / 2);
  EXPECT_LE((b - a * y).norm(), 1.01e-10 * b.norm());
}

// Columns without entries, and rows: finite answers, x_j = 0.
TEST_P(LeastSquares, WithEmptyColumns) {
  Matrix a = tall(60, 20);
  a.col(4).setZero();
  a.row(7).setZero();
  Column const b = random_column(60, 2);
  for (std::string const M : {"{type: column_scaling}", "{type: normal_ic}"}) {
    Column x;
    SolveReport const report = solved(a, M, b, x);
    EXPECT_EQ(report.reason, Stop::least_squares) << report.message;
    EXPECT_EQ(x[4], 0);
  }
}

}  // namespace
}  // namespace tcsolve::test
