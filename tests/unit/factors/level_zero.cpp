// SPDX-License-Identifier: Apache-2.0
/// Patterns of level 0 and level schedules that are made where the matrix lies
/// (factors/make/level_zero.hpp), against the host's serial loops; factorisations from them,
/// without the matrix on the host.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/factors/make/level_zero.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/from_factors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class LevelZeros : public OnEachBackend {
 protected:
  void same(JointFactors const& got, JointFactors const& wanted) {
    TriangularFactors const &g = got.pattern(ctx()), &w = wanted.pattern(ctx());
    EXPECT_EQ(g.lower, w.lower);
    EXPECT_EQ(g.upper, w.upper);
    auto const order = [&](LevelSchedule const& levels) { return to_host(ctx(), levels); };
    for (bool const lower : {true, false}) {
      LevelOrder const here = order(lower ? got.lower_levels() : got.upper_levels()),
                       there = level_order(lower ? w.lower : w.upper, lower);
      EXPECT_EQ(here.row_of, there.row_of) << (lower ? "L" : "U");
      EXPECT_EQ(here.starts, there.starts) << (lower ? "L" : "U");
    }
    EXPECT_EQ(got.lower_levels().levels, wanted.lower_levels().levels);
    EXPECT_EQ(got.upper_levels().places, wanted.upper_levels().places);
    JointArrays const x = got.arrays(), y = wanted.arrays();
    EXPECT_EQ(x.rows, y.rows);
    EXPECT_EQ(x.entries, y.entries);
    EXPECT_EQ(x.longest_row, y.longest_row);
    EXPECT_EQ(x.short_row, y.short_row);
    EXPECT_EQ(x.places, y.places);
    auto const columns = [&](JointArrays const& f) {
      return to_host(ctx(), f.columns, ctx().space(), static_cast<std::size_t>(f.entries));
    };
    EXPECT_EQ(columns(x), columns(y));
    auto const starts = [&](JointArrays const& f) {
      EXPECT_FALSE(f.begin.wide);
      return to_host(ctx(), static_cast<std::int32_t const*>(f.begin.data), ctx().space(),
                     3 * static_cast<std::size_t>(f.rows) + 1);
    };
    EXPECT_EQ(starts(x), starts(y));
  }
};
TCSOLVE_ON_EACH_BACKEND(LevelZeros);

std::vector<Named> squares() {
  std::vector<Named> list;
  for (Named const& m : adversarial())
    if (m.matrix.rows == m.matrix.cols && m.matrix.entries() < 20000) list.push_back(m);
  list.push_back({"27-point", generate(Poisson27Params{.n = 9})});
  list.push_back({"7-point", generate(Poisson7Params{.n = 14})});
  list.push_back({"hubs", generate(RmatParams{9, 6, Coefficient::random})});
  list.push_back({"three unknowns a node", generate(ElasticityParams{.n = 5})});
  std::set<std::pair<Index, Index>> chain, arrow, back;
  for (Index i = 0; i < 300; ++i) {
    chain.insert({i, i});
    if (i > 0) chain.insert({i, i - 1});
    arrow.insert({i, i}), arrow.insert({i, 299}), arrow.insert({299, i}), arrow.insert({i, 0});
    if (i % 3 != 0) back.insert({i, 299 - i});  // some without a diagonal, some without a row
  }
  list.push_back({"chain", with_entries(300, chain)});
  list.push_back({"arrow", with_entries(300, arrow)});
  list.push_back({"no diagonal", with_entries(300, back)});
  for (std::uint64_t seed : {1, 2, 3}) {
    list.push_back({cat("random rows ", seed), random_matrix(700, 700, 8, seed)});
    list.push_back({cat("mixed rows ", seed), mixed_rows(400, 400, seed)});
  }
  return list;
}

TEST_P(LevelZeros, PatternsAndSchedulesAreThoseOfTheHost) {
  for (auto const& [name, a] : squares()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(ctx(), a.view());
    auto made = level_zero(ctx(), there.view(), 1 << 20);
    ASSERT_TRUE(made);
    TriangularFactors const patterns = fill_pattern(a, 0);
    EXPECT_EQ(made->entries, patterns.entries());
    EXPECT_EQ(made->lower, patterns.lower.entries());
    EXPECT_EQ(made->upper, patterns.upper.entries());
    Offset subtractions = 0;
    for (Index const k : patterns.lower.columns)
      subtractions += static_cast<Offset>(patterns.upper.row_columns(k).size());
    EXPECT_EQ(made->subtractions, subtractions);
    Offset of_long_rows = 0;
    for (Index i = 0; i < a.rows; ++i) {
      auto const length = static_cast<Index>(patterns.lower.row_columns(i).size() +
                                             patterns.upper.row_columns(i).size() + 1);
      if (length > made->short_row) of_long_rows += length;
    }
    EXPECT_EQ(made->of_long_rows, of_long_rows);
    JointFactors const wanted(ctx(), std::make_shared<TriangularFactors>(patterns));
    same(JointFactors(ctx(), std::move(*made)), wanted);
  }
}

