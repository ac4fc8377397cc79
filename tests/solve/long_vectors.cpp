// SPDX-License-Identifier: Apache-2.0
/// Vectors long enough that host loops are shared among threads and device reductions take several
/// blocks: the same bits again, on two threads at once, eager and as a graph. And the clock.
#include <chrono>
#include <thread>

#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

namespace {

/// Five diagonals, strictly dominant.
Csr<double> large(Index n) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j : {i - 100, i - 1, i, i + 1, i + 100}) {
      if (j < 0 || j >= n) continue;
      a.columns.push_back(j);
      a.values.push_back(i == j ? 4.5 + 0.3 * std::sin(i) : -1.0);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

struct Outcome {
  SolveReport report;
  Column x;
};
void expect_same_bits(Outcome const& a, Outcome const& b) {
  EXPECT_EQ(a.report.outcome(), b.report.outcome());
  ASSERT_EQ(a.report.iterations, b.report.iterations);
  EXPECT_EQ(a.report.true_residual, b.report.true_residual);
  EXPECT_TRUE(a.x == b.x);
  for (std::size_t i = 0; i < a.report.history.size(); ++i)
    ASSERT_EQ(a.report.history[i].norm, b.report.history[i].norm) << "iteration " << i + 1;
}

Outcome solve_large(Context& ctx, std::string const& method, Execution execution, bool jacobi,
                    Index n = 20000) {
  auto A = std::make_shared<CsrOperator<double>>(ctx, large(n));
  OperatorPtr<double> M;
  if (jacobi) M = std::make_shared<Jacobi<double>>(ctx, A->view());
  auto solver = make_solver(method, {}, execution, 12);
  solver->setup(ctx, A, M);
  Outcome out{{}, Column::Zero(n)};
  out.report = solve(*solver, random_column(n, 541), out.x);
  EXPECT_TRUE(out.report.converged()) << method << ": " << out.report.message;
  return out;
}

class LongVectors : public InEveryPlace {};

TEST_P(LongVectors, RepeatsBitByBitOnLargeVectors) {
  for (auto const& method : methods()) {
    SCOPED_TRACE(method);
    expect_same_bits(solve_large(ctx(), method, execution(), true),
                     solve_large(ctx(), method, execution(), true));
  }
}

TEST_P(LongVectors, TheTimeLimitIsKept) {
  Matrix a = laplace(400);
  auto slow = callable(400, 400, [a](Column const& x) -> Column {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return a * x;
  });
  for (auto const& method : methods("cg chronopoulos_gear pipelined_cg bicgstab gmres minres")) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {.time_limit = 0.15}, execution(), 400);
    solver->setup(ctx(), slow);
    Column x = Column::Zero(400);
    SolveReport report = solve(*solver, random_column(400, 549), x);
    EXPECT_EQ(report.reason, Stop::time_limit) << report.message;
    EXPECT_GE(report.seconds, 0.15);
    EXPECT_LE(report.seconds, 1.0);
    EXPECT_GT(report.iterations, 0);
  }
}

TEST_P(LongVectors, TwoThreadsWithTheirOwnContexts) {
  for (auto const& method : methods("cg chronopoulos_gear pipelined_cg bicgstab gmres lsmr")) {
    SCOPED_TRACE(method);
    Outcome alone = solve_large(ctx(), method, execution(), true);
    Outcome results[2];
    auto work = [&](int k) {
      Context own(GetParam().backend);
      results[k] = solve_large(own, method, execution(), true);
    };
    std::thread one(work, 0), two(work, 1);
    one.join();
    two.join();
    expect_same_bits(alone, results[0]);
    expect_same_bits(alone, results[1]);
  }
}

TEST_P(LongVectors, SetupMayBeRepeatedWithAnotherSystem) {
  for (auto const& method : methods()) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {}, execution(), 9);
    for (Index n : {5, 40, 1, 17}) {
      Matrix a = random_spd(n, 1, 550);
      Column b = random_column(n, 551), x = Column::Zero(n);
      solver->setup(ctx(), matrix(ctx(), a));
      SolveReport report = solve(*solver, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE((b - a * x).norm(), 1.001e-8 * b.norm());
    }
  }
}

TCSOLVE_IN_EVERY_PLACE(LongVectors);

TEST(LongVectorsExecution, EagerAndGraphGiveTheSameBitsOn_cuda) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  Context ctx(Backend::cuda);
  for (auto const& method : methods())
    for (bool jacobi : {false, true}) {
      SCOPED_TRACE(cat(method, jacobi ? ", jacobi" : ""));
      expect_same_bits(solve_large(ctx, method, Execution::eager, jacobi),
                       solve_large(ctx, method, Execution::graph, jacobi));
    }
}

}  // namespace

}  // namespace tcsolve::test
