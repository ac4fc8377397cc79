// SPDX-License-Identifier: Apache-2.0
/// What a run leaves behind, whatever became of it, and what it refuses before it begins.
#include "tests/cli/program.hpp"

#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <set>

namespace tcsolve::cli {
namespace {

/// A 2 x 2 system on files, x written.
class Files : public Program {
 protected:
  void SetUp() override {
    write_text(folder_ / "a.mtx", header + "2 2 3\n1 1 4\n1 2 1\n2 2 3\n");
    write_text(folder_ / "b.txt", "1\n2\n");
  }
  Outcome gmres(Arguments sets = {}, Arguments flags = {}) {
    Arguments more{"--backend", "host"};
    for (std::string const& set : sets) more.insert(more.end(), {"--set", set});
    more.insert(more.end(), flags.begin(), flags.end());
    return solve(
        "problem: {matrix: a.mtx, rhs: b.txt}\noperator: {format: csr}\nsolver: {type: gmres}\n"
        "output: {solution: true, bandwidth: false}\n",
        more);
  }
  bool exists(std::string const& name) const { return fs::exists(folder_ / "tcsolve-out" / name); }

  static inline std::string const header = "%%MatrixMarket matrix coordinate real general\n";
  static inline std::set<std::string> const figures{
      "true",        "true_relative", "recurrence",     "recurrence_relative",
      "initial",     "best",          "tolerance",      "best_iteration",
      "mean_rate",   "rhs_norm",      "backward_error", "rowwise_error",
      "rows_unmet",  "attainable",    "condition",      "breakdown_value",
      "contractions"};
};

TEST_F(Files, AFailedRunLeavesNothingOfTheLastOne) {
  write_text(folder_ / "junk.mtx", "junk\n");
  write_text(folder_ / "short.txt", "1\n");
  struct {
    std::string set, outcome;
    int code;
  } const failures[] = {
      {"problem.matrix=junk.mtx", "input_error", 2},
      {"problem.matrix=none.mtx", "input_error", 2},
      {"problem.rhs=short.txt", "input_error", 2},
      {"solver={type: lsmr}", "config_error", 1},  // with chebyshev
      {"problem={generator: {type: poisson27, n: 1200}}", "out_of_memory", 5},
      {"operator={values: fp16, scale: refuse}", "setup_failed", 4},  // with 9e9 in the matrix
  };
  for (auto const& [set, outcome, code] : failures) {
    SCOPED_TRACE(set);
    SetUp();
    ASSERT_EQ(gmres().code, 0);
    ASSERT_TRUE(exists("x.mtx") && exists("history.csv"));
    ASSERT_EQ(result()["verdict"]["outcome"], "converged");
    if (code == 4) write_text(folder_ / "a.mtx", header + "2 2 2\n1 1 1\n2 2 9e9\n");
    Outcome const o =
        gmres(code == 1 ? Arguments{set, "preconditioner={type: chebyshev}"} : Arguments{set});
    EXPECT_EQ(o.code, code) << o.err;
    auto const r = result();
    ASSERT_TRUE(r.is_object());
    EXPECT_EQ(r["verdict"]["outcome"], outcome);
    EXPECT_EQ(r["verdict"]["exit_code"], code);
    EXPECT_EQ(r["verdict"]["converged"], false);
    std::string const message = r["verdict"]["message"];
    EXPECT_TRUE(message.starts_with(outcome + ": ")) << message;
    EXPECT_TRUE(has(o.err + o.out, message.substr(outcome.size() + 2))) << o.err;
    EXPECT_FALSE(exists("x.mtx"));
    EXPECT_FALSE(exists("history.csv"));
    EXPECT_TRUE(r["files"]["solution"].is_null());
    EXPECT_TRUE(r["files"]["history"].is_null());
    // Nothing was computed, so there is no figure: 0 would read as a perfect one.
    for (auto const& [key, value] : r["residual"].items()) {
      EXPECT_TRUE(figures.contains(key)) << key;
      EXPECT_TRUE(value.is_null()) << key << ": " << value;
    }
    EXPECT_EQ(r["residual"].size(), figures.size());
    EXPECT_TRUE(r["traffic_estimate"]["bytes"].is_null());
  }
}

TEST_F(Files, WhatIsNotWantedNowIsNotThereFromTheLastRun) {
  ASSERT_EQ(gmres().code, 0);
  EXPECT_EQ(result()["files"]["solution"], "x.mtx");
  EXPECT_EQ(result()["files"]["history"], "history.csv");
  write_text(folder_ / "tcsolve-out/mine.txt", "of the user");
  ASSERT_EQ(gmres({"output.solution=false", "output.history=false"}).code, 0);
  EXPECT_FALSE(exists("x.mtx"));
  EXPECT_FALSE(exists("history.csv"));
  EXPECT_TRUE(result()["files"]["solution"].is_null());
  EXPECT_TRUE(exists("mine.txt")) << "no file of tcsolve";
}

TEST_F(Files, TheLastSolutionMayBeTheNextGuess) {
  ASSERT_EQ(gmres().code, 0);
  auto const x = read_vector(folder_ / "tcsolve-out/x.mtx");
  ASSERT_EQ(gmres({"problem.x0=tcsolve-out/x.mtx"}).code, 0);
  EXPECT_EQ(result()["verdict"]["cause"], "exact_guess");
  EXPECT_EQ(read_vector(folder_ / "tcsolve-out/x.mtx"), x);
  ASSERT_EQ(gmres({"problem.x0=tcsolve-out/x.mtx", "output.solution=false"}).code, 0);
  EXPECT_TRUE(exists("x.mtx")) << "an input of the run";
  EXPECT_TRUE(result()["files"]["solution"].is_null()) << "and none of its results";
}

TEST_F(Files, NoInputIsOverwritten) {
  ASSERT_EQ(gmres().code, 0);
  std::string const x = read_text(folder_ / "tcsolve-out/x.mtx");
  Outcome const o = gmres({"problem.rhs=tcsolve-out/x.mtx"});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_TRUE(has(o.err, "'problem.rhs'")) << o.err;
  EXPECT_EQ(read_text(folder_ / "tcsolve-out/x.mtx"), x);
  EXPECT_EQ(result()["verdict"]["outcome"], "config_error");
  EXPECT_EQ(gmres({"problem.rhs=tcsolve-out/x.mtx", "output.solution=false"}).code, 0);
}

TEST_F(Files, TheVerdictOutlivesASolutionThatCannotBeWritten) {
  fs::create_directories(folder_ / "tcsolve-out/x.mtx");
  Outcome const o = gmres();
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(has(o.verdict(), "gmres: converged after")) << o.out;
  EXPECT_TRUE(has(o.verdict(), "x.mtx: cannot write")) << o.out;
  auto const r = result();
  EXPECT_EQ(r["verdict"]["outcome"], "converged");
  EXPECT_EQ(r["verdict"]["exit_code"], 2);
  EXPECT_EQ(r["verdict"]["message"], o.verdict());
  EXPECT_TRUE(r["files"]["solution"].is_null());
  EXPECT_EQ(r["files"]["failed"].size(), 1u);
  EXPECT_LE(r["residual"]["true_relative"], 1e-8);
}

/// A limit on file sizes stands for a disk that fills up with x.mtx.
TEST_F(Files, AFileThatGrowsTooLargeIsAnError) {
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson7, n: 12}, rhs: random}\nsolver: {type: cg}\n"
             "backend: host\noutput: {solution: true, bandwidth: false}\n");
  Outcome const o =
      run({"bash", "-c", "ulimit -f 16; exec \"$0\" my.yaml --quiet", command({}).front()});
  EXPECT_EQ(o.code, 2) << "a signal ended it, or nothing was said: " << o.err;
  EXPECT_TRUE(has(o.verdict(), "cg: converged")) << o.out;
  EXPECT_TRUE(has(o.verdict(), "x.mtx: cannot write")) << o.out;
  EXPECT_EQ(result()["verdict"]["outcome"], "converged");
  EXPECT_FALSE(exists("x.mtx"));
  EXPECT_TRUE(tidy());
}

TEST_F(Files, WhatCannotBePrintedIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  write_text(folder_ / "my.yaml", small_config);
  Outcome const o =
      run({"bash", "-c", "exec \"$0\" my.yaml --quiet >/dev/full", command({}).front()});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "standard output")) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "converged");
}

/// One pattern, values a million times apart: what was measured with the small ones holds the large
/// ones, since these are scaled.
TEST_F(Files, AMeasuredFormatHoldsOtherValues) {
  auto const matrix = [&](char const* name, double scale) {
    std::string entries;
    int count = 0;
    for (int i = 1; i <= 40; ++i)
      for (int j : {i - 7, i - 1, i, i + 1, i + 7})
        if (j >= 1 && j <= 40) {
          entries += std::to_string(i) + " " + std::to_string(j) + " " +
                     std::to_string(scale * (i == j ? 9 : -1)) + "\n";
          ++count;
        }
    write_text(folder_ / name, header + "40 40 " + std::to_string(count) + "\n" + entries);
  };
  matrix("small.mtx", 1);
  matrix("large.mtx", 1e6);
  std::string const more =
      ", rhs: ones}\nsolver: {type: gmres}\ndeterministic: false\ncache: {directory: kept}\n"
      "operator: {format: auto, values: fp16, reorder: none, autotune: measure, budget: 0.05}\n"
      "output: {bandwidth: false}\nbackend: host\n";
  Outcome o = solve("problem: {matrix: small.mtx" + more);
  ASSERT_EQ(o.code, 0) << o.err;
  int kept = 0;
  for (auto const& file : fs::recursive_directory_iterator(folder_ / "kept")) {
    if (!file.is_regular_file()) continue;
    ++kept;
  }
  ASSERT_GE(kept, 1);
  o = solve("problem: {matrix: large.mtx" + more);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.err, "as measured before")) << o.err;
}

