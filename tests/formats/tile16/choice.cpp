// SPDX-License-Identifier: Apache-2.0
/// Which way a sparse product of tile16 takes by the rates that are shipped.
#include <tcsolve/formats/choose/cost_model.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tcsolve::test {
namespace {

/// Products on an H200, us, cold (docs/results/sparse-vectors-h100.md): what is chosen takes at
/// most a tenth longer than the quickest.
TEST(Tile16Choice, OnAnH200IsTheQuickestThatWasMeasured) {
  constexpr double unknown = 1e9;  // not measured, and not the quickest
  struct Measured {
    char const* name;
    Index tile_rows;
    Offset below, entries;
    double density;
    Index x_tiles;
    double rows, columns, dense;
  };
  for (Measured const& m : {
           Measured{"27-point 80^3", 32000, 736372, 13481272, 1e-4, 52, 40.86, 22.3, 166.2},
           {"27-point 80^3", 32000, 736372, 13481272, 1e-3, 509, 43.07, 32.35, unknown},
           {"27-point 80^3", 32000, 736372, 13481272, 1e-2, 4752, 59.55, 74.14, 169.4},
           {"27-point 80^3", 32000, 736372, 13481272, 0.1, 25537, 105.4, 143.4, 166.8},
           {"27-point 80^3", 32000, 736372, 13481272, 1, 32000, 161.9, 206.6, 92.74},
           {"7-point 128^3", 131072, 880640, 14581760, 1e-2, 19379, 145.9, 138.3, unknown},
           {"7-point 128^3", 131072, 880640, 14581760, 0.1, 106770, 205.7, 286.9, 325.1},
           {"7-point 128^3", 131072, 880640, 14581760, 1, 131072, 260, unknown, 172.6},
       }) {
    SpmspvWay const way = choose_way(CostTable::h200().of("tile16").sparse,
                                     {.tile_rows = m.tile_rows,
                                      .below = m.below,
                                      .entries = m.entries,
                                      .x_share = double(m.x_tiles) / m.tile_rows,
                                      .dense = true,
                                      .columns = true});
    double const takes = way == SpmspvWay::rows      ? m.rows
                         : way == SpmspvWay::columns ? m.columns
                                                     : m.dense;
    EXPECT_LE(takes, 1.1 * std::min({m.rows, m.columns, m.dense})) << m.name << ", " << m.density;
  }
}

}  // namespace
}  // namespace tcsolve::test
