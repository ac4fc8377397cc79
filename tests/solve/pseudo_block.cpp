// SPDX-License-Identifier: Apache-2.0
/// Block methods of independent columns: each column is as if it were alone.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/block_solvers.hpp>
#include <tests/support/dense.hpp>

namespace tcsolve::test {
namespace {

constexpr char const* pseudo_block_methods =
    "pseudo_block_cg pseudo_block_gmres pseudo_block_bicgstab";

class SolvePseudoBlocks : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(SolvePseudoBlocks);

TEST_P(SolvePseudoBlocks, AgreeWithTheSingleMethod) {
  Matrix A = grid(12);
  for (Index i = 0; i < 144; ++i) A(i, i) += i % 5;
  Matrix unsymmetric = A;
  for (Index i = 1; i < 144; ++i) unsymmetric(i, i - 1) -= 0.7;
  for (bool preconditioned : {false, true})
    for (auto const& [name, single] : {std::pair{"pseudo_block_cg", "cg"},
                                       {"pseudo_block_gmres", "gmres"},
                                       {"pseudo_block_bicgstab", "bicgstab"}})
      for (Index k : {1, 2, 7, 17, 64}) {
        SCOPED_TRACE(cat(name, ", ", k, " columns", preconditioned ? ", jacobi" : ""));
        Matrix const& a = name == std::string("pseudo_block_cg") ? A : unsymmetric;
        auto const operand = std::make_shared<CsrOperator<double>>(ctx(), csr(a));
        OperatorPtr<double> M;
        if (preconditioned) M = std::make_shared<Jacobi<double>>(ctx(), operand->view());
        StoppingParams const stopping{.rtol = 1e-10};
        Matrix const B = random_matrix(144, k, 5);
        Matrix X;
        auto const solver = make_block_solver(name, stopping, execution());
        solver->setup(ctx(), operand, M);
        auto const reports = solve_block(*solver, B, X);
        EXPECT_GE(k * reports.front().bytes_per_iteration,
                  solver->cost().products * operand->cost(k).bytes);
        auto const alone = make_solver<double>(single, stopping, execution());
        alone->setup(ctx(), operand, M);
        for (Index j = 0; j < k; ++j) {
          ASSERT_TRUE(reports[j].converged()) << reports[j].message;
          EXPECT_LE(exact_norm(exact_residual(a, B.col(j), X.col(j))),
                    1.0001e-10L * exact_norm(Column(B.col(j))));
          Column x = Column::Zero(144);
          SolveReport const one = solve(*alone, B.col(j), x);
          EXPECT_NEAR(reports[j].iterations, one.iterations, 2);
          EXPECT_NEAR(static_cast<double>(reports[j].history.size()), reports[j].iterations, 0);
        }
      }
}

/// A column that needs ten times as many steps as the others: they end by themselves.
TEST_P(SolvePseudoBlocks, ColumnsEndOneByOne) {
  Matrix const A = random_spd(200, 4, 17);
  Modes const modes = symmetric_modes(A);
  Matrix B = random_matrix(200, 5, 19), X;
  for (Index j = 0; j < 4; ++j) B.col(j) = modes.vectors.rightCols(3) * random_column(3, 23 + j);
  for (std::string const& name : methods(pseudo_block_methods)) {
    SCOPED_TRACE(name);
    auto const solver = make_block_solver(name, {.rtol = 1e-6, .max_iters = 5000}, execution());
    solver->setup(ctx(), matrix(ctx(), A));
    auto const reports = solve_block(*solver, B, X);
    for (Index j = 0; j < 5; ++j) EXPECT_TRUE(reports[j].converged()) << reports[j].message;
    for (Index j = 0; j < 4; ++j) EXPECT_LE(reports[j].iterations, 6);
    EXPECT_GT(reports[4].iterations, 40);
  }
}

TEST_P(SolvePseudoBlocks, GroupsAndRepetitionsGiveTheSameBits) {
  Matrix const A = grid(9), B = random_matrix(81, 10, 11);
  for (std::string const& name : methods(pseudo_block_methods)) {
    SCOPED_TRACE(name);
    auto const solver = make_block_solver(name, {.rtol = 1e-9}, execution(), 4);
    solver->setup(ctx(), matrix(ctx(), A));
    Matrix X, again, last;
    ASSERT_EQ(solve_block(*solver, B, X).size(), 10u);
    solve_block(*solver, B, again);
    EXPECT_EQ(X, again);
    solve_block(*solver, B.rightCols(2), last);
    EXPECT_EQ(last, X.rightCols(2));
  }
}

/// Rows of many blocks of threads, and a number of columns that divides none of them.
TEST_P(SolvePseudoBlocks, AgreeOnLongColumns) {
  Index const n = 30000;
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 4.0 : -1.0);
    }
    a.offsets.push_back(a.entries());
  }
  auto const operand = std::make_shared<CsrOperator<double>>(ctx(), a);
  Matrix const B = random_matrix(n, 11, 3);
  for (std::string const& name : methods(pseudo_block_methods)) {
    SCOPED_TRACE(name);
    auto const solver = make_block_solver(name, {.rtol = 1e-10}, execution());
    solver->setup(ctx(), operand);
    Matrix X;
    for (SolveReport const& r : solve_block(*solver, B, X)) {
      EXPECT_TRUE(r.converged()) << r.message;
      EXPECT_LE(r.iterations, 30);
    }
  }
}

TEST_P(SolvePseudoBlocks, ApproximateAsInnerSolvers) {
  Matrix const A = grid(8);
  Column const b = random_column(64, 13);
  for (std::string const& name : methods(pseudo_block_methods)) {
    SCOPED_TRACE(name);
    auto const solver = make_block_solver(name, {.rtol = 1e-6}, execution());
    solver->setup(ctx(), matrix(ctx(), A));
    auto there = to_space(ctx(), b.data(), 64);
    Array<double> answer(ctx().space(), 64);
    EXPECT_TRUE(solver->approximate(there.view(), answer.view()).converged());
    std::vector<double> const x = to_host(ctx(), answer);
    EXPECT_LE((b - A * Eigen::Map<Column const>(x.data(), 64)).norm(), 2e-6 * b.norm());
  }
}

}  // namespace
}  // namespace tcsolve::test
