// SPDX-License-Identifier: Apache-2.0
/// A solve from the command line: exit codes, files, progress.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

std::string matrix_text(std::string const& sizes, std::string const& entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + sizes + "\n" + entries;
}

TEST_F(Program, ConvergesAndSaysSoLast) {
  Outcome const o = solve(small_config);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.verdict().find("cg: converged after"), std::string::npos) << o.out;
  EXPECT_NE(o.verdict().find("error against the solution"), std::string::npos);
  EXPECT_TRUE(tidy());
}

TEST_F(Program, ComputesOnAsManyThreadsAsTheConfigSays) {
  for (std::string const count : {"1", "3"}) {
    ASSERT_EQ(solve(std::string(small_config) + "backend: host\nthreads: " + count + "\n").code, 0);
    std::string const device = result()["device"];
    EXPECT_EQ(device.find("host, " + count + " thread"), 0u) << device;
  }
}

TEST_F(Program, ConvertsInMidSolveWhereItMay) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, coefficient: random}, rhs: random}\n"
      "preconditioner: {type: jacobi}\nsolver: {type: cg, rtol: 1.0e-10}\n"
      "operator: {format: auto, conversion: lazy}\n";
  Outcome const refused = solve(config);
  EXPECT_EQ(refused.code, 1) << refused.err;
  EXPECT_NE(refused.err.find("deterministic: false"), std::string::npos) << refused.err;
  Outcome const o = solve(config + "deterministic: false\n");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("format: csr, "), std::string::npos) << o.err;
}

TEST_F(Program, MaxItersIsExitCode3) {
  Outcome const o = solve(small_config, {"--set", "solver.max_iters=2"});
  EXPECT_EQ(o.code, 3);
  EXPECT_NE(o.verdict().find("max_iterations"), std::string::npos) << o.out;
  EXPECT_NE(o.verdict().find("raise max_iters"), std::string::npos) << o.out;
  EXPECT_EQ(result()["verdict"]["exit_code"], 3);
}

TEST_F(Program, IndefiniteMatrixIsExitCode4AndWarned) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n2 2 -1\n"));
  Outcome const o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_NE(o.err.find("warning: cg needs a positive definite matrix; here a(2, 2) = -1"),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.verdict().find("minres"), std::string::npos);
  EXPECT_EQ(result()["warnings"].size(), 1u);
}

TEST_F(Program, NonsymmetricMatrixIsWarned) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 3", "1 1 4\n1 2 1\n2 2 3\n"));
  Outcome const o = solve("problem: {matrix: a.mtx}\nsolver: {type: minres}\n");
  EXPECT_NE(o.err.find("a(1, 2) = 1 but a(2, 1) = 0"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("gmres"), std::string::npos);
}

TEST_F(Program, FailingSetupIsExitCode4WithAResult) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 2 1\n2 1 1\n"));
  Outcome const o =
      solve("problem: {matrix: a.mtx}\npreconditioner: {type: jacobi}\nsolver: {type: gmres}\n");
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_EQ(result()["verdict"]["reason"], "setup_failed");
  EXPECT_TRUE(result()["residual"]["true"].is_null());
}

