// SPDX-License-Identifier: Apache-2.0
/// `tcsolve --ranks N`: processes that solve together, with one voice and one exit code.
#include "tests/cli/program.hpp"
#include "tests/ranks/processes.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>

#include <tcsolve/core/device.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class RankedProgram : public Program {
 protected:
  std::vector<double> x() const {
    std::ifstream in(folder_ / "tcsolve-out/x.mtx");
    std::string line;
    while (std::getline(in, line) && line.starts_with("%")) {}
    std::vector<double> out;
    while (std::getline(in, line)) out.push_back(std::stod(line));
    return out;
  }
};

constexpr char const* system_of_12 =
    "problem: {generator: {type: poisson7, n: 12, coefficient: random}, rhs: random}\n"
    "solver: {type: cg, rtol: 1.0e-10}\n"
    "output: {solution: true}\n";

TEST_F(RankedProgram, DevicesThatThereAreNotAreAnError) {
  std::string why;
  if (cuda::available(why, 1)) GTEST_SKIP() << "there are two devices";
  Outcome const o =
      solve(std::string(system_of_12) + "preconditioner: {type: jacobi}\nbackend: cuda\n",
            {"--ranks", "2"});
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_NE(o.err.find("each needs a device of its own on its host"), std::string::npos) << o.err;
  Outcome const joined = solve(std::string(system_of_12) + "preconditioner: {type: jacobi}\n",
                               {"--ranks", "2", "--set", "ranks.transport=nccl"});
  EXPECT_EQ(joined.code, 5) << joined.out << joined.err;
  EXPECT_NE(joined.err.find("'ranks.transport: nccl' over 2 ranks: "), std::string::npos)
      << joined.err;
}

/// On two devices, a process for each: their memory is mapped by handles, not by addresses.
class RankedDevicesGpu : public RankedProgram, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(by, RankedDevicesGpu, testing::Values("peer", "nccl", "mpi"),
                         [](auto const& info) { return info.param; });

TEST_P(RankedDevicesGpu, SolveAsHostsDo) {
  if (std::string const why = lacks_devices(GetParam()); !why.empty()) GTEST_SKIP() << why;
  for (std::string const method : {"cg", "bicgstab", "gmres"})
    for (std::string const M :
         {"{type: jacobi}", "{type: schwarz, parts: ranks, inside: {type: ic}}"}) {
      SCOPED_TRACE(method + " with " + M);
      std::string const yaml =
          "problem: {generator: {type: poisson7, n: 20, coefficient: random}, rhs: random}\n"
          "solver: {type: " +
          method + ", rtol: 1.0e-10}\npreconditioner: " + M +
          "\noutput: {solution: true, bandwidth: false}\n";
      // Rounding decides how many iterations bicgstab takes: as many as over some ranks of hosts.
      double least = std::numeric_limits<double>::infinity(), most = 0;
      for (char const* const ranks : {"3", "5", "1", "2"}) {
        if (method != "bicgstab" && *ranks != '2') continue;
        ASSERT_EQ(solve(yaml, {"--ranks", ranks, "--backend", "host"}).code, 0);
        double const iterations = result()["iterations"];
        least = std::min(least, iterations), most = std::max(most, iterations);
      }
      Json const host = result();
      std::vector<double> const expected = x();
      std::vector<double> before;
      for (int run = 0; run < 2; ++run) {
        Outcome const o = solve(
            yaml, {"--ranks", "2", "--backend", "cuda", "--set", "ranks.transport=" + GetParam()});
        ASSERT_EQ(o.code, 0) << o.out << o.err;
        Json const r = result();
        EXPECT_EQ(r["backend"], "cuda");
        EXPECT_EQ(r["ranks"], host["ranks"]);
        EXPECT_GE(double(r["iterations"]), 0.97 * least - 2);
        EXPECT_LE(double(r["iterations"]), 1.03 * most + 2);
        std::vector<double> const now = x();
        ASSERT_EQ(now.size(), expected.size());
        for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], expected[i], 1e-6);
        if (run > 0) EXPECT_EQ(now, before) << "other bits in the second run";
        before = now;
      }
    }
}

