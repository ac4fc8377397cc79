// SPDX-License-Identifier: Apache-2.0
// Every problem that a config can have, with the exact line a user sees.
#include <tcsolve/core/error.hpp>
#include <tests/support/config_sample.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tcsolve {
namespace {

using namespace sample;

std::string const valid = "problem: {matrix: a.mtx}\nsolver: {type: cg}\n";

/// Lines of the ConfigError for valid + `more`, "" when it is accepted.
std::string errors(std::string const& yaml, std::vector<std::string> const& sets = {}) {
  try {
    read_run(yaml, Registries(), sets);
  } catch (ConfigError const& e) { return e.what(); }
  return "";
}

/// What is said of `output: {KEY: VALUE}`, without the position 3:(10 + |KEY| + 3).
std::string said(std::string const& key, std::string const& value) {
  std::string const text = errors(valid + "output: {" + key + ": " + value + "}\n");
  std::string const place = cat("my.yaml:3:", 12 + key.size(), ": ");
  return text.starts_with(place) ? text.substr(place.size()) : text;
}

std::string solver(std::string const& keys) {
  return errors("problem: {matrix: a.mtx}\nsolver: {type: gmres, " + keys + "}\n");
}

TEST(ConfigRead, ValuesOfEveryType) {
  Registries const r;
  RunConfig const run = read_run(
      "problem: {matrix: 0012.mtx}\nsolver: {type: gmres, restart: 7, rtol: 1e-3, ortho: mgs}\n"
      "output: {solution: true, times: [1, 2.5e-1], tags: [], seed: 18446744073709551615,\n"
      "         offset: -9223372036854775808, history: {every: +3}, directory: \"\"}\n",
      r);
  EXPECT_EQ(run.problem.matrix, "0012.mtx");
  EXPECT_TRUE(run.output.solution);
  EXPECT_EQ(run.output.times, (std::vector{1.0, 0.25}));
  EXPECT_TRUE(run.output.tags.empty());
  EXPECT_EQ(run.output.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(run.output.offset, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(run.output.history.every, 3);
  EXPECT_EQ(run.output.history.file, "history.csv");
  auto const made = r.solvers.make(run.solver);
  auto const& gmres = dynamic_cast<Gmres const&>(*made);
  EXPECT_EQ(gmres.params.restart, 7);
  EXPECT_EQ(gmres.params.ortho, Ortho::mgs);
  EXPECT_EQ(gmres.params.stopping.rtol, 1e-3);
  EXPECT_EQ(gmres.params.stopping.max_iters, 1000);
  EXPECT_FALSE(gmres.params.preconditioner);
}

TEST(ConfigRead, UnknownKeys) {
  EXPECT_EQ(solver("restrt: 5"),
            "my.yaml:2:23: unknown key 'restrt' in solver 'gmres'; did you mean 'restart'?");
  EXPECT_EQ(solver("Restart: 5"),
            "my.yaml:2:23: unknown key 'Restart' in solver 'gmres'; did you mean 'restart'?");
  EXPECT_EQ(solver("colour: 5"),
            "my.yaml:2:23: unknown key 'colour' in solver 'gmres'; valid: type, rtol, max_iters, "
            "time_limit, restart, ortho, preconditioner");
  EXPECT_EQ(errors(valid + "slover: 1\n"),
            "my.yaml:3:1: unknown key 'slover' in the config; did you mean 'solver'?");
  EXPECT_EQ(errors(valid + "output: {history: {evrey: 2}}\n"),
            "my.yaml:3:20: unknown key 'evrey' in 'history'; did you mean 'every'?");
  EXPECT_EQ(errors("problem: {matrix: a}\nsolver: {type: cg, restart: 5}\n"),
            "my.yaml:2:20: unknown key 'restart' in solver 'cg'; valid: type, rtol, max_iters, "
            "time_limit");
}

TEST(ConfigRead, Integers) {
  EXPECT_EQ(solver("restart: abc"), "my.yaml:2:32: 'restart' = 'abc' is not an integer");
  EXPECT_EQ(solver("restart: 3.5"), "my.yaml:2:32: 'restart' = 3.5 is not an integer");
  EXPECT_EQ(solver("restart: 1e2"), "");
  EXPECT_EQ(solver("restart: 0x10"), "my.yaml:2:32: 'restart' = '0x10' is not an integer");
  EXPECT_EQ(solver("restart: .inf"), "my.yaml:2:32: 'restart' = .inf is not an integer");
  EXPECT_EQ(solver("restart: 0"), "my.yaml:2:32: 'restart' = 0 is outside [1, 1000]");
  EXPECT_EQ(solver("restart: 1001"), "my.yaml:2:32: 'restart' = 1001 is outside [1, 1000]");
  EXPECT_EQ(solver("restart: 99999999999"),
            "my.yaml:2:32: 'restart' = 99999999999 does not fit a 32-bit integer");
  EXPECT_EQ(solver("restart: \"50\""),
            "my.yaml:2:32: 'restart' = \"50\" is text; write an integer without quotes");
  EXPECT_EQ(solver("restart: {a: 1}"),
            "my.yaml:2:32: 'restart' is a block; an integer is expected");
  EXPECT_EQ(solver("restart: [1]"), "my.yaml:2:32: 'restart' is a list; an integer is expected");
  EXPECT_EQ(solver("restart: ~"), "my.yaml:2:23: 'restart' has no value; an integer is expected");
  EXPECT_EQ(said("seed", "-1"), "'seed' = -1 does not fit an unsigned 64-bit integer");
  EXPECT_EQ(said("seed", "18446744073709551616"),
            "'seed' = 18446744073709551616 does not fit an unsigned 64-bit integer");
  EXPECT_EQ(said("offset", "1099511627777"),
            "'offset' = 1099511627777 is outside (-inf, 1099511627776]");
  EXPECT_EQ(solver("restart: +-5"), "my.yaml:2:32: 'restart' = '+-5' is not an integer");
}

TEST(ConfigRead, Numbers) {
  EXPECT_EQ(solver("rtol: 1.0e-10"), "");
  EXPECT_EQ(solver("rtol: .5"), "");
  EXPECT_EQ(solver("rtol: 1"), "");
  EXPECT_EQ(solver("time_limit: .inf"), "");
  EXPECT_EQ(solver("rtol: 1.5"), "my.yaml:2:29: 'rtol' = 1.5 is outside [0, 1]");
  EXPECT_EQ(solver("rtol: .inf"), "my.yaml:2:29: 'rtol' = .inf is outside [0, 1]");
  EXPECT_EQ(solver("rtol: .nan"), "my.yaml:2:29: 'rtol' = '.nan' is not a number");
  EXPECT_EQ(solver("rtol: nan"), "my.yaml:2:29: 'rtol' = 'nan' is not a number");
  EXPECT_EQ(solver("rtol: inf"), "my.yaml:2:29: 'rtol' = 'inf' is outside [0, 1]");
  EXPECT_EQ(solver("rtol: 1e"), "my.yaml:2:29: 'rtol' = '1e' is not a number");
  EXPECT_EQ(solver("rtol: 1e-8x"), "my.yaml:2:29: 'rtol' = '1e-8x' is not a number");
  EXPECT_EQ(solver("rtol: 1e999"),
            "my.yaml:2:29: 'rtol' = 1e999 does not fit a double (1e-308 to 1e308)");
  EXPECT_EQ(solver("rtol: 1e-999"),
            "my.yaml:2:29: 'rtol' = 1e-999 does not fit a double (1e-308 to 1e308)");
  EXPECT_EQ(solver("time_limit: 0"), "my.yaml:2:35: 'time_limit' = 0 is outside (0, inf]");
  EXPECT_EQ(solver("time_limit: -.inf"), "my.yaml:2:35: 'time_limit' = -.inf is outside (0, inf]");
  EXPECT_EQ(errors(valid + "output: {times: [1, .inf]}\n"),
            "my.yaml:3:21: 'times[1]' = .inf is not finite");
}

TEST(ConfigRead, NamesTextTruthAndLists) {
  EXPECT_EQ(solver("ortho: cgs"),
            "my.yaml:2:30: 'ortho' = 'cgs' is not one of mgs, cgs2; did you mean 'mgs'?");
  EXPECT_EQ(solver("ortho: 3"), "my.yaml:2:30: 'ortho' = 3 is not one of mgs, cgs2");
  EXPECT_EQ(solver("ortho:"), "my.yaml:2:23: 'ortho' has no value; one of mgs, cgs2 is expected");
  EXPECT_EQ(said("solution", "yes"), "'solution' = 'yes' is not true or false; did you mean true?");
  EXPECT_EQ(said("solution", "1"), "'solution' = 1 is not true or false");
  EXPECT_EQ(said("directory", "[a]"), "'directory' is a list; text is expected");
  EXPECT_EQ(errors(valid + "output: {history: {file: ''}}\n"), "my.yaml:3:26: 'file' is empty");
  EXPECT_EQ(said("times", "3"), "'times' is not a list: write [3]");
  EXPECT_EQ(errors(valid + "output: {times: [1, x, -1]}\n"),
            "my.yaml:3:21: 'times[1]' = 'x' is not a number\n"
            "my.yaml:3:24: 'times[2]' = -1 is outside (0, inf)");
  EXPECT_EQ(said("history", "3"),
            "'history' is not a block; keys with values are expected, or {} for the defaults");
  EXPECT_EQ(said("history", "{}"), "");
}

TEST(ConfigRead, MissingEmptyAndDuplicateKeys) {
  EXPECT_EQ(
      errors(""),
      "my.yaml:1:1: the config is empty; keys with values are expected, or {} for the defaults");
  EXPECT_EQ(errors("{}"),
            "my.yaml:1:1: 'problem' is missing in the config\n"
            "my.yaml:1:1: 'solver' is missing in the config");
  // A misspelt key is one mistake.
  EXPECT_EQ(errors("{problm: {}, solver: {type: cg}}"),
            "my.yaml:1:2: unknown key 'problm' in the config; did you mean 'problem'?");
  EXPECT_EQ(errors(valid + "solver: {type: gmres}\n"),
            "my.yaml:3:1: key 'solver' in the config is given twice, at my.yaml:2:1 too");
  EXPECT_EQ(solver("rtol: 1e-3, rtol: 1e-3, type: cg"),
            "my.yaml:2:35: key 'rtol' in solver 'gmres' is given twice, at my.yaml:2:23 too\n"
            "my.yaml:2:47: key 'type' in solver 'gmres' is given twice, at my.yaml:2:10 too");
  EXPECT_EQ(
      errors(valid + "output:\n"),
      "my.yaml:3:1: 'output' is empty; keys with values are expected, or {} for the defaults");
  EXPECT_EQ(errors("problem: {}\nsolver: {type: cg}\n"),
            "my.yaml:1:10: give one of 'matrix' and 'generator'");
}

TEST(ConfigRead, TypedBlocks) {
  std::string const p = "problem: {matrix: a}\n";
  EXPECT_EQ(errors(p + "solver: {type: gmrs}\n"),
            "my.yaml:2:16: unknown solver 'gmrs'; did you mean 'gmres'?; known: cg, gmres");
  EXPECT_EQ(errors(p + "solver: {type: sor}\n"),
            "my.yaml:2:16: unknown solver 'sor'; known: cg, gmres");
  EXPECT_EQ(errors(p + "solver: {restart: 5}\n"),
            "my.yaml:2:9: this solver has no 'type'; known: cg, gmres");
  EXPECT_EQ(errors(p + "solver: cg\n"), errors(p + "solver: {type: cg}\n")) << "its name alone";
  EXPECT_EQ(errors(p + "solver: gmrs\n"),
            "my.yaml:2:9: unknown solver 'gmrs'; did you mean 'gmres'?; known: cg, gmres");
  EXPECT_EQ(errors(p + "solver:\n"), "my.yaml:2:1: a solver is a block: {type: ...}");
  EXPECT_EQ(errors(p + "solver: {type: [cg]}\n"),
            "my.yaml:2:16: 'type' is not a name; known: cg, gmres");
}

TEST(ConfigRead, NestedBlocksAreCheckedAtOnce) {
  EXPECT_EQ(
      errors("problem: {matrx: a}\n"
             "preconditioner:\n"
             "  type: solve\n"
             "  solver: {type: gmres, restart: 0, preconditioner: {type: jacobi, omega: 2}}\n"
             "solver: {type: gmres, restrt: 50, rtol: high}\n"
             "output: {seed: x}\n",
             {"solver.ortho=mgss", "preconditioner.solver.rtol=-1", "nothing"}),
      "my.yaml:1:11: unknown key 'matrx' in 'problem'; did you mean 'matrix'?\n"
      "my.yaml:4:34: 'restart' = 0 is outside [1, 1000]\n"
      "my.yaml:4:75: 'omega' = 2 is outside (0, 2)\n"
      "my.yaml:5:23: unknown key 'restrt' in solver 'gmres'; did you mean 'restart'?\n"
      "my.yaml:5:41: 'rtol' = 'high' is not a number\n"
      "my.yaml:6:16: 'seed' = 'x' is not an integer\n"
      "--set solver.ortho=mgss: 'ortho' = 'mgss' is not one of mgs, cgs2; did you mean 'mgs'?\n"
      "--set preconditioner.solver.rtol=-1: 'rtol' = -1 is outside [0, 1]\n"
      "--set nothing: expected key.path=value, e.g. --set solver.restart=50");
}

TEST(ConfigRead, DeepButLegalNestingIsRead) {
  std::string block = "{type: cg}";
  for (int i = 0; i < 30; ++i)
    block = "{type: gmres, preconditioner: {type: solve, solver: " + block + "}}";
  EXPECT_EQ(errors("problem: {matrix: a}\nsolver: " + block + "\n"), "");
}

TEST(ConfigRead, TheSeedOfTheFuzzerIsAccepted) {
  ConfigNode const root = load_yaml(TCSOLVE_SOURCE_DIR "/tests/fuzz/corpus/config/plain.yaml");
  EXPECT_EQ(errors(to_yaml(root)), "");
}

TEST(ConfigRead, SetsReachTheParams) {
  Registries const r;
  RunConfig const run = read_run(valid, r,
                                 {"solver.type=gmres", "solver.restart=9", "output.history.every=4",
                                  "preconditioner={type: jacobi, omega: 1.5}"});
  auto const made = r.solvers.make(run.solver);
  EXPECT_EQ(dynamic_cast<Gmres const&>(*made).params.restart, 9);
  EXPECT_EQ(run.output.history.every, 4);
  EXPECT_EQ(run.preconditioner.type(), "jacobi");
}

TEST(ConfigRead, HugeKeysAndValuesAreCutInMessages) {
  std::string const word(500'000, 'q');
  EXPECT_LT(errors(valid + "output: {seed: " + word + "}\n").size(), 200u);
  EXPECT_LT(errors(valid + "output: {directory: a}\n? " + word + "\n: 1\n").size(), 300u);
  EXPECT_LT(solver("restart: " + std::string(100'000, '9')).size(), 200u);
  EXPECT_EQ(said("seed", "\"a\\nb\\e\""), "'seed' = 'a\\nb\\x1b' is not an integer");
}

TEST(ConfigRead, ManyProblemsAreCounted) {
  std::string text = valid;
  for (int i = 0; i < 20'000; ++i) text += cat("k", i, ": 1\n");
  std::string const all = errors(text);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 100);
  EXPECT_TRUE(all.ends_with("\nand 19900 more"));
}

TEST(ConfigNearest, PicksTheNearestOrNone) {
  std::vector<std::string> const known{"rtol", "atol", "restart", "max_iters"};
  EXPECT_EQ(nearest("tol", known), "rtol");  // the first of equals
  EXPECT_EQ(nearest("retsart", known), "restart");
  EXPECT_EQ(nearest("MAX-ITERS", known), "max_iters");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("omega", {}), "");
}

}  // namespace
}  // namespace tcsolve
