// SPDX-License-Identifier: Apache-2.0
/// Faults at every place of a solve in turn: the caller hears of them as an exception, nothing is
/// lost, and the next solve succeeds.
#include <cmath>
#include <cstdlib>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

/// Faults do not outlive a test, whatever happens in it.
class Faults : public InEveryPlace {
 protected:
  void TearDown() override {
    faults::fail_allocation_after(-1);
    faults::fail_device_call_after(-1);
  }
};
TCSOLVE_IN_EVERY_PLACE(Faults);

Csr<double> const& system_matrix() {
  static Csr<double> const a = generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random});
  return a;
}

/// Operator, preconditioner, setup and solve, from nothing.
SolveReport solve_once(Context& ctx, std::string const& method, Execution execution) {
  Csr<double> const& a = system_matrix();
  auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
  auto solver = make_solver(method, {.rtol = 1e-8}, execution);
  solver->setup(ctx, A, M);
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  return solve(*solver, b, x);
}

/// arm(k) lets k more calls succeed. Every k in turn, as long as there is a call left to fail.
template <class E, class Arm>
int fail_each(Context& outer, Where const& where, std::string const& method, Arm const& arm) {
  int thrown = 0;
  for (int k = 0; k < 10000; ++k) {
    SCOPED_TRACE(cat(method, ", fault ", k));
    std::int64_t const live = memory_counters().live();
    bool over = false;
    {
      std::unique_ptr<Context> ctx;
      arm(k);
      try {
        ctx = std::make_unique<Context>(where.backend);
        EXPECT_TRUE(solve_once(*ctx, method, where.execution).converged());
      } catch (E const& e) {
        ++thrown;
        EXPECT_NE(std::string(e.what()), "");
      } catch (std::exception const& e) { ADD_FAILURE() << "another exception: " << e.what(); }
      over = faults::pending();
      arm(-1);
      // The Context that met the fault goes on, where there is one.
      if (ctx && k % 7 == 0) EXPECT_TRUE(solve_once(*ctx, method, where.execution).converged());
    }
    EXPECT_EQ(memory_counters().live(), live) << "memory was lost";
    if (testing::Test::HasFailure()) return thrown;
    if (over) return thrown;
  }
  ADD_FAILURE() << "a fault is always left";
  (void)outer;
  return thrown;
}

TEST_P(Faults, EveryAllocationMayFail) {
  for (std::string const& method : methods("cg gmres")) {
    int const thrown =
        fail_each<MemoryError>(ctx(), GetParam(), method, faults::fail_allocation_after);
    EXPECT_GE(thrown, 8) << "vectors of the solver alone are more";
    EXPECT_TRUE(solve_once(ctx(), method, execution()).converged()) << "another Context";
  }
}

TEST_P(Faults, EveryDeviceCallMayFail) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "a host Context makes no device calls";
  for (std::string const& method : methods("cg gmres")) {
    int const thrown =
        fail_each<DeviceError>(ctx(), GetParam(), method, faults::fail_device_call_after);
    EXPECT_GE(thrown, 20);
    EXPECT_TRUE(solve_once(ctx(), method, execution()).converged()) << "another Context";
  }
}

// ---- an observer that throws ----

struct Impatient : Observer {
  int heard = 0;
  void on(IterationEvent const&) override {
    ++heard;
    throw std::runtime_error("enough");
  }
};

