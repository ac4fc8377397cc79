// SPDX-License-Identifier: Apache-2.0
/// What the driver promises whatever the method: repeatable solves, warm starts, a caller's own
/// memory, observers, threads.
#include <atomic>
#include <cstring>
#include <thread>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

#include <tests/support/backend.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class Driver : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(Driver);

bool same_bits(Column const& a, Column const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0;
}
bool same_history(SolveReport const& a, SolveReport const& b) {
  return a.history.size() == b.history.size() &&
         std::equal(a.history.begin(), a.history.end(), b.history.begin(),
                    [](Record const& p, Record const& q) { return p.norm == q.norm; });
}

TEST_P(Driver, SolvesAsOftenAsAskedWithTheSameBits) {
  Matrix A = random_spd(70, 3, 1);
  Column b = random_column(70, 2), other = random_column(70, 3);
  for (std::string const& method : methods()) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {.rtol = 1e-6, .max_iters = 3000}, execution());
    solver->setup(ctx(), matrix(ctx(), A));
    Column x1 = Column::Zero(70), x2 = x1, y = x1;
    SolveReport first = solve(*solver, b, x1);
    EXPECT_TRUE(solve(*solver, other, y).converged());  // leaves nothing behind
    EXPECT_LE((other - A * y).norm(), 1.0001e-6 * other.norm());
    SolveReport again = solve(*solver, b, x2);
    EXPECT_TRUE(same_bits(x1, x2));
    EXPECT_TRUE(same_history(first, again));
  }
}

TEST_P(Driver, AWarmStartSavesIterations) {
  Matrix A = laplace(100);
  Column solution = random_column(100, 4), b = A * solution;
  for (std::string const& method :
       methods("cg chronopoulos_gear pipelined_cg bicgstab minres gmres")) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {.rtol = 1e-9}, execution(), 100);
    solver->setup(ctx(), matrix(ctx(), A));
    Column cold = Column::Zero(100), warm = solution + 1e-7 * random_column(100, 5);
    SolveReport from_zero = solve(*solver, b, cold), from_near = solve(*solver, b, warm);
    ASSERT_TRUE(from_zero.converged() && from_near.converged());
    EXPECT_LT(from_near.iterations, from_zero.iterations);
    Column exact = solution;
    EXPECT_EQ(solve(*solver, A * exact, exact).iterations, 0);
    EXPECT_TRUE(same_bits(exact, solution));
  }
}

/// Patience ends a solve where it gains too little, as max_iters would there, and is no restart
/// where it gains enough.
TEST_P(Driver, PatienceEndsWhatGainsTooLittle) {
  Matrix const A = laplace(100);
  Column const b = random_column(100, 4);
  for (std::string const& method : methods("cg bicgstab minres gmres")) {
    SCOPED_TRACE(method);
    auto solved = [&](StoppingParams const& stopping, Column& x) {
      auto solver = make_solver(method, stopping, execution(), 8);
      solver->setup(ctx(), matrix(ctx(), A));
      x = Column::Zero(100);
      return solve(*solver, b, x);
    };
    Column cut, given_up, whole, patient;
    SolveReport const first = solved({.max_iters = 16}, cut);
    SolveReport const second = solved({.patience = {.steps = 16, .gain = 1e-6}}, given_up);
    EXPECT_EQ(second.reason, Stop::max_iterations) << second.message;
    EXPECT_EQ(second.iterations, 16);
    EXPECT_TRUE(same_history(first, second));
    EXPECT_TRUE(same_bits(cut, given_up));
    SolveReport const third = solved({.max_iters = 60}, whole);
    SolveReport const fourth =
        solved({.max_iters = 60, .patience = {.steps = 16, .gain = 1e9}}, patient);
    EXPECT_TRUE(same_history(third, fourth));
    EXPECT_TRUE(same_bits(whole, patient));
    SolveReport const later =
        solved({.patience = {.steps = 8, .gain = 1e-6, .from = 16}}, given_up);
    EXPECT_EQ(later.iterations, 24);
  }
}

TEST_P(Driver, UsesACallersMemoryWhereverItLies) {
  Matrix A = laplace(64);
  Column b = random_column(64, 6), on_host = Column::Zero(64);
  auto solver = make_solver("cg", {.rtol = 1e-10}, execution());
  solver->setup(ctx(), matrix(ctx(), A));
  solve(*solver, b, on_host);
  Array<double> there_b = to_space(ctx(), b.data(), 64);
  std::vector<double> zeros(64, 0.0);
  Array<double> there_x = to_space(ctx(), zeros.data(), 64);
  SolveReport report = solver->solve(there_b.view(), there_x.view());
  EXPECT_TRUE(report.converged());
  auto x = to_host(ctx(), there_x);
  EXPECT_EQ(std::memcmp(x.data(), on_host.data(), sizeof(double) * 64), 0);
  auto b_after = to_host(ctx(), there_b);
  EXPECT_EQ(std::memcmp(b_after.data(), b.data(), sizeof(double) * 64), 0);
}

