// SPDX-License-Identifier: Apache-2.0
/// Block GMRES: answers, iterations, restarts and blocks that become narrower.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/block_solvers.hpp>
#include <tests/support/dense.hpp>

namespace tcsolve::test {
namespace {

class SolveBlockGmres : public InEveryPlace {
 protected:
  std::unique_ptr<BlockGmres> solver(double rtol, int restart = 20) const {
    return std::make_unique<BlockGmres>(
        BlockGmresParams{.stopping = {.rtol = rtol}, .execution = execution(), .restart = restart});
  }
};
TCSOLVE_IN_EVERY_PLACE(SolveBlockGmres);

/// Convection on a grid of m x m points.
Matrix convection(Index m) {
  Matrix a = grid(m);
  for (Index i = 0; i < m * m; ++i) {
    if (i % m > 0) a(i, i - 1) -= 0.3;
    if (i + m < m * m) a(i, i + m) += 0.3;
  }
  return a;
}

TEST_P(SolveBlockGmres, AgreesWithEigen) {
  Matrix const A = convection(12), random = random_matrix(70, 70, 3) + 9 * Matrix::Identity(70, 70);
  for (auto const& [name, a] : {std::pair{"convection", A}, {"random", random}})
    for (int restart : {3, 5, 20})
      for (Index k : {1, 2, 7, 16, 21}) {
        SCOPED_TRACE(cat(name, ", restart ", restart, ", ", k, " columns"));
        Matrix const B = random_matrix(static_cast<Index>(a.rows()), k, 5);
        Matrix X;
        auto const s = solver(1e-10, restart);
        s->setup(ctx(), matrix(ctx(), a));
        auto const reports = solve_block(*s, B, X);
        Matrix const exact = lu_solve(a, B);
        for (Index j = 0; j < k; ++j) {
          ASSERT_TRUE(reports[j].converged()) << reports[j].message;
          EXPECT_LE(exact_norm(exact_residual(a, B.col(j), X.col(j))),
                    1.0001e-10L * exact_norm(Column(B.col(j))));
          EXPECT_LE((X.col(j) - exact.col(j)).norm(), 1e-7 * exact.col(j).norm());
        }
      }
}

/// One column is GMRES; more of them take fewer steps.
TEST_P(SolveBlockGmres, MoreColumnsTakeFewerIterations) {
  Matrix const A = convection(20);
  auto const operand = matrix(ctx(), A);
  Matrix const B = random_matrix(400, 12, 7);
  Gmres<double> single({.stopping = {.rtol = 1e-8}, .execution = execution(), .restart = 200});
  single.setup(ctx(), operand);
  Column x = Column::Zero(400);
  Index const alone = solve(single, B.col(0), x).iterations;
  auto const s = solver(1e-8, 200);
  s->setup(ctx(), operand);
  Index before = alone + 2;
  for (Index k : {1, 4, 12}) {
    Matrix X;
    Index const now = solve_block(*s, B.leftCols(k), X).front().iterations;
    if (k == 1) EXPECT_NEAR(now, alone, 1);
    EXPECT_LT(now, before);
    before = now;
  }
  EXPECT_LE(before, alone / 2);
}

/// With all directions of the space, whatever the blocks: n / k steps.
TEST_P(SolveBlockGmres, EndsWithTheSpace) {
  Matrix const A = random_matrix(48, 48, 8), B = random_matrix(48, 8, 9);
  Matrix X;
  auto const s = solver(1e-9, 30);
  s->setup(ctx(), matrix(ctx(), A));
  for (SolveReport const& r : solve_block(*s, B, X)) {
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(r.iterations, 7);
  }
  // Two equal columns and one that is their sum: blocks of five, of which one is exhausted early.
  Matrix dependent = B;
  dependent.col(1) = B.col(0);
  dependent.col(2) = B.col(0) + B.col(3);
  dependent.col(4) = A * B.col(0);
  for (SolveReport const& r : solve_block(*s, dependent, X)) {
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(r.iterations, 14);
  }
}

TEST_P(SolveBlockGmres, PreconditionersAndRepetitionsKeepTheAnswer) {
  Matrix A = convection(10);
  for (Index i = 0; i < 100; ++i) A(i, i) += std::pow(10.0, i % 4);
  auto const operand = std::make_shared<CsrOperator<double>>(ctx(), csr(A));
  Matrix const B = random_matrix(100, 5, 9);
  Matrix plain, X, again;
  auto const s = solver(1e-10);
  s->setup(ctx(), operand);
  Index const without = solve_block(*s, B, plain).front().iterations;
  s->setup(ctx(), operand, std::make_shared<Jacobi<double>>(ctx(), operand->view()));
  EXPECT_LT(solve_block(*s, B, X).front().iterations, without);
  EXPECT_LE((X - plain).norm(), 1e-7 * plain.norm());
  solve_block(*s, B, again);
  EXPECT_EQ(X, again);
}

/// As an inner solver it restarts until its steps are used up.
TEST_P(SolveBlockGmres, ApproximatesOverRestarts) {
  Matrix const A = convection(8);
  Column const b = random_column(64, 13);
  auto const s = solver(1e-8, 4);
  s->setup(ctx(), matrix(ctx(), A));
  auto there = to_space(ctx(), b.data(), 64);
  Array<double> answer(ctx().space(), 64);
  SolveReport const r = s->approximate(there.view(), answer.view());
  EXPECT_TRUE(r.converged());
  EXPECT_GT(r.iterations, 8);
  std::vector<double> const x = to_host(ctx(), answer);
  EXPECT_LE((b - A * Eigen::Map<Column const>(x.data(), 64)).norm(), 2e-8 * b.norm());
}

}  // namespace
}  // namespace tcsolve::test
