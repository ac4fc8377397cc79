// SPDX-License-Identifier: Apache-2.0
/// What the program says and returns of least-squares solutions, and of figures that were never
/// computed.
#include "tests/cli/program.hpp"

#include <cmath>

namespace tcsolve::cli {
namespace {

std::string coordinate(std::string const& size, std::string const& entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + size + "\n" + entries;
}

TEST_F(Program, LeastSquaresOfARectangularMatrixIsWhatWasAsked) {
  write_text(folder_ / "a.mtx", coordinate("3 1 3", "1 1 1\n2 1 2\n3 1 3\n"));
  write_text(folder_ / "b.txt", "1\n0\n0\n");
  for (char const* solver : {"{type: lsmr}", "{type: lsmr, rtol: 0, atol: 0.1}"}) {
    SCOPED_TRACE(solver);
    Outcome const o =
        solve(std::string("problem: {matrix: a.mtx, rhs: b.txt}\nsolver: ") + solver + "\n");
    EXPECT_EQ(o.code, 0) << o.out;
    auto const r = result();
    EXPECT_EQ(r["verdict"]["outcome"], "least_squares");
    EXPECT_EQ(r["verdict"]["converged"], false);
    EXPECT_EQ(r["verdict"]["exit_code"], 0);
    EXPECT_DOUBLE_EQ(r["residual"]["condition"], 1);
    EXPECT_NEAR(r["residual"]["true"], std::sqrt(13.0 / 14), 1e-15);
  }
}

TEST_F(Program, LeastSquaresOfASquareMatrixIsAcceptedOnRequest) {
  write_text(folder_ / "a.mtx", coordinate("2 2 2", "1 1 1\n2 1 1\n"));
  write_text(folder_ / "b.txt", "1\n3\n");
  std::string const problem = "problem: {matrix: a.mtx, rhs: b.txt}\n";
  Outcome o = solve(problem + "solver: {type: lsmr}\n");
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_EQ(result()["verdict"]["outcome"], "least_squares");
  EXPECT_EQ(result()["verdict"]["exit_code"], 4);
  EXPECT_NE(o.verdict().find("least_squares: true"), std::string::npos) << o.out;
  o = solve(problem + "solver: {type: lsmr, least_squares: true}\n");
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_EQ(result()["verdict"]["outcome"], "least_squares");
}

TEST_F(Program, WhatWasNeverComputedIsNull) {
  write_text(folder_ / "a.mtx", coordinate("1 1 1", "1 1 2\n"));
  write_text(folder_ / "b.txt", "nan\n");
  EXPECT_EQ(solve("problem: {matrix: a.mtx, rhs: b.txt}\nsolver: {type: cg}\n").code, 4);
  auto const r = result();
  EXPECT_EQ(r["verdict"]["outcome"], "nonfinite:rhs");
  for (char const* key : {"true", "recurrence", "initial", "best", "tolerance", "backward_error",
                          "attainable", "condition", "breakdown_value"})
    EXPECT_TRUE(r["residual"][key].is_null()) << key << ": " << r["residual"][key];

  // ||A|| is beyond FP64.
  write_text(folder_ / "a.mtx",
             coordinate("2 2 4", "1 1 1.7e308\n1 2 1e308\n2 1 1e308\n2 2 1.7e308\n"));
  write_text(folder_ / "b.txt", "1\n2\n");
  solve(
      "problem: {matrix: a.mtx, rhs: b.txt}\npreconditioner: {type: jacobi}\n"
      "operator: {format: csr}\nsolver: {type: cg, max_iters: 1}\n");
  EXPECT_TRUE(result()["residual"]["backward_error"].is_null());
  EXPECT_GT(result()["residual"]["true"], 0);
}

}  // namespace
}  // namespace tcsolve::cli
