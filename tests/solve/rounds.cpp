// SPDX-License-Identifier: Apache-2.0
/// How many steps a graph repeats at once: a number that divides the cycle of the method, so that
/// none is made in vain.
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

/// Steps of a round, counted as the graph is captured.
int steps_of_a_round(Context& ctx, std::string const& method, int restart) {
  int steps = 0;
  auto const A = std::make_shared<FunctionOperator<double>>(
      1000, 1000,
      [&steps](Context& c, In<double> x, Out<double> y) {
        if (c.loop() != nullptr) ++steps;
        axpby<double, double>(c, 2.0, x, 0.0, y);
      },
      FunctionOperator<double>::Options{.capturable = true});
  auto solver = make_solver(method, {.rtol = 1e-10}, Execution::graph, restart);
  solver->setup(ctx, A);
  Column const b = random_column(1000, 5);
  Column x = Column::Zero(1000);
  EXPECT_TRUE(solve(*solver, b, x).converged());
  return steps;
}

TEST(GpuRounds, DivideTheCycle) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  if (!graphs_by_default()) GTEST_SKIP() << "TCSOLVE_GRAPHS=0";
  Context ctx(Backend::cuda);
  EXPECT_EQ(steps_of_a_round(ctx, "cg", 30), 5);
  EXPECT_EQ(steps_of_a_round(ctx, "gmres", 30), 5);
  EXPECT_EQ(steps_of_a_round(ctx, "gmres", 32), 4);
  EXPECT_EQ(steps_of_a_round(ctx, "gmres", 21), 7);
  EXPECT_EQ(steps_of_a_round(ctx, "gmres", 9), 3);
  EXPECT_EQ(steps_of_a_round(ctx, "gmres", 11), 5) << "no number near five divides it";
}

}  // namespace
}  // namespace tcsolve::test
