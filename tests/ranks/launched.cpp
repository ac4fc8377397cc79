// SPDX-License-Identifier: Apache-2.0
/// `mpirun -n N tcsolve CONFIG`: the processes of a launcher as the ranks of one run.
#include "tests/cli/program.hpp"
#include "tests/ranks/processes.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <tcsolve/version.hpp>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

/// A launcher's variable while it lives.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  char const* name_;
};

constexpr char const* small_system =
    "problem: {generator: {type: poisson7, n: 10, coefficient: random}, rhs: random}\n"
    "solver: {type: cg, rtol: 1.0e-10}\npreconditioner: {type: jacobi}\n"
    "output: {solution: true}\n";

class Launched : public Program {
 protected:
  /// The words of `part` stand in `text` once.
  static void expect_once(std::string const& text, std::string const& part) {
    EXPECT_TRUE(has(text, part)) << text;
    EXPECT_EQ(text.find(part), text.rfind(part)) << text;
  }
};

TEST_F(Launched, WithoutTheComponentItRefusesAndSaysWhatHelps) {
  // Alone in a folder, the program finds no libtcsolve_mpi.so beside it.
  fs::copy_file(command({}).front(), folder_ / "alone");
  write_text(folder_ / "my.yaml", small_system);
  for (char const* const name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    Variable const size(name, "2");
    Outcome const o = run({folder_ / "alone", "my.yaml"});
    EXPECT_EQ(o.code, 1);
    expect_once(o.err, std::string(name) + "=2");
    EXPECT_TRUE(has(o.err, "libtcsolve_mpi.so")) << o.err;
    EXPECT_TRUE(has(o.err, "--ranks 2")) << o.err;
    EXPECT_TRUE(has(o.err, "TCSOLVE_MPI=ON")) << o.err;
  }
  // The others end as the first does, and are silent.
  Variable const size("OMPI_COMM_WORLD_SIZE", "2"), rank("OMPI_COMM_WORLD_RANK", "1");
  Outcome const o = run({folder_ / "alone", "my.yaml"});
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err, "");
}

TEST_F(Launched, ASweepIsNoWorkOfRanks) {
  write_text(folder_ / "my.yaml",
             std::string(small_system) + "sweep: {solver.rtol: [1e-3, 1e-6]}\n");
  Variable const size("OMPI_COMM_WORLD_SIZE", "2");
  Outcome const o = tcsolve({"sweep", "my.yaml"});
  EXPECT_EQ(o.code, 1);
  expect_once(o.err, "each would do the whole of a sweep");
}

TEST_F(Launched, ARaceIsNoWorkOfRanks) {
  ASSERT_EQ(tcsolve({"generate", "poisson7", "--set", "n=4", "-o", "A.mtx"}).code, 0);
  Outcome const by_ranks = tcsolve({"advise", "A.mtx", "--ranks", "2"});
  EXPECT_EQ(by_ranks.code, 1) << by_ranks.out;
  expect_once(by_ranks.err, "'advise' does not use --ranks");
  Variable const size("OMPI_COMM_WORLD_SIZE", "2");
  Outcome const o = tcsolve({"advise", "A.mtx"});
  EXPECT_EQ(o.code, 1) << o.out;
  expect_once(o.err, "each would do the whole of a race");
}

#ifdef TCSOLVE_MPIEXEC

class Mpirun : public Launched {
 protected:
  static void SetUpTestSuite() {
    // Open MPI wants to be told that root, and more ranks than processors, are meant.
    for (char const* const name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                   "OMPI_MCA_rmaps_base_oversubscribe"})
      ::setenv(name, "1", 1);
    ::setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 1);
  }
  Outcome mpirun(int ranks, Arguments const& arguments) {
    Arguments all{TCSOLVE_MPIEXEC, "-n", std::to_string(ranks)};
    for (std::string const& a : command(arguments)) all.push_back(a);
    return run(all);
  }
  Outcome mpirun(int ranks, std::string const& yaml, Arguments more = {}) {
    write_text(folder_ / "my.yaml", yaml);
    more.insert(more.begin(), "my.yaml");
    return mpirun(ranks, more);
  }
  std::string x() const { return read_text(folder_ / "tcsolve-out/x.mtx"); }
};

