// SPDX-License-Identifier: Apache-2.0
/// Runs without a config, configs that the program writes, and standard input.
#include "tests/cli/program.hpp"

#include <tcsolve/io/matrix_market.hpp>

namespace tcsolve::cli {
namespace {

class WithoutConfig : public Program {
 protected:
  void SetUp() override {
    std::string const banner = "%%MatrixMarket matrix coordinate real ";
    write_text(folder_ / "spd.mtx",
               banner + "symmetric\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n");
    write_text(folder_ / "indefinite.mtx", banner + "symmetric\n2 2 3\n1 1 1\n2 1 3\n2 2 -1\n");
    write_text(folder_ / "general.mtx", banner + "general\n2 2 3\n1 1 4\n1 2 1\n2 2 3\n");
    write_text(folder_ / "hollow.mtx", banner + "general\n2 2 3\n1 2 1\n2 1 -3\n2 2 1\n");
    write_text(folder_ / "tall.mtx", banner + "general\n3 2 4\n1 1 1\n2 1 1\n2 2 1\n3 2 2\n");
    write_text(folder_ / "b.txt", "1\n2\n3\n");
  }
  /// With `file` as standard input.
  Outcome piped(std::string const& file, std::string const& arguments) {
    return run({"bash", "-c", "exec \"$0\" " + arguments + " < " + file, command({}).front()});
  }
};

struct Expected {
  char const *matrix, *solver, *preconditioner;
};
constexpr Expected expected[] = {{"spd.mtx", "cg", "ic"},
                                 {"indefinite.mtx", "gmres", "ilu"},
                                 {"general.mtx", "bicgstab", "jacobi"},
                                 {"hollow.mtx", "gmres", "ilu"},
                                 {"tall.mtx", "lsmr", "column_scaling"}};

TEST_F(WithoutConfig, TheMatrixChoosesTheMethod) {
  for (auto const& [matrix, solver, preconditioner] : expected) {
    SCOPED_TRACE(matrix);
    Outcome const o = tcsolve({matrix});
    EXPECT_EQ(o.code, 0) << o.err << o.out;
    EXPECT_TRUE(has(o.err, std::string("auto: ") + solver)) << o.err;
    auto const r = result();
    EXPECT_EQ(r["config"]["solver"]["type"], "auto");
    EXPECT_EQ(r["config"]["preconditioner"]["type"], "auto");
    ASSERT_EQ(r["choices"].size(), 1u);
    EXPECT_EQ(r["choices"][0]["solver"], solver);
    EXPECT_EQ(r["choices"][0]["preconditioner"], preconditioner);
    EXPECT_EQ(r["choices"][0]["outcome"], "converged");
    EXPECT_EQ(r["problem"]["source"], matrix);
    EXPECT_LE(r["solution_error"], 1e-6);
  }
}

TEST_F(WithoutConfig, WhatIsGivenIsNotChosen) {
  Outcome o =
      tcsolve({"spd.mtx", "b.txt", "--solver", "gmres", "--preconditioner", "chebyshev", "--rtol",
               "1e-12", "--set", "solver.restart=7", "--set", "output.solution=true"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.err, "auto:")) << o.err;
  auto const r = result();
  EXPECT_EQ(r["config"]["solver"]["type"], "gmres");
  EXPECT_EQ(r["config"]["solver"]["restart"], 7);
  EXPECT_EQ(r["config"]["solver"]["rtol"], 1e-12);
  EXPECT_EQ(r["config"]["preconditioner"]["type"], "chebyshev");
  auto const x = read_vector(folder_ / "tcsolve-out/x.mtx");
  ASSERT_EQ(x.size(), 3u);
  EXPECT_NEAR(4 * x[1] - x[0] - x[2], 2, 1e-10);
  // A tolerance alone, or a preconditioner alone, leaves the solver to the matrix.
  ASSERT_EQ(tcsolve({"spd.mtx", "--rtol", "1e-3", "--preconditioner", "none"}).code, 0);
  EXPECT_EQ(result()["choices"][0]["solver"], "cg");
  EXPECT_EQ(result()["config"]["solver"]["rtol"], 1e-3);
  EXPECT_EQ(result()["config"]["preconditioner"]["type"], "none");
}

TEST_F(WithoutConfig, TheFlagsOverrideAConfigToo) {
  Outcome const o = solve(small_config, {"--rtol", "1e-4", "--preconditioner", "none", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["solver"]["rtol"], 1e-4);
  EXPECT_EQ(result()["config"]["preconditioner"]["type"], "none");
}

TEST_F(WithoutConfig, MistakesAreNamed) {
  Outcome o = tcsolve({"spd.mtx", "--solver", "gmers"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "did you mean 'gmres'")) << o.err;
  EXPECT_EQ(tcsolve({"spd.mtx", "--rtol", "small"}).code, 1);
  EXPECT_EQ(tcsolve({"spd.mtx", "b.txt", "b.txt"}).code, 1);
  o = tcsolve({"none.mtx"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "the command line: 'matrix': there is no file none.mtx\n")) << o.err;
  o = tcsolve({"spd.mtx", "none.txt"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err,
                  "the command line: 'rhs': there is no file none.txt; 'rhs' is a file or one of "
                  "ones, random, A_times_ones\n"))
      << o.err;
  o = solve(small_config, {"b.txt"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "b.txt: a right-hand side follows a matrix")) << o.err;
}

/// A matrix that cannot be read fails in the run, which leaves its record.
TEST_F(WithoutConfig, AMatrixThatCannotBeReadLeavesAResult) {
  ASSERT_EQ(tcsolve({"spd.mtx"}).code, 0);
  write_text(folder_ / "cut.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
  Outcome const o = tcsolve({"cut.mtx"});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(result()["verdict"]["outcome"], "input_error");
}

TEST_F(WithoutConfig, TheContentTellsAMatrixFromAConfig) {
  fs::copy(folder_ / "spd.mtx", folder_ / "matrix.txt");
  EXPECT_EQ(tcsolve({"matrix.txt"}).code, 0);
  write_text(folder_ / "config", small_config);
  EXPECT_EQ(tcsolve({"config"}).code, 0);
  write_text(folder_ / "c.json", R"({"problem": {"matrix": "spd.mtx"}, "solver": {"type": "cg"}})");
  EXPECT_EQ(tcsolve({"c.json"}).code, 0);
  fs::copy(folder_ / "spd.mtx", folder_ / "matrix.yaml");
  EXPECT_EQ(tcsolve({"matrix.yaml"}).code, 1) << "a name in .yaml is a config";
}

TEST_F(WithoutConfig, StandardInputIsAMatrixOrAConfig) {
  Outcome o = piped("spd.mtx", "-");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["problem"]["source"], "standard input");
  EXPECT_EQ(result()["choices"][0]["solver"], "cg");
  EXPECT_EQ(piped("b.txt", "spd.mtx -").code, 0);
  EXPECT_TRUE(result()["solution_error"].is_null()) << "b came from standard input";
  write_text(folder_ / "c.yaml", "problem: {matrix: spd.mtx}\nsolver: {type: minres}\n");
  EXPECT_EQ(piped("c.yaml", "-").code, 0);
  EXPECT_EQ(result()["config"]["solver"]["type"], "minres");
  write_text(folder_ / "d.yaml", "problem: {matrix: '-'}\nsolver: {type: minres}\n");
  EXPECT_EQ(piped("general.mtx", "d.yaml --solver gmres").code, 0);
  write_text(folder_ / "bad.yaml", "problem: {matrix: spd.mtx}\nsolver: {type: mimres}\n");
  o = piped("bad.yaml", "-");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "standard input:2:16: unknown solver 'mimres'")) << o.err;
  write_text(folder_ / "bad.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 1\n");
  o = piped("bad.mtx", "-");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "standard input:3: the column in '1 2 1'")) << o.err;
  o = piped("spd.mtx", "info -");
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "standard input")) << o.out;
}

