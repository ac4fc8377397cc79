// SPDX-License-Identifier: Apache-2.0
/// What the descriptor of bsell says of matrices with and without dense blocks.
#include <tcsolve/formats/bsell/operator.hpp>
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

Format const& bsell() { return formats().at("bsell"); }

/// Blocks of b x b, in slices of 32 block rows, each as wide as its longest.
BsellCount counted_blocks(Csr<double> const& a, Index b) {
  BsellCount count;
  for (Index begin = 0; begin < a.rows; begin += 32 * b) {
    std::map<Index, std::set<Index>> blocks;
    for (Index i = begin; i < std::min(begin + 32 * b, a.rows); ++i)
      for (Index const j : a.row_columns(i)) blocks[i / b].insert(j / b);
    Offset longest = 0;
    Index low = a.cols, high = -1;
    for (auto const& [I, columns] : blocks) {
      count.blocks += Offset(columns.size());
      longest = std::max(longest, Offset(columns.size()));
      low = std::min(low, *columns.begin()), high = std::max(high, *columns.rbegin());
    }
    count.stored += 32 * longest;
    if (high - low >= 65536) count.wide += 32 * longest;
  }
  return count;
}

template <class P>
class BsellFeatures : public BackendTest<P> {};
TYPED_TEST_SUITE(BsellFeatures, DoubleOnBoth, Label);

/// Against blocks put in sets one by one; none are counted where rows are short or one is long.
TYPED_TEST(BsellFeatures, CountsDenseBlocks) {
  std::vector<Named> matrices = adversarial();
  matrices.push_back({"elasticity", generate(ElasticityParams{.n = 5})});
  matrices.push_back({"wide rows", random_matrix(1000, 90000, 12, 4)});
  matrices.push_back({"long rows", random_matrix(333, 65600, 300, 5)});
  for (auto const& [name, a] : matrices) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    Features const f = features(this->ctx(), there.view());
    BsellCounts wanted{};
    if (a.entries() >= 8 * Offset{a.rows} && f.longest <= 4096)
      for (std::size_t k = 0; k < wanted.size(); ++k)
        wanted[k] = counted_blocks(a, bsell_blocks[k]);
    BsellCounts const& got = f.own.get<BsellCounts>();
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_EQ(got[k], wanted[k])
          << bsell_blocks[k] << ": blocks " << got[k].blocks << " " << wanted[k].blocks
          << ", stored " << got[k].stored << " " << wanted[k].stored << ", wide " << got[k].wide
          << " " << wanted[k].wide;
  }
}

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
  Csr<double> const scalar = generate(Poisson27Params{.n = 24});  // half of 2 x 2 blocks is padding
  EXPECT_GT(plan(scalar).bytes, 16 * scalar.entries());
  EXPECT_EQ(plan(generate(Poisson7Params{.n = 9})).excluded, "short rows, or a very long one");
  Csr<double> const scattered = random_matrix(3000, 3000, 40, 3);
  EXPECT_EQ(plan(scattered).excluded, "more than two positions an entry");
}

}  // namespace
}  // namespace tcsolve::test
