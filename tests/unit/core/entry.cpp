// SPDX-License-Identifier: Apache-2.0
/// One Context, and one solver, serve one thread at a time: a second one is refused by name, and so
/// is a callback that asks for more.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

TEST(ContextEntry, ASecondThreadIsRefused) {
  Context ctx(Backend::host);
  std::string said;
  {
    Context::Entry const outer(ctx);
    Context::Entry const inner(ctx);  // of the same thread
    std::thread([&] {
      said = message_of<BusyError>([&] { Context::Entry const entry(ctx); });
    }).join();
    ctx.cancel();  // from any thread
  }
  EXPECT_THAT(said, HasSubstr("another thread"));
  ctx.clear_cancel();
  std::thread([&] { EXPECT_NO_THROW(Context::Entry const entry(ctx)); }).join();  // in turn
  EXPECT_NO_THROW(Context::Entry const entry(ctx));
}

TEST(ContextEntry, IsLeftWhenSomethingThrows) {
  Context ctx(Backend::host);
  EXPECT_THROW(
      {
        Context::Entry const entry(ctx);
        throw MatrixError("");
      },
      MatrixError);
  std::thread([&] { EXPECT_NO_THROW(Context::Entry const entry(ctx)); }).join();
}

struct Work {
  Csr<double> a = generate(Poisson7Params{.n = 24});
  std::vector<double> b = std::vector<double>(static_cast<std::size_t>(a.rows), 1.0);
  LinearSolver solver{
      a.view(), SolverOptions::from_yaml("{solver: {type: cg, rtol: 1.0e-10}, preconditioner: "
                                         "{type: jacobi}, backend: host}")};
};

/// Was a double free in three of six runs.
TEST(ContextEntry, OneSolverInManyThreads) {
  Work work;
  constexpr int threads = 4, solves = 8;
  std::atomic<int> solved{0}, refused{0};
  std::latch together(threads);
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&] {
        std::vector<double> x(work.b.size());
        together.arrive_and_wait();
        for (int k = 0; k < solves; ++k) {
          std::fill(x.begin(), x.end(), 0.0);
          try {
            SolveReport const report = work.solver.solve(work.b, x);
            EXPECT_EQ(report.reason, Stop::converged);
            ++solved;
          } catch (BusyError const&) { ++refused; }
        }
      });
  }
  EXPECT_EQ(solved + refused, threads * solves);
  EXPECT_GE(solved, 1);
  std::vector<double> x(work.b.size());
  EXPECT_EQ(work.solver.solve(work.b, x).reason, Stop::converged) << "and is as it was";
}

TEST(ContextEntry, AThreadThatComesMeanwhileIsRefused) {
  Work work;
  std::string solve, load, values;
  int calls = 0;
  SolveCall const callbacks{.progress = [&](IterationEvent const&) {
    if (calls++ == 3)
      std::thread([&] {
        std::vector<double> x(work.b.size());
        solve = message_of<BusyError>([&] { work.solver.solve(work.b, x); });
        load = message_of<BusyError>([&] { work.solver.set_matrix(work.a.view()); });
        values = message_of<BusyError>([&] { work.solver.update_values(work.a.view()); });
      }).join();
    return true;
  }};
  std::vector<double> x(work.b.size());
  EXPECT_EQ(work.solver.solve(work.b, x, callbacks).reason, Stop::converged);
  for (std::string const& said : {solve, load, values})
    EXPECT_THAT(said, HasSubstr("at work for another thread"));
}

TEST(ContextEntry, ACallbackMayNotSolve) {
  Work work;
  std::vector<std::string> said;
  int calls = 0;
  SolveCall const callbacks{.progress = [&](IterationEvent const&) {
    if (calls++ == 3) {
      std::vector<double> x(work.b.size());
      said = {message_of<BusyError>([&] { work.solver.solve(work.b, x); }),
              message_of<BusyError>([&] { work.solver.set_matrix(work.a.view()); }),
              message_of<BusyError>([&] { work.solver.update_values(work.a.view()); }),
              message_of<BusyError>([&] { work.solver.refresh(); })};
      Work other;  // with a Context of its own
      EXPECT_EQ(other.solver.solve(other.b, x).reason, Stop::converged);
    }
    return true;
  }};
  std::vector<double> x(work.b.size());
  EXPECT_EQ(work.solver.solve(work.b, x, callbacks).reason, Stop::converged);
  ASSERT_EQ(said.size(), 4u);
  for (std::string const& text : said) EXPECT_THAT(text, HasSubstr("from a callback"));
}

TEST(ContextEntry, ThreadsMayTakeTurns) {
  Work work;
  for (int turn = 0; turn < 4; ++turn)
    std::thread([&] {
      std::vector<double> x(work.b.size());
      EXPECT_EQ(work.solver.solve(work.b, x).reason, Stop::converged);
    }).join();
}

}  // namespace
}  // namespace tcsolve::test
