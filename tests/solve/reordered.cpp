// SPDX-License-Identifier: Apache-2.0
/// A solver of the reordered system answers in the caller's numbers, and keeps every promise that a
/// Solver makes.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/generate/renumber.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <Eigen/Core>

#include <cstring>

#include <tests/support/dense.hpp>
#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class Reordered : public InEveryPlace {
 protected:
  /// `method` with Jacobi on P A P^T, in a format that is made from CSR.
  std::unique_ptr<Solver> around(std::string const& method, Matrix const& A, Permutation const& P,
                                 StoppingParams const& stopping = {.rtol = 1e-11}) {
    Csr<double> const there = permuted(csr(A).view(), P);
    auto stored = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(there));
    auto M = std::make_shared<Jacobi<double>>(ctx(), stored->view());
    std::unique_ptr<Solver> solver = make_solver(method, stopping, execution(), 60);
    solver->frame({.order = std::make_shared<Permutation const>(P)});
    solver->setup(ctx(), converted_format().make<double>(ctx(), there.view()), M);
    return solver;
  }
};
TCSOLVE_IN_EVERY_PLACE(Reordered);

constexpr Index n = 150;

/// Symmetric positive definite with a diagonal that differs everywhere, or that with a skew part.
Matrix system(bool symmetric) {
  Matrix A = laplace(n);
  for (Index i = 0; i < n; ++i) A(i, i) += 0.3 + 2 * (1 + uniform(3, i));
  for (Index i = 0; i + 7 < n; ++i) {
    A(i, i + 7) -= 0.4 + 0.3 * uniform(4, i);
    A(i + 7, i) = A(i, i + 7) + (symmetric ? 0 : 0.8);
  }
  return A;
}

/// A permutation that is not its own inverse.
Permutation drawn() {
  Permutation P = random_permutation(n, 11);
  EXPECT_NE(P, P.inverse());
  return P;
}

TEST_P(Reordered, AnswersInTheCallersNumbers) {
  for (std::string const method : {"cg", "gmres", "bicgstab"}) {
    SCOPED_TRACE(method);
    Matrix const A = system(method == "cg");
    Column const b = random_column(n, 1), x0 = random_column(n, 2);
    Column const solution = lu_solve(A, b);
    auto const straight = around(method, A, Permutation::identity(n));
    auto const reordered = around(method, A, drawn());
    for (Column const& guess : {Column(Column::Zero(n)), x0}) {
      Column x = guess, y = guess;
      SolveReport const report = solve(*reordered, b, x), plain = solve(*straight, b, y);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE((x - solution).norm(), 1e-9 * solution.norm());
      // The same numbers as without, up to the order of sums.
      EXPECT_NEAR(report.rhs_norm, b.norm(), 1e-14 * b.norm());
      EXPECT_NEAR(report.initial_residual, (b - A * guess).norm(), 1e-13 * b.norm());
      EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.001e-11 * b.norm());
      EXPECT_NEAR(report.iterations, plain.iterations, 3);
      EXPECT_EQ(report.message.substr(0, method.size()), method);
    }
  }
}

TEST_P(Reordered, AWarmStartIsInTheCallersNumbersToo) {
  Matrix const A = system(true);
  Column const solution = random_column(n, 4), b = A * solution;
  auto const solver = around("cg", A, drawn());
  Column x = solution;
  EXPECT_EQ(solve(*solver, b, x).iterations, 0);
  EXPECT_EQ(x, solution);  // bit for bit
  Column cold = Column::Zero(n), near = solution + 1e-8 * random_column(n, 5);
  EXPECT_LT(solve(*solver, b, near).iterations, solve(*solver, b, cold).iterations);
}

TEST_P(Reordered, ByEveryOrderOfTheMatrix) {
  Matrix const A = system(false);
  Column const b = random_column(n, 6), solution = lu_solve(A, b);
  for (Reorder const reorder : {Reorder::none, Reorder::rcm, Reorder::automatic}) {
    SCOPED_TRACE(name(reorder));
    auto const solver = around("bicgstab", A, reordering(csr(A), reorder).P);
    Column x = Column::Zero(n);
    EXPECT_TRUE(solve(*solver, b, x).converged());
    EXPECT_LE((x - solution).norm(), 1e-9 * solution.norm());
  }
}

