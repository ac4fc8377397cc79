// SPDX-License-Identifier: Apache-2.0
/// The race of `tcsolve advise`: what it says of those that lost, of b, of a system without a
/// solution, and what is left of it after Ctrl-C.
#include "tests/cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;

class Advise : public Program {
 protected:
  nlohmann::json json(Arguments arguments, int code) {
    arguments.insert(arguments.begin(), "advise");
    arguments.insert(arguments.end(), {"--backend", "host", "--json", "--quiet"});
    Outcome const o = tcsolve(arguments);
    EXPECT_EQ(o.code, code) << o.out << o.err;
    return nlohmann::json::parse(o.out, nullptr, false);
  }
  void generate(std::string const& kind, std::string const& n, std::string const& file) {
    ASSERT_EQ(tcsolve({"generate", kind, "--set", "n=" + n, "-o", file}).code, 0);
  }
  /// What is on standard output runs as it is.
  void expect_runs(std::string const& config) {
    write_text(folder_ / "advised.yaml", config);
    Outcome const o = tcsolve({"advised.yaml"});
    EXPECT_EQ(o.code, 0) << config << o.out << o.err;
  }
};

TEST_F(Advise, PrintsAWholeConfig) {
  generate("convdiff", "8", "A.mtx");
  Outcome o = tcsolve({"advise", "A.mtx", "--backend", "host"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "# b: A (1, ..., 1)")) << o.out;
  EXPECT_TRUE(has(o.out, "\nproblem:\n  matrix: ")) << o.out;
  EXPECT_TRUE(has(o.out, "\nbackend: host\n")) << o.out;
  EXPECT_TRUE(has(o.err, " with ")) << "a line for each that has left: " << o.err;
  expect_runs(o.out);
  EXPECT_EQ(result()["config"]["solver"]["rtol"], 1e-8);
  o = tcsolve({"advise", "A.mtx", "random", "--backend", "host", "--rtol", "1.25e-5", "-q"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(has(o.out, "# b: random\n")) << o.out;
  expect_runs(o.out);
  EXPECT_EQ(result()["config"]["solver"]["rtol"], 1.25e-5);
  EXPECT_EQ(result()["config"]["problem"]["rhs"], "random");
  EXPECT_EQ(tcsolve({"advise", "A.mtx", "nosuch.txt"}).code, 2);
  EXPECT_EQ(tcsolve({"advise", "B.mtx"}).code, 2);
}

/// Who is slower has not failed, and `--all` lets everyone go on to the end.
TEST_F(Advise, ALoserIsNoFailure) {
  generate("convdiff", "14", "A.mtx");
  auto const race = json({"A.mtx"}, 0);
  double best = race["ranking"][0]["predicted_seconds"];
  EXPECT_TRUE(race["ranking"][0]["converged"]);
  EXPECT_TRUE(race["ranking"][0]["as_good_as_the_first"]);
  for (auto const& c : race["ranking"]) {
    std::string const outcome = c["outcome"], standing = c["standing"];
    EXPECT_FALSE(has(outcome, "time was up") || has(outcome, "time_limit")) << c;
    EXPECT_EQ(c["solved"], standing == "solved") << c;
    EXPECT_EQ(c["converged"], outcome == "converged") << c;
    EXPECT_EQ(c["as_good_as_the_first"].get<bool>(),
              c["solved"].get<bool>() && c["predicted_seconds"] <= 1.1 * best)
        << c;
    if (standing == "slower") { EXPECT_TRUE(has(outcome, "slower than the best")) << c; }
    if (standing == "predicted") { EXPECT_LE(c["predicted_seconds"], 1000 * best) << c; }
    EXPECT_EQ(c["predicted_seconds"].is_null(),
              standing != "solved" && standing != "predicted" && standing != "precision_limit")
        << c;
  }
  auto const all = json({"A.mtx", "--all"}, 0);
  for (auto const& c : all["ranking"]) {
    EXPECT_NE(c["standing"], "slower") << c;
    EXPECT_NE(c["standing"], "predicted") << c;
  }
  Outcome const text = tcsolve({"advise", "A.mtx", "--backend", "host"});
  EXPECT_TRUE(has(text.out, "<: slower, not finished")) << text.out;
}

/// An equation 0 = b_i is named, and nothing is raced, printed as a config or called converged.
TEST_F(Advise, SaysThatThereIsNoSolution) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 2\n1 2 1\n3 3 4\n4 3 1\n"
             "4 4 3\n");
  write_text(folder_ / "b.txt", "1\n1\n1\n1\n");
  Outcome const o = tcsolve({"advise", "A.mtx", "b.txt", "--backend", "host"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "row 2 of A is empty and b is not zero there")) << o.out;
  EXPECT_FALSE(has(o.out, "solver:")) << o.out;
  auto const race = json({"A.mtx", "b.txt"}, 4);
  EXPECT_FALSE(race["solved"]);
  EXPECT_TRUE(race["config"].is_null());
  // With a b of its range it is solved, and A is said to be singular.
  Outcome const fits = tcsolve({"advise", "A.mtx", "--backend", "host"});
  EXPECT_TRUE(has(fits.out, "A is singular: row 2 is empty")) << fits.out;
}

TEST_F(Advise, CtrlCLeavesTheRankingSoFar) {
  generate("convdiff", "26", "A.mtx");
  pid_t const process =
      start(command({"advise", "A.mtx", "--backend", "host", "--all", "--rtol", "1e-12"}));
  for (int i = 0; i < 3000 && !has(read_text(folder_ / ".err"), " with "); ++i)
    std::this_thread::sleep_for(20ms);
  ::kill(process, SIGINT);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 3) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "cancelled: this is the ranking so far")) << o.out;
  EXPECT_TRUE(has(o.out, " with ")) << o.out;
  EXPECT_TRUE(has(o.out, "cancelled")) << o.out;
}

TEST_F(Advise, ATimeLimitIsKept) {
  generate("convdiff", "26", "A.mtx");
  auto const begin = std::chrono::steady_clock::now();
  Outcome const o =
      tcsolve({"advise", "A.mtx", "--backend", "host", "--time-limit", "0.1", "--json"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  auto const race = nlohmann::json::parse(o.out);
  EXPECT_EQ(o.code, race["solved"] ? 0 : 3) << o.out;
}

/// `solved` in JSON is exit code 0 of the program with the same keys, `converged` its outcome.
TEST_F(Advise, ConvergedMeansExitCode0) {
  fs::path const folder = test::shared_case("33-amgcl-34-complex-dirichlet-scale");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  Outcome const o = tcsolve(
      {"advise", folder / "A.mtx", folder / "b.txt", "--backend", "host", "--json", "--quiet"});
  auto const race = nlohmann::json::parse(o.out);
  EXPECT_EQ(o.code == 0, race["solved"].get<bool>());
  for (auto const& c : race["ranking"])
    EXPECT_EQ(c["converged"].get<bool>(), c["outcome"] == "converged") << c;
  if (race["config"].is_null()) return;
  expect_runs(race["config"]);
}

TEST_F(Advise, NamesIsolatedBuses) {
  fs::path const folder = test::shared_case("19-matpower-97-isolated-bus");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  Outcome const o = tcsolve({"advise", folder / "B.mtx", folder / "P.txt", "--backend", "host"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  EXPECT_TRUE(has(o.out, " of A ")) << o.out;
  EXPECT_FALSE(has(o.out, "solver:")) << o.out;
}

}  // namespace
}  // namespace tcsolve::cli
