// SPDX-License-Identifier: Apache-2.0
/// Plans for blocks of FP32 columns on an H200: panels where hardly any entries share a tile, the
/// matrix unit where they do (docs/results/many-columns-h200.md).
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

std::string taken(Csr<double> const& a, Real values) {
  Context host(Backend::host);
  PlanRequest const request{.values = values, .vectors = values, .applies = 1e4, .columns = 32};
  return make_plan(features(host, a.view()), request, CostTable::h200()).taken().name;
}

TEST(TiledPlan, IsForScatteredEntriesInFp32) {
  Csr<double> const power_law = generate(RmatParams{.scale = 14}),
                    regular = generate(ElasticityParams{.n = 14}),
                    shuffled = permuted(regular.view(), random_permutation(regular.rows, 5));
  EXPECT_EQ(taken(power_law, Real::f32), "tiled");
  EXPECT_EQ(taken(shuffled, Real::f32), "tiled");
  EXPECT_NE(taken(regular, Real::f32), "tiled");
  EXPECT_NE(taken(power_law, Real::f64), "tiled") << "FP64 has no rates for blocks";
}

}  // namespace
}  // namespace tcsolve::test
