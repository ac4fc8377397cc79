// SPDX-License-Identifier: Apache-2.0
/// Seconds of steps, from the moments at which they were seen.
#include <tcsolve/solvers/loop/moments.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

TEST(Moments, InterpolateBetweenWhatWasSeen) {
  Moments m;
  m.begin(1);
  m.note(10, 2);
  m.note(30, 6);
  m.end(40, 6.5);
  EXPECT_DOUBLE_EQ(m.at(0), 1);
  EXPECT_DOUBLE_EQ(m.at(5), 1.5);
  EXPECT_DOUBLE_EQ(m.at(10), 2);
  EXPECT_DOUBLE_EQ(m.at(20), 4);
  EXPECT_DOUBLE_EQ(m.at(30), 6);
  EXPECT_DOUBLE_EQ(m.at(40), 6.5);
  EXPECT_DOUBLE_EQ(m.at(50), 6.5) << "no later than the end";
  m.begin(7);
  m.end(4, 9);
  EXPECT_DOUBLE_EQ(m.at(2), 8) << "nothing is left of the run before";
}

// However many there are, they stay spread over the whole run.
TEST(Moments, ThinThemselvesOut) {
  Moments m;
  m.begin(0);
  auto const seconds = [](Index steps) { return 1e-3 * steps + 1e-9 * double(steps) * steps; };
  constexpr Index most = 100000;
  for (Index steps = 1; steps <= most; ++steps) m.note(steps, seconds(steps));
  m.end(most, seconds(most));
  double before = 0;
  for (Index steps = 0; steps <= most; steps += 7) {
    EXPECT_GE(m.at(steps), before);
    before = m.at(steps);
    EXPECT_NEAR(m.at(steps), seconds(steps), 0.01 * seconds(most)) << steps;
  }
  EXPECT_DOUBLE_EQ(m.at(most), seconds(most));
}

TEST(Moments, OfARunWithoutStepsAreItsEnd) {
  Moments m;
  m.begin(3);
  m.end(0, 3.5);
  EXPECT_GE(m.at(1), 3);
  EXPECT_LE(m.at(1), 3.5);
}

}  // namespace
}  // namespace tcsolve::test