/// A loop that would go on for a long time is over when the exception arrives.
TEST_P(Faults, AnObserverMayThrow) {
  Index const n = 200000;
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) a.columns.push_back(j), a.values.push_back(i == j ? 2.0 : -1.0);
    a.offsets.push_back(a.entries());
  }
  auto A = std::make_shared<CsrOperator<double>>(ctx(), a.view());
  auto solver =
      make_solver("cg", {.rtol = 1e-12, .max_iters = 100000000, .time_limit = 60}, execution());
  solver->setup(ctx(), A);
  Column const b = random_column(n, 7);
  Column x = Column::Zero(n);
  Impatient observer;
  ctx().attach(&observer);
  EXPECT_THROW(solve(*solver, b, x), std::runtime_error);
  ctx().detach(&observer);
  EXPECT_EQ(observer.heard, 1);
  auto const start = std::chrono::steady_clock::now();
  ctx().synchronize();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << "still running";
  EXPECT_TRUE(solve_once(ctx(), "cg", execution()).converged());
  // The same solver as well: a limit ends it.
  auto again = make_solver("cg", {.rtol = 1e-12, .max_iters = 50}, execution());
  again->setup(ctx(), A);
  EXPECT_EQ(solve(*again, b, x).iterations, 50);
}

// ---- what a driver or a device may lack ----

struct Notes : Observer {
  std::vector<std::string> texts;
  void on(LogEvent const& e) override { texts.push_back(e.text); }
};

class GpuLacks : public testing::Test {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(Backend::cuda); }
  void TearDown() override {
    faults::forget_conditional_nodes(false);
    faults::refuse_cooperative_launches(false);
  }
};

TEST_F(GpuLacks, WithoutConditionalNodesTheLoopIsEager) {
  faults::forget_conditional_nodes(true);
  Notes notes;
  Context ctx(Backend::cuda, {}, &notes);
  EXPECT_TRUE(solve_once(ctx, "cg", Execution::graph).converged());
  ASSERT_EQ(notes.texts.size(), 1u);
  EXPECT_NE(notes.texts[0].find("eagerly: the driver"), std::string::npos) << notes.texts[0];
}

TEST_F(GpuLacks, WithoutRoomForOneKernelTheLoopIsAGraph) {
  faults::refuse_cooperative_launches(true);
  Notes notes;
  Context ctx(Backend::cuda, {}, &notes);
  EXPECT_TRUE(solve_once(ctx, "cg", Execution::persistent).converged());
  ASSERT_EQ(notes.texts.size(), 1u);
  EXPECT_NE(notes.texts[0].find("cannot be one kernel"), std::string::npos) << notes.texts[0];
}

// ---- a lost device ----

/// A column far outside of the matrix, where no memory is: the device stops for good. Ends the
/// process with 0 when all is as it should be, else with the number of what is not.
[[noreturn]] void lose_the_device() {
  auto const require = [](bool holds, int number) {
    if (!holds) std::exit(number);
  };
  {
    Context ctx(Backend::cuda), bystander(Backend::cuda);
    Csr<double> const& a = system_matrix();
    CsrStorage<double> there(ctx, a.view());
    Array<double> held(bystander.space(), 100);
    Index const nowhere = -2000000000;
    copy_bytes(ctx, const_cast<Index*>(there.view().columns) + 3, ctx.space(), &nowhere,
               Space::host, sizeof nowhere);
    bool thrown = false;
    try {
      auto A = std::make_shared<CsrOperator<double>>(ctx, there.view());
      auto solver = make_solver("cg", {.rtol = 1e-8}, Execution::graph);
      solver->setup(ctx, A);
      Column const b = Column::Ones(a.rows);
      Column x = Column::Zero(a.rows);
      solve(*solver, b, x);
    } catch (DeviceError const&) { thrown = true; }
    require(thrown, 2);
    bool again = false;
    try {
      bystander.synchronize();
    } catch (DeviceError const&) { again = true; }
    require(again, 3);
  }
  Context host(Backend::host);
  require(solve_once(host, "cg", Execution::eager).converged(), 4);
  Notes notes;
  Context automatic(Backend::automatic, {}, &notes);
  require(automatic.space() == Space::host, 5);
  require(notes.texts.size() == 1, 6);
  require(solve_once(automatic, "cg", Execution::eager).converged(), 7);
  std::exit(0);
}

TEST(GpuDeathTest, ALostDeviceIsAnExceptionAndTheHostGoesOn) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a child of its own, with a device of its own
  EXPECT_EXIT(lose_the_device(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tcsolve::test
