// SPDX-License-Identifier: Apache-2.0
/// Plans for blocks of FP32 columns on an H200: panels, since the matrix unit, which is faster
/// where entries share tiles (docs/results/many-columns-h200.md), rounds the vectors to TF32.
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

Plan plan_of(Csr<double> const& a, Real values) {
  Context host(Backend::host);
  PlanRequest const request{.values = values, .vectors = values, .applies = 1e4, .columns = 32};
  return make_plan(features(host, a.view()), request, CostTable::h200());
}
std::string taken(Csr<double> const& a, Real values) { return plan_of(a, values).taken().name; }

TEST(TiledPlan, IsForScatteredEntriesInFp32) {
  Csr<double> const power_law = generate(RmatParams{.scale = 14}),
                    regular = generate(ElasticityParams{.n = 14}),
                    shuffled = permuted(regular.view(), random_permutation(regular.rows, 5));
  EXPECT_EQ(taken(power_law, Real::f32), "tiled");
  EXPECT_EQ(taken(shuffled, Real::f32), "tiled");
  for (Candidate const& c : plan_of(regular, Real::f32).candidates)
    if (c.format->name == "bittcf")
      EXPECT_EQ(c.excluded, "FP32 vectors are rounded to TF32 in its products");
  EXPECT_EQ(taken(regular, Real::f32), "tiled");
  EXPECT_EQ(taken(regular, Real::f64), "bittcf") << "FP64 stays FP64 on the matrix unit";
  EXPECT_NE(taken(power_law, Real::f64), "tiled") << "FP64 has no rates for blocks";
}

}  // namespace
}  // namespace tcsolve::test
