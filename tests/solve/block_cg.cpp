// SPDX-License-Identifier: Apache-2.0
/// Block CG: answers, iterations, and where its columns may lie.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/block_solvers.hpp>
#include <tests/support/dense.hpp>

namespace tcsolve::test {
namespace {

class SolveBlocks : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(SolveBlocks);

/// At a condition of 1e6 the rounding of x alone leaves residuals of about 1e-11 ||b||. At 1e-10
/// nine of 300 such systems with 8 columns end at max_iterations, which ones being a matter of
/// rounding; at 1e-8 none does.
TEST_P(SolveBlocks, AgreesWithEigen) {
  for (auto const& [name, A] : {std::pair{"grid", grid(12)}, {"1e6", random_spd(70, 6, 3)}})
    for (Index k : {1, 2, 8, 17, 64}) {
      SCOPED_TRACE(cat(name, ", ", k, " columns"));
      Matrix const B = random_matrix(static_cast<Index>(A.rows()), k, 5);
      Matrix X;
      double const rtol = name == std::string("1e6") ? 1e-8 : 1e-11;
      BlockCg solver({{.rtol = rtol}, execution()});
      solver.setup(ctx(), matrix(ctx(), A));
      auto const reports = solve_block(solver, B, X);
      Matrix const exact = lu_solve(A, B);
      for (Index j = 0; j < k; ++j) {
        ASSERT_TRUE(reports[j].converged()) << reports[j].message;
        EXPECT_LE(exact_norm(exact_residual(A, B.col(j), X.col(j))),
                  1.0001L * rtol * exact_norm(Column(B.col(j))));
        EXPECT_LE((X.col(j) - exact.col(j)).norm(), 2e6 * rtol * exact.col(j).norm());
      }
    }
}

/// One column is conjugate gradients; more of them take fewer steps (O'Leary 1980).
TEST_P(SolveBlocks, MoreColumnsTakeFewerIterations) {
  Matrix const A = grid(24);
  auto const operand = matrix(ctx(), A);
  Matrix const B = random_matrix(576, 16, 7);
  Cg<double> single({{.rtol = 1e-8}, execution()});
  single.setup(ctx(), operand);
  Column x = Column::Zero(576);
  Index const alone = solve(single, B.col(0), x).iterations;
  Index before = alone + 1;
  BlockCg solver({{.rtol = 1e-8}, execution()});
  solver.setup(ctx(), operand);
  for (Index k : {1, 4, 16}) {
    Matrix X;
    auto const reports = solve_block(solver, B.leftCols(k), X);
    Index const now = reports.front().iterations;
    if (k == 1) EXPECT_NEAR(now, alone, 1);
    EXPECT_LT(now, before + (k == 1));
    before = now;
  }
  EXPECT_LE(before, alone / 2);
}

/// Six columns whose Krylov spaces have three dimensions leave the block to the two others.
TEST_P(SolveBlocks, FinishedColumnsLeaveTheBlock) {
  Matrix const A = random_spd(200, 5, 17);
  Modes const modes = symmetric_modes(A);
  Matrix B = random_matrix(200, 8, 19), X;
  for (Index j = 0; j < 6; ++j) B.col(j) = modes.vectors.rightCols(3) * random_column(3, 23 + j);
  BlockCg solver({{.rtol = 1e-9, .max_iters = 5000}, execution()});
  solver.setup(ctx(), matrix(ctx(), A));
  auto const reports = solve_block(solver, B, X);
  for (Index j = 0; j < 8; ++j) {
    EXPECT_TRUE(reports[j].converged()) << reports[j].message;
    EXPECT_LE(exact_norm(exact_residual(A, B.col(j), X.col(j))),
              1.0001e-9L * exact_norm(Column(B.col(j))));
  }
  EXPECT_LT(2 * reports[0].iterations, reports[7].iterations);
  EXPECT_EQ(reports[0].restarts, 0);
  EXPECT_GE(reports[7].restarts, 1);
}

TEST_P(SolveBlocks, PreconditionersAndOrdersKeepTheAnswer) {
  Matrix A = grid(10);
  for (Index i = 0; i < 100; ++i) A(i, i) += std::pow(10.0, i % 4);
  Csr<double> const a = csr(A);
  Matrix const B = random_matrix(100, 5, 9);
  Matrix plain, X;
  BlockCg solver({{.rtol = 1e-10}, execution()});
  auto const operand = std::make_shared<CsrOperator<double>>(ctx(), a);
  solver.setup(ctx(), operand);
  Index const without = solve_block(solver, B, plain).front().iterations;
  solver.setup(ctx(), operand, std::make_shared<Jacobi<double>>(ctx(), operand->view()));
  EXPECT_LT(solve_block(solver, B, X).front().iterations, without);
  EXPECT_LE((X - plain).norm(), 1e-7 * plain.norm());

  std::vector<Index> reversed(100);
  for (Index i = 0; i < 100; ++i) reversed[i] = 99 - i;
  Permutation const P(reversed);
  BlockCg ordered({{.rtol = 1e-10}, execution()});
  ordered.frame({.order = std::make_shared<Permutation const>(P)});
  Matrix const PAP = A.reverse();
  ordered.setup(ctx(), matrix(ctx(), PAP));
  EXPECT_EQ(ordered.columns_at_once(), 64);
  for (SolveReport const& r : solve_block(ordered, B, X)) EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LE((X - plain).norm(), 1e-7 * plain.norm());
}

TEST_P(SolveBlocks, GroupsLayoutsAndRepetitionsGiveTheSameBits) {
  Matrix const A = grid(9), B = random_matrix(81, 10, 11);
  BlockCg solver({.stopping = {.rtol = 1e-9}, .execution = execution(), .columns = 4});
  solver.setup(ctx(), matrix(ctx(), A));
  Matrix X, again;
  auto const reports = solve_block(solver, B, X);
  ASSERT_EQ(reports.size(), 10u);
  EXPECT_EQ(reports[0].iterations, reports[3].iterations);
  solve_block(solver, B, again);
  EXPECT_EQ(X, again);
  // Row-major.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = B, answer = 0 * B;
  solver.solve_columns({rows.data(), 81, 10, 10}, {answer.data(), 81, 10, 10});
  EXPECT_EQ(Matrix(answer), X);
  // The last group by itself.
  Matrix last;
  solve_block(solver, B.rightCols(2), last);
  EXPECT_EQ(last, X.rightCols(2));
  EXPECT_THROW(solver.solve_columns({B.data(), 81, 10, 81, Layout::col_major},
                                    {X.data(), 81, 9, 81, Layout::col_major}),
               ShapeError);
}

/// One right-hand side in parts: a larger search space, the same answer.
TEST_P(SolveBlocks, PartsOfOneColumnTakeFewerIterations) {
  Matrix const A = grid(24);
  auto const operand = matrix(ctx(), A);
  Column const b = random_column(576, 7);
  for (bool preconditioned : {false, true}) {
    OperatorPtr<double> M;
    if (preconditioned)
      M = std::make_shared<Jacobi<double>>(ctx(), CsrOperator<double>(ctx(), csr(A)).view());
    Index before = 1000;
    for (int parts : {1, 4, 16}) {
      SCOPED_TRACE(cat(parts, " parts"));
      BlockCg solver({.stopping = {.rtol = 1e-10},
                      .execution = execution(),
                      .enlarge = parts,
                      .compare = true});
      solver.setup(ctx(), operand, M);
      Column x = Column::Constant(576, 0.1), again = Column::Zero(576);
      // From another x0 there is nothing to compare with.
      EXPECT_EQ(solve(solver, b, x).message.find(": paid if") != std::string::npos, parts > 1);
      x.setZero();
      SolveReport const r = solve(solver, b, x);
      ASSERT_TRUE(r.converged()) << r.message;
      EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.0001e-10L * exact_norm(b));
      EXPECT_LT(r.iterations, before);
      before = r.iterations;
      EXPECT_EQ(r.message.find(" pay") != std::string::npos ||
                    r.message.find(" paid") != std::string::npos,
                parts > 1)
          << r.message;
      solve(solver, b, again);
      EXPECT_EQ(x, again);
      // Several right-hand sides are no parts.
      Matrix X;
      for (SolveReport const& each : solve_block(solver, random_matrix(576, 3, 8), X)) {
        EXPECT_TRUE(each.converged()) << each.message;
        EXPECT_EQ(each.message.find("parts"), std::string::npos);
      }
    }
  }
}

/// Parts that are zero, more parts than rows, a solution in the first step, and what cannot be
/// solved.
TEST_P(SolveBlocks, PartsHaveTheVerdictsOfOneColumn) {
  auto run = [&](Matrix const& A, Column const& b, Column& x, StoppingParams stopping = {}) {
    BlockCg solver({.stopping = stopping, .execution = execution(), .enlarge = 8});
    solver.setup(ctx(), matrix(ctx(), A));
    return solve(solver, b, x);
  };
  Column b = Column::Zero(60), x = b;
  EXPECT_EQ(run(laplace(60), b, x).cause, Cause::zero_rhs);
  b[59] = 1;
  EXPECT_TRUE(run(laplace(60), b, x).converged());
  EXPECT_EQ(run(laplace(60), b, x).cause, Cause::exact_guess);
  x = Column::Zero(5);
  EXPECT_TRUE(run(laplace(5), random_column(5, 3), x).converged());
  x = Column::Zero(60);
  EXPECT_TRUE(run(Matrix::Identity(60, 60), random_column(60, 3), x).converged());
  x.setZero();
  EXPECT_EQ(run(-laplace(60), random_column(60, 3), x).reason, Stop::indefinite_operator);
  EXPECT_EQ(run(laplace(60), random_column(60, 3), x, {.max_iters = 1}).reason,
            Stop::max_iterations);
  EXPECT_EQ(run(laplace(60), random_column(60, 3), x, {.rtol = 1e-17}).reason,
            Stop::precision_limit);
  b[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(run(laplace(60), b, x).reason, Stop::nonfinite);
  EXPECT_TRUE(x.allFinite());
}

/// An inner solve makes its steps, whatever the tolerance.
TEST_P(SolveBlocks, ApproximatesAsAnInnerSolver) {
  Matrix const A = grid(8);
  Column const b = random_column(64, 13);
  BlockCg solver({{.rtol = 1e-6}, execution()});
  solver.setup(ctx(), matrix(ctx(), A));
  auto there = to_space(ctx(), b.data(), 64);
  Array<double> answer(ctx().space(), 64);
  SolveReport const r = solver.approximate(there.view(), answer.view());
  EXPECT_TRUE(r.converged());
  EXPECT_GT(r.iterations, 5);
  std::vector<double> const x = to_host(ctx(), answer);
  EXPECT_LE((b - A * Eigen::Map<Column const>(x.data(), 64)).norm(), 2e-6 * b.norm());
}

}  // namespace
}  // namespace tcsolve::test
