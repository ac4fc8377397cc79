// SPDX-License-Identifier: Apache-2.0
/// BiCGStab in a singular system without a solution.
#include <algorithm>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

/// What BiCGStab meets in a singular system without a solution depends on rounding: of many right-
/// hand sides some break down, most diverge. None of them may be put down to the preconditioner or
/// to the accuracy of FP64, which is what a method says whose x has followed the kernel of A.
class Circulation : public InEveryPlace {};

TEST_P(Circulation, WithoutASolutionIsNoMatterOfPrecision) {
  using enum Stop;
  std::vector<Stop> const outcomes{breakdown, stagnated, diverged};
  int const seeds = ctx().space() == Space::host ? 40 : 8;
  for (Index n : {6, 8, 10, 16})
    for (int seed = 0; seed < seeds; ++seed) {
      Problem const p{circulation(n), random_column(n, 1000 + seed)};
      Column x;
      SolveReport const report = run(ctx(), p, x, "bicgstab", {}, execution(), 30);
      EXPECT_TRUE(std::ranges::count(outcomes, report.reason) > 0)
          << n << " rows, seed " << seed << ": " << report.message;
    }
}
TEST_P(Circulation, ThatIsRegularKeepsItsWords) {
  for (double shift : {1e-2, 1e-6, 1e-10})
    for (int seed = 0; seed < 10; ++seed) {
      Problem const p{circulation(10) + shift * Matrix::Identity(10, 10),
                      random_column(10, 1000 + seed)};
      Column x;
      SolveReport const report = run(ctx(), p, x, "bicgstab", {}, execution(), 30);
      EXPECT_TRUE(report.converged() || report.reason == Stop::precision_limit)
          << shift << ", seed " << seed << ": " << report.message;
    }
}

TCSOLVE_IN_EVERY_PLACE(Circulation);

}  // namespace

}  // namespace tcsolve::test