/// A rank that dies while the kernels of the other wait for it.
TEST_P(RankedDevicesGpu, OneThatIsKilledEndsTheOther) {
  if (std::string const why = lacks_devices(GetParam()); !why.empty()) GTEST_SKIP() << why;
  // Of a size that takes devices some seconds.
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: convdiff, n: 240, velocity: 10}, rhs: random}\n"
             "solver: {type: lsmr, rtol: 1.0e-15, max_iters: 100000000, stagnation_window: 0}\n"
             "output: {bandwidth: false}\nbackend: cuda\nranks: {count: 2, transport: " +
                 GetParam() + "}\n");
  pid_t const process = start(command({"my.yaml"}));
  for (int i = 0; i < 2000 && !has(read_text(folder_ / ".err"), "iteration "); ++i)
    std::this_thread::sleep_for(20ms);
  std::vector<pid_t> const ranks = children_of(process);
  ASSERT_EQ(ranks.size(), 2u);
  auto const start = std::chrono::steady_clock::now();
  ::kill(ranks[1], SIGKILL);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_TRUE(has(o.err, "rank 1: its process was ended by signal 9")) << o.err;
}

TEST_F(RankedProgram, AnyNumberOfThemSolvesAsOneDoes) {
  std::string const yaml = std::string(system_of_12) + "preconditioner: {type: jacobi}\n";
  ASSERT_EQ(solve(yaml).code, 0);
  Json const one = result();
  std::vector<double> const expected = x();
  EXPECT_TRUE(one["ranks"].is_null());
  EXPECT_TRUE(one["imbalance"].is_null());
  std::vector<std::string> partitions{"rows", "grow", "auto"};
  if (metis_built()) partitions.push_back("metis");
  for (int ranks : {2, 3, 4})
    for (std::string const& partition : partitions) {
      SCOPED_TRACE(std::to_string(ranks) + " by " + partition);
      Outcome const o =
          solve(yaml, {"--ranks", std::to_string(ranks), "--set", "ranks.partition=" + partition});
      ASSERT_EQ(o.code, 0) << o.out << o.err;
      EXPECT_TRUE(o.verdict().starts_with("cg: converged")) << o.out;
      EXPECT_EQ(o.out.find("converged"), o.out.rfind("converged")) << "said twice: " << o.out;
      Json const r = result();
      EXPECT_NEAR(double(r["iterations"]), double(one["iterations"]),
                  2 + 0.03 * double(one["iterations"]));
      std::vector<double> const now = x();
      ASSERT_EQ(now.size(), expected.size());
      for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], expected[i], 1e-7);
      ASSERT_EQ(r["ranks"].size(), std::size_t(ranks));
      std::int64_t rows = 0, entries = 0, most = 0;
      for (Json const& rank : r["ranks"]) {
        rows += std::int64_t(rank["rows"]);
        entries += std::int64_t(rank["entries"]);
        most = std::max(most, std::int64_t(rank["entries"]));
        EXPECT_GT(rank["halo"], 0);
        EXPECT_GE(rank["neighbours"], 1);
        EXPECT_GT(rank["bytes_sent"], 0);
        EXPECT_GT(double(rank["product_us"]), 0);
        EXPECT_GE(double(rank["waiting_us"]), 0);
        EXPECT_GE(double(rank["halo_us"]), 0);
        EXPECT_GE(double(rank["sum_us"]), 0);
      }
      EXPECT_EQ(rows, 1728);
      EXPECT_EQ(entries, one["problem"]["entries"]);
      EXPECT_DOUBLE_EQ(double(r["imbalance"]["entries"]), double(most * ranks) / double(entries));
      EXPECT_GE(double(r["imbalance"]["product"]), 1);
      EXPECT_LE(double(r["imbalance"]["product"]), ranks);
      EXPECT_TRUE(tidy());
    }
}

TEST_F(RankedProgram, RowsHaveOrdersAndTypesAreOneForAll) {
  std::string const yaml = std::string(system_of_12) + "preconditioner: {type: jacobi}\n";
  ASSERT_EQ(solve(yaml).code, 0);
  std::vector<double> const expected = x();
  for (std::string const more : {"operator: {reorder: rcm}\n", "precision: auto\n"})
    for (char const* const ranks : {"2", "3"}) {
      SCOPED_TRACE(more + ranks);
      Outcome const o = solve(yaml + more, {"--ranks", ranks});
      ASSERT_EQ(o.code, 0) << o.out << o.err;
      std::vector<double> const now = x();
      ASSERT_EQ(now.size(), expected.size());
      for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], expected[i], 1e-7);
      EXPECT_EQ(result()["reordering"]["taken"], has(more, "rcm") ? "rcm" : "none");
    }
}

