// SPDX-License-Identifier: Apache-2.0
/// Many host threads with their own Contexts on one device: each gets the answer that it gets
/// alone, and none waits for another's long solve.
#include <atomic>
#include <chrono>
#include <thread>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class Threads : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(Threads);

/// One thread's work: systems, formats and methods of its own, from setup to answers.
std::vector<Column> work(Where const& where, int thread, int rounds) {
  Context ctx(where.backend);
  Csr<double> const a = generate(
      Poisson7Params{.n = static_cast<Index>(6 + thread), .coefficient = Coefficient::random});
  std::vector<Column> answers;
  for (int round = 0; round < rounds; ++round) {
    CsrStorage<double> there(ctx, a.view());
    auto const all = in_every_format<double>(ctx, there.view());
    OperatorPtr<double> const A = all[static_cast<std::size_t>(thread + round) % all.size()];
    auto M = std::make_shared<Jacobi<double>>(ctx, there.view());
    auto solver = make_solver(thread % 2 == 0 ? "cg" : "gmres", {.rtol = 1e-10}, where.execution);
    solver->setup(ctx, A, M);
    Column const b = random_column(a.rows, thread);
    Column x = Column::Zero(a.rows);
    EXPECT_TRUE(solve(*solver, b, x).converged()) << "thread " << thread << ", round " << round;
    answers.push_back(x);
  }
  return answers;
}

TEST_P(Threads, EightSolveAtOnceWhatEachSolvesAlone) {
  constexpr int threads = 8, rounds = 4;
  std::vector<std::vector<Column>> alone(threads), together(threads);
  for (int k = 0; k < threads; ++k) alone[k] = work(GetParam(), k, rounds);
  std::vector<std::thread> running;
  for (int k = 0; k < threads; ++k)
    running.emplace_back([&, k] { together[k] = work(GetParam(), k, rounds); });
  for (std::thread& t : running) t.join();
  for (int k = 0; k < threads; ++k) {
    ASSERT_EQ(together[k].size(), alone[k].size());
    for (int round = 0; round < rounds; ++round)
      EXPECT_EQ(together[k][round], alone[k][round]) << "thread " << k << ", round " << round;
  }
}

// ---- a long solve beside short ones ----

/// tridiag(-1, 2, -1): conjugate gradients take as many iterations as there are rows.
Csr<double> laplacian(Index n) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) a.columns.push_back(j), a.values.push_back(i == j ? 2.0 : -1.0);
    a.offsets.push_back(a.entries());
  }
  return a;
}

struct Begun : Observer {
  std::atomic<bool> yes{false};
  void on(IterationEvent const&) override { yes = true; }
};

TEST_P(Threads, NobodyWaitsForALongSolve) {
  Csr<double> const a = laplacian(400000);
  Begun begun;
  Context far(GetParam().backend, {}, &begun);
  std::atomic<bool> over{false};
  SolveReport report;
  // What runs for the first time is loaded first, which may wait for the device.
  work(GetParam(), 0, 3);
  std::thread other([&] {
    auto A = std::make_shared<CsrOperator<double>>(far, a.view());
    auto solver =
        make_solver("cg", {.rtol = 1e-14, .max_iters = 100000000, .time_limit = 30}, execution());
    solver->setup(far, A);
    Column const b = random_column(a.rows, 1);
    Column x = Column::Zero(a.rows);
    report = solve(*solver, b, x);
    over = true;
  });
  while (!begun.yes && !over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_FALSE(over) << "it is to be long";
  work(GetParam(), 0, 3);
  {
    Context near(GetParam().backend);
    for (int k = 0; k < 200; ++k) {
      Array<double> array(near.space(), 1000 + k);
      fill<double>(near, array.view(), 1.0);
    }
    near.synchronize();
  }
  EXPECT_FALSE(over) << "a short solve, or giving memory back, waited for the long solve";
  far.cancel();
  other.join();
  EXPECT_EQ(report.reason, Stop::cancelled) << report.message;
}

}  // namespace
}  // namespace tcsolve::test