TEST_F(Mpirun, SolvesWithTheBitsOfProcessesThatItStartsItself) {
  for (int const ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(ranks);
    // Without parts of an iteration, whose times are never the same.
    Arguments const untimed{"--set", "output.bandwidth=false"};
    Arguments by_itself = untimed;
    by_itself.insert(by_itself.end(), {"--ranks", std::to_string(ranks)});
    ASSERT_EQ(solve(small_system, by_itself).code, 0);
    std::string const expected = x();
    Json const before = result();
    fs::remove_all(folder_ / "tcsolve-out");
    Outcome const o = mpirun(ranks, small_system, untimed);
    ASSERT_EQ(o.code, 0) << o.out << o.err;
    expect_once(o.out, "converged");
    Json const r = result();
    EXPECT_EQ(r["iterations"], before["iterations"]);
    EXPECT_EQ(r["ranks"], before["ranks"]);
    EXPECT_EQ(x(), expected);
    EXPECT_TRUE(tidy());
  }
}

TEST_F(Mpirun, EachRankReadsAndWritesItsPart) {
  ASSERT_EQ(tcsolve({"generate", "convdiff", "--set", "n=8", "-o", "A.mtx"}).code, 0);
  ASSERT_EQ(run({"gzip", "-k", "A.mtx"}).code, 0);
  auto const solved = [&](std::string const& file) {
    Outcome const o = mpirun(3, {file, "--solver", "gmres", "--preconditioner", "jacobi", "--set",
                                 "output.bandwidth=false", "--set", "output.solution_parts=true"});
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    return result();
  };
  Json const all = solved("A.mtx");
  std::string const part = read_text(folder_ / "tcsolve-out/x.2.mtx");
  EXPECT_EQ(all["files"]["solution_parts"][2]["file"], "x.2.mtx");
  Json const one = solved("A.mtx.gz");
  for (char const* const key : {"iterations", "residual", "ranks", "files"})
    EXPECT_EQ(all[key], one[key]) << key;
  EXPECT_EQ(part, read_text(folder_ / "tcsolve-out/x.2.mtx"));
  write_text(folder_ / "B.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n"
             "2 2 1\n3 3 bad\n");
  Outcome const bad = mpirun(2, {"B.mtx", "--solver", "cg"});
  EXPECT_EQ(bad.code, 2) << bad.out << bad.err;
  expect_once(bad.err, "B.mtx:5: the value in '3 3 bad' is not a number");
}

TEST_F(Mpirun, TheNumberOfRanksIsTheLaunchers) {
  EXPECT_EQ(mpirun(2, small_system, {"--ranks", "2"}).code, 0);
  for (char const* const other : {"1", "3"}) {
    Outcome const o = mpirun(2, small_system, {"--ranks", other});
    EXPECT_EQ(o.code, 1) << o.out;
    expect_once(o.err, std::string("'ranks.count' = ") + other +
                           ", and a launcher has started 2 processes (OMPI_COMM_WORLD_SIZE=2)");
  }
}

TEST_F(Mpirun, ALauncherOfAnotherMpiIsSeen) {
  // As under mpiexec of MPICH: each process is alone in its MPI.
  Variable const size("PMI_SIZE", "2"), rank("PMI_RANK", "0");
  Outcome const o = solve(small_system);
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_TRUE(has(o.err, "its MPI sees 1 process")) << o.err;
  EXPECT_TRUE(has(o.err, "PMI_SIZE=2")) << o.err;
}

