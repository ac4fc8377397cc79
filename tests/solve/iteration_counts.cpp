// SPDX-License-Identifier: Apache-2.0
/// Iteration counts against textbook loops (reference.hpp), within one, on well-conditioned
/// systems; and what theory says of residual histories.
#include <tests/solve/reference.hpp>
#include "tests/support/dense.hpp"

#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

namespace tcsolve::test {

namespace {

class Iterations : public InEveryPlace {
 protected:
  struct Result {
    SolveReport report;
    Column x;
  };
  Result run(std::string const& method, Matrix const& A, Column const& b,
             OperatorPtr<double> M = nullptr, int restart = 30, double rtol = 1e-8) {
    auto solver = make_solver(method, {.rtol = rtol}, execution(), restart);
    solver->setup(ctx(), matrix(ctx(), A), M);
    Column x = Column::Zero(A.cols());
    SolveReport report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << method << ": " << report.message;
    return {report, x};
  }
  static Matrix spd() {  // a diagonal worth preconditioning
    Matrix a = random_spd(50, 1.5, 521);
    Column d = graded(50, 1);
    return d.asDiagonal() * a * d.asDiagonal();
  }
  static Matrix nonsymmetric() {
    return random_matrix(50, 50, 522) + 12 * Matrix::Identity(50, 50);
  }
  static double tolerance(Column const& b) { return 1e-8 * b.norm(); }
};

TEST_P(Iterations, Cg) {
  Matrix a = spd(), one = Matrix::Identity(50, 50);
  Column b = random_column(50, 523);
  Index expected = reference::cg(a, one, b, tolerance(b), 500);
  for (auto const& method : methods(conjugate_gradients))
    // More iterations than unknowns: rounding counts, and in more recurrences more.
    EXPECT_NEAR(run(method, a, b).report.iterations, expected, method == "cg" ? 1 : expected / 6)
        << method;
}

TEST_P(Iterations, CgWithJacobiAndBlockJacobi) {
  Matrix a = spd();
  Column b = random_column(50, 524);
  CsrStorage<double> there(ctx(), csr(a));
  Matrix jacobi = a.diagonal().cwiseInverse().asDiagonal(), blocks = Matrix::Zero(50, 50);
  for (Index i = 0; i < 50; i += 5) blocks.block(i, i, 5, 5) = inverse_of(a.block(i, i, 5, 5));
  Csr<double> here = csr(a);
  auto M_jacobi = std::make_shared<Jacobi<double>>(ctx(), there.view());
  auto M_blocks =
      std::make_shared<BlockJacobi<double>>(ctx(), here.view(), BlockJacobiParams{.block = 5});
  for (auto const& method : methods(conjugate_gradients)) {
    SCOPED_TRACE(method);
    auto none = run(method, a, b).report.iterations;
    auto with_jacobi = run(method, a, b, M_jacobi).report.iterations;
    auto with_blocks = run(method, a, b, M_blocks).report.iterations;
    EXPECT_NEAR(with_jacobi, reference::cg(a, jacobi, b, tolerance(b), 500), 1);
    EXPECT_NEAR(with_blocks, reference::cg(a, blocks, b, tolerance(b), 500), 1);
    EXPECT_LT(with_jacobi, none);
  }
}

TEST_P(Iterations, Bicgstab) {
  Matrix a = nonsymmetric(), one = Matrix::Identity(50, 50);
  Column b = random_column(50, 525);
  Matrix m = a.diagonal().cwiseInverse().asDiagonal();
  EXPECT_NEAR(run("bicgstab", a, b).report.iterations,
              reference::bicgstab(a, one, b, tolerance(b), 500), 1);
  EXPECT_NEAR(run("bicgstab", a, b, matrix(ctx(), m)).report.iterations,
              reference::bicgstab(a, m, b, tolerance(b), 500), 1);
}

TEST_P(Iterations, GmresAndItsRestarts) {
  Matrix a = nonsymmetric(), one = Matrix::Identity(50, 50);
  Column b = random_column(50, 526);
  Matrix m = a.diagonal().cwiseInverse().asDiagonal();
  for (int restart : {2, 5, 13, 60}) {
    SCOPED_TRACE(restart);
    Index expected = reference::gmres(a, one, b, tolerance(b), restart, 1000);
    for (char const* method : {"gmres", "gmres_left", "fgmres"})
      EXPECT_NEAR(run(method, a, b, nullptr, restart).report.iterations, expected, 1) << method;
    Index right = reference::gmres(a, m, b, tolerance(b), restart, 1000);
    EXPECT_NEAR(run("gmres", a, b, matrix(ctx(), m), restart).report.iterations, right, 1);
    EXPECT_NEAR(run("fgmres", a, b, matrix(ctx(), m), restart).report.iterations, right, 1);
  }
  // Left: the norm of M r is monitored, here a multiple of that of r.
  Matrix twelfth = one / 12;
  EXPECT_NEAR(run("gmres_left", a, b, matrix(ctx(), twelfth), 60).report.iterations,
              reference::gmres(a, twelfth, b, tolerance(b) / 12, 60, 1000, true), 1);
}

TEST_P(Iterations, Minres) {
  Column values = graded(50, 0.3);
  for (Index i = 0; i < 50; i += 2) values[i] *= -1;
  Matrix a = with_eigenvalues(values, 527);
  Column b = random_column(50, 528);
  EXPECT_NEAR(run("minres", a, b).report.iterations, reference::minres(a, b, tolerance(b), 60), 1);
}

TEST_P(Iterations, Lsmr) {
  Matrix a = random_spd(50, 0.5, 529);
  Column b = random_column(50, 530);
  EXPECT_NEAR(run("lsmr", a, b).report.iterations, reference::lsmr(a, b, tolerance(b), 60), 1);
}

TEST_P(Iterations, MinimalResidualsFallMonotonically) {
  Matrix a = nonsymmetric(), s = spd();
  Column b = random_column(50, 531);
  auto monotone = [&](SolveReport const& report) {
    double last = report.initial_residual;
    for (Record const& r : report.history) {
      EXPECT_LE(r.norm, last * (1 + 1e-10)) << "iteration " << r.iteration;
      last = r.norm;
    }
  };
  for (char const* method : {"gmres", "fgmres"}) monotone(run(method, a, b, nullptr, 7).report);
  monotone(run("minres", s, b).report);
  monotone(run("lsmr", s, b, nullptr, 30, 1e-6).report);
}

TEST_P(Iterations, TheRecurrenceIsTheTrueResidual) {
  Matrix s = random_spd(40, 1, 532);
  Column b = random_column(40, 533);
  for (auto const& method : methods()) {
    auto report = run(method, s, b).report;
    EXPECT_NEAR(report.recurrence_residual, report.true_residual, 1e-3 * report.tolerance)
        << method;
  }
}

TCSOLVE_IN_EVERY_PLACE(Iterations);

}  // namespace

}  // namespace tcsolve::test