TEST_P(LevelZeros, SchedulesWithoutCooperativeLaunchesAreTheSame) {
  struct Refused {
    Refused() { faults::refuse_cooperative_launches(true); }
    ~Refused() { faults::refuse_cooperative_launches(false); }
  } const refused;
  Csr<double> const a = dominant(400, 5, 2);
  CsrStorage<double> const there(ctx(), a.view());
  same(JointFactors(ctx(), *level_zero(ctx(), there.view(), 1 << 20)),
       JointFactors(ctx(), std::make_shared<TriangularFactors>(fill_pattern(a, 0))));
}

TEST_P(LevelZeros, GiveUpBeyondTheirLevels) {
  std::set<std::pair<Index, Index>> chain;
  for (Index i = 1; i < 300; ++i) chain.insert({i, i - 1});
  CsrStorage<double> const there(ctx(), with_entries(300, chain));
  EXPECT_FALSE(level_zero(ctx(), there.view(), 299));
  EXPECT_TRUE(level_zero(ctx(), there.view(), 300));
  Csr<double> const wide = random_matrix(4, 5, 3, 1);
  CsrStorage<double> const apart(ctx(), wide.view());
  EXPECT_THROW(level_zero(ctx(), apart.view(), 10), ShapeError);
}

TEST_P(LevelZeros, NumbersHaveTheBitsOfPatternsFromTheHost) {
  auto const check = [&](Csr<double> const& B, bool definite) {
    CsrStorage<double> const there(ctx(), B.view());
    JointFactors got(ctx(), *level_zero(ctx(), there.view(), 1 << 20)),
        wanted(ctx(), std::make_shared<TriangularFactors>(fill_pattern(B, 0)));
    for (JointFactors* f : {&got, &wanted})
      definite ? f->factorise_definite(ctx(), there.view())
               : f->factorise(ctx(), there.view(), 1e-6);
    TriangularFactors const g = *got.to_host(ctx()), w = *wanted.to_host(ctx());
    EXPECT_EQ(g.lower, w.lower);
    EXPECT_EQ(g.upper, w.upper);
    EXPECT_EQ(g.inverse_pivots, w.inverse_pivots);
    EXPECT_EQ(g.replaced, w.replaced);
    EXPECT_EQ(g.shift, w.shift);
  };
  check(generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random}), true);
  check(generate(ElasticityParams{.n = 6}), true);
  check(dominant(500, 6, 3), false);
  check(random_matrix(300, 300, 7, 5), false);  // pivots that are not there, or small
}

TEST_P(LevelZeros, SmallDiagonalsAreFound) {
  auto const small = [&](Csr<double> const& a) {
    CsrStorage<double> const there(ctx(), a.view());
    return has_small_diagonal(ctx(), there.view());
  };
  Csr<double> a = dominant(200, 5, 3);
  EXPECT_FALSE(small(a));
  for (Index i : {0, 77, 199}) {
    Csr<double> b = a;
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      if (b.columns[k] == i) b.values[k] = 0;
    EXPECT_TRUE(small(b)) << i;
  }
  EXPECT_TRUE(small(with_entries(3, {{0, 0}, {1, 1}, {2, 0}})));
}

FactorRecipe level_zero_recipe(bool symmetric, FactorScaling scaling) {
  return {.name = "factors",
          .symmetric = symmetric,
          .pivot_floor = symmetric ? 0 : 1e-6,
          .arrangement = {.scaling = scaling, .order = FactorOrder::none},
          .solves = TriangularSolves::exact};
}

