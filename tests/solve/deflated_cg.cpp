// SPDX-License-Identifier: Apache-2.0
/// Deflated CG: the space that is kept over a sequence, and what it must not change.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/deflated_cg/deflated_cg.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class SolveDeflated : public InEveryPlace {
 protected:
  DeflatedCgParams params(double rtol = 1e-8) const {
    return {.stopping = {.rtol = rtol, .max_iters = 5000}, .execution = execution()};
  }
};
TCSOLVE_IN_EVERY_PLACE(SolveDeflated);

/// Of a condition where both end before rounding has a say in how many steps they take.
TEST_P(SolveDeflated, TheFirstSolveIsConjugateGradients) {
  Matrix const A = random_spd(120, 2, 3);
  Column const b = random_column(120, 5);
  Cg<double> plain({.stopping = {.rtol = 1e-8}, .execution = execution()});
  DeflatedCg solver(params());
  plain.setup(ctx(), matrix(ctx(), A));
  solver.setup(ctx(), matrix(ctx(), A));
  Column x = Column::Zero(120), y = x;
  SolveReport const one = solve(plain, b, x), other = solve(solver, b, y);
  EXPECT_TRUE(other.converged()) << other.message;
  EXPECT_LE(one.iterations, 120);
  EXPECT_NEAR(other.iterations, one.iterations, 2);
  EXPECT_LE((x - y).norm(), 1e-3 * x.norm());
}

/// Eight small eigenvalues far from the rest are found in one solve, or two.
TEST_P(SolveDeflated, SmallEigenvaluesCostNothingOnceTheyAreKnown) {
  Column d = Column::LinSpaced(200, 1, 20);
  for (Index i = 0; i < 8; ++i) d[i] = 1e-4 * (i + 1);
  Matrix const A = with_eigenvalues(d, 7);
  for (bool jacobi : {false, true}) {
    SCOPED_TRACE(jacobi);
    auto const operand = std::make_shared<CsrOperator<double>>(ctx(), csr(A));
    OperatorPtr<double> M;
    if (jacobi) M = std::make_shared<Jacobi<double>>(ctx(), operand->view());
    DeflatedCg solver(params());
    solver.setup(ctx(), operand, M);
    std::vector<Index> iterations;
    for (Index s = 0; s < 4; ++s) {
      Column const b = random_column(200, 11 + s);
      Column x = Column::Zero(200);
      SolveReport const r = solve(solver, b, x);
      EXPECT_TRUE(r.converged()) << r.message;
      EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.0001e-8L * exact_norm(b));
      iterations.push_back(r.iterations);
    }
    EXPECT_LE(2 * iterations.back(), iterations.front());
  }
}

/// A matrix that changes by a little from step to step: twenty steps, 30 % fewer iterations and
/// more.
TEST_P(SolveDeflated, ASequenceNeedsFewerIterations) {
  SolverOptions options{.solver = {"cg", CgParams{.stopping = {.rtol = 1e-8}}},
                        .preconditioner = "jacobi"};
  SolverOptions deflated = options;
  deflated.solver = {"deflated_cg", params()};
  Csr<double> a = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random});
  LinearSolver alone(ctx(), a.view(), options), kept(ctx(), a.view(), deflated);
  Index without = 0, with = 0;
  for (Index step = 0; step < 20; ++step) {
    for (Index i = 0; i < a.rows; ++i)
      for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
        if (a.columns[e] == i) a.values[e] *= 1 + 1e-5 * (i % 7);
    alone.update_values(a.view());
    kept.update_values(a.view());
    Column const b = random_column(a.rows, 31 + step);
    std::vector<double> const rhs(b.begin(), b.end());
    std::vector<double> x(rhs.size(), 0.0), y = x;
    SolveReport const one = alone.solve(rhs, x), other = kept.solve(rhs, y);
    ASSERT_TRUE(one.converged() && other.converged()) << other.message;
    without += one.iterations;
    with += other.iterations;
  }
  EXPECT_LE(10 * with, 7 * without);
  RecordProperty("without", without);
  RecordProperty("with", with);
}

