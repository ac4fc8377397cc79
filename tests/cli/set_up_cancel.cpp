// SPDX-License-Identifier: Apache-2.0
/// A signal during a set-up that a library makes in one call; and the shared cases of set-ups.
#include "tests/cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/support/files.hpp"

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;

class SetUps : public Program {};

/// Was solved to the end after the factorisation: exit 0 and `converged` half a minute later.
TEST_F(SetUps, CtrlCEndsADirectFactorisation) {
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson7, n: 50}, rhs: ones}\n"
             "solver: {type: gmres}\npreconditioner: {type: direct, factorisation: lu}\n"
             "backend: host\n");
  pid_t const process = start(command({"my.yaml"}));
  for (int i = 0; i < 2000 && !has(read_text(folder_ / ".err"), "setting up"); ++i)
    std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_for(300ms);
  ::kill(process, SIGINT);
  auto const start = std::chrono::steady_clock::now();
  Outcome const o = wait(process);
  EXPECT_LE(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(has(o.verdict(), "cancelled before the solve")) << o.out;
  EXPECT_EQ(result()["verdict"]["outcome"], "cancelled");
}

TEST_F(SetUps, SharedCase05) {
  fs::path const folder = test::shared_case("adversary/05");
  if (folder.empty()) GTEST_SKIP() << "no shared cases";
  for (std::string const values : {"fp64", "fp32", "fp16"})
    for (std::string const type : {"ilu", "ic"}) {
      Outcome const o = run(command(
          {(folder / "l.mtx").string(), "--solver", "gmres", "--backend", "host", "--set",
           "preconditioner={type: " + type + ", triangular: parts, values: " + values + "}"}));
      EXPECT_EQ(o.code, 0) << type << ", " << values << ": " << o.err;
    }
}

TEST_F(SetUps, SharedCase14) {
  fs::path const folder = test::shared_case("adversary/14");
  if (folder.empty()) GTEST_SKIP() << "no shared cases";
  for (std::string const name : {"l", "l-160", "l155"}) {
    fs::remove_all(folder_ / "tcsolve-out");
    Outcome const o = run(command({(folder / (name + ".mtx")).string(), "--solver", "gmres",
                                   "--backend", "host", "--preconditioner", "spai"}));
    EXPECT_EQ(o.code, 0) << name << ": " << o.out << o.err;
  }
}

}  // namespace
}  // namespace tcsolve::cli
