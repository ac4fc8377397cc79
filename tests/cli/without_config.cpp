// SPDX-License-Identifier: Apache-2.0
/// Runs without a config, configs that the program writes, and standard input.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_market.hpp>

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
    EXPECT_EQ(r["choices"][0]["solver"]["type"], solver);
    EXPECT_EQ(r["choices"][0]["preconditioner"]["type"], preconditioner);
    EXPECT_EQ(r["choices"][0]["outcome"], "converged");
    EXPECT_EQ(r["problem"]["source"], matrix);
    EXPECT_LE(r["solution_error"], 1e-6);
  }
}

/// The run that `taken` of a result names, as a config.
std::string config_of(nlohmann::json const& r, std::string const& problem) {
  return "problem: " + problem + "\nsolver: " + r["taken"]["solver"].dump() +
         "\npreconditioner: " + r["taken"]["preconditioner"].dump() + "\n";
}

// What was taken, by name, is the same run: iterations and residual.
TEST_F(WithoutConfig, WhatWasTakenRunsAgain) {
  for (auto const& [matrix, solver, preconditioner] : expected) {
    SCOPED_TRACE(matrix);
    ASSERT_EQ(tcsolve({matrix, "--rtol", "1e-9"}).code, 0);
    auto const chosen = result();
    EXPECT_EQ(chosen["taken"]["solver"]["type"], solver);
    EXPECT_EQ(chosen["taken"]["solver"]["rtol"], 1e-9);
    EXPECT_EQ(chosen["taken"]["solver"], chosen["choices"][0]["solver"]);
    Outcome const o = solve(config_of(chosen, std::string("{matrix: ") + matrix + "}"));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_FALSE(has(o.err, "auto:")) << o.err;
    auto const named = result();
    EXPECT_EQ(named["iterations"], chosen["iterations"]);
    EXPECT_EQ(named["residual"]["true"], chosen["residual"]["true"]);
    EXPECT_EQ(named["taken"]["solver"], chosen["taken"]["solver"]);
    EXPECT_EQ(named["taken"]["preconditioner"], chosen["taken"]["preconditioner"]);
    EXPECT_TRUE(named["choices"].is_null());
  }
}

/// A system whose first choice, some iterations of cg with jacobi, does not end on the host.
constexpr char const* switching = "{matrix: beam.mtx}";
std::string switching_run(std::filesystem::path const& folder) {
  write_beam(folder / "beam.mtx");
  return std::string("problem: ") + switching +
         "\nbackend: host\nsolver: {type: auto}\npreconditioner: {type: auto}\n";
}

TEST_F(WithoutConfig, ASwitchIsToldWhole) {
  Outcome const o = solve(switching_run(folder_.path()));
  ASSERT_EQ(o.code, 0) << o.err;
  auto const r = result();
  ASSERT_EQ(r["choices"].size(), 2u);
  auto const &first = r["choices"][0], &second = r["choices"][1];
  EXPECT_EQ(first["preconditioner"]["type"], "jacobi");
  EXPECT_EQ(second["preconditioner"]["type"], "ic");
  EXPECT_EQ(second["preconditioner"]["drop_tolerance"], 0.01);
  EXPECT_EQ(second["preconditioner"]["complete_below"], 5);
  EXPECT_EQ(second["label"], "cg with ic {drop_tolerance: 0.01, complete_below: 5}");
  EXPECT_TRUE(has(o.err, "auto: " + second["label"].get<std::string>() + ", since ")) << o.err;
  EXPECT_TRUE(has(o.out, "preconditioner: {type: ic, drop_tolerance: 0.01")) << o.out;
  // Set-ups are set-up, whenever they were made; iterations are those of the method in force.
  double const setups =
      first["setup_seconds"].get<double>() + second["setup_seconds"].get<double>();
  EXPECT_GE(r["seconds"]["setup"].get<double>(), setups);
  EXPECT_LE(second["solve_seconds"].get<double>() + first["solve_seconds"].get<double>(),
            1.01 * r["seconds"]["solve"].get<double>());
  EXPECT_EQ(r["iterations"], second["iterations"]);
  int const all = first["iterations"].get<int>() + second["iterations"].get<int>();
  EXPECT_EQ(r["work"]["iterations"], all);
  EXPECT_NEAR(r["work"]["seconds_per_iteration"].get<double>() * second["iterations"].get<int>(),
              second["solve_seconds"].get<double>(), 1e-9);
  EXPECT_FALSE(r["preconditioner"].is_null()) << "details of ic";
  EXPECT_TRUE(has(o.verdict(), " (" + std::to_string(all) + " in all)")) << o.verdict();
  // The history says where the other method began, and nothing is later than the end.
  std::string const history = read_text(folder_ / "tcsolve-out/history.csv");
  EXPECT_TRUE(has(history, "iteration,residual,rate,seconds,true_residual,mark\n0,")) << history;
  std::string const at = "\n" + std::to_string(first["iterations"].get<int>() + 1) + ",";
  ASSERT_TRUE(has(history, at)) << history;
  std::string const row = history.substr(history.find(at) + 1);
  EXPECT_TRUE(row.substr(0, row.find('\n')).ends_with(",method")) << row;
}