/// A space of another matrix, of the same size, and of one that is not definite there.
TEST_P(SolveDeflated, AnyOldSpaceIsHarmless) {
  DeflatedCg solver(params());
  Column const b = random_column(90, 5);
  for (Matrix const& A : {random_spd(90, 4, 3), random_spd(90, 2, 8), Matrix(laplace(90))}) {
    solver.setup(ctx(), matrix(ctx(), A));
    Column x = Column::Zero(90);
    SolveReport const r = solve(solver, b, x);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.0001e-8L * exact_norm(b));
  }
  Column d = Column::LinSpaced(90, 1, 9);
  d[4] = -3;
  solver.setup(ctx(), matrix(ctx(), with_eigenvalues(d, 5)));
  Column x = Column::Zero(90);
  EXPECT_EQ(solve(solver, b, x).reason, Stop::indefinite_operator);
  EXPECT_TRUE(x.allFinite());
  // Another size: the space begins anew.
  solver.setup(ctx(), matrix(ctx(), laplace(40)));
  x = Column::Zero(40);
  EXPECT_TRUE(solve(solver, random_column(40, 6), x).converged());
}

/// From the second solve on the space holds the whole Krylov space, and nothing is left to iterate
/// on.
TEST_P(SolveDeflated, ASpaceThatHoldsEverything) {
  for (Index n : {1, 5, 12, 20, 24}) {
    SCOPED_TRACE(n);
    Matrix const A = laplace(n);
    for (double rtol : {1e-8, 1e-13}) {
      DeflatedCg solver(params(rtol));
      solver.setup(ctx(), matrix(ctx(), A));
      for (Index s = 0; s < 3; ++s) {
        Column const b = random_column(n, 41 + s);
        Column x = Column::Zero(n);
        SolveReport const r = solve(solver, b, x);
        EXPECT_TRUE(r.converged()) << r.message;
        EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.0001 * rtol * exact_norm(b));
      }
    }
  }
  Matrix const A = Column::LinSpaced(60, 1, 30).asDiagonal();  // b on five rows, always the same
  DeflatedCg solver(params());
  solver.setup(ctx(), matrix(ctx(), A));
  for (Index s = 0; s < 3; ++s) {
    Column b = Column::Zero(60), x = b;
    for (Index i = 0; i < 5; ++i) b[7 * i + 3] = random_column(5, 51 + s)[i];
    SolveReport const r = solve(solver, b, x);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(exact_norm(exact_residual(A, b, x)), 1.0001e-8L * exact_norm(b));
  }
  // As an inner solver it hands over what the space gives, and makes a step where there is none.
  DeflatedCg inner({.stopping = {.rtol = 0, .max_iters = 30}, .execution = execution()});
  Matrix const L = laplace(20);
  inner.setup(ctx(), matrix(ctx(), L));
  Array<double> answer(ctx().space(), 20);
  DeflatedCg loose({.stopping = {.rtol = 1}, .execution = execution()});
  loose.setup(ctx(), matrix(ctx(), L));
  auto const unit = to_space(ctx(), Column(Column::Unit(20, 3)).data(), 20);
  EXPECT_GE(loose.approximate(unit.view(), answer.view()).iterations, 1);
  for (Index s = 0; s < 3; ++s) {
    Column const b = random_column(20, 61 + s);
    auto there = to_space(ctx(), b.data(), 20);
    inner.approximate(there.view(), answer.view());
    std::vector<double> const x = to_host(ctx(), answer);
    EXPECT_LE((b - L * Eigen::Map<Column const>(x.data(), 20)).norm(), 1e-12 * b.norm());
  }
}