/// M of plan_there() against M of plan_factors(), before and after new values.
TEST_P(LevelZeros, FactorisationsAreThoseOfAHostsPlan) {
  for (bool const symmetric : {true, false})
    for (FactorScaling const scaling :
         {FactorScaling::none, FactorScaling::diagonal, FactorScaling::largest}) {
      SCOPED_TRACE(cat(symmetric, ", scaling ", static_cast<int>(scaling)));
      Csr<double> const a =
          symmetric ? generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random})
                    : dominant(900, 6, 7);
      Csr<double> b = a;
      for (double& v : b.values) v *= 1.5;
      FactorRecipe const recipe = level_zero_recipe(symmetric, scaling);
      CsrStorage<double> const there(ctx(), a.view()), changed(ctx(), b.view());
      auto plan = plan_there(ctx(), there.view(), recipe);
      ASSERT_TRUE(plan);
      FactorPlan on_host = plan_factors(ctx(), a.view(), recipe);
      FillCount const &got = count_fill(ctx(), *plan, recipe),
                      &wanted = count_fill(ctx(), on_host, recipe);
      EXPECT_EQ(got.lower, wanted.lower);
      EXPECT_EQ(got.upper, wanted.upper);
      EXPECT_EQ(got.lower_places, wanted.lower_places);
      EXPECT_EQ(got.upper_places, wanted.upper_places);
      EXPECT_GT(factorisation_need(ctx(), *plan, recipe).space, 0);
      Factorisation M(ctx(), std::move(*plan), recipe), H(ctx(), std::move(on_host), recipe);
      for (int round = 0; round < 2; ++round) {
        TriangularFactors const g = *M.factors(ctx()), w = *H.factors(ctx());
        ASSERT_EQ(g.lower.columns, w.lower.columns);
        ASSERT_EQ(g.upper.columns, w.upper.columns);
        auto const close = [](std::vector<double> const& x, std::vector<double> const& y) {
          ASSERT_EQ(x.size(), y.size());
          for (std::size_t k = 0; k < x.size(); ++k)
            ASSERT_NEAR(x[k], y[k], 1e-11 * std::max(1.0, std::abs(y[k])));
        };
        close(g.lower.values, w.lower.values);
        close(g.upper.values, w.upper.values);
        close(g.inverse_pivots, w.inverse_pivots);
        auto const x = random_values(a.rows, 5);
        for (Op const op : {Op::none, Op::transpose}) {
          auto const applied = [&](Factorisation const& by) {
            Guarded<double> in(ctx(), x),
                out(ctx(), std::vector<double>(a.rows, std::numeric_limits<double>::quiet_NaN()));
            by.apply(ctx(), 1, in.in(), 0, out.view(), op);
            return out.get();
          };
          close(applied(M), applied(H));
        }
        M.update(ctx(), changed.view());
        H.update(ctx(), changed.view());
      }
    }
}

TEST_P(LevelZeros, OtherRecipesAreForAHostsPlan) {
  Csr<double> const a = dominant(120, 5, 3);
  CsrStorage<double> const there(ctx(), a.view());
  FactorRecipe const plain = level_zero_recipe(false, FactorScaling::largest);
  EXPECT_TRUE(plan_there(ctx(), there.view(), plain));
  auto const refused = [&](auto const& change) {
    FactorRecipe recipe = plain;
    change(recipe);
    return !plan_there(ctx(), there.view(), recipe);
  };
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.level = 1; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.fill = FillIn::by_size; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.block = 3; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.right_factor = true; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.solves = TriangularSolves::host; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.arrangement.order = FactorOrder::rcm; }));
  EXPECT_TRUE(refused([](FactorRecipe& r) { r.arrangement.matching = UseMatching::on; }));
  Csr<double> b = a;
  b.values[b.columns[0] == 0 ? 0 : 1] = 0;  // a diagonal entry: rows should be matched
  CsrStorage<double> const weak(ctx(), b.view());
  EXPECT_FALSE(plan_there(ctx(), weak.view(), plain));
}

/// Where the device is the quicker one, nobody asks for the host's side of the matrix.
TEST_P(LevelZeros, TheMatrixDoesNotPassTheHost) {
  Csr<double> const a = generate(Poisson27Params{.n = 24});
  CsrStorage<double> const there(ctx(), a.view());
  FactorRecipe const recipe = level_zero_recipe(true, FactorScaling::diagonal);
  System const system{.matrix = there.view(),
                      .A = nullptr,
                      .notes = std::make_shared<SetupNotes>(),
                      .host = std::make_shared<HostMatrix>()};
  FactoryId const self = new_factory_id();
  factors_need(ctx(), system, recipe, self);
  auto const M = from_factors(ctx(), system, recipe, self);
  EXPECT_FALSE(system.host->there());
  if (ctx().space() != Space::host)
    EXPECT_NE(M->view()->details().find("on the device"), std::string::npos);
}

}  // namespace
}  // namespace tcsolve::test
