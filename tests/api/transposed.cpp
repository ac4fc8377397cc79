// SPDX-License-Identifier: Apache-2.0
/// Solves with A^T by the set-up of A.
#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>

#include <tcsolve/api/transposed_system.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tests/api/flow.hpp>
#include <tests/api/systems.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Solves with A^T, then with that of other values on the same pattern.
void expect_transposed_solves(std::string const& yaml) {
  Csr<double> a = flow();
  SolverOptions const options = SolverOptions::from_yaml("backend: host\n" + yaml);
  LinearSolver solver(options);
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  ASSERT_TRUE(solver.solve(b, y).solved());
  EXPECT_EQ(solver.setup_report().transposed, "");
  SolveReport const first = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(first.solved()) << first.message;
  EXPECT_GT(first.setup_seconds, 0);
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("a second set-up: "));
  EXPECT_GT(solver.setup_report().transpose, 0);

  // No multiples of the old ones: a gather from the wrong entries would show.
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] *= 1 + 0.1 * std::cos(double(k));
  solver.update_values(a.view());
  SolveReport const second = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(second.solved()) << second.message;
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
  ASSERT_TRUE(solver.solve(b, y).solved());

  // The same bits as those of a solver of A^T, unless M is the transpose of A's.
  if (solver.setup_report().transposed.find("transposed(") != std::string::npos) return;
  Csr<double> const at = transpose(a.view());
  LinearSolver direct(at.view(), options);
  std::vector<double> here(b.size()), there(b.size());
  solver.set_matrix(a.view());
  EXPECT_EQ(solver.solve(b, here, {.transpose = true}).iterations,
            direct.solve(b, there).iterations);
  EXPECT_EQ(here, there);
}

TEST(TransposedSolve, OfEveryFormat) {
  int tried = 0;
  for (std::string const& format : solver_registries().operators.names()) {
    SCOPED_TRACE(format);
    std::string const yaml = "solver: {type: bicgstab}\noperator: {format: " + format + "}";
    try {
      LinearSolver const admits(flow().view(), SolverOptions::from_yaml("backend: host\n" + yaml));
    } catch (Error const&) { continue; }  // a format of narrower values alone, or of a device
    expect_transposed_solves(yaml);
    ++tried;
  }
  EXPECT_GE(tried, 6);
}

TEST(TransposedSolve, OfAReorderedMatrix) {
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {format: csr, reorder: rcm}");
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {reorder: rcm}");
}

TEST(TransposedSolve, OfNarrowerValuesRefersToThoseGiven) {
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {format: csr, values: fp32}");
}

TEST(TransposedSolve, HasItsOwnPreconditioner) {
  int tried = 0;
  for (std::string const& M : solver_registries().preconditioners.names()) {
    SCOPED_TRACE(M);
    std::string yaml = cat("solver: {type: gmres}\npreconditioner: {type: ", M, "}");
    if (M == "column_scaling" || M == "normal_ic") continue;  // of A^T A, for lsmr
    if (M == "solver")
      yaml =
          "solver: {type: fgmres}\n"
          "preconditioner: {type: solver, solver: {type: gmres, max_iters: 5}}";
    try {
      LinearSolver const admits(flow().view(), SolverOptions::from_yaml("backend: host\n" + yaml));
    } catch (Error const&) { continue; }  // for a symmetric A
    expect_transposed_solves(yaml);
    ++tried;
  }
  EXPECT_GE(tried, 9);
  expect_transposed_solves("solver: {type: auto}\npreconditioner: {type: auto}");
}

TEST(TransposedSolve, FollowsMOfTheMatrix) {
  Csr<double> a = flow();
  LinearSolver solver(SolverOptions::from_yaml(
      "{backend: host, solver: {type: gmres}, preconditioner: {type: ilu}}"));
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  for (int step = 0; step < 4; ++step) {
    if (step == 2) {
      Csr<double> const other = flow(9);  // another size, and then back
      solver.set_matrix(other.view());
      std::vector<double> const b9 = numbers(other.rows);
      std::vector<double> x9(b9.size());
      EXPECT_TRUE(solver.solve(b9, x9, {.transpose = true}).solved());
      EXPECT_LE(transposed_residual(other, b9, x9), 1.01e-8);
      solver.set_matrix(a.view());
    }
    SolveReport const report = solver.solve(b, x, {.transpose = true, .zero_guess = true});
    EXPECT_TRUE(report.solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    LinearSolver fresh(a.view(), solver.options());  // has M of these values
    std::vector<double> y(b.size());
    EXPECT_EQ(fresh.solve(b, y, {.transpose = true}).iterations, report.iterations);
    EXPECT_EQ(x, y);
    for (std::size_t k = 0; k < a.values.size(); ++k)
      a.values[k] *= 1 + 0.1 * std::sin(double(k) + step);
    solver.update_values(a.view());
  }
}

TEST(TransposedSolve, TakesMTransposedWhereThereIsOne) {
  auto const told = [](std::string const& options) {
    Csr<double> const a = flow();
    LinearSolver solver(SolverOptions::from_yaml("backend: host\n" + options));
    solver.set_matrix(a.view());
    std::vector<double> const b = numbers(a.rows);
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver.solve(b, x, {.transpose = true}).solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    return solver.setup_report().transposed;
  };
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}"),
              HasSubstr("csr with transposed(ilu"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: block_jacobi}"),
              HasSubstr("transposed(block_jacobi"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: jacobi}"),
              HasSubstr("with jacobi, that of A"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: jacobi}\n"
                   "operator: {format: csr, values: fp32}"),
              Not(HasSubstr("that of A")))
      << "by narrower products";
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}\nrenew: auto"),
              Not(HasSubstr("transposed(")));
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}\noperator: {reorder: rcm}"),
              Not(HasSubstr("transposed(")));
  EXPECT_THAT(told("solver: {type: gmres}"), Not(HasSubstr("transposed(")));
}

