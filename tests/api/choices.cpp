// SPDX-License-Identifier: Apache-2.0
/// The choice knows the device that it is made for: rates of factors are data, scaled by what the
/// driver says of it.
#include <tcsolve/api/choices.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

FactorRates rates_of(double bandwidth, double clock, int multiprocessors) {
  cuda::Facts facts;
  facts.name = "another GPU";
  facts.compute_capability = 80;
  facts.multiprocessors = multiprocessors;
  return CostTable::of_gpu(facts, {.bandwidth = bandwidth, .clock = clock, .single_to_double = 2})
      .factors;
}

TEST(ChoicesOnADevice, GoByItsClockAndItsMemory) {
  FactorRates const h200 = CostTable::h200().factors;
  EXPECT_EQ(h200, FactorRates{}) << "the defaults are those of the file";
  EXPECT_EQ(rates_of(4.917e12, 1.98e9, 132), h200);
  FactorRates const a100 = rates_of(1.555e12, 1.41e9, 108);
  double const clock = 1.98 / 1.41, memory = 4.917 / 1.555;
  EXPECT_NEAR(a100.solve_level, clock * h200.solve_level, 1e-3 * a100.solve_level);
  EXPECT_NEAR(a100.solve_wait, clock * h200.solve_wait, 1e-3 * a100.solve_wait);
  EXPECT_NEAR(a100.make_level, clock * h200.make_level, 1e-3 * a100.make_level);
  EXPECT_NEAR(a100.make_subtraction, clock * 132 / 108 * h200.make_subtraction,
              1e-3 * a100.make_subtraction);
  EXPECT_NEAR(a100.step_entries, memory * h200.step_entries, 1e-3 * a100.step_entries);
  EXPECT_EQ(a100.host_entries, h200.host_entries) << "of the host";
  EXPECT_EQ(CostTable::host().factors, h200) << "a host that is as that beside the H200";
}

TEST(ChoicesOnADevice, TryFewerCheapIterationsWhereTheseCostMore) {
  MatrixFacts const large{.rows = 2000000, .cols = 2000000, .entries = 20000000};
  auto const iterations = [&](FactorRates const& rates) {
    return choices(large, true, false, rates).front().most_iterations;
  };
  int const h200 = iterations(CostTable::h200().factors);
  int const slower = iterations(rates_of(0.5e12, 1.98e9, 132));
  EXPECT_LT(slower, h200 / 4);
  EXPECT_GE(slower, 30);
}

TEST(ChoicesOnADevice, PredictAnotherIncompleteFactorisation) {
  MatrixFacts const f{.rows = 1000, .cols = 1000, .entries = 10000};
  Choice const trial{.most_iterations = 400, .trial = 50}, whole{.most_iterations = 400};
  EXPECT_LT(seconds_of_incomplete(f, 1e4, trial), seconds_of_incomplete(f, 1e5, trial));
  EXPECT_LT(seconds_of_incomplete(f, 1e4, trial), seconds_of_incomplete(f, 1e4, whole));
  EXPECT_GE(seconds_of_incomplete(f, 0, trial), seconds_of_incomplete(f, 1e4, trial) / 2)
      << "A's own entries at the least";
  std::vector<Choice> const list = choices(f, false);
  EXPECT_TRUE(list.front().incomplete);
  EXPECT_TRUE(list[list.size() - 2].complete);
  EXPECT_TRUE(list.back().least_squares) << "for a singular one alone";
}

}  // namespace
}  // namespace tcsolve::test