TEST_P(Reordered, TakesVectorsWhereverTheyAre) {
  Matrix const A = system(true);
  Column const b = random_column(n, 7);
  auto const solver = around("cg", A, drawn());
  Column x = Column::Zero(n);
  ASSERT_TRUE(solve(*solver, b, x).converged());
  Array<double> b_there = to_space(ctx(), b.data(), n);
  std::vector<double> const zeros(2 * n, 0);
  auto same = [&](std::vector<double> const& y, std::size_t stride) {
    for (Index i = 0; i < n; ++i) ASSERT_EQ(y[i * stride], x[i]) << i;
  };
  {  // b in the Context's space, x on the host
    std::vector<double> y(n, 0);
    solver->solve(b_there.view(), vector_view(y.data(), n));
    same(y, 1);
  }
  {  // both there, x a column of something wider
    Array<double> y = to_space(ctx(), zeros.data(), zeros.size());
    Out<double> const column{y.data(), n, 1, 2, Layout::row_major, ctx().space()};
    solver->solve(b_there.view(), column);
    std::vector<double> const values = to_host(ctx(), y);
    same(values, 2);
    for (Index i = 0; i < n; ++i) ASSERT_EQ(values[2 * i + 1], 0) << "the other column";
  }
}

TEST_P(Reordered, RefusesWhatDoesNotFit) {
  Matrix const A = system(true);
  auto const made = make_solver("cg", {}, execution());
  Solver& fresh = *made;
  fresh.frame({.order = std::make_shared<Permutation const>(drawn())});
  Column b = random_column(n, 8), x = Column::Zero(n), longer = Column::Zero(n + 1);
  EXPECT_THROW(solve(fresh, b, x), ShapeError);  // before setup
  EXPECT_THROW(fresh.setup(ctx(), matrix(ctx(), laplace(n + 1))), ShapeError);
  EXPECT_THROW(fresh.setup(ctx(), matrix(ctx(), Matrix::Ones(n, n + 1))), ShapeError);
  EXPECT_THROW(fresh.setup(ctx(), nullptr), ShapeError);
  auto const solver = around("cg", A, drawn());
  EXPECT_THROW(solve(*solver, longer, x), ShapeError);
  EXPECT_THROW(solve(*solver, b, longer), ShapeError);
  EXPECT_THROW(solve(*solver, b, b), ShapeError);
  EXPECT_TRUE(solve(*solver, b, x).converged());  // and goes on
}

TEST_P(Reordered, KeepsTheVerdictOfTheMethod) {
  auto const solver = around("cg", system(true), drawn(), {.rtol = 1e-11, .max_iters = 3});
  Column const b = random_column(n, 9);
  Column x = Column::Zero(n);
  SolveReport const report = solve(*solver, b, x);
  EXPECT_EQ(report.reason, Stop::max_iterations);
  EXPECT_NEAR(report.true_residual, (b - system(true) * x).norm(), 1e-13 * b.norm());
  Column nan = b;
  nan[17] = std::numeric_limits<double>::quiet_NaN();
  Column const before = x;
  EXPECT_EQ(solve(*solver, nan, x).reason, Stop::nonfinite);
  EXPECT_EQ(x, before);
  Column zero = Column::Zero(n);
  EXPECT_TRUE(solve(*solver, zero, x).converged());
  EXPECT_EQ(x, zero);
}

TEST_P(Reordered, WhatAnOperatorThrowsLeavesXAsItWasAtTheLastRestart) {
  Matrix const A = system(true);
  Permutation const P = drawn();
  Matrix there(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) there(i, j) = A(P.old_numbers()[i], P.old_numbers()[j]);
  Column const b = random_column(n, 10), x0 = random_column(n, 12);
  for (Index most : {3, 25}) {  // products until it fails: in the first cycle, in a later one
    Index calls = -1000;        // setup may probe as often as it likes
    Map const failing = [&](Column const& v) -> Column {
      if (calls == most) throw MatrixError("the operator failed");
      ++calls;
      return there * v;
    };
    auto const made = make_solver("gmres", {.rtol = 1e-14}, Execution::eager, 5);
    Solver& solver = *made;
    solver.frame({.order = std::make_shared<Permutation const>(P)});
    solver.setup(ctx(), callable(n, n, failing));
    calls = 0;
    Column x = x0;
    EXPECT_THROW(solve(solver, b, x), MatrixError);
    if (most == 3) EXPECT_EQ(x, x0);
    if (most == 25) EXPECT_LT((b - A * x).norm(), 0.1 * (b - A * x0).norm());
  }
}

}  // namespace
}  // namespace tcsolve::test
