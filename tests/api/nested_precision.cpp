// SPDX-License-Identifier: Apache-2.0
/// Solvers within solvers in lower precision, and a direction that suits a preconditioner which
/// varies.
#include <cmath>

#include "tests/api/solved_in_types.hpp"
#include "tests/support/formats.hpp"

namespace tcsolve::test {
namespace {

class NestedPrecisions : public SolvedInTypes {};
TCSOLVE_ON_EACH_BACKEND(NestedPrecisions);

TEST_P(NestedPrecisions, AreTheirOwn) {
  Matrix const A = at_time(2, n);
  Column const b = random_column(n, 9);
  for (std::string const types : {"vectors: fp32, ", "values: fp16, ",
                                  "vectors: fp32, values: fp16, ", "vectors: fp32, values: bf16, "})
    for (std::string const& format : {std::string("csr"), converted_format().name}) {
      SCOPED_TRACE(types + format);
      Solved const s =
          solved(A, b,
                 cat("preconditioner: {type: solver, ", types,
                     "solver: {type: cg, rtol: 0.01, max_iters: 40}}\n",
                     "solver: {type: fgmres, rtol: 1e-12}\noperator: {format: ", format, "}\n"));
      ASSERT_TRUE(s.report.converged()) << s.report.message;
      EXPECT_LE((b - A * s.x).norm(), 1.1e-12 * b.norm());
      EXPECT_EQ(s.report.precision.back().values, Real::f64);  // of the outer one
      EXPECT_LE(s.report.iterations, 15);
      EXPECT_GT(s.report.inner_iterations, 2 * s.report.iterations);
    }
}

TEST_P(NestedPrecisions, OfThreeLevels) {
  Matrix const A = at_time(3, n);
  Column const b = random_column(n, 10);
  Solved const s = solved(
      A, b,
      "preconditioner:\n  type: solver\n  vectors: fp32\n  values: fp32\n"
      "  solver: {type: fgmres, restart: 4, max_iters: 4, rtol: 1e-3}\n"
      "  preconditioner:\n    type: solver\n    vectors: fp32\n    values: fp16\n"
      "    solver: {type: cg, max_iters: 8, rtol: 0.05}\n    preconditioner: {type: jacobi}\n"
      "solver: {type: fgmres, rtol: 1e-12}\n");
  ASSERT_TRUE(s.report.converged()) << s.report.message;
  EXPECT_LE((b - A * s.x).norm(), 1.1e-12 * b.norm());
  EXPECT_LE(s.report.iterations, 8);
}

TEST_P(NestedPrecisions, FollowNewValues) {
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), csr(at_time(0, n)).view(),
      "preconditioner: {type: solver, vectors: fp32, values: fp16, solver: {type: cg, rtol: "
      "0.01}}\nsolver: {type: fgmres, rtol: 1e-11}\n");
  Column const b = random_column(n, 11);
  for (double const time : {1.0, 2.0}) {
    Matrix const A = at_time(time, n);
    solver.update_values(csr(A).view());
    Column x = Column::Zero(n);
    SolveReport const r = solve(solver, b, x);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(r.iterations, 15);
    expect_solved(A, b, x, 1e-11);
  }
}

// ---- a preconditioner that varies ----

/// Few steps of an inner solver are another map each time; a fixed beta loses the orthogonality of
/// the directions.
TEST_P(NestedPrecisions, AFlexibleBetaTakesAnInnerSolver) {
  Matrix const A = with_eigenvalues(graded(n, -4), 12);
  Column const b = random_column(n, 12);
  for (std::string const vectors : {"fp64", "fp32"}) {
    SCOPED_TRACE(vectors);
    auto const with = [&](std::string const& beta) {
      return solved(A, b,
                    cat("preconditioner: {type: solver, vectors: fp32, values: fp32, "
                        "solver: {type: cg, rtol: 0.1, max_iters: 12}}\n"
                        "solver: {type: cg, beta: ",
                        beta, ", rtol: 1e-10, max_iters: 400, vectors: ", vectors,
                        "}\noperator: {format: csr}\n"));
    };
    Solved const s = with("flexible"), fixed = with("fixed");
    ASSERT_TRUE(s.report.converged()) << s.report.message;
    EXPECT_LE((b - A * s.x).norm(), 1.01e-10 * b.norm());
    EXPECT_LT(s.report.iterations, fixed.report.iterations) << fixed.report.message;
  }
}

/// With an M that does not vary both are the same method.
TEST_P(NestedPrecisions, AFlexibleBetaIsTheFixedOneWhereMIs) {
  Matrix const A = at_time(4, n);
  Column const b = random_column(n, 13);
  auto const with = [&](std::string const& beta, std::string const& M) {
    return solved(A, b,
                  cat("preconditioner: {type: ", M,
                      "}\nsolver: {type: cg, rtol: 1e-10, beta: ", beta, "}\n"));
  };
  for (std::string const M : {"ic", "jacobi", "none"}) {
    SCOPED_TRACE(M);
    Solved const fixed = with("fixed", M), flexible = with("flexible", M);
    ASSERT_TRUE(flexible.report.converged()) << flexible.report.message;
    EXPECT_NEAR(fixed.report.iterations, flexible.report.iterations, 1);
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_NEAR(fixed.report.history[k].norm, flexible.report.history[k].norm,
                  1e-8 * fixed.report.history[k].norm);
  }
}

}  // namespace
}  // namespace tcsolve::test
