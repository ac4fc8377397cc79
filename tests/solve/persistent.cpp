// SPDX-License-Identifier: Apache-2.0
/// Loops as one kernel: that they are (nothing falls back unnoticed), that they compute what eager
/// loops compute up to the order of sums, and the same bits on every run; sizes from less than a
/// warp to more than shared memory holds.
#include <chrono>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

namespace {

struct Notes : Observer {
  std::vector<std::string> texts;
  void on(LogEvent const& e) override { texts.push_back(e.text); }
};

struct Outcome {
  SolveReport report;
  Column x;
};

OperatorPtr<double> preconditioner(Context& ctx, std::string const& name, Csr<double> const& a,
                                   System const& system) {
  if (name == "jacobi") return std::make_shared<Jacobi<double>>(ctx, system.matrix);
  if (name == "amg") return AmgFactory({.coarse_size = 40}).build(ctx, system)->view();
  if (name == "block_jacobi")
    return std::make_shared<BlockJacobi<double>>(ctx, a.view(), BlockJacobiParams{.block = 7});
  return nullptr;
}

Outcome run(Context& ctx, Csr<double> const& a, std::string const& method,
            std::string const& format, std::string const& precond, Execution execution,
            StoppingParams const& stopping = {}) {
  CsrStorage<double> const stored(ctx, a.view());
  OperatorPtr<double> const A = make_operator<double>(ctx, stored.view(), format);
  auto solver = make_solver(method, stopping, execution, 12);
  OperatorPtr<double> const M = preconditioner(ctx, precond, a, {stored.view(), A});
  Notes notes;
  ctx.attach(&notes);
  solver->setup(ctx, A, M);
  ctx.detach(&notes);
  EXPECT_TRUE(notes.texts.empty())
      << method << ", " << format << ", " << precond << ": " << notes.texts.front();
  Outcome out{{}, Column::Zero(a.rows)};
  out.report = solve(*solver, random_column(a.rows, 561), out.x);
  return out;
}

class GpuPersistent : public testing::Test {
 protected:
  void SetUp() override {
    TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
    ctx = std::make_unique<Context>(Backend::cuda);
  }
  std::unique_ptr<Context> ctx;
};

constexpr char const* resident = "cg chronopoulos_gear pipelined_cg bicgstab gmres";

TEST_F(GpuPersistent, AgreesWithEagerLoops) {
  // 1 row; less than a warp; no multiple of 32; more than a block a multiprocessor; more matrix
  // than shared memory holds.
  for (Csr<double> const& a :
       {Csr<double>{1, 1, {0, 1}, {0}, {3}}, generate(Poisson7Params{.n = 3}),
        generate(Poisson27Params{.n = 11, .coefficient = Coefficient::random}),
        generate(Poisson27Params{.n = 30, .coefficient = Coefficient::random}),
        generate(Poisson27Params{.n = 52, .coefficient = Coefficient::random})})
    for (auto const& method : methods(resident))
      for (Format const* format : formats_that([](Format const& f) { return f.can.persistent; }))
        for (std::string precond : {"none", "jacobi", "block_jacobi"}) {
          SCOPED_TRACE(cat(a.rows, " rows, ", method, ", ", format->name, ", ", precond));
          Outcome eager = run(*ctx, a, method, format->name, precond, Execution::eager);
          Outcome one = run(*ctx, a, method, format->name, precond, Execution::persistent);
          ASSERT_TRUE(eager.report.converged()) << eager.report.message;
          ASSERT_TRUE(one.report.converged()) << one.report.message;
          // BiCGStab is not smooth: its number of steps feels the last bits.
          double slack = method == "bicgstab" ? 0.3 : 0.05;
          EXPECT_NEAR(one.report.iterations, eager.report.iterations,
                      1 + slack * eager.report.iterations);
          EXPECT_EQ(one.report.history.size(), std::size_t(one.report.iterations));
          EXPECT_LE((one.x - eager.x).norm(), 1e-5 * eager.x.norm());
          if (!eager.report.history.empty())
            EXPECT_NEAR(one.report.history[0].norm, eager.report.history[0].norm,
                        1e-10 * eager.report.history[0].norm);
        }
}

// Levels of a hierarchy have rows of their own, which the blocks share out anew.
TEST_F(GpuPersistent, RunsCyclesOfAHierarchy) {
  for (Csr<double> const& a :
       {generate(Poisson7Params{.n = 9}), generate(Poisson7Params{.n = 24}),
        generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random}),
        generate(Poisson7Params{.n = 37, .coefficient = Coefficient::random})})
    for (Format const* format : formats_that([](Format const& f) { return f.can.persistent; })) {
      SCOPED_TRACE(cat(a.rows, " rows, ", format->name));
      Outcome const eager = run(*ctx, a, "cg", format->name, "amg", Execution::eager),
                    graph = run(*ctx, a, "cg", format->name, "amg", Execution::graph),
                    one = run(*ctx, a, "cg", format->name, "amg", Execution::persistent);
      ASSERT_TRUE(one.report.converged()) << one.report.message;
      EXPECT_NEAR(one.report.iterations, eager.report.iterations, 1);
      EXPECT_EQ(graph.report.iterations, eager.report.iterations);
      EXPECT_LE((one.x - eager.x).norm(), 1e-6 * eager.x.norm());
      EXPECT_TRUE(graph.x == eager.x) << "rows are added up in another order";
      for (int again = 0; again < 20; ++again)
        for (Execution const execution : {Execution::graph, Execution::persistent})
          ASSERT_TRUE(run(*ctx, a, "cg", format->name, "amg", execution).x ==
                      (execution == Execution::graph ? graph : one).x);
    }
}