TEST_F(Program, NaNInTheRightHandSideIsValidJson) {
  write_text(folder_ / "b.txt", std::string("nan\n") + std::string(1, '1') + "\n");
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n2 2 1\n"));
  Outcome const o = solve("problem: {matrix: a.mtx, rhs: b.txt}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "nonfinite:rhs");
  EXPECT_TRUE(result()["residual"]["true"].is_null());
}

TEST_F(Program, BadInputIsExitCode2) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n3 2 1\n"));
  Outcome o = solve("problem: {matrix: a.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("a.mtx:4:"), std::string::npos) << o.err;
  o = solve("problem:\n  matrix: none.mtx\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("my.yaml:2:11: 'matrix': there is no file none.mtx"), std::string::npos)
      << o.err;
}

TEST_F(Program, VectorOfAnotherLengthIsExitCode2) {
  write_text(folder_ / "b.txt", "1\n2\n3\n");
  Outcome const o =
      solve("problem: {generator: {type: poisson7, n: 2}, rhs: b.txt}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("has 3 rows; the matrix asks for 8 rows"), std::string::npos) << o.err;
}

TEST_F(Program, RectangularMatrixAsksForLsmr) {
  write_text(folder_ / "a.mtx", matrix_text("3 2 3", "1 1 1\n2 2 1\n3 1 1\n"));
  Outcome o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("lsmr"), std::string::npos) << o.err;
  o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: lsmr}\n");
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(Program, UnwritableOutputIsFoundBeforeTheSolve) {
  write_text(folder_ / "taken", "a file");
  Outcome const o = solve(small_config, {"--output", "taken"});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("taken"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("--output"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("iteration"), std::string::npos) << "the solve had begun";
}

TEST_F(Program, RefusesWhatCannotFit) {
  std::string const huge = "problem: {generator: {type: poisson27, n: 1200}}\nsolver: {type: cg}\n";
  for (Arguments const& flags : {Arguments{}, Arguments{"--dry-run"}}) {
    Outcome const o = solve(huge, flags);
    EXPECT_EQ(o.code, 5);
    EXPECT_NE(o.err.find("needs about"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("are available"), std::string::npos) << o.err;
    EXPECT_NE(o.out.find("memory: host"), std::string::npos) << "the estimate is stated";
  }
  EXPECT_EQ(solve("problem: {generator: {type: poisson27, n: 1291}}\nsolver: {type: cg}\n").code, 1)
      << "2^31 rows: out of the range of n";
}

TEST_F(Program, MixedPrecisionConvergesInTheFp64System) {
  for (std::string const values : {"fp16", "bf16"}) {
    SCOPED_TRACE(values);
    ASSERT_EQ(solve(small_config, {"--set", "operator={format: csr, values: " + values + "}",
                                   "--set", "solver.rtol=1e-11"})
                  .code,
              0);
    EXPECT_LE(result()["residual"]["true_relative"], 1e-11);
    std::string const history = read_text(folder_ / "tcsolve-out/history.csv");
    EXPECT_NE(history.find(",update"), std::string::npos) << "r was made anew";
  }
}

TEST_F(Program, AnOperatorWithoutAFormatIsThatOfAuto) {
  Outcome const o = solve(small_config, {"--set", "operator.values=fp32"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["operator"]["format"], "auto");
  EXPECT_EQ(result()["config"]["operator"]["values"], "fp32");
}

TEST_F(Program, ProgressIsThatOfTheOuterSolver) {
  Outcome const o = solve(
      "problem: {generator: {type: poisson7, n: 8}, rhs: random}\nsolver: {type: fgmres}\n"
      "preconditioner: {type: solver, solver: {type: cg, max_iters: 5}}\n");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("fgmres: iteration 1 "), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("cg: iteration"), std::string::npos) << o.err;
}

TEST_F(Program, TheVerdictRepeatsWhatWasWarnedOf) {
  Outcome const o =
      solve("problem: {generator: {type: convdiff, n: 8}}\nsolver: {type: cg, max_iters: 20}\n");
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_NE(o.verdict().find("before the solve: cg needs a symmetric matrix"), std::string::npos)
      << o.verdict();
}

TEST_F(Program, WhatAPreconditionerTakesForGrantedIsLookedAt) {
  std::string const inner =
      "problem: {generator: {type: poisson7, n: 6}}\n"
      "preconditioner: {type: solver, solver: {type: cg, max_iters: 3}}\n";
  std::string const warning = "needs a preconditioner that is the same linear map";
  Outcome o = solve(inner + "solver: {type: cg, beta: fixed, max_iters: 50}\n");
  EXPECT_NE(o.err.find("warning: cg " + warning), std::string::npos) << o.err;
  std::size_t const at = o.err.find(warning);
  EXPECT_EQ(o.err.find(warning, at + 1), std::string::npos) << "once: " << o.err;
  std::string const k_cycle =
      "problem: {generator: {type: poisson7, n: 8}}\n"
      "preconditioner: {type: amg, cycle: k, coarse_size: 20}\n";
  for (std::string const method : {"gmres", "bicgstab", "minres", "{type: cg, beta: fixed}"}) {
    o = solve(k_cycle + "solver: " + method + "\n");
    EXPECT_NE(o.err.find(warning), std::string::npos) << method << ": " << o.err;
    EXPECT_NE(result()["warnings"].dump().find("K cycle"), std::string::npos);
  }
  EXPECT_EQ(solve(k_cycle + "solver: cg\n").err.find(warning), std::string::npos);
  for (std::string const takes_any : {"fgmres", "cg"}) {
    o = solve(inner + "solver: {type: " + takes_any + "}\n");
    EXPECT_EQ(o.err.find(warning), std::string::npos) << o.err;
  }
  o = solve(
      "problem: {generator: {type: convdiff, n: 6}}\npreconditioner: {type: chebyshev}\n"
      "solver: {type: gmres}\n");
  EXPECT_NE(o.err.find("the preconditioner needs a symmetric matrix"), std::string::npos) << o.err;
}

/// Half of a symmetric matrix is in its file, the diagonal once.
TEST_F(Program, EntriesOfAFileAreABound) {
  write_text(folder_ / "s.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 -1\n2 2 4\n");
  Outcome const o = solve("problem: {matrix: s.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("2 x 2, at most 6 entries"), std::string::npos) << o.out;
  EXPECT_EQ(result()["problem"]["entries"], 4);
}

}  // namespace
}  // namespace tcsolve::cli