/// A preconditioner with M r = 0, before there is a space and with one.
TEST_P(SolveDeflated, APreconditionerWithoutAnswer) {
  Matrix const A = Column::LinSpaced(40, 1, 9).asDiagonal();
  Matrix P = Matrix::Identity(40, 40);
  P(4, 4) = 0;
  DeflatedCg solver(params());
  solver.setup(ctx(), matrix(ctx(), A), matrix(ctx(), P));
  Column const lost = Column::Unit(40, 4);
  for (int again = 0; again < 2; ++again) {
    Column x = Column::Zero(40);
    SolveReport const r = solve(solver, lost, x);
    EXPECT_EQ(r.reason, Stop::breakdown) << r.message;
    EXPECT_EQ(r.cause, Cause::singular_operator);
    Column b = random_column(40, 5);
    b[4] = 0;
    x.setZero();
    EXPECT_TRUE(solve(solver, b, x).converged());
  }
}

/// The space lies in the kernel of the next matrix, but for rounding.
TEST_P(SolveDeflated, ASpaceInTheKernelOfTheNextMatrix) {
  Matrix A = Matrix::Identity(40, 40), singular = path_laplacian(40);
  DeflatedCg solver(params());
  solver.setup(ctx(), matrix(ctx(), A));
  Column x = Column::Zero(40);
  Column const ones = Column::Constant(40, 1 / 3.0);
  EXPECT_TRUE(solve(solver, ones, x).converged());
  // Its rows sum to rounding.
  for (Index i = 0; i < 40; ++i) singular(i, i) += 0x1p-51 * (i % 2 == 0 ? 1 : -0.5);
  solver.setup(ctx(), matrix(ctx(), singular));
  Column b = random_column(40, 3);
  b.array() -= b.mean();
  b += 1e-9 * b.norm() * ones / ones.norm();  // a part that need not be solved for
  x.setZero();
  SolveReport const r = solve(solver, b, x);
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LE(x.norm(), 1e4 * b.norm());
}

TEST_P(SolveDeflated, Verdicts) {
  Matrix const A = laplace(60);
  Column const b = random_column(60, 5);
  DeflatedCg solver(params());
  solver.setup(ctx(), matrix(ctx(), A));
  for (int again = 0; again < 2; ++again) {  // with a space, too
    Column x = Column::Zero(60);
    EXPECT_TRUE(solve(solver, b, x).converged());
    EXPECT_EQ(solve(solver, b, x).cause, Cause::exact_guess);
    x.setOnes();
    EXPECT_EQ(solve(solver, Column::Zero(60), x).cause, Cause::zero_rhs);
    EXPECT_EQ(x, Column::Zero(60));
    Column bad = b;
    bad[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve(solver, bad, x).reason, Stop::nonfinite);
  }
  // The solution lies in the space.
  for (Index s = 0; s < 3; ++s) {
    Column x = Column::Zero(60);
    SolveReport const r = solve(solver, b, x);
    EXPECT_TRUE(r.converged()) << r.message;
  }
  DeflatedCg small({.stopping = {.rtol = 1e-8, .max_iters = 2}, .execution = execution()});
  small.setup(ctx(), matrix(ctx(), A));
  Column x = Column::Zero(60);
  EXPECT_EQ(solve(small, b, x).reason, Stop::max_iterations);
  auto const minus = matrix(ctx(), -Matrix::Identity(60, 60));
  solver.setup(ctx(), matrix(ctx(), A), minus);
  EXPECT_EQ(solve(solver, b, x).reason, Stop::indefinite_preconditioner);
  solver.setup(ctx(), matrix(ctx(), Matrix(-A)));
  EXPECT_EQ(solve(solver, b, x).reason, Stop::indefinite_operator);
  EXPECT_THROW(DeflatedCg({.space = 40, .harvest = 30}), ConfigError);
}

TEST_P(SolveDeflated, RepetitionsGiveTheSameBits) {
  Matrix const A = random_spd(100, 3, 9);
  std::vector<Column> answers;
  for (int run = 0; run < 2; ++run) {
    DeflatedCg solver(params());
    solver.setup(ctx(), matrix(ctx(), A));
    Column x;
    for (Index s = 0; s < 3; ++s) {
      x = Column::Zero(100);
      solve(solver, random_column(100, s), x);
    }
    answers.push_back(x);
  }
  EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace tcsolve::test
