// SPDX-License-Identifier: Apache-2.0
/// What the descriptor of bsell says of matrices with and without dense blocks.
#include <tcsolve/io/generators.hpp>
#include <tcsolve/operators/bsell_operator.hpp>
#include <tcsolve/operators/planner.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

Format const& bsell() { return formats().at("bsell"); }

/// A block that was counted is not counted again.
TEST(BsellFormat, TakesTheBlockThatThePlanReckonedWith) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(ElasticityParams{.n = 8});
  auto const block = [&](Survey const* seen) {
    auto const A = make_operator<double>(ctx, a.view(), bsell(), seen);
    return dynamic_cast<BsellOperator<double> const&>(*A).matrix().view().block;
  };
  Plan const plan = make_plan(features(ctx, a.view()), {}, CostTable::h200());
  EXPECT_EQ(block(nullptr), 3);
  EXPECT_EQ(block(&plan.seen), 3);
  // As if blocks of 2 x 2 were full, and all others nearly empty.
  Features wrong = plan.seen.least();
  Offset const n = wrong.entries;
  wrong.own.set(BsellCounts{{{n / 4, n / 4, 0}, {n, n, 0}, {n, n, 0}, {n, n, 0}}});
  Survey const believed(wrong);
  EXPECT_EQ(block(&believed), 2);
  // Where nobody has counted, it counts for itself.
  Survey const rows = survey(ctx, a.view());
  ASSERT_FALSE(rows.knows("dense"));
  EXPECT_EQ(block(&rows), 3);
}

/// Blocks are for matrices that have them; the block is the one that stores the least.
TEST(BsellFormat, DenseBlocksAreCounted) {
  Context ctx(Backend::host);
  auto const plan = [&](Csr<double> const& a, Real values = Real::f64) {
    PlanRequest const request{.values = values};
    return make_plan(features(ctx, a.view()), request, CostTable::h200()).of(bsell());
  };
  Csr<double> const elasticity = generate(ElasticityParams{.n = 12});
  EXPECT_EQ(plan(elasticity).excluded, "");
  EXPECT_GT(plan(elasticity).bytes, 8 * elasticity.entries());
  EXPECT_LT(plan(elasticity).bytes, 9 * elasticity.entries());
  EXPECT_LT(plan(elasticity, Real::f16).bytes, 2.6 * elasticity.entries());
  EXPECT_FALSE(plan(elasticity).persistent);
  Csr<double> const scalar = generate(Poisson27Params{.n = 24});  // half of 2 x 2 blocks is holes
  EXPECT_GT(plan(scalar).bytes, 16 * scalar.entries());
  EXPECT_EQ(plan(generate(Poisson7Params{.n = 9})).excluded, "short rows, or a very long one");
  Csr<double> const scattered = random_matrix(3000, 3000, 40, 3);
  EXPECT_EQ(plan(scattered).excluded, "more than two positions an entry");
}

}  // namespace
}  // namespace tcsolve::test
