// SPDX-License-Identifier: Apache-2.0
/// Signals, time, terminals.
#include "tests/cli/program.hpp"
#include "tests/support/heap.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;

class Interaction : public Program {
 protected:
  /// The long solve, once its first progress line is there.
  pid_t started() {
    write_text(folder_ / "my.yaml", long_config);
    pid_t const process = start(command({"my.yaml"}));
    for (int i = 0; i < 2000; ++i) {
      if (read_text(folder_ / ".err").find("iteration 5") != std::string::npos) break;
      std::this_thread::sleep_for(20ms);
    }
    return process;
  }
};

TEST_F(Interaction, CtrlCWritesWhatItHas) {
  ::signal(SIGHUP, SIG_DFL);  // ignored where the tests run under nohup, and inherited
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    fs::remove_all(folder_ / "tcsolve-out");
    pid_t const process = started();
    ::kill(process, signal);
    Outcome const o = wait(process);
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_NE(o.verdict().find("cancelled"), std::string::npos) << o.out;
    auto const r = result();
    ASSERT_TRUE(r.is_object());
    EXPECT_EQ(r["verdict"]["reason"], "cancelled");
    EXPECT_GT(r["iterations"], 4);
    EXPECT_TRUE(tidy());
  }
}

/// A matrix that takes many seconds to generate; files are in unit/core/cancel.cpp.
TEST_F(Interaction, CtrlCEndsTheReading) {
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson27, n: 200, coefficient: random}}\n"
             "solver: {type: cg}\nbackend: host\n");
  pid_t const process = start(command({"my.yaml"}));
  for (int i = 0; i < 2000 && !has(read_text(folder_ / ".out"), "memory:"); ++i)
    std::this_thread::sleep_for(5ms);
  ::kill(process, SIGINT);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(has(o.err, "cancelling; once more ends at once")) << o.err;
  EXPECT_TRUE(has(o.verdict(), "cancelled before the solve")) << o.out;
  auto const r = result();
  ASSERT_TRUE(r.is_object());
  EXPECT_EQ(r["verdict"]["outcome"], "cancelled");
  EXPECT_TRUE(r["residual"]["true"].is_null());
  EXPECT_TRUE(tidy());
}

/// A complete factorisation, which takes seconds, is not interrupted everywhere: the signal stands
/// after it.
TEST_F(Interaction, CtrlCInADirectFactorisationStands) {
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson7, n: 34}, rhs: ones}\n"
             "solver: {type: gmres}\npreconditioner: {type: direct}\nbackend: host\n"
             "output: {bandwidth: false}\n");
  pid_t const process = start(command({"my.yaml"}));
  for (int i = 0; i < 2000 && !has(read_text(folder_ / ".out"), "memory:"); ++i)
    std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_for(150ms);
  ::kill(process, SIGINT);
  Outcome const o = wait(process);
  EXPECT_EQ(o.code, 3) << o.out << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "cancelled");
}

/// The kernel sends SIGXCPU every second: the second one ends nothing.
TEST_F(Interaction, RepeatedTimeSignalsAreOne) {
  pid_t const process = started();
  ::kill(process, SIGXCPU);
  ::kill(process, SIGXCPU);
  EXPECT_EQ(wait(process).code, 3);
  EXPECT_EQ(result()["verdict"]["outcome"], "cancelled");
}

TEST_F(Interaction, ATimeLimitOfTheRunEndsEachOfItsParts) {
  int const limit =
      test::sanitized() ? 20 : 4;  // a sanitizer takes seconds before the first iteration
  Outcome o = solve(long_config, {"--time-limit", std::to_string(limit)});
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "time_limit") << "in the solve";
  EXPECT_GT(result()["iterations"], 0);
  EXPECT_LT(result()["seconds"]["total"], limit + 6);
  EXPECT_EQ(result()["config"]["time_limit"], limit);
  o = solve(
      "problem: {generator: {type: poisson27, n: 200, coefficient: random}}\n"
      "solver: {type: cg}\nbackend: host\ntime_limit: 0.5\n");
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "time_limit") << "while the matrix is made";
  EXPECT_TRUE(has(o.verdict(), "raise time_limit")) << o.out;
  EXPECT_LT(result()["seconds"]["total"], 10);
  EXPECT_EQ(solve(long_config, {"--time-limit", "0"}).code, 1);
  EXPECT_EQ(solve(long_config, {"--time-limit", "soon"}).code, 1);
}