// The same solve again is that of the method in force, and the story keeps how it came to be.
TEST_F(WithoutConfig, RepeatedSolvesKeepTheStory) {
  Outcome const o = solve(switching_run(folder_.path()), {"--repeat", "2"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto const repeated = result();
  ASSERT_EQ(repeated["choices"].size(), 2u);
  for (auto const& c : repeated["choices"]) EXPECT_GT(c["setup_seconds"], 0);
  EXPECT_EQ(repeated["taken"]["preconditioner"]["type"], "ic");
  EXPECT_GE(repeated["seconds"]["setup"].get<double>(),
            repeated["choices"][1]["setup_seconds"].get<double>());
  EXPECT_EQ(repeated["iterations"], repeated["choices"][1]["iterations"]);
  EXPECT_GE(repeated["seconds"]["repeat"], 0);
  ASSERT_EQ(solve(config_of(repeated, switching) + "backend: host\n").code, 0);
  EXPECT_EQ(result()["iterations"], repeated["iterations"]) << "from the same x0 by name";
  EXPECT_EQ(result()["residual"]["true"], repeated["residual"]["true"]);
}

TEST_F(WithoutConfig, AMatrixAsRightHandSidesIsSaid) {
  Outcome const o = tcsolve({"spd.mtx", "spd.mtx"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "; 3 right-hand sides, the columns of spd.mtx\n")) << o.out;
  EXPECT_FALSE(has(tcsolve({"spd.mtx", "b.txt"}).out, "right-hand side"));
}

TEST_F(WithoutConfig, EachMatrixMayHaveADirectory) {
  for (std::string const name : {"spd", "general"})
    ASSERT_EQ(tcsolve({name + ".mtx", "--output", "out/{name}", "--quiet"}).code, 0);
  EXPECT_EQ(result("out/spd")["problem"]["source"], "spd.mtx");
  EXPECT_EQ(result("out/general")["problem"]["source"], "general.mtx");
  EXPECT_EQ(result("out/general")["config"]["output"]["directory"], "out/general");
  ASSERT_EQ(solve(small_config, {"--output", "{name}-out"}).code, 0);
  EXPECT_TRUE(result("poisson7-out").is_object());
  // Where one directory serves several matrices, that is said.
  EXPECT_FALSE(has(tcsolve({"spd.mtx"}).err, "is replaced"));
  EXPECT_FALSE(has(tcsolve({"spd.mtx"}).err, "is replaced")) << "of the same matrix";
  EXPECT_TRUE(
      has(tcsolve({"general.mtx"}).err, "the result of spd.mtx in tcsolve-out is replaced"));
}

/// Of a singular system that has a solution, x is one of many.
TEST_F(WithoutConfig, OneOfManySolutionsIsSaid) {
  write_text(folder_ / "ring.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n4 4 8\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n"
             "2 1 -1\n3 2 -1\n4 3 -1\n4 1 -1\n");
  write_text(folder_ / "f.txt", "1\n-1\n1\n-1\n");
  Outcome o =
      tcsolve({"ring.mtx", "f.txt", "--preconditioner", "ic", "--solver", "cg", "--set",
               "preconditioner.drop_tolerance=0.01", "--set", "preconditioner.complete_below=5"});
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_TRUE(has(o.verdict(), "x is one of many")) << o.verdict();
  o = tcsolve({"spd.mtx", "b.txt"});
  EXPECT_FALSE(has(o.verdict(), "one of many")) << o.verdict();
}

TEST_F(WithoutConfig, MemoryThatIsNotKnownIsSaid) {
  EXPECT_TRUE(has(tcsolve({"spd.mtx"}).out, "memory: host at least "));
  EXPECT_EQ(result()["memory"]["at_least"], true);
  EXPECT_FALSE(has(tcsolve({"spd.mtx", "--solver", "cg"}).out, "at least"));
  EXPECT_EQ(result()["memory"]["at_least"], false);
  EXPECT_TRUE(has(tcsolve({"spd.mtx", "--solver", "cg", "--preconditioner", "direct"}).out,
                  "memory: host at least "));
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
  EXPECT_EQ(result()["choices"][0]["solver"]["type"], "cg");
  EXPECT_EQ(result()["choices"][0]["preconditioner"]["type"], "none");
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
  EXPECT_EQ(result()["choices"][0]["solver"]["type"], "cg");
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
    EXPECT_EQ(result()["choices"][0]["solver"]["type"], solver);
    EXPECT_EQ(result()["choices"][0]["preconditioner"]["type"], preconditioner);
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
    write_text(folder_ / "advised.yaml", o.out);
    o = tcsolve({"advised.yaml"});
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
