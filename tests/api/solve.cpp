// SPDX-License-Identifier: Apache-2.0
/// LinearSolver answers as Eigen does, with whatever the options name.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/dense.hpp"

namespace tcsolve::test {
namespace {

constexpr double rtol = 1e-10;

class LinearSolverAnswers : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(LinearSolverAnswers);

TEST_P(LinearSolverAnswers, AsEigenDoesInEveryFormatAndOrder) {
  Matrix const dense = at_time(2);
  Csr<double> const a = csr(dense);
  Column const b = random_column(a.rows, 1), solution = lu_solve(dense, b);
  for (std::string const& format : solver_registries().operators.names())
    for (std::string const order : {"none", "rcm", "auto"})
      for (std::string const values : {"fp64", "fp32"}) {
        std::string const keys =
            cat("{format: ", format, ", reorder: ", order, ", values: ", values, "}");
        SCOPED_TRACE(keys);
        LinearSolver solver = LinearSolver::from_yaml(
            ctx(), a.view(),
            cat("solver: {type: cg, rtol: 1.0e-10}\npreconditioner: {type: jacobi}\noperator: ",
                keys));
        Column x = Column::Zero(a.rows);
        SolveReport const report = solve(solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        expect_solved(dense, b, x, rtol);
        EXPECT_LE((x - solution).norm(), 1e-8 * solution.norm());
        EXPECT_EQ(report.history.size(), std::size_t(report.iterations));
        EXPECT_EQ(solver.format(), solver.A()->name());
        if (order == "rcm") EXPECT_EQ(solver.setup_report().reordering->taken, Reorder::rcm);
        if (order == "none") EXPECT_FALSE(solver.setup_report().reordering.has_value());
        Column again = Column::Zero(a.rows);
        expect_same(report, x, solve(solver, b, again), again);
      }
}

TEST_P(LinearSolverAnswers, WithEveryPreconditioner) {
  Matrix const dense = at_time(2);
  Csr<double> const a = csr(dense);
  Column const b = random_column(a.rows, 1);
  for (std::string const block :
       {"{type: none}", "{type: jacobi}", "{type: block_jacobi}", "{type: chebyshev}",
        "{type: solver, solver: {type: gmres, max_iters: 4}}"}) {
    SCOPED_TRACE(block);
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), "solver: {type: fgmres, rtol: 1.0e-10}\npreconditioner: " + block);
    Column x = Column::Zero(a.rows);
    EXPECT_TRUE(solve(solver, b, x).converged());
    expect_solved(dense, b, x, rtol);
    EXPECT_EQ(solver.M() == nullptr, block.find("none") != std::string::npos);
  }
}

TEST_P(LinearSolverAnswers, SeveralRightHandSidesOneAfterAnother) {
  Matrix const dense = at_time(1);
  Csr<double> const a = csr(dense);
  constexpr Index k = 3;
  Matrix const B = random_matrix(a.rows, k, 9);
  LinearSolver solver(ctx(), a.view(), {.solver = {"cg", CgParams{.stopping = {.rtol = rtol}}}});
  Matrix X = Matrix::Zero(a.rows, k);
  auto const reports = solver.solve_columns({B.data(), a.rows, k, a.rows, Layout::col_major},
                                            {X.data(), a.rows, k, a.rows, Layout::col_major});
  ASSERT_EQ(reports.size(), std::size_t(k));
  for (Index j = 0; j < k; ++j) {
    Column x = Column::Zero(a.rows);
    expect_same(reports[j], X.col(j), solve(solver, B.col(j), x), x);
  }
  EXPECT_THROW(solver.solve_columns({B.data(), a.rows, k, a.rows, Layout::col_major},
                                    {X.data(), a.rows, 2, a.rows, Layout::col_major}),
               ShapeError);
}

TEST_P(LinearSolverAnswers, LeastSquaresOfARectangularMatrix) {
  Matrix const dense = random_matrix(30, 12, 4);
  Csr<double> const a = csr(dense);
  Column const b = random_column(30, 5), solution = least_squares_solution(dense, b);
  LinearSolver solver(ctx(), a.view(), {.solver = "lsmr"});
  Column x = Column::Zero(12);
  EXPECT_TRUE(solve(solver, b, x).solved());
  EXPECT_LE((x - solution).norm(), 1e-6 * solution.norm());
}

// ---- operators ----

TEST_P(LinearSolverAnswers, ForAnOperatorWithoutAMatrix) {
  Matrix const dense = at_time(3);
  Column const b = random_column(dense.rows(), 2);
  LinearSolver solver(ctx(), callable(dense), {.solver = "cg"});
  Column x = Column::Zero(b.size());
  EXPECT_TRUE(solve(solver, b, x).converged());
  expect_solved(dense, b, x, 1e-8);
  std::string const said = message_of<Unsupported>(
      [&] { LinearSolver(ctx(), callable(dense), {.solver = "cg", .preconditioner = "jacobi"}); });
  EXPECT_NE(said.find("'jacobi' is made of a matrix"), std::string::npos) << said;
  // Of A alone it can be made.
  LinearSolver polynomial(ctx(), {.solver = "cg"});
  polynomial =
      LinearSolver(ctx(), SolverOptions::from_yaml(
                              "solver: {type: cg}\n"
                              "preconditioner: {type: chebyshev, preconditioner: {type: none}}\n"));
  polynomial.set_operator(callable(dense));
  x.setZero();
  EXPECT_TRUE(solve(polynomial, b, x).converged());
}

TEST_P(LinearSolverAnswers, ForOperatorsOfTheCaller) {
  Matrix const before = at_time(0), now = at_time(4);
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), csr(before));
  Column const b = random_column(before.rows(), 2);
  LinearSolver solver(ctx(), A, {.solver = "cg", .preconditioner = "jacobi"});
  LinearSolver with(ctx(), A, {.solver = "cg"}, std::make_shared<Jacobi<double>>(ctx(), A->view()));
  Column x = Column::Zero(b.size()), y = x;
  SolveReport const report = solve(solver, b, x);
  EXPECT_TRUE(report.converged());
  expect_same(report, x, solve(with, b, y), y);
  // New values: the operator is the caller's to change.
  Csr<double> const a = csr(now);
  EXPECT_THROW(solver.update_values(a.view()), Unsupported);
  EXPECT_TRUE(solver.ready());
  A->update_values(ctx(), a);
  solver.refresh();
  x.setZero();
  EXPECT_TRUE(solve(solver, b, x).converged());
  expect_solved(now, b, x, 1e-8);
  LinearSolver fresh(ctx(), std::make_shared<CsrOperator<double>>(ctx(), a),
                     {.solver = "cg", .preconditioner = "jacobi"});
  y.setZero();
  SolveReport const anew = solve(fresh, b, y);
  x.setZero();
  expect_same(solve(solver, b, x), x, anew, y);
}