TEST(TransposedSolve, WithADiagonalIsInTheFormatOfTheMatrix) {
  Csr<double> const a = flow();
  std::vector<double> const b = numbers(a.rows);
  int tried = 0;
  for (std::string const& format : formats().names()) {
    SCOPED_TRACE(format);
    std::optional<LinearSolver> solver;
    try {
      solver.emplace(a.view(), SolverOptions::from_yaml(
                                   cat("{backend: host, solver: {type: bicgstab}, preconditioner: "
                                       "{type: jacobi}, operator: {format: ",
                                       format, "}}")));
    } catch (Error const&) { continue; }
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver->solve(b, x, {.transpose = true}).solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    EXPECT_THAT(solver->setup_report().transposed,
                HasSubstr(cat("set-up: ", format, " with jacobi, that of A")));
    ++tried;
  }
  EXPECT_GE(tried, 6);
}

TEST(TransposedSolve, OfASymmetricMatrixIsThatOfTheMatrix) {
  Csr<double> a = generate(Poisson7Params{.n = 8});
  LinearSolver solver({.solver = "cg", .preconditioner = "jacobi", .backend = Backend::host});
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  ASSERT_TRUE(solver.solve(b, x).converged());
  ASSERT_TRUE(solver.solve(b, y, {.transpose = true}).converged());
  EXPECT_EQ(x, y);
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("bit by bit"));
  // One bit in one triangle: A^T is another matrix.
  a.values[1] = std::nextafter(a.values[1], 0.0);
  solver.update_values(a.view());
  ASSERT_TRUE(solver.solve(b, y, {.transpose = true}).converged());
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("a second set-up"));

  LinearSolver told({.solver = "cg", .symmetric = Symmetry::yes, .backend = Backend::host});
  told.set_matrix(a.view());
  ASSERT_TRUE(told.solve(b, y, {.transpose = true}).converged());
  EXPECT_THAT(told.setup_report().transposed, HasSubstr("given as symmetric"));
}

TEST(TransposedSolve, OfARectangularMatrix) {
  // Underdetermined and of full rank: A^T x = b with b in its range has a solution.
  Csr<double> a;
  a.rows = 2, a.cols = 3, a.offsets = {0, 2, 4}, a.columns = {0, 1, 1, 2}, a.values = {1, 2, 3, 4};
  LinearSolver solver(a.view(), {.solver = "lsmr", .backend = Backend::host});
  std::vector<double> const b{1, 5, 4};  // A^T (1, 1)
  std::vector<double> x(2);
  SolveReport const report = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(report.solved()) << report.message;
  EXPECT_NEAR(x[0], 1, 1e-6);
  EXPECT_NEAR(x[1], 1, 1e-6);
}

TEST(TransposedSolve, IsRefusedWhereItCannotBe) {
  // Each row sums to 0, and each is scaled: A 1 = 0, and A^T has another nullspace.
  Csr<double> a;
  a.rows = a.cols = 40;
  for (Index i = 0; i < a.rows; ++i) {
    bool const left = i > 0, right = i + 1 < a.rows;
    if (left) a.columns.push_back(i - 1), a.values.push_back(-1 - i);
    a.columns.push_back(i), a.values.push_back((left + right) * (1 + i));
    if (right) a.columns.push_back(i + 1), a.values.push_back(-1 - i);
    a.offsets.push_back(a.entries());
  }
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolverOptions options{.solver = "gmres", .backend = Backend::host};
  options.nullspace.constant = true;
  LinearSolver with_nullspace(a.view(), options);
  EXPECT_THROW(with_nullspace.solve(b, x, {.transpose = true}), Unsupported);
  with_nullspace.solve(b, x);  // as ready as before

  Context ctx(Backend::host);
  auto const A = std::make_shared<FunctionOperator<double>>(
      a.rows, a.rows, [&](Context&, In<double> in, Out<double> out) {
        for (Index i = 0; i < in.rows; ++i) out.data[i] = 2 * in.data[i];
      });
  LinearSolver matrix_free(ctx, A, {.solver = "gmres"});
  EXPECT_THROW(matrix_free.solve(b, x, {.transpose = true}), Unsupported);
  EXPECT_TRUE(matrix_free.solve(b, x).converged());
}

TEST(TransposedSolve, TakesTheTransposesOfOperators) {
  Csr<double> const a = flow(6);
  Context ctx(Backend::host);
  auto const A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  LinearSolver solver(ctx, A, {.solver = "gmres", .preconditioner = "jacobi"});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolveReport const report = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
}

}  // namespace
}  // namespace tcsolve