TEST_F(WithoutConfig, InitWritesAConfigThatRuns) {
  for (auto const& [matrix, solver, preconditioner] : expected) {
    SCOPED_TRACE(matrix);
    Outcome o = tcsolve({"init", matrix});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    write_text(folder_ / "made.yaml", o.out);
    o = tcsolve({"made.yaml"});
    EXPECT_EQ(o.code, 0) << o.err;
    auto const config = result()["config"];
    EXPECT_EQ(config["solver"]["type"], "auto");
    EXPECT_EQ(result()["choices"][0]["solver"], solver);
    EXPECT_EQ(result()["choices"][0]["preconditioner"], preconditioner);
    // What stands there as a comment is the default: without the comment signs nothing changes.
    std::string text = read_text(folder_ / "made.yaml");
    for (std::size_t at; (at = text.find("\n  # ")) != std::string::npos;) text.erase(at + 3, 2);
    write_text(folder_ / "full.yaml", text);
    EXPECT_EQ(tcsolve({"full.yaml", "--quiet"}).code, 0) << text;
    EXPECT_EQ(result()["config"], config);
  }
}

// What advise recommends is what runs, and its JSON ranks what converged by what was measured.
TEST_F(WithoutConfig, AdviseRanksConfigurations) {
  for (std::string const matrix : {"spd.mtx", "indefinite.mtx", "general.mtx", "hollow.mtx"}) {
    SCOPED_TRACE(matrix);
    Outcome o = tcsolve({"advise", matrix, "--backend", "host"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("\nsolver: {type: "), std::string::npos) << o.out;
    write_text(folder_ / "advised.yaml", "problem: {matrix: " + matrix + "}\n" + o.out);
    o = tcsolve({"advised.yaml", "--backend", "host"});
    EXPECT_EQ(o.code, 0) << o.err;
    o = tcsolve({"advise", matrix, "b.txt", "--backend", "host", "--json", "--rtol", "1e-6"});
    bool const fits = matrix == "spd.mtx";
    EXPECT_EQ(o.code, fits ? 0 : 2) << o.err;
    if (!fits) continue;
    nlohmann::json const root = nlohmann::json::parse(o.out);
    EXPECT_EQ(root["rtol"], 1e-6);
    double before = 0;
    for (nlohmann::json const& c : root["ranking"])
      if (c["converged"]) {
        EXPECT_GE(c["predicted_seconds"], before);
        EXPECT_GT(c["bytes"], 0);
        before = c["predicted_seconds"];
      }
    EXPECT_GT(before, 0);
  }
  EXPECT_EQ(tcsolve({"advise", "spd.mtx", "--rtol", "much"}).code, 1);
  EXPECT_EQ(tcsolve({"advise", "spd.mtx", "--rtol", "-1"}).code, 1);
  EXPECT_EQ(tcsolve({"advise", "absent.mtx"}).code, 2);
  Outcome const tall = tcsolve({"advise", "tall.mtx", "--backend", "host"});
  EXPECT_EQ(tall.code, 0);
  EXPECT_NE(tall.out.find("lsmr"), std::string::npos);
}

TEST_F(WithoutConfig, InitQuotesNames) {
  fs::rename(folder_ / "spd.mtx", folder_ / "a: #1\n'b'.mtx");
  Outcome const o = tcsolve({"init", "a: #1\n'b'.mtx"});
  ASSERT_EQ(o.code, 0) << o.err;
  write_text(folder_ / "made.yaml", o.out);
  EXPECT_EQ(tcsolve({"made.yaml"}).code, 0) << o.out;
  EXPECT_EQ(tcsolve({"init", "none.mtx"}).code, 2);
  EXPECT_EQ(tcsolve({"init"}).code, 1);
}

}  // namespace
}  // namespace tcsolve::cli
