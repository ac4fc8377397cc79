// SPDX-License-Identifier: Apache-2.0
/// A batch decides by the same exact residual as a single solve, and a report says the same number
/// whatever format, and whatever order of columns, made it.
#include <tcsolve/solvers/driver/batch.hpp>

#include "tests/support/solve_backend.hpp"

namespace tcsolve::test {

namespace {

class ExactVerdicts : public InEveryPlace {};

/// Rows (1e16, 1, -1e16), (0, 1, 0), (0, 0, 1); a plain sum of its first row with ones is 0 or 1.
Matrix cancelling(bool last) {
  Matrix a = Matrix::Identity(3, 3);
  a.row(0) << 1e16, 1, -1e16;
  if (last) a.col(1).swap(a.col(2));
  return a;
}

TEST_P(ExactVerdicts, ABatchDoesNotTrustAPlainSum) {
  Matrix a = Matrix::Zero(6, 6);
  a.topLeftCorner(3, 3) = cancelling(false);
  a.bottomRightCorner(3, 3) = cancelling(true);
  for (bool right : {false, true}) {
    SCOPED_TRACE(right);
    BatchSolver batch(make_solver("gmres", {.max_iters = 0}, execution()));
    Csr<double> const entries = csr(a);
    batch.setup(ctx(), entries.view(), {0, 3, 6});
    Column b = Column::Ones(6), x = Column::Ones(6);
    if (!right) b[0] = b[3] = 0;
    BatchReport const report =
        batch.solve(vector_view<double const>(b.data(), 6), vector_view<double>(x.data(), 6));
    for (Index k : {0, 1}) {
      SolveReport const one = report.of(k);
      SCOPED_TRACE(one.message);
      EXPECT_EQ(one.converged(), right);
      EXPECT_EQ(one.true_residual, right ? 0.0 : 1.0);
    }
  }
}

TEST_P(ExactVerdicts, TheReportedResidualIsThatOfX) {
  Matrix const a = random_spd(60, 9, 71);
  Column const b = random_column(60, 72);
  for (std::string const& method : methods("cg minres gmres bicgstab lsmr")) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {.rtol = 1e-9, .max_iters = 150}, execution());
    solver->setup(ctx(), matrix(ctx(), a));
    Column x = Column::Zero(60);
    SolveReport const report = solve(*solver, b, x);
    SCOPED_TRACE(report.message);
    long double const exact = exact_norm(exact_residual(a, b, x));
    long double const size = exact_norm(a) * exact_norm(x) + exact_norm(b);
    EXPECT_LE(std::abs(exact - report.true_residual), 0x1p-48L * exact + 0x1p-57L * size);
    EXPECT_EQ(report.converged(), report.true_residual <= report.tolerance);
  }
}

TCSOLVE_IN_EVERY_PLACE(ExactVerdicts);

}  // namespace

}  // namespace tcsolve::test
