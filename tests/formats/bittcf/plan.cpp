// SPDX-License-Identifier: Apache-2.0
/// Plans for blocks of columns: what multiplies columns together pays for them once, every other
/// format one by one.
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

TEST(BittcfPlan, CountsColumns) {
  Context host(Backend::host);
  Csr<double> const a = generate(Poisson27Params{.n = 20});
  Features const f = features(host, a.view());
  CostTable const table = CostTable::h200();
  Format const &bittcf = formats().at("bittcf"), &csr = formats().at("csr");
  auto const plan_for = [&](Index columns) {
    return make_plan(f, {.applies = 500, .columns = columns}, table);
  };
  Plan const one = plan_for(1), many = plan_for(16), more = plan_for(33);
  EXPECT_NE(one.of(bittcf).excluded, "");
  EXPECT_EQ(many.of(bittcf).excluded, "");
  EXPECT_EQ(many.taken().name, "bittcf");
  EXPECT_DOUBLE_EQ(many.of(csr).product, 16 * one.of(csr).product);
  EXPECT_FALSE(many.of(csr).persistent);
  FormatRates const& rates = table.rates("bittcf", Real::f64);
  Terms const w = work(bittcf, f, Real::f64, Real::f64);
  EXPECT_DOUBLE_EQ(many.of(bittcf).product, dot(rates.block, w) + 16 * dot(rates.column, w));
  EXPECT_DOUBLE_EQ(more.of(bittcf).product, 2 * dot(rates.block, w) + 33 * dot(rates.column, w));
  EXPECT_LT(many.of(bittcf).product, many.of(csr).product);
}

}  // namespace
}  // namespace tcsolve::test
