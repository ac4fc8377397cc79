// SPDX-License-Identifier: Apache-2.0
/// Flags, config errors, overrides, and the commands that solve nothing.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

TEST_F(Program, UsageErrorsAreExitCode1) {
  for (Arguments const& a : std::vector<Arguments>{{},
                                                   {"--no-such-flag"},
                                                   {"a.yaml", "b.yaml"},
                                                   {"a.yaml", "--list"},
                                                   {"a.yaml", "--backend", "tpu"},
                                                   {"a.yaml", "--quiet", "--verbose"},
                                                   {"a.yaml", "--set"},
                                                   {"a.yaml", "--set", "nonsense"},
                                                   {"info"},
                                                   {"missing.yaml"},
                                                   {"--explain", "solver.gmers"}}) {
    Outcome const o = tcsolve(a);
    EXPECT_EQ(o.code, 1) << testing::PrintToString(a) << o.err;
    EXPECT_FALSE(o.err.empty());
  }
}

TEST_F(Program, NamesEveryProblemOfAConfigWithItsPlace) {
  Outcome const o = solve(
      "problem: {generator: {type: poisson7, n: 0}}\n"
      "solver: {type: gmres, restrt: 50}\n"
      "backend: gpu\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "my.yaml:1:42: 'n' = 0 is outside [1, 1290]")) << o.err;
  EXPECT_TRUE(has(o.err,
                  "my.yaml:2:23: unknown key 'restrt' in solver 'gmres'; did you mean "
                  "'restart'?"))
      << o.err;
  EXPECT_TRUE(has(o.err, "my.yaml:3:10: 'backend' = 'gpu' is not one of auto, host, cuda"))
      << o.err;
}

TEST_F(Program, ChecksKeysTogether) {
  Outcome o = solve("problem: {rhs: ones}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "my.yaml:1:10: give a 'matrix' or a 'generator'")) << o.err;
  o = solve("problem: {matrix: a.mtx, generator: {type: poisson7}}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "not both")) << o.err;
  o = solve(small_config, {"--set", "solver.baseline=absolute"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "'atol'")) << o.err;
  o = solve(
      "problem: {generator: {type: poisson7, n: 4}}\npreconditioner: {block: 3}\n"
      "solver: {type: cg}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "this preconditioner has no 'type'; known: none")) << o.err;
}

/// As with a matrix alone.
TEST_F(Program, AConfigThatNamesNoSolverLeavesTheChoiceToAuto) {
  std::string const problem = "problem: {generator: {type: poisson7, n: 4}}\n";
  auto const tried = [&](std::string const& text) {
    Outcome const o = solve(problem + text);
    EXPECT_EQ(o.code, 0) << o.err;
    auto const config = result()["config"];
    return config["solver"]["type"].get<std::string>() + " " +
           config["preconditioner"]["type"].get<std::string>();
  };
  EXPECT_EQ(tried(""), "auto auto");
  EXPECT_EQ(tried("solver: {rtol: 1e-6}\n"), "auto auto");
  EXPECT_EQ(tried("preconditioner: {type: jacobi}\n"), "auto jacobi");
  EXPECT_EQ(tried("solver: {type: auto}\n"), "auto none");
  EXPECT_EQ(tried("solver: cg\n"), "cg none");
}

TEST_F(Program, SetsOverrideTheConfig) {
  Outcome o = solve(small_config, {"--set", "solver={type: gmres, restart: 5}", "--set",
                                   "problem.generator.n=4", "--output", "else where"});
  EXPECT_EQ(o.code, 0) << o.err;
  auto const r = result("else where");
  EXPECT_EQ(r["config"]["solver"]["restart"], 5);
  EXPECT_EQ(r["problem"]["rows"], 64);
  o = tcsolve({"--set", "problem.generator.n=4", "my.yaml"});
  EXPECT_EQ(o.code, 0) << "a set before the config: " << o.err;
  o = solve(small_config, {"--set", "solver.rtoll=1"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "--set solver.rtoll=1: unknown key 'rtoll'")) << o.err;
}

TEST_F(Program, PathsInAConfigAreRelativeToIt) {
  fs::create_directories(folder_ / "sub");
  write_text(folder_ / "sub/a.mtx",
             "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  write_text(folder_ / "sub/c.yaml", "problem: {matrix: a.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(tcsolve({"sub/c.yaml"}).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "tcsolve-out/result.json")) << "output: working directory";
  EXPECT_EQ(tcsolve({"sub/c.yaml", "--set", "problem.matrix=a.mtx"}).code, 2);
  EXPECT_EQ(tcsolve({"sub/c.yaml", "--set", "problem.matrix=sub/a.mtx"}).code, 0);
}

TEST_F(Program, QuietPrintsTheVerdictOnly) {
  Outcome const o = solve(small_config, {"--quiet"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, o.verdict() + "\n");
  EXPECT_EQ(o.err, "");
}

TEST_F(Program, VerbosePrintsTheConfigInForce) {
  Outcome const o = solve(small_config, {"--verbose"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "stagnation_window:")) << o.out;
}

TEST_F(Program, DryRunSolvesNothing) {
  Outcome const o = solve(small_config, {"--dry-run"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "max_iters: 1000")) << o.out;
  EXPECT_TRUE(has(o.out, "memory: host")) << o.out;
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out"));
}

TEST_F(Program, BackendIsChosen) {
  Outcome const o = solve(small_config, {"--backend", "host"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(result()["backend"], "host");
  Outcome const cuda = solve(small_config, {"--backend", "cuda", "--quiet"});
  if (cuda.code == 0) {
    EXPECT_EQ(result()["backend"], "cuda");  // a machine with a GPU
  } else {
    EXPECT_EQ(cuda.code, 5);
    EXPECT_TRUE(has(cuda.err, "host")) << cuda.err;
  }
}

TEST_F(Program, ListsEverything) {
  Outcome const o = tcsolve({"--list"});
  EXPECT_EQ(o.code, 0);
  for (char const* name :
       {"csr", "cg", "fgmres", "lsmr", "block_jacobi", "chebyshev", "poisson27", "rmat"})
    EXPECT_TRUE(has(o.out, name)) << name;
}

TEST_F(Program, Explains) {
  Outcome const o = tcsolve({"--explain", "solver.gmres"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "restart")) << o.out;
  EXPECT_TRUE(has(o.out, "[1, 1000]")) << o.out;
  EXPECT_TRUE(has(tcsolve({"--explain"}).out, "output.directory"));
  EXPECT_TRUE(has(tcsolve({"--explain", "output"}).out, "bandwidth"));
  EXPECT_TRUE(has(tcsolve({"--explain", "generator"}).out, "elasticity"));
}

TEST_F(Program, TellsItsVersion) {
  Outcome const o = tcsolve({"--version"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(o.out.starts_with("tcsolve 0.")) << o.out;
  EXPECT_EQ(tcsolve({"--help"}).code, 0);
}

TEST_F(Program, DescribesAMatrix) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 -2\n3 1 1\n3 3 "
             "2\n");
  Outcome const o = tcsolve({"info", "a.mtx"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "3 x 3")) << o.out;
  EXPECT_TRUE(has(o.out, "entries         5 (4 in the file)")) << o.out;
  EXPECT_TRUE(has(o.out, "symmetry        symmetric")) << o.out;
  EXPECT_TRUE(has(o.out, "1 negative")) << o.out;
  EXPECT_TRUE(has(o.out, "dominance       3 of 3")) << o.out;
  EXPECT_TRUE(has(o.out, "bandwidth       2")) << o.out;
  EXPECT_TRUE(has(o.out, " on NVIDIA H200")) << o.out;
  EXPECT_FALSE(has(o.out, "format for 200 products")) << "facts first: " << o.out;
  EXPECT_FALSE(has(o.out, "model of")) << o.out;
  std::string const all = tcsolve({"info", "a.mtx", "-v"}).out;
  EXPECT_TRUE(has(all, "format for 200 products, fp64 values, NVIDIA H200")) << all;
  EXPECT_TRUE(has(all, "model of ")) << all;
  EXPECT_TRUE(has(all, "format for 200 products, fp64 values, the host")) << all;
  EXPECT_EQ(tcsolve({"info", "none.mtx"}).code, 2);
}

TEST_F(Program, CalibratesAndDecidesByIt) {
  Outcome o = calibrated("rates.yaml", "0.004");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "off by")) << o.out;
  EXPECT_TRUE(has(o.out, "operator: {format: auto, calibration: rates.yaml}")) << o.out;
  write_text(folder_ / "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n");
  o = tcsolve({"info", "a.mtx", "--calibration", "rates.yaml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "the host")) << o.out;
  EXPECT_FALSE(has(o.out, "H200")) << o.out;
  o = solve(small_config, {"--set", "operator={format: auto, calibration: rates.yaml}"});
  EXPECT_EQ(o.code, 0) << o.err;
  o = solve(small_config, {"--set", "operator={format: auto, calibration: none.yaml}"});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_TRUE(has(o.err, "none.yaml")) << o.err;
  for (Arguments const& a : std::vector<Arguments>{{"calibrate"},
                                                   {"calibrate", "x", "--size", "0"},
                                                   {"calibrate", "x", "--backend", "tpu"},
                                                   {"calibrate", "x", "info", "a.mtx"}})
    EXPECT_EQ(tcsolve(a).code, 1) << testing::PrintToString(a);
}

TEST_F(Program, RemembersOrdersInItsCache) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 8, renumber: random}}\n"
      "operator: {format: csr, reorder: rcm}\nsolver: {type: cg}\n"
      "cache: {directory: kept}\n";
  Outcome const first = solve(config), second = solve(config);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(has(first.err + first.out, "(kept in the cache)")) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(has(second.err + second.out, "(from the cache)")) << second.err;
}

TEST_F(Program, ReferenceIsAsCommitted) {
  ASSERT_EQ(tcsolve({"--reference", "ref"}).code, 0);
  int pages = 0;
  for (auto const& file : fs::directory_iterator(folder_ / "ref")) {
    ++pages;
    EXPECT_EQ(read_text(file.path()),
              read_text(source_dir() / "docs/reference" / file.path().filename()))
        << "run: tcsolve --reference docs/reference";
  }
  EXPECT_EQ(pages, 5);
}

}  // namespace
}  // namespace tcsolve::cli
