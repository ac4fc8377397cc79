// SPDX-License-Identifier: Apache-2.0
/// Narrow values and FP32 vectors in programs that solve again and again: every run has the same
/// bits, and after the first solves new values take no memory.
#include <cmath>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include "tests/api/systems.hpp"

namespace tcsolve::test {
namespace {

class NarrowLoops : public OnEachBackend {
 protected:
  struct Case {
    std::string method, preconditioner;
  };
  static std::vector<Case> cases() {
    return {{"cg", "jacobi"},
            {"cg", "{type: block_jacobi, block: 4}"},
            {"cg", "{type: fsai}"},
            {"cg", "{type: fsai, values: fp16}"},
            {"cg", "{type: ic, triangular: isai}"},
            {"cg", "{type: chebyshev}"},
            {"minres", "jacobi"},
            {"bicgstab", "{type: spai, values: fp32}"},
            {"bicgstab", "{type: ilu, triangular: isai, values: fp16}"},
            {"gmres", "{type: spai}"},
            {"pseudo_block_cg", "{type: fsai, values: fp32}"},
            {"pseudo_block_bicgstab", "{type: spai}"},
            {"pseudo_block_gmres", "{type: spai, values: fp32}"}};
  }
  /// Of FP32 vectors, or of narrow values under FP64 ones.
  static constexpr char const* types[] = {"vectors: fp32|fp32", "vectors: fp32|fp16",
                                          "vectors: fp32|bf16", "vectors: fp64|fp32",
                                          "vectors: fp64|fp16"};
  Csr<double> const& matrix(std::string const& method) const {
    return method.find("bicg") == std::string::npos && method.find("gmres") == std::string::npos
               ? definite_
               : general_;
  }
  static std::string yaml(Case const& c, std::string const& type,
                          std::string const& execution = "auto") {
    auto const bar = type.find('|');
    return cat("solver: {type: ", c.method, ", rtol: 1e-9, execution: ", execution, ", ",
               type.substr(0, bar), "}\npreconditioner: ", c.preconditioner,
               "\noperator: {format: csr, values: ", type.substr(bar + 1), "}\n");
  }
  struct Solved {
    std::vector<SolveReport> reports;
    Matrix X;
  };
  static Solved solved(LinearSolver& solver, Matrix const& B) {
    auto const n = static_cast<Index>(B.rows()), k = static_cast<Index>(B.cols());
    Solved out{{}, Matrix::Zero(n, k)};
    out.reports = solver.solve_columns({B.data(), n, k, n, Layout::col_major, Space::host},
                                       {out.X.data(), n, k, n, Layout::col_major, Space::host});
    return out;
  }
  Csr<double> const definite_ =
      generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  Csr<double> const general_ = generate(ConvdiffParams{.n = 9, .coefficient = Coefficient::random});
};
TCSOLVE_ON_EACH_BACKEND(NarrowLoops);

TEST_P(NarrowLoops, GiveTheSameBitsInTwentyRuns) {
  for (Case const& c : cases())
    for (std::string const type : types) {
      SCOPED_TRACE(cat(c.method, ", ", c.preconditioner, ", ", type));
      Csr<double> const& a = matrix(c.method);
      Matrix const B = random_matrix(a.rows, 2, 12);
      Solved first;
      for (int anew = 0; anew < 4; ++anew) {
        LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), yaml(c, type));
        for (int run = 0; run < 5; ++run) {
          Solved s = solved(solver, B);
          if (anew + run == 0) {
            for (SolveReport const& r : s.reports) EXPECT_TRUE(r.converged()) << r.message;
            first = std::move(s);
            continue;
          }
          ASSERT_EQ(s.X, first.X) << "run " << 5 * anew + run;
          for (std::size_t j = 0; j < 2; ++j) {
            SolveReport const &now = s.reports[j], &then = first.reports[j];
            ASSERT_EQ(now.true_residual, then.true_residual);
            ASSERT_EQ(now.history.size(), then.history.size());
            for (std::size_t i = 0; i < now.history.size(); ++i)
              ASSERT_EQ(now.history[i].norm, then.history[i].norm);
          }
        }
      }
    }
}

/// A step that is launched, a recorded one, and the host's loop: `auto` takes another on each.
TEST_P(NarrowLoops, GiveTheSameBitsHoweverAStepRepeats) {
  std::vector<std::string> executions{"eager"};
  if (GetParam() == Backend::host)
    executions.push_back("auto");
  else if (graphs_by_default())
    executions.push_back("graph");
  for (Case const& c : cases())
    for (std::string const type : types) {
      Csr<double> const& a = matrix(c.method);
      Matrix const B = random_matrix(a.rows, 2, 12);
      Solved first;
      for (std::string const& execution : executions) {
        SCOPED_TRACE(cat(c.method, ", ", c.preconditioner, ", ", type, ", ", execution));
        LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), yaml(c, type, execution));
        Solved s = solved(solver, B);
        for (SolveReport const& r : s.reports) EXPECT_TRUE(r.converged()) << r.message;
        if (execution == executions.front()) {
          first = std::move(s);
          continue;
        }
        ASSERT_EQ(s.X, first.X);
        for (std::size_t j = 0; j < 2; ++j) {
          EXPECT_EQ(s.reports[j].true_residual, first.reports[j].true_residual);
          EXPECT_EQ(s.reports[j].iterations, first.reports[j].iterations);
        }
      }
    }
}

/// Of preconditioners whose numbers are made in place. What the column operations of a block keep
/// their sums in belongs to the recording, which each set-up makes anew.
TEST_P(NarrowLoops, TakeNoMemoryAfterTheFirstSolves) {
  if (GetParam() != Backend::host) GTEST_SKIP() << "TimeLoop has what a device keeps";
  for (Case const& c : cases()) {
    bool const remade = c.preconditioner.find("block_jacobi") != std::string::npos ||
                        c.preconditioner.find("chebyshev") != std::string::npos;
    for (std::string const type : types) {
      SCOPED_TRACE(cat(c.method, ", ", c.preconditioner, ", ", type));
      Csr<double> a = matrix(c.method);
      Matrix const B = random_matrix(a.rows, 2, 12);
      LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), yaml(c, type));
      MemoryCounters before;
      for (int step = 0; step < 5; ++step) {
        if (step == 2) before = memory_counters();
        for (double& v : a.values) v *= 1.25;
        solver.update_values(a.view());
        for (SolveReport const& r : solved(solver, B).reports)
          EXPECT_TRUE(r.converged()) << r.message;
      }
      MemoryCounters const now = memory_counters();
      EXPECT_EQ(now.live(), before.live()) << "nothing stays behind";
      // Columns that are solved leave the block of gmres between two cycles: it is another one.
      if (remade || c.method == "pseudo_block_gmres") continue;
      int const recordings = c.method.find("pseudo_block") == 0 ? 3 : 0;
      EXPECT_EQ(now.allocations - before.allocations, recordings);
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
