// SPDX-License-Identifier: Apache-2.0
/// An inner solve that would take minutes ends with the program's signals and time limit.
#include <tcsolve/core/error.hpp>

#include "tests/cli/program.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;

class InnerSolver : public Program {
 protected:
  /// The square of tridiag(-1, 2, -1): conjugate gradients take minutes to 1e-12 of it.
  void SetUp() override {
    constexpr int n = 3000;
    std::ostringstream lines;
    int entries = 0;
    int const row[] = {1, -4, 6, -4, 1};
    for (int i = 0; i < n; ++i)
      for (int j = std::max(i - 2, 0); j <= std::min(i + 2, n - 1); ++j, ++entries)
        lines << i + 1 << " " << j + 1 << " "
              << row[j - i + 2] - (i == j && (i == 0 || i == n - 1) ? 1 : 0) << "\n";
    write_text(folder_ / "a.mtx", cat("%%MatrixMarket matrix coordinate real general\n", n, " ", n,
                                      " ", entries, "\n", lines.str()));
  }
  static std::string config(std::string const& method, std::string const& more = "") {
    return cat("problem: {matrix: a.mtx, rhs: ones}\noperator: {format: csr}\nbackend: host\n",
               "solver: {type: ", method, more, "}\n",
               "preconditioner: {type: solver, preconditioner: {type: none}, solver: {type: cg, ",
               "rtol: 1.0e-12, max_iters: 2000000000, stagnation_window: 0}}\n");
  }
};

TEST_F(InnerSolver, IsCancelledBySigterm) {
  for (std::string const method :
       {"fgmres", "gmres", "cg", "chronopoulos_gear", "pipelined_cg", "minres", "bicgstab"}) {
    SCOPED_TRACE(method);
    fs::remove_all(folder_ / "tcsolve-out");
    write_text(folder_ / "my.yaml", config(method));
    pid_t const process = start(command({"my.yaml"}));
    for (int i = 0; i < 2000 && !has(read_text(folder_ / ".out"), "memory:"); ++i)
      std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(300ms);  // into the first application, which never ends by itself
    ::kill(process, SIGTERM);
    Outcome const o = wait(process);
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_NE(o.verdict().find("cancelled"), std::string::npos) << o.out;
    auto const r = result();
    ASSERT_TRUE(r.is_object());
    EXPECT_EQ(r["verdict"]["reason"], "cancelled");
    EXPECT_EQ(r["verdict"]["exit_code"], 3);
  }
}

TEST_F(InnerSolver, EndsWithTheOuterTimeLimit) {
  auto const start = std::chrono::steady_clock::now();
  Outcome const o = solve(config("fgmres", ", time_limit: 0.2"));
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(result()["verdict"]["reason"], "time_limit");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

TEST_F(InnerSolver, WithoutAStepIsRefused) {
  Outcome const o = solve(
      "problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: fgmres}\n"
      "preconditioner: {type: solver, solver: {type: cg, max_iters: 0}}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("my.yaml:3:17: an inner solver with 'max_iters' = 0"), std::string::npos)
      << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
