// SPDX-License-Identifier: Apache-2.0
/// Which way a sparse product takes, by counts and rates.
#include <tcsolve/sparse/spmspv_choice.hpp>

#include <tcsolve/formats/choose/cost_model.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_DOUBLE_EQ(dense.looked, 1e-3);
  EXPECT_DOUBLE_EQ(dense.multiplied, 0.05);
  SpmspvRates const rates{.rows = 3, .rows_looked = 2000, .rows_multiplied = 400};
  EXPECT_DOUBLE_EQ(microseconds(rates, SpmspvWay::rows, of), 3 + 2 + 5);
  SpmspvCounts all = of;
  all.x_share = 1;
  EXPECT_EQ(work(SpmspvWay::dense, all).looked, 0);
}

/// By entries lists that are full are gathered as by columns: none, some, all of them.
TEST(SpmspvChoice, FullListsCostWhatColumnsDo) {
  SpmspvRates const rates{.columns = 50,
                          .columns_looked = 300,
                          .columns_multiplied = 40,
                          .entries = 20,
                          .entries_looked = 100,
                          .entries_multiplied = 70};
  // Two entries of a column in a tile row; of each tile of x all tile rows.
  SpmspvCounts of{.tile_rows = 1000, .below = 1000000, .entries = 32000000, .x_share = 1};
  auto const gathered = [&](double mean) {  // products in a list
    of.x_density = mean * 1000 / 32e6;
    double const listed = 20 + 100 * work(SpmspvWay::entries, of).looked + 70 * mean * 1e-3;
    double const gathered = 300 * work(SpmspvWay::columns, of).looked + 40 * 32.0;
    return (microseconds(rates, SpmspvWay::entries, of) - listed) / gathered;
  };
  EXPECT_NEAR(gathered(0.01), 0, 1e-12);
  EXPECT_NEAR(gathered(2), 1.13e-6, 1e-8);    // more than 8 pairs where one is the mean
  EXPECT_NEAR(gathered(16), 0.407453, 1e-6);  // ... eight
  EXPECT_NEAR(gathered(2000), 1, 1e-12);
  EXPECT_NEAR(gathered(1e6), 1, 1e-12);
  of = {.tile_rows = 1000, .x_share = 1};
  EXPECT_DOUBLE_EQ(microseconds(rates, SpmspvWay::entries, of), 20) << "no entries at all";
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
  SpmspvRates const rates{39, 1010, 10.8, 28.4, 683, 30.4, 28.8, 263, 182, 38, 2900, 6.5};
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

/// A dense product that was given is taken for its time, besides what is made of x and y.
TEST(SpmspvChoice, ADenseProductThatIsGivenCostsItsTime) {
  SpmspvRates const rates{.rows = 30,
                          .rows_looked = 0,
                          .rows_multiplied = 10,
                          .dense_looked = 0,
                          .given = 5,
                          .given_looked = 100};
  SpmspvCounts of{.tile_rows = 50000, .entries = 2000000, .x_share = 0.5, .dense = true};
  EXPECT_DOUBLE_EQ(microseconds(rates, SpmspvWay::dense, of), 0);  // the format's own
  for (double const us : {10.0, 29.0, 31.0, 100.0}) {
    of.given = us;
    EXPECT_DOUBLE_EQ(microseconds(rates, SpmspvWay::dense, of), 5 + 100 * 0.05 + us);
    EXPECT_EQ(choose_way(rates, of), us < 30 ? SpmspvWay::dense : SpmspvWay::rows) << us;
  }
  of.given = 10.0, of.dense = false;
  EXPECT_EQ(choose_way(rates, of), SpmspvWay::rows);
  of.dense = true;
  EXPECT_EQ(choose_way({}, of), SpmspvWay::rows) << "not without rates";
}

/// Products on an H200, us, cold (docs/results/sparse-vectors-h100.md): the shipped rates were
/// fitted to these, and what they choose takes at most a tenth longer than the quickest.
TEST(SpmspvChoice, OfCsrOnAnH200IsTheQuickestThatWasMeasured) {
  constexpr double unknown = 1e9;  // not measured, and not the quickest
  struct Mesh {
    char const* name;
    Index rows;
    Offset below, entries;
    double dense;  // the best dense product
  };
  constexpr Mesh mesh160{"27-point 160^3", 4096000, 6397552, 109215352, 174},
      mesh80{"27-point 80^3", 512000, 736372, 13481272, 25.1},
      mesh128{"7-point 128^3", 2097152, 880640, 14581760, 30.5},
      elastic{"elasticity 48^3", 331776, 504100, 25769592, 57};
  struct Measured {
    Mesh a;
    double density;
    bool clustered;
    Index x_tiles;
    double rows, columns, entries, dense;
  };
  SpmspvRates const rates = CostTable::h200().of("csr").sparse;
  for (Measured const& m : {
           Measured{mesh160, 1e-4, false, 409, 279.5, 43.49, 32, 213.1},
           {mesh160, 1e-4, true, 68, unknown, 37.12, unknown, unknown},
           {mesh160, 1e-3, false, 4063, 333, 174.2, 45.95, unknown},
           {mesh160, 1e-3, true, 316, unknown, 55.46, unknown, unknown},
           {mesh160, 1e-2, false, 37877, 555.9, 613.7, 144.3, 217.2},
           {mesh160, 1e-2, true, 2974, 318.6, 118.2, 108.7, unknown},
           {mesh80, 1e-4, false, 52, 52.93, 24.61, 21.86, 34.3},
           {mesh80, 1e-3, false, 509, 60.99, 42.43, 27.1, 34.82},
           {mesh80, 1e-2, false, 4752, 88.96, 104.9, 37.25, 34.18},
           {mesh80, 0.1, false, 25537, 149.8, 201.1, 195.4, 35.17},
           {mesh80, 1, false, 32000, 486.6, 555.1, 768.7, 29.73},
           {mesh128, 1e-4, false, 210, 101.3, 21.79, 24.48, 47.84},
           {mesh128, 1e-4, true, 67, unknown, 22.27, unknown, unknown},
           {mesh128, 1e-3, false, 2076, 106.2, 36.86, 27.62, 48.35},
           {mesh128, 1e-3, true, 323, unknown, 24.61, unknown, unknown},
           {mesh128, 1e-2, false, 19379, 138.7, 137.8, 50.94, 52.19},
           {mesh128, 1e-2, true, 2140, unknown, 27.58, unknown, unknown},
           {mesh128, 0.1, false, 106770, 205.1, 300.9, 135.6, 55.1},
           {mesh128, 1, false, 131072, 318.6, unknown, unknown, 40.19},
           {elastic, 1e-4, false, 34, 71.97, 32.74, 25.34, 66.66},
           {elastic, 1e-3, false, 327, 87.65, 59.71, 48.29, unknown},
           {elastic, 1e-2, false, 3076, 145.7, 155.7, 103.3, 65.98},
           {elastic, 0.1, false, 16526, 275.6, 319.1, 333.5, 67.2},
       }) {
    Index const tile_rows = (m.a.rows + 15) / 16;
    // The same tiles and entries as of mesh80, where entries are the quicker by as much.
    bool const missed = m.a.rows == mesh128.rows && m.density == 1e-4 && !m.clustered;
    for (bool const given : {true, false}) {
      SpmspvWay const way =
          choose_way(rates, {.tile_rows = tile_rows,
                             .below = m.a.below,
                             .entries = m.a.entries,
                             .x_share = double(m.x_tiles) / tile_rows,
                             .x_density = m.density,
                             .dense = given,
                             .columns = true,
                             .by_entries = true,
                             .given = given ? std::optional(m.a.dense) : std::nullopt});
      double const dense = given ? m.dense : unknown,
                   takes = way == SpmspvWay::rows      ? m.rows
                           : way == SpmspvWay::columns ? m.columns
                           : way == SpmspvWay::entries ? m.entries
                                                       : dense;
      EXPECT_LE(takes, (missed ? 1.13 : 1.1) * std::min({m.rows, m.columns, m.entries, dense}))
          << m.a.name << ", " << m.density << (m.clustered ? ", clustered" : "")
          << (given ? ", or dense" : "");
    }
  }
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