TEST(LinearSolverContext, IsItsOwnOrTheCallers) {
  Csr<double> const a = csr(at_time(1));
  Column const b = random_column(a.rows, 6);
  Context ctx(Backend::host, {.seed = 5});
  LinearSolver given(ctx, a.view(), {.solver = "minres", .seed = 77});
  LinearSolver own(a.view(), {.solver = "minres", .backend = Backend::host, .seed = 5});
  EXPECT_EQ(&given.context(), &ctx);
  EXPECT_EQ(own.context().options().seed, 5u);
  EXPECT_EQ(given.context().options().seed, 5u) << "a caller's Context has its own";
  LinearSolver moved = std::move(own);
  Column x = Column::Zero(a.rows), y = x;
  SolveReport const report = solve(given, b, x);
  expect_same(report, x, solve(moved, b, y), y);
}

TEST(LinearSolverContext, TrafficIsThatOfOperatorPreconditionerAndMethod) {
  Csr<double> const a = csr(at_time(1));
  LinearSolver solver(a.view(), {.solver = "cg",
                                 .preconditioner = "jacobi",
                                 .matrix_operator = "csr",
                                 .backend = Backend::host});
  Column const b = random_column(a.rows, 6);
  Column x = Column::Zero(a.rows);
  SolveReport const report = solve(solver, b, x);
  double const n = a.rows, product = solver.A()->cost(1).bytes;
  EXPECT_EQ(report.products, report.iterations);
  EXPECT_EQ(report.applications, report.iterations);
  EXPECT_GE(report.residuals, 2 + report.restarts);
  EXPECT_EQ(report.bytes_per_iteration, product + solver.M()->cost(1).bytes + 9 * 8 * n);
  EXPECT_EQ(report.bytes,
            report.bytes_per_iteration * report.iterations + report.residuals * product);
}

}  // namespace
}  // namespace tcsolve::test