TEST_F(RankedProgram, SchwarzWithIcInside) {
  Outcome const o = solve(std::string(system_of_12) +
                              "preconditioner: {type: schwarz, parts: ranks, inside: {type: ic}}\n",
                          {"--ranks", "2"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(has(std::string(result()["preconditioner"]), "inside ic")) << result();
}

TEST_F(RankedProgram, AMatrixAloneIsEnough) {
  ASSERT_EQ(tcsolve({"generate", "convdiff", "--set", "n=10", "-o", "A.mtx"}).code, 0);
  Outcome const o = tcsolve({"A.mtx", "--ranks", "2"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_LT(double(result()["solution_error"]), 1e-5);
  EXPECT_TRUE(result()["taken"].is_object());
}

TEST_F(RankedProgram, ColumnsAndRepeats) {
  std::string const yaml =
      "problem: {generator: {type: poisson7, n: 8}, rhs: {columns: 3}}\nsolver: {type: cg}\n";
  EXPECT_EQ(solve(yaml, {"--ranks", "2"}).code, 0);
  EXPECT_EQ(result()["columns"].size(), 3u);
  EXPECT_EQ(solve(std::string(system_of_12), {"--ranks", "2", "--repeat", "3"}).code, 0);
  EXPECT_EQ(result()["repeat"]["count"], 3);
}

/// A path without a boundary condition; rows stay in the order that the vectors have.
TEST_F(RankedProgram, VectorsOfANullspaceInAFile) {
  std::string matrix = "%%MatrixMarket matrix coordinate real symmetric\n40 40 79\n", z, b;
  for (int i = 1; i <= 40; ++i) {
    matrix += std::to_string(i) + " " + std::to_string(i) + (i % 39 == 1 ? " 1\n" : " 2\n");
    if (i > 1) matrix += std::to_string(i) + " " + std::to_string(i - 1) + " -1\n";
    z += "0.5\n";
    b += i % 2 == 0 ? "1\n" : "-1\n";
  }
  write_text(folder_ / "path.mtx", matrix);
  write_text(folder_ / "z.txt", z);
  write_text(folder_ / "b.txt", b);
  std::string const yaml =
      "problem: {matrix: path.mtx, rhs: b.txt}\nsolver: {type: cg}\nnullspace: {files: [z.txt]}\n"
      "output: {solution: true}\n";
  Outcome const o = solve(yaml, {"--ranks", "3"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_GT(result()["iterations"], 2);
  double sum = 0;
  for (double const v : x()) sum += v;
  EXPECT_NEAR(sum, 0, 1e-9);
  Outcome const bad = solve(yaml, {"--ranks", "2", "--set", "ranks.partition=grow"});
  EXPECT_EQ(bad.code, 1) << bad.out;
  EXPECT_TRUE(has(bad.err, "in the order of the matrix; take rows")) << bad.err;
}

TEST_F(RankedProgram, APartitionInAFile) {
  std::string parts;
  for (int i = 0; i < 64; ++i) parts += i % 3 == 0 ? "1\n" : "0\n";
  write_text(folder_ / "parts.txt", parts);
  std::string const yaml =
      "problem: {generator: {type: poisson7, n: 4, coefficient: random}}\nsolver: {type: cg}\n"
      "ranks: {count: 2, partition: parts.txt}\n";
  Outcome const o = solve(yaml);
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_EQ(result()["ranks"][1]["rows"], 22);
  EXPECT_LT(double(result()["solution_error"]), 1e-6);
  for (auto const& [text, said] :
       {std::pair<std::string, std::string>{parts.substr(2), "names the part of 63 rows"},
        {"2\n" + parts.substr(2), "row 1 is in part 2; parts are 0 to 1"}}) {
    write_text(folder_ / "parts.txt", text);
    Outcome const bad = solve(yaml);
    EXPECT_EQ(bad.code, 2) << bad.out;
    EXPECT_TRUE(has(bad.err, said)) << bad.err;
  }
  std::string all;
  for (int i = 0; i < 64; ++i) all += "0\n";
  write_text(folder_ / "parts.txt", all);
  EXPECT_TRUE(has(solve(yaml).err, "no row is in part 1 of 2"));
}

TEST_F(RankedProgram, PartsOfAnIterationAreTimedUnlessAskedNotTo) {
  std::string const yaml = std::string(system_of_12) + "preconditioner: {type: jacobi}\n";
  ASSERT_EQ(solve(yaml, {"--ranks", "2", "--set", "output.bandwidth=false"}).code, 0);
  Json const written = result();
  for (Json const& rank : written["ranks"])
    for (char const* const part : {"product_us", "waiting_us", "halo_us", "sum_us"})
      EXPECT_TRUE(rank[part].is_null()) << part;
  EXPECT_TRUE(written["imbalance"]["product"].is_null());
  EXPECT_GE(double(written["imbalance"]["entries"]), 1);
}

TEST_F(RankedProgram, MoreRanksThanRows) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
  Outcome const o = tcsolve({"A.mtx", "--solver", "cg", "--ranks", "4"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_LT(double(result()["solution_error"]), 1e-7);
}

// ---- what is refused, and what fails ----

TEST_F(RankedProgram, WhatRanksCannotDoIsSaidOnce) {
  auto const refused = [&](std::string const& yaml, int code, std::string const& said,
                           Arguments more = {}) {
    more.insert(more.end(), {"--ranks", "2"});
    Outcome const o = solve(yaml, more);
    EXPECT_EQ(o.code, code) << o.out << o.err;
    EXPECT_TRUE(has(o.err, said)) << o.err;
    EXPECT_EQ(o.err.find(said), o.err.rfind(said)) << o.err;
  };
  refused(std::string(system_of_12) + "preconditioner: {type: ic}\n", 1,
          "parts: ranks, inside: {type: ic}");
  refused(std::string(system_of_12) + "preconditioner: {type: ic}\n", 1,
          "parts: ranks, inside: {type: ic}", {"--dry-run"});
  EXPECT_EQ(solve(std::string(system_of_12) + "preconditioner: {type: auto}\n",
                  {"--ranks", "2", "--dry-run"})
                .code,
            0);
  refused("problem: {matrix: none.mtx}\nsolver: {type: cg}\n", 2, "there is no file");
  refused(std::string(system_of_12), 1, "--profile times the solve of one rank", {"--profile"});
}

/// What a run ends with; before it stand notes of its set-up.
std::string last_line(std::string const& err) {
  std::size_t const end = err.find_last_not_of('\n');
  std::size_t const before = err.rfind('\n', end);
  return err.substr(before == std::string::npos ? 0 : before + 1);
}

TEST_F(RankedProgram, ADryRunRefusesWhatTheRunRefuses) {
  write_text(folder_ / "few.txt", "0\n1\n");
  std::string const jacobi = "preconditioner: {type: jacobi}\n";
  for (std::string const& more :
       {std::string("preconditioner: {type: ic}\n"), jacobi + "nullspace: {files: [z.mtx]}\n",
        jacobi + "ranks: {partition: few.txt}\n", jacobi + "ranks: {partition: none.txt}\n",
        jacobi + "ranks: {devices: [0, 1, 2]}\n",
        jacobi + "ranks: {transport: peer}\nbackend: host\n",
        jacobi + "ranks: {devices: [998, 999]}\n"}) {
    SCOPED_TRACE(more);
    std::string const yaml = system_of_12 + more;
    Outcome const run = solve(yaml, {"--ranks", "2"});
    ASSERT_NE(run.code, 0) << run.out;
    fs::remove_all(folder_ / "tcsolve-out");
    Outcome const dry = solve(yaml, {"--ranks", "2", "--dry-run"});
    EXPECT_EQ(dry.code, run.code);
    EXPECT_EQ(last_line(dry.err), last_line(run.err));
    EXPECT_FALSE(has(dry.out, "nothing was solved"));
    EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out"));
  }
}

TEST_F(RankedProgram, ADryRunTellsTheMemoryOfEachRank) {
  Outcome const o = solve(std::string(system_of_12) + "preconditioner: {type: jacobi}\n",
                          {"--ranks", "3", "--dry-run", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  for (char const* const rank : {"0", "1", "2"}) {
    std::string const said = std::string("# memory of rank ") + rank + ": host ";
    EXPECT_TRUE(has(o.out, said)) << o.out;
    EXPECT_EQ(o.out.find(said), o.out.rfind(said)) << o.out;
  }
  EXPECT_FALSE(has(o.out, "memory of rank 3"));
  EXPECT_TRUE(has(o.out, "nothing was solved"));
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out"));
}

TEST_F(RankedProgram, AZeroOnTheDiagonalOfOneRankIsASetUpThatFailed) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 4\n2 2 4\n3 3 4\n"
             "4 3 1\n3 4 1\n");
  Outcome const o =
      tcsolve({"A.mtx", "--solver", "gmres", "--preconditioner", "jacobi", "--ranks", "2"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  EXPECT_TRUE(has(o.verdict(), "setup_failed: rank 1: ")) << o.out;
  EXPECT_EQ(result()["verdict"]["reason"], "setup_failed");
}

class LongRun : public RankedProgram {
 protected:
  /// A solve of minutes by two ranks, once it iterates.
  pid_t started() {
    write_text(folder_ / "my.yaml", long_config);
    pid_t const process = start(command({"my.yaml", "--ranks", "2"}));
    for (int i = 0; i < 2000; ++i) {
      if (has(read_text(folder_ / ".err"), "iteration 5")) break;
      std::this_thread::sleep_for(20ms);
    }
    return process;
  }
};

TEST_F(LongRun, ARankThatIsKilledEndsTheRun) {
  for (std::size_t victim : {0u, 1u}) {
    pid_t const process = started();
    std::vector<pid_t> const ranks = children_of(process);
    ASSERT_EQ(ranks.size(), 2u);
    auto const start = std::chrono::steady_clock::now();
    ::kill(ranks[victim], SIGKILL);
    Outcome const o = wait(process);
    EXPECT_EQ(o.code, 5) << o.out << o.err;
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    EXPECT_TRUE(
        has(o.err, "rank " + std::to_string(victim) + ": its process was ended by signal 9"))
        << o.err;
    if (victim == 1) { EXPECT_EQ(result()["verdict"]["reason"], "rank_failed"); }
    for (pid_t const pid : ranks) EXPECT_NE(::kill(pid, 0), 0) << "a rank is left";
  }
}

TEST_F(LongRun, ARankThatStopsIsWaitedForSoLongAndNoLonger) {
  write_text(folder_ / "my.yaml", std::string(long_config) + "ranks: {count: 2, timeout: 1}\n");
  pid_t const process = start(command({"my.yaml"}));
  for (int i = 0; i < 2000 && !has(read_text(folder_ / ".err"), "iteration 5"); ++i)
    std::this_thread::sleep_for(20ms);
  std::vector<pid_t> const ranks = children_of(process);
  ASSERT_EQ(ranks.size(), 2u);
  ::kill(ranks[1], SIGSTOP);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "rank 1: it did not come within 1 s")) << o.err;
}

/// In a set-up, where a rank tells the others that it is at work.
TEST_F(LongRun, ARankThatStopsAtWorkIsNoReasonToWaitForever) {
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson7, n: 60}}\nsolver: {type: cg}\n"
             "preconditioner: {type: schwarz, parts: ranks, inside: {type: ilu, level: 8}}\n"
             "ranks: {count: 2, timeout: 1}\n");
  pid_t const process = start(command({"my.yaml"}));
  std::vector<pid_t> ranks;
  for (int i = 0; i < 500 && ranks.size() < 2; ++i) {
    std::this_thread::sleep_for(10ms);
    ranks = children_of(process);
  }
  ASSERT_EQ(ranks.size(), 2u);
  std::this_thread::sleep_for(500ms);
  ::kill(ranks[1], SIGSTOP);
  auto const start = std::chrono::steady_clock::now();
  Outcome const o = wait(process);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "rank 1: ")) << o.err;
  for (pid_t const pid : ranks) EXPECT_NE(::kill(pid, 0), 0) << "a rank is left";
}

/// As a batch system ends a job, and `timeout`: each process is asked, and the ranks by the first
/// process once more.
TEST_F(LongRun, ASignalToAllIsOne) {
  for (int const signal : {SIGTERM, SIGINT}) {
    pid_t const process = started();
    std::vector<pid_t> const ranks = children_of(process);
    ASSERT_EQ(ranks.size(), 2u);
    for (pid_t const pid : ranks) ::kill(pid, signal);
    ::kill(process, signal);
    Outcome const o = wait(process);
    EXPECT_EQ(o.code, 3) << o.out << o.err;
    EXPECT_TRUE(has(o.verdict(), "cancelled")) << o.out;
    std::string const said = "once more ends at once";
    EXPECT_EQ(has(o.err, said), signal == SIGINT) << o.err;
    EXPECT_EQ(o.err.find(said), o.err.rfind(said)) << "by each rank: " << o.err;
  }
}

TEST_F(LongRun, CtrlCWritesWhatItHas) {
  pid_t const process = started();
  ::kill(process, SIGINT);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(has(o.verdict(), "cancelled")) << o.out;
  EXPECT_GT(result()["iterations"], 4);
  EXPECT_EQ(result()["verdict"]["reason"], "cancelled");
}

TEST_F(LongRun, ATimeLimitEndsAll) {
  Outcome const o = solve(long_config, {"--ranks", "2", "--set", "solver.time_limit=1"});
  EXPECT_EQ(o.code, 3) << o.out << o.err;
  EXPECT_TRUE(has(o.verdict(), "time_limit")) << o.out;
}

}  // namespace
}  // namespace tcsolve::cli