/// With b and x where the solver computes: the lengths that the solve begins with, and what the
/// loop and the look at its x have found, in one message where nothing waits for the loop's end.
TEST_P(Driver, WaitsTwice) {
  Matrix const A = laplace(300);
  Column const b = random_column(300, 6);
  bool const on_device = ctx().device() != nullptr;
  bool const by_itself = on_device && execution() != Execution::eager;
  for (std::string const& method : methods("cg bicgstab")) {
    SCOPED_TRACE(method);
    auto solver = make_solver(method, {.rtol = 1e-8}, execution());
    solver->setup(ctx(), matrix(ctx(), A));
    There<double> b_there(ctx(), std::vector<double>(b.data(), b.data() + b.size())),
        x_there(ctx(), std::vector<double>(300));
    In<double> const in = vector_view<double const>(b_there.data(), 300, ctx().space());
    Out<double> const out = vector_view(x_there.data(), 300, ctx().space());
    solver->solve(in, out);
    fill<double>(ctx(), out, 0);
    std::int64_t const before = memory_counters().copies;
    SolveReport const report = solver->solve(in, out);
    EXPECT_EQ(memory_counters().copies - before, by_itself ? 2 : 3);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.restarts, 0);
    std::vector<double> const got = x_there.all();
    Column const x = Eigen::Map<Column const>(got.data(), 300);
    EXPECT_LE((b - A * x).norm(), 1.0001e-8 * b.norm());
    EXPECT_NEAR(report.true_residual, (b - A * x).norm(), 1e-12 * b.norm());
  }
}

TEST_P(Driver, ObserversSeeTheIterationsInOrder) {
  struct Listener : Observer {
    std::vector<Index> iterations;
    void on(IterationEvent const& e) override {
      iterations.push_back(e.iteration);
      EXPECT_GT(e.tolerance, 0);
      EXPECT_TRUE(std::isfinite(e.norm));
    }
  } listener;
  ctx().attach(&listener);
  Column b = random_column(200, 7), x = Column::Zero(200);
  auto solver = make_solver("gmres", {.rtol = 1e-8}, execution(), 10);
  solver->setup(ctx(), matrix(ctx(), laplace(200)));
  SolveReport report = solve(*solver, b, x);
  ctx().detach(&listener);
  EXPECT_TRUE(std::is_sorted(listener.iterations.begin(), listener.iterations.end()));
  for (Index i : listener.iterations) EXPECT_LE(i, report.iterations);
  if (GetParam().backend == Backend::host)  // on the host none is missed
    EXPECT_EQ(listener.iterations.size(), static_cast<std::size_t>(report.iterations));
}

TEST_P(Driver, AHistoryLongerThanItsBufferIsComplete) {
  // 70000 steps cross the 65536 of one piece.
  double one = 1;
  Array<double> norm2 = to_space(ctx(), &one, 1);
  Loop loop(ctx());
  loop.record(ctx(), execution(), {}, [&](Context& c) { observe(c, norm2.data()); });
  std::vector<double> history;
  Watch watch{"test", std::chrono::steady_clock::now(), 1e9};
  RunLimits const limits{.target = 0, .divergence = 10, .residual = 1, .roundoff = 0};
  LoopState state = loop.run(ctx(), {70000, 0, norm2.data(), limits}, watch, history);
  EXPECT_EQ(static_cast<Stop>(state.stop), Stop::cycle_end);
  EXPECT_EQ(state.iteration, 70000);
  EXPECT_EQ(history, std::vector<double>(70000, 1.0));
}

TEST(DriverThreads, TwoContextsSolveAtTheSameTime) {
  Csr<double> a = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random});
  for (Backend backend : {Backend::host, Backend::cuda}) {
    std::string why;
    if (backend == Backend::cuda && !cuda::available(why)) continue;
    std::vector<std::vector<double>> answers(4, std::vector<double>(a.rows, 0.0));
    std::vector<double> b(a.rows, 1.0);
    std::atomic<int> converged = 0;
    auto work = [&](int k) {
      Context ctx(backend);
      auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
      Cg<double> solver;
      solver.setup(ctx, A, std::make_shared<Jacobi<double>>(ctx, A->view()));
      for (int i = 0; i < 5; ++i) {
        std::fill(answers[k].begin(), answers[k].end(), 0.0);
        converged += solver
                         .solve(vector_view<double const>(b.data(), a.rows),
                                vector_view(answers[k].data(), a.rows))
                         .converged();
      }
    };
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) threads.emplace_back(work, k);
    for (auto& t : threads) t.join();
    EXPECT_EQ(converged, 20) << static_cast<int>(backend);
    for (int k = 1; k < 4; ++k) EXPECT_EQ(answers[k], answers[0]);
  }
}

TEST(DriverGpu, GraphAndEagerGiveTheSameBits) {
  if (std::string why; !cuda::available(why)) GTEST_SKIP() << why;
  Csr<double> a = generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random});
  Context ctx(Backend::cuda);
  auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
  std::vector<double> b(a.rows, 1.0);
  for (std::string const& method :
       methods("cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr")) {
    SCOPED_TRACE(method);
    std::vector<double> first;
    SolveReport reference;
    for (Execution execution : {Execution::eager, Execution::graph}) {
      if (execution == Execution::graph && !graphs_by_default()) continue;
      for (int repeat = 0; repeat < 10; ++repeat) {
        auto solver = make_solver(method, {.rtol = 1e-6}, execution);
        solver->setup(ctx, A, M);
        std::vector<double> x(a.rows, 0.0);
        SolveReport report = solver->solve(vector_view<double const>(b.data(), a.rows),
                                           vector_view(x.data(), a.rows));
        if (first.empty()) first = x, reference = report;
        EXPECT_EQ(x, first);
        EXPECT_TRUE(same_history(report, reference));
      }
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