// One block, two blocks, all of them: what is lost between blocks, now and then, shows here.
TEST_F(GpuPersistent, EveryRunGivesTheSameBits) {
  struct {
    int points, runs;
  } sizes[] = {{2, 200}, {4, 200}, {20, 20}};
  for (auto [points, runs] : sizes) {
    Csr<double> a = generate(Poisson27Params{.n = points, .coefficient = Coefficient::random});
    for (auto const& method : methods(resident)) {
      SCOPED_TRACE(cat(method, ", ", a.rows, " rows"));
      Outcome first = run(*ctx, a, method, "csr", "jacobi", Execution::persistent);
      ASSERT_TRUE(first.report.converged()) << first.report.message;
      for (int i = 0; i < runs; ++i) {
        // What another solver leaves behind, on the stack too, must not matter.
        if (i % 4 == 0) run(*ctx, a, method, "csr", "jacobi", Execution::graph);
        Outcome again = run(*ctx, a, method, "csr", "jacobi", Execution::persistent);
        ASSERT_TRUE(again.x == first.x) << again.report.message;
        ASSERT_EQ(again.report.iterations, first.report.iterations);
        for (std::size_t k = 0; k < first.report.history.size(); ++k)
          ASSERT_EQ(again.report.history[k].norm, first.report.history[k].norm);
      }
    }
  }
}

TEST_F(GpuPersistent, EndsWhenTheClockDoes) {
  Csr<double> a = generate(Poisson27Params{.n = 30});
  StoppingParams stopping{.rtol = 0, .atol = 1e-300, .max_iters = 100000000, .time_limit = 0.3};
  stopping.stagnation_window = 0;
  auto start = std::chrono::steady_clock::now();
  Outcome out = run(*ctx, a, "cg", "csr", "none", Execution::persistent, stopping);
  double seconds = seconds_since(start);
  EXPECT_NE(out.report.reason, Stop::converged);
  EXPECT_LT(seconds, 3) << out.report.message;
}

TEST_F(GpuPersistent, SaysWhyNot) {
  Csr<double> a = generate(Poisson7Params{.n = 4});
  Notes notes;
  ctx->attach(&notes);
  auto solver = make_solver("minres", {}, Execution::persistent);
  solver->setup(*ctx, std::make_shared<CsrOperator<double>>(*ctx, a.view()));
  ctx->detach(&notes);
  ASSERT_EQ(notes.texts.size(), 1u);
  EXPECT_NE(notes.texts[0].find("the loop cannot be one kernel"), std::string::npos);
  Column b = Column::Ones(a.rows), x = Column::Zero(a.rows);
  EXPECT_TRUE(solve(*solver, b, x).converged()) << "the graph takes its place";
}

TEST_F(GpuPersistent, AutoTakesItForSmallSystems) {
  // Seen from outside: the bits are those of a persistent loop, not those of a graph.
  Csr<double> a = generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random});
  Outcome chosen = run(*ctx, a, "cg", "csr", "jacobi", Execution::automatic);
  EXPECT_TRUE(chosen.x == run(*ctx, a, "cg", "csr", "jacobi", Execution::persistent).x);
}

}  // namespace

}  // namespace tcsolve::test