TEST_F(Mpirun, ADryRunSolvesNothing) {
  Outcome const o = mpirun(2, small_system, {"--dry-run"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_once(o.out, "nothing was solved");
  expect_once(o.out, "memory of rank 1: host ");
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out"));
}

TEST_F(Mpirun, ExitCodesAreThoseOfTheVerdict) {
  Outcome const o = mpirun(2, small_system, {"--set", "solver.max_iters=3"});
  EXPECT_EQ(o.code, 3) << o.out << o.err;
  expect_once(o.out, "max_iterations");
  EXPECT_EQ(result()["verdict"]["reason"], "max_iterations");
}

TEST_F(Mpirun, WhatGoesWrongIsSaidOnce) {
  Outcome const none = mpirun(2, "problem: {matrix: none.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(none.code, 2) << none.err;
  expect_once(none.err, "there is no file");
  Outcome const key = mpirun(2, std::string(small_system) + "sover: {}\n");
  EXPECT_EQ(key.code, 1);
  expect_once(key.err, "unknown key 'sover'");
  Outcome const ic = mpirun(2, small_system, {"--preconditioner", "ic"});
  EXPECT_EQ(ic.code, 1);
  expect_once(ic.err, "parts: ranks, inside: {type: ic}");
  Outcome const input = mpirun(2, Arguments{"-"});
  EXPECT_EQ(input.code, 1);
  expect_once(input.err, "standard input");
}

TEST_F(Mpirun, AFailureOnOneRankIsThatOfAll) {
  // The zero on the diagonal is in rank 1's rows.
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 4\n2 2 4\n3 3 4\n"
             "4 3 1\n3 4 1\n");
  Outcome const o = mpirun(2, {"A.mtx", "--solver", "gmres", "--preconditioner", "jacobi"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  expect_once(o.out, "setup_failed: rank 1: ");
  EXPECT_EQ(result()["verdict"]["reason"], "setup_failed");
  EXPECT_FALSE(has(o.err, "MPI_ABORT")) << o.err;
}

TEST_F(Mpirun, ConfigsThatDifferAreRefused) {
  // Each rank has a config of its own.
  write_text(folder_ / "0.yaml", small_system);
  write_text(folder_ / "1.yaml", std::string(small_system) + "seed: 7\n");
  std::string const program = command({}).front();
  Outcome const o = run({TCSOLVE_MPIEXEC, "-n", "2", "sh", "-c",
                         "exec '" + program + "' $OMPI_COMM_WORLD_RANK.yaml"});
  EXPECT_EQ(o.code, 1) << o.out;
  expect_once(o.err, "rank 1: its config is not that of rank 0");
}

TEST_F(Mpirun, AnMpiWithoutThreadsIsRefused) {
#ifdef TCSOLVE_MPI_WITHOUT_THREADS
  // One process alone: of several, mpirun may end the one that speaks once another has ended.
  Variable const size("PMI_SIZE", "2"), rank("PMI_RANK", "0");
  write_text(folder_ / "my.yaml", small_system);
  Outcome const o =
      run({"env", "LD_PRELOAD=" TCSOLVE_MPI_WITHOUT_THREADS, command({}).front(), "my.yaml"});
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  expect_once(o.err, "this MPI takes no programs with threads (MPI_THREAD_FUNNELED)");
  expect_once(o.err, "start one, with --ranks 2");
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out"));
#else
  GTEST_SKIP() << "a build with sanitizers";
#endif
}

/// Another build: the program and its MPI, with another revision in them.
TEST_F(Mpirun, BuildsThatDifferAreRefused) {
  fs::path const program = command({}).front(), other = folder_ / "other";
  std::string const here = version::revision, there(here.rbegin(), here.rend());
  ASSERT_NE(here, there);
  fs::create_directories(other / "lib");
  for (fs::path const& file : {fs::path("tcsolve"), fs::path("lib/libtcsolve_mpi.so")}) {
    fs::copy_file(program.parent_path() / file, other / file);
    std::string bytes = read_text(other / file);
    for (std::size_t at = 0; (at = bytes.find(here, at)) != std::string::npos;)
      bytes.replace(at, here.size(), there);
    write_text(other / file, bytes);
  }
  ASSERT_TRUE(has(run({other / "tcsolve", "--version"}).out, there));
  write_text(folder_ / "my.yaml", small_system);
  auto const by = [&](std::string const& rank_1) {
    return run({TCSOLVE_MPIEXEC, "-n", "2", "sh", "-c",
                "test $OMPI_COMM_WORLD_RANK = 1 && exec '" + rank_1 + "' my.yaml; exec '" +
                    program.string() + "' my.yaml"});
  };
  Outcome const one = by(program);
  EXPECT_EQ(one.code, 0) << one.err;
  Outcome const two = by(other / "tcsolve");
  EXPECT_EQ(two.code, 1) << two.out << two.err;
  expect_once(two.err,
              "rank 1 is of tcsolve " + there + ", rank 0 of " + here + "; start one build on all");
}

/// A rank that hangs is one that the launcher sees running.
TEST_F(Mpirun, ARankThatStopsIsWaitedForSoLongAndNoLonger) {
  write_text(folder_ / "my.yaml", std::string(long_config) + "ranks: {timeout: 2}\n");
  Arguments all{TCSOLVE_MPIEXEC, "-n", "3"};
  for (std::string const& a : command({"my.yaml"})) all.push_back(a);
  for (std::string const victim : {"1", "0"}) {
    SCOPED_TRACE(victim);
    fs::remove_all(folder_ / "tcsolve-out");
    pid_t const process = start(all);
    for (int i = 0; i < 2000 && !has(read_text(folder_ / ".err"), "iteration 5"); ++i)
      std::this_thread::sleep_for(20ms);
    std::vector<pid_t> const ranks = children_of(process);
    ASSERT_EQ(ranks.size(), 3u);
    auto const start = std::chrono::steady_clock::now();
    for (pid_t const pid : ranks)
      if (variable_of(pid, "OMPI_COMM_WORLD_RANK") == victim) ::kill(pid, SIGSTOP);
    Outcome const o = wait(process);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
    EXPECT_EQ(o.code, 5) << o.out << o.err;
    std::string const said = "rank " + victim + ": it did not come within 2 s (ranks.timeout)";
    if (victim == "1")
      expect_once(o.out + o.err, said);
    else  // it may come back when the launcher ends it, and say so itself
      EXPECT_TRUE(has(o.err, said)) << o.err;
    if (victim == "1") EXPECT_EQ(result()["verdict"]["reason"], "rank_failed");
    for (int i = 0; i < 500 && std::ranges::any_of(ranks, runs); ++i)
      std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(std::ranges::any_of(ranks, runs)) << "a rank is left";
  }
}

TEST_F(Mpirun, AFileThatOneRankCannotWriteEndsAll) {
  write_text(folder_ / "tcsolve-out", "a file, no folder");
  Outcome const o = mpirun(2, small_system);
  EXPECT_EQ(o.code, 2) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "tcsolve-out")) << o.err;
}

/// On two devices, a process for each.
class MpirunDevicesGpu : public Mpirun, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(by, MpirunDevicesGpu, testing::Values("peer", "nccl", "mpi"),
                         [](auto const& info) { return info.param; });

TEST_P(MpirunDevicesGpu, HaveTheBitsOfProcessesThatTheProgramStarts) {
  if (std::string const why = lacks_devices(GetParam()); !why.empty()) GTEST_SKIP() << why;
  Arguments const over{"--backend", "cuda",
                       "--set",     "ranks.transport=" + GetParam(),
                       "--set",     "output.bandwidth=false"};
  Arguments by_itself = over;
  by_itself.insert(by_itself.end(), {"--ranks", "2"});
  Outcome const first = solve(small_system, by_itself);
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  std::string const expected = x();
  Json const before = result();
  fs::remove_all(folder_ / "tcsolve-out");
  Outcome const o = mpirun(2, small_system, over);
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  Json const r = result();
  EXPECT_EQ(r["backend"], "cuda");
  for (char const* const key : {"iterations", "residual", "ranks"})
    EXPECT_EQ(r[key], before[key]) << key;
  EXPECT_EQ(x(), expected);
}

#endif

}  // namespace
}  // namespace tcsolve::cli
