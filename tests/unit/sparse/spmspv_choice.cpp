// SPDX-License-Identifier: Apache-2.0
/// Which way a sparse product takes, by counts and rates.
#include <tcsolve/sparse/spmspv_choice.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tcsolve::test {
namespace {

TEST(SpmspvChoice, WorkIsThatOfTheTable) {
  SpmspvCounts const of{
      .tile_rows = 1000, .below = 8000, .entries = 50000, .x_share = 0.25, .x_density = 0.02};
  SpmspvWork const rows = work(SpmspvWay::rows, of), columns = work(SpmspvWay::columns, of),
                   entries = work(SpmspvWay::entries, of), dense = work(SpmspvWay::dense, of);
  EXPECT_DOUBLE_EQ(rows.looked, 1e-3);
  EXPECT_DOUBLE_EQ(rows.multiplied, 0.0125);
  EXPECT_DOUBLE_EQ(columns.looked, 1e-3 * (1 - std::exp(-2.0)));
  EXPECT_DOUBLE_EQ(columns.multiplied, 0.0125);
  EXPECT_DOUBLE_EQ(entries.looked, columns.looked);
  EXPECT_DOUBLE_EQ(entries.multiplied, 1e-3);
  EXPECT_DOUBLE_EQ(dense.looked, 0.75e-3);
  EXPECT_DOUBLE_EQ(dense.multiplied, 0.05);
  SpmspvRates const rates{.rows = 3, .rows_looked = 2000, .rows_multiplied = 400};
  EXPECT_DOUBLE_EQ(microseconds(rates, SpmspvWay::rows, of), 3 + 2 + 5);
}

/// Without rates: by columns where these are fewer, dense where all of x is there.
TEST(SpmspvChoice, OfTheDefaults) {
  for (Index const n : {1, 10, 1000, 1000000})
    for (double const marks : {0.01, 0.5, 0.99, 1.01, 2.0, 20.0})
      for (double const share : {1e-5, 0.01, 0.3, 0.8, 1.0}) {
        SpmspvCounts of{.tile_rows = n,
                        .below = std::llround(marks * n / share),
                        .entries = 100,
                        .x_share = share,
                        .by_entries = true};
        double const led_to = double(of.below) * share;
        if (std::abs(led_to - n) < 1e-6 * n) continue;
        EXPECT_EQ(choose_way({}, of), SpmspvWay::rows);
        of.columns = true;
        SpmspvWay const sparse = led_to < n ? SpmspvWay::columns : SpmspvWay::rows;
        EXPECT_EQ(choose_way({}, of), sparse) << n << " " << led_to;
        of.dense = true;
        if (share == 1 && led_to == 0) continue;  // no tile at all
        EXPECT_EQ(choose_way({}, of), share == 1 ? SpmspvWay::dense : sparse);
      }
  SpmspvCounts const none{.tile_rows = 5, .below = 9, .dense = true, .columns = true};
  EXPECT_EQ(choose_way({}, none), SpmspvWay::rows) << "x without an entry";
}

/// Each way has a density where it is the quickest.
TEST(SpmspvChoice, FollowsTheRates) {
  SpmspvRates const rates{34, 835, 7.6, 38, 1330, 10.5, 39, 1330, 30, 38, 2900, 6.5};
  auto const way = [&](double share, double density) {
    return choose_way(rates, {.tile_rows = 32000,
                              .below = 740000,
                              .entries = 13600000,
                              .x_share = share,
                              .x_density = density,
                              .dense = true,
                              .columns = true,
                              .by_entries = true});
  };
  EXPECT_EQ(way(0.001, 0.001), SpmspvWay::columns);
  EXPECT_EQ(way(0.1, 0.006), SpmspvWay::entries);
  EXPECT_EQ(way(0.3, 0.3), SpmspvWay::rows);
  EXPECT_EQ(way(1, 1), SpmspvWay::dense);
}

/// A vector whose entries nobody has counted is taken for one at random positions.
TEST(SpmspvChoice, DensityIsCountedOrEstimated) {
  Context ctx(Backend::host);
  std::vector<Index> const indices{3, 4, 70};
  std::vector<double> const ones(3, 1.0);
  auto const x = SparseVector<double>::from_entries(ctx, 160, indices, ones);
  EXPECT_DOUBLE_EQ(density(x), 3.0 / 160);
  auto const all =
      SparseVector<double>(SparseVectorArrays<double>{.view = {.rows = 160, .tiles = 10}});
  EXPECT_DOUBLE_EQ(density(all), 1);
  auto const few =
      SparseVector<double>(SparseVectorArrays<double>{.view = {.rows = 160, .tiles = 2}});
  EXPECT_NEAR(1 - std::pow(1 - density(few), 16), 0.2, 1e-14);
  EXPECT_EQ(density(SparseVector<double>(SparseVectorArrays<double>{})), 0);
}

}  // namespace
}  // namespace tcsolve::test
