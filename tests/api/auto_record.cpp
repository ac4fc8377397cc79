// SPDX-License-Identifier: Apache-2.0
/// What a report of `auto` says: what ended the solve, what was set up when, and the blocks that
/// repeat each choice.
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "tests/api/systems.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

/// The first choice on the host is 100 iterations of cg with jacobi, which gain too little.
Csr<double> slow() { return beam(); }

constexpr Index trial = 100;

/// Acts where the last iteration of the trial has been made, before the next choice.
struct AtTheEndOfTheTrial : Observer {
  std::function<void()> act;
  void on(IterationEvent const& event) override {
    if (event.iteration == trial) act();
  }
};

SolveReport solved(Context& ctx, std::string const& limits) {
  Csr<double> const a = slow();
  LinearSolver solver = LinearSolver::from_yaml(
      ctx, a.view(), "solver: {type: auto" + limits + "}\npreconditioner: {type: auto}\n");
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  return solve(solver, b, x);
}

// A limit of auto's own is not the caller's: the time was up, so that is the outcome.
TEST(AutoRecord, TimeThatIsUpIsTheOutcome) {
  AtTheEndOfTheTrial at;
  at.act = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1200)); };
  Context ctx(Backend::host, {}, &at);
  SolveReport const r = solved(ctx, ", time_limit: 1");
  EXPECT_EQ(r.outcome(), "time_limit") << r.message;
  EXPECT_EQ(r.iterations, trial);
  EXPECT_THAT(r.message, HasSubstr("time_limit after 100 iterations"));
  EXPECT_THAT(r.message, HasSubstr("raise time_limit"));
  ASSERT_EQ(r.choices.size(), 1u);
}

TEST(AutoRecord, ARequestToEndIsTheOutcome) {
  AtTheEndOfTheTrial at;
  Context ctx(Backend::host, {}, &at);
  at.act = [&] { ctx.cancel(); };
  SolveReport const r = solved(ctx, "");
  EXPECT_EQ(r.outcome(), "cancelled") << r.message;
  EXPECT_EQ(r.iterations, trial);
}

TEST(AutoRecord, SetUpsOfASolveAreNoPartOfItsSeconds) {
  Context ctx(Backend::host);
  Csr<double> const a = slow();
  LinearSolver solver = LinearSolver::from_yaml(
      ctx, a.view(), "solver: {type: auto}\npreconditioner: {type: auto}\n");
  Column const b = Column::Ones(a.rows);
  Column x = Column::Zero(a.rows);
  SolveReport r = solve(solver, b, x);
  ASSERT_TRUE(r.converged()) << r.message;
  ASSERT_EQ(r.choices.size(), 2u);
  EXPECT_GE(r.choices[0].setup_seconds, 0);
  EXPECT_GT(r.choices[1].setup_seconds, 0);
  EXPECT_GE(r.setup_seconds, r.choices[1].setup_seconds);
  EXPECT_LT(r.setup_seconds, r.choices[1].setup_seconds + 0.1);
  double const solving = r.choices[0].seconds + r.choices[1].seconds;
  EXPECT_GE(r.seconds, solving - 1e-9);
  EXPECT_LT(r.seconds, solving + 0.1);
  // The history goes on where the first method ended, its seconds those of both and the set-up.
  ASSERT_EQ(static_cast<Index>(r.history.size()), r.iterations);
  Record const &last = r.history[trial - 1], &next = r.history[trial];
  EXPECT_EQ(next.mark, Mark::method);
  EXPECT_GE(next.seconds, last.seconds + r.choices[1].setup_seconds);
  EXPECT_LE(r.history.back().seconds, r.seconds + r.setup_seconds);
  EXPECT_FALSE(std::isnan(last.true_residual));
  // The next solve sets nothing up.
  x.setZero();
  r = solve(solver, b, x);
  ASSERT_EQ(r.choices.size(), 1u);
  EXPECT_TRUE(std::isnan(r.choices[0].setup_seconds));
  EXPECT_EQ(r.setup_seconds, 0);
  EXPECT_EQ(r.choices[0].preconditioner_block.type(), "ic");
  EXPECT_EQ(r.choices[0].label, "cg with ic {drop_tolerance: 0.01, complete_below: 5}");
}

}  // namespace
}  // namespace tcsolve::test
