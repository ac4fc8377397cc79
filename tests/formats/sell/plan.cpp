// SPDX-License-Identifier: Apache-2.0
/// Where plans take sell in one kernel.
#include <tcsolve/formats/choose/planner.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tcsolve::test {
namespace {

/// Of the persistent steps of an H200, us of cg: tripod_elast_p2 27.3 by sell, whose longest row a
/// few threads walk, and 18.7 by csr; xenon1 10.8 and 12.3.
TEST(SellPlan, LongRowsTakeLongInOneKernel) {
  auto const step = [](Features const& f, char const* format) {
    Plan const plan = make_plan(f, {.applies = 1e4}, CostTable::h200());
    for (Candidate const& c : plan.candidates)
      if (c.format->name == std::string(format) && c.persistent) return c.step;
    return std::numeric_limits<double>::quiet_NaN();
  };
  Features tripod;
  tripod.rows = tripod.cols = 16179, tripod.entries = 1092291, tripod.longest = 379;
  tripod.medium_slots = 1100000, tripod.slices_stored = 1785920, tripod.tiles = 88613;
  EXPECT_NEAR(step(tripod, "sell"), 27.3, 2);
  EXPECT_LT(step(tripod, "csr"), 0.8 * step(tripod, "sell"));
  Features xenon;
  xenon.rows = xenon.cols = 48600, xenon.entries = 1181120, xenon.longest = 27;
  xenon.medium_slots = 1200000, xenon.slices_stored = 1311424, xenon.tiles = 117475;
  EXPECT_NEAR(step(xenon, "sell"), 10.8, 2);
  EXPECT_LT(step(xenon, "sell"), step(xenon, "csr"));
}

}  // namespace
}  // namespace tcsolve::test