TEST_F(Interaction, NohupOutlivesTheTerminal) {
  auto const before = ::signal(SIGHUP, SIG_IGN);
  pid_t const process = started();
  ::signal(SIGHUP, before);
  ::kill(process, SIGHUP);
  std::this_thread::sleep_for(200ms);
  ::kill(process, SIGTERM);  // the first signal that it hears
  EXPECT_EQ(wait(process).code, 3);
}

TEST_F(Interaction, AReaderOfTheProgressMayLeave) {
  write_text(folder_ / "my.yaml", long_config);
  std::string line;
  for (std::string const& word : command({"my.yaml", "--set", "solver.time_limit=1"}))
    line += "'" + word + "' ";
  run({"/bin/sh", "-c", line + "2>&1 | head -n 1"});
  auto const r = result();
  ASSERT_TRUE(r.is_object());
  EXPECT_EQ(r["verdict"]["reason"], "time_limit");
}

TEST_F(Interaction, TimeLimitIsExitCode3) {
  Outcome const o = solve(long_config, {"--set", "solver.time_limit=0.3"});
  EXPECT_EQ(o.code, 3);
  EXPECT_EQ(result()["verdict"]["reason"], "time_limit");
  EXPECT_NE(o.err.find("s left"), std::string::npos) << o.err;
}

TEST_F(Interaction, PipedProgressIsPlainLines) {
  Outcome o = solve(small_config);
  EXPECT_EQ(o.err.find('\r'), std::string::npos);
  for (char const* mark : {"iteration 1 ", "iteration 2 ", "iteration 5 ", "iteration 10 "})
    EXPECT_NE(o.err.find(mark), std::string::npos) << mark << o.err;
  o = solve(small_config, {"--set", "output.every=3", "--backend", "host"});
  EXPECT_NE(o.err.find("iteration 6 "), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("iteration 5 "), std::string::npos) << o.err;
}

TEST_F(Interaction, TerminalProgressIsOneLine) {
  int const master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
    GTEST_SKIP() << "no pseudo-terminals here";
  int const slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  ASSERT_GE(slave, 0);
  write_text(folder_ / "my.yaml", long_config);
  std::size_t const seconds = test::sanitized() ? 10 : 1;
  pid_t const process =
      start(command({"my.yaml", "--set", "solver.time_limit=" + std::to_string(seconds)}), slave);
  std::string seen;
  std::thread reader([&] {
    char buffer[4096];
    pollfd ready{master, POLLIN, 0};
    while (::poll(&ready, 1, 60000) > 0) {  // until the other end is closed
      ssize_t const n = ::read(master, buffer, sizeof buffer);
      if (n <= 0) break;
      seen.append(buffer, static_cast<std::size_t>(n));
    }
  });
  Outcome const o = wait(process);
  ::close(slave);
  reader.join();
  ::close(master);
  EXPECT_EQ(o.code, 3);
  EXPECT_NE(seen.find("\rlsmr: iteration "), std::string::npos) << seen;
  EXPECT_NE(seen.find("s left"), std::string::npos) << seen;
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = seen.find("\rlsmr", at)) != std::string::npos; ++at) ++shown;
  EXPECT_LE(shown, 10 + 20 * seconds) << "about ten times a second";
}

/// The second run of two that write into one directory ends before it has removed anything.
TEST_F(Interaction, ADirectoryBelongsToOneRun) {
  pid_t const first = started();
  Outcome const second = tcsolve({"my.yaml"});
  EXPECT_EQ(second.code, 2);
  EXPECT_TRUE(has(second.err, "another run writes into the directory")) << second.err;
  ::kill(first, SIGTERM);
  EXPECT_EQ(wait(first).code, 3);
  EXPECT_EQ(result()["verdict"]["outcome"], "cancelled");
}

}  // namespace
}  // namespace tcsolve::cli
