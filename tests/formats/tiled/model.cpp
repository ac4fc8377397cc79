// SPDX-License-Identifier: Apache-2.0
/// The model of Tiled SpMM against numbers of the paper and sums by hand.
#include <tcsolve/formats/format.hpp>
#include <tcsolve/formats/tiled/tiled.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tcsolve::test {
namespace {

TEST(TiledModel, UntiledIntensityIsThePapersRange) {  // section 2.3: 0.08 to 0.17 in FP32
  TiledModel m;
  m.mu = 1;
  EXPECT_NEAR(tiled::untiled_intensity(m, {}), 0.083, 0.001);
  m.mu = 1e6;
  EXPECT_NEAR(tiled::untiled_intensity(m, {}), 0.167, 0.001);
}

TEST(TiledModel, EquationsThreeAndSix) {
  TiledModel m;
  m.mu = m.mu_star = 10;
  m.rho = 4, m.Z = 1.5, m.C = 2, m.L = 1.5;
  TiledTerms const t{.R = 16, .row_major = false};
  double const tiles = 6 * 1.5 / 16, map = 4 / (4 * 10.0);
  EXPECT_DOUBLE_EQ(tiled::intensity(m, t, 1), 2 / (tiles + 4 / 4.0 + map + 8 / 160.0));
  EXPECT_DOUBLE_EQ(tiled::all_miss(m, t), tiled::intensity(m, t, 2));
  EXPECT_DOUBLE_EQ(tiled::cold_miss(m, t), tiled::intensity(m, t, 2 / 1.5));
  TiledTerms const rows{.R = 16};
  // Both levels write Y; a column-major product reads and writes X and Y once more.
  Levels const p = tiled::predicted(m, rows), turned = tiled::predicted(m, t);
  EXPECT_DOUBLE_EQ(2 / p.memory, tiles + 4 / 1.5 / 4.0 + map + 8 / 160.0 + 4 / 10.0);
  EXPECT_DOUBLE_EQ(2 / p.cache, tiles + 4 / 4.0 + map + 8 / 160.0 + 4 / 10.0);
  EXPECT_DOUBLE_EQ(2 / turned.memory - 2 / p.memory, 4 * 4 / 10.0);
  EXPECT_DOUBLE_EQ(p.shared, 2 / (4 * 1.5));
  EXPECT_DOUBLE_EQ(roofline(p, {9, 0.5, 9}), 0.5 * p.cache);
  EXPECT_DOUBLE_EQ(roofline(p, {0.5, 9, 9}), 0.5 * p.memory);
  EXPECT_DOUBLE_EQ(roofline(p, {9, 9, 0.5}), 0.5 * p.shared);
  m.segment = 5, m.mu_star = 4;
  EXPECT_DOUBLE_EQ(tiled::intensity(m, t, 2),
                   2 / (tiles + 4 * 2 / 4.0 + 4 / 16.0 + 12 / 64.0 + 4 / 10.0));
}

TEST(TiledModel, CountsOfATridiagonalMatrix) {
  Csr<double> a;
  a.rows = a.cols = 128;
  for (Index i = 0; i < 128; ++i) {
    for (Index j = std::max(0, i - 1); j < std::min(128, i + 2); ++j) a.columns.push_back(j);
    a.offsets.push_back(static_cast<Offset>(a.columns.size()));
  }
  a.values.assign(a.columns.size(), 1.0);
  Context ctx(Backend::host);
  TiledModel const m = Tiled<double>(ctx, a.view()).model();
  double const entries = 3 * 128 - 2, squares = 126 * 9 + 2 * 4;
  EXPECT_DOUBLE_EQ(m.mu, entries / 128);
  EXPECT_NEAR(m.sigma, std::sqrt(squares / 128 - m.mu * m.mu), 1e-12);
  EXPECT_DOUBLE_EQ(m.U, 2 / 132.0);
  EXPECT_EQ(m.segment, 0) << "no row has more entries than a segment";
  // Two panels of 65 columns each, on 5 lines of the cache with 16 numbers.
  EXPECT_DOUBLE_EQ(m.rho, entries / 130);
  EXPECT_DOUBLE_EQ(m.L, 130 / 128.0);
  EXPECT_DOUBLE_EQ(m.C, 16 * 10 / 130.0);
  EXPECT_DOUBLE_EQ(m.Z, 512 / entries);
}

TEST(TiledModel, IsAFactOfTheFormat) {
  Csr<double> const a = generate(Poisson27Params{.n = 20});
  Context ctx(Backend::host);
  for (Format const& format : formats()) {
    if (!format.model) continue;
    FormatModel const model = format.model(ctx, a.view());
    Levels const single = model.intensity(Real::f32, Layout::row_major),
                 dual = model.intensity(Real::f64, Layout::row_major),
                 columns = model.intensity(Real::f32, Layout::col_major);
    EXPECT_GT(single.memory, dual.memory) << format.name;
    EXPECT_GT(single.memory, columns.memory) << format.name;
    EXPECT_GT(single.cache, dual.cache) << format.name;
    EXPECT_DOUBLE_EQ(single.shared, 2 * dual.shared) << format.name;
    EXPECT_GT(dual.cache, 0.2) << format.name;
    EXPECT_FALSE(model.terms.empty());
    EXPECT_FALSE(model.decision.empty());
  }
}

}  // namespace
}  // namespace tcsolve::test