/// --dry-run and the run agree on every pair, and the run reads no matrix for nothing.
TEST_F(Files, ADryRunRefusesWhatTheRunRefuses) {
  int refused = 0;
  std::vector<std::string> names = formats().names();
  names.push_back("auto");
  for (std::string const solver : {"cg", "lsmr"})
    for (std::string const& format : names)
      for (std::string const preconditioner :
           {"{type: none}", "{type: jacobi}", "{type: block_jacobi}", "{type: chebyshev}",
            "{type: solver, solver: {type: cg, max_iters: 3}}"}) {
        if (format != "csr" && preconditioner != "{type: none}") continue;
        SCOPED_TRACE(solver + ", " + format + ", " + preconditioner);
        Arguments const sets{"--set",   "solver.type=" + solver,
                             "--set",   "operator.format=" + format,
                             "--set",   "preconditioner=" + preconditioner,
                             "--set",   "output.bandwidth=false",
                             "--quiet", "--backend",
                             "host"};
        Arguments dry = sets;
        dry.push_back("--dry-run");
        std::string const config =
            "problem: {generator: {type: poisson7, n: 4}}\nsolver: {type: cg}\n";
        Outcome const real = solve(config, sets), said = solve(config, dry);
        EXPECT_EQ(said.code == 1, real.code == 1) << said.err << real.err;
        if (real.code == 1) {
          EXPECT_EQ(said.err, real.err);
          EXPECT_FALSE(has(said.out, "is valid")) << said.out;
          ++refused;
        } else {
          EXPECT_EQ(said.code, 0) << said.err;
        }
      }
  auto const without_transpose = static_cast<int>(formats().size()) - 1;
  EXPECT_EQ(refused, without_transpose + 2) << "lsmr, all formats but csr, two preconditioners";
  write_text(folder_ / "wide.mtx", header + "2 3 2\n1 1 1\n2 3 1\n");
  EXPECT_EQ(gmres({"problem.matrix=wide.mtx"}, {"--dry-run"}).code, 2) << "not square";
  EXPECT_EQ(gmres({"problem.matrix=wide.mtx", "solver.type=lsmr"}, {"--dry-run"}).code, 0);
}

TEST_F(Files, ACostTableIsRelativeToTheConfig) {
  fs::create_directories(folder_ / "sub");
  ASSERT_EQ(calibrated("sub/rates.yaml", "0.0001").code, 0);
  write_text(folder_ / "sub/c.yaml",
             std::string(small_config) + "operator: {format: auto, calibration: rates.yaml}\n");
  Outcome o = tcsolve({"sub/c.yaml", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  o = tcsolve({"sub/c.yaml", "--set", "operator.calibration=rates.yaml"});
  EXPECT_EQ(o.code, 1) << "a set is relative to the working directory";
  o = tcsolve({"sub/c.yaml", "--backend", "host", "--set", "operator.calibration=sub/rates.yaml"});
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(Files, CalibrateChecksItsArgumentsFirst) {
  EXPECT_EQ(tcsolve({"calibrate", "x.yaml", "--size", "nan"}).code, 1);
  EXPECT_FALSE(fs::exists(folder_ / "x.yaml"));
  Outcome const o = tcsolve({"calibrate", "nowhere/x.yaml", "--backend", "host"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_FALSE(has(o.out, "entries")) << "it had measured already: " << o.out;
}

TEST_F(Files, TheOutputDirectoryIsTakenAsItIsWritten) {
  for (std::string const name :
       {"new\nline", "quote'", "dou\"ble", "a\\b", "tab\there", "{a: b}"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(gmres({}, {"--output", name}).code, 0);
    EXPECT_TRUE(fs::exists(folder_ / name / "result.json"));
    EXPECT_EQ(result(name)["config"]["output"]["directory"], name);
  }
}

TEST_F(Files, AGeneratorTooSmallForItsKeysIsAConfigErrorWithItsPlace) {
  Outcome const o = solve("problem: {generator: {type: longrows, n: 1}}\nsolver: {type: gmres}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "my.yaml:1:")) << o.err;
  EXPECT_TRUE(has(o.err, "'long_rows' = 64 is more than 'n' = 1")) << o.err;
}

TEST_F(Files, AValueBeyondTheStoredTypeNamesTheKeyAndCountsFromOne) {
  write_text(folder_ / "a.mtx", header + "2 2 3\n1 1 1\n2 1 7e9\n2 2 1\n");
  for (Format const& one : formats()) {
    std::string const format = one.name;
    Outcome const o = gmres({"operator={format: " + format + ", values: fp16, scale: refuse}"});
    EXPECT_EQ(o.code, 4) << o.err;
    EXPECT_TRUE(has(o.verdict(), "setup_failed: operator {format: " + format + ", values: fp16}"))
        << o.out;
    EXPECT_TRUE(has(o.verdict(), "row 2, column 1")) << o.out;
    EXPECT_EQ(result()["verdict"]["reason"], "setup_failed");
  }
}

}  // namespace
}  // namespace tcsolve::cli
