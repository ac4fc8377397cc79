// SPDX-License-Identifier: Apache-2.0
/// A survey bounds the features of a matrix until it has looked, and a plan that is made of it is
/// the one that all features give.
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/survey.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

std::vector<Named> matrices() {
  std::vector<Named> all = adversarial();
  auto const add = [&](char const* name, Csr<double> a) { all.push_back({name, std::move(a)}); };
  add("poisson7", generate(Poisson7Params{.n = 14}));
  add("poisson27", generate(Poisson27Params{.n = 13, .coefficient = Coefficient::random}));
  add("lost", generate(Poisson27Params{13, Coefficient::random, Renumber::random}));
  add("elasticity", generate(ElasticityParams{.n = 6}));
  add("convection", generate(ConvdiffParams{.n = 12}));
  add("random", random_matrix(900, 900, 30, 3));
  add("mixed", mixed_rows(400, 70000, 5));
  return all;
}

template <class P>
class FormatsSurvey : public BackendTest<P> {};
TYPED_TEST_SUITE(FormatsSurvey, DoubleOnBoth, Label);

/// Of nothing, each fact alone, and all.
TYPED_TEST(FormatsSurvey, BoundsWhatItHasNotLookedAt) {
  Facts const facts = formats().facts();
  unsigned const all = (1u << facts.size()) - 1;
  for (auto const& [name, a] : matrices()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    Features const f = features(this->ctx(), there.view());
    std::vector<unsigned> sets{0, all};
    for (std::size_t k = 0; k < facts.size(); ++k) sets.push_back(1u << k);
    for (unsigned const looked : sets) {
      Survey seen = survey(this->ctx(), there.view());
      for (std::size_t k = 0; k < facts.size(); ++k)
        if ((looked >> k & 1) != 0) seen.look(this->ctx(), there.view(), *facts[k]);
      for (std::size_t k = 0; k < facts.size(); ++k)
        if ((looked >> k & 1) != 0) EXPECT_TRUE(seen.knows(*facts[k])) << facts[k]->name;
      Features const &least = seen.least(), most = seen.most();
      EXPECT_LE(least.tiles, f.tiles);
      EXPECT_GE(most.tiles, f.tiles);
      for (Format const& format : formats())
        for (Real const values : {Real::f64, Real::f16}) {
          EXPECT_LE(format.layout(least, values).stored,
                    1.0000001 * format.layout(f, values).stored)
              << format.name;
          auto const low = work(format, least, values, Real::f64).array(),
                     here = work(format, f, values, Real::f64).array();
          for (std::size_t k = 0; k < low.size(); ++k)
            EXPECT_LE(low[k], 1.0000001 * here[k]) << format.name << " " << k;
        }
      if (seen.complete()) EXPECT_EQ(least, f);
      if (looked == all) EXPECT_TRUE(seen.complete());
    }
  }
}

/// The same format by the same total, whatever is asked.
TYPED_TEST(FormatsSurvey, GivesThePlanOfAllFeatures) {
  for (auto const& [name, a] : matrices()) {
    CsrStorage<double> const there(this->ctx(), a.view());
    Features const f = features(this->ctx(), there.view());
    Facts const facts = formats().facts();
    for (CostTable const& table : {CostTable::h200(), CostTable::host()})
      for (double const applies : {1.0, 500.0})
        for (Real const values : {Real::f64, Real::bf16})
          for (bool const persistent : {true, false}) {
            SCOPED_TRACE(cat(name, ", ", table.device, ", ", applies, ", ", tcsolve::name(values),
                             persistent ? ", persistent" : ""));
            PlanRequest const request{
                .values = values, .applies = applies, .persistent = persistent};
            Plan const wanted = make_plan(f, request, table);
            Survey seen = survey(this->ctx(), there.view());
            Plan const got = make_plan(this->ctx(), there.view(), seen, request, table);
            Candidate const &first = got.candidates.front(), &known = wanted.candidates.front();
            EXPECT_EQ(first.format, known.format);
            EXPECT_EQ(first.total, known.total);
            EXPECT_EQ(first.bytes, known.bytes);
            EXPECT_FALSE(first.at_least);
            for (Candidate const& c : got.candidates)
              for (Candidate const& exact : wanted.candidates)
                if (c.format == exact.format) {
                  EXPECT_LE(c.total, 1.0000001 * exact.total) << c.format->name;
                  if (!c.at_least) EXPECT_EQ(c.total, exact.total) << c.format->name;
                }
            Survey fewer = survey(this->ctx(), there.view());
            Plan const choice = make_choice(this->ctx(), there.view(), fewer, request, table);
            EXPECT_EQ(choice.taken().name, wanted.taken().name);
            for (Fact const* fact : facts)
              if (fewer.knows(*fact)) EXPECT_TRUE(seen.knows(*fact)) << fact->name;
          }
  }
}

/// A grid is told by its diagonals: neither tiles nor dense blocks are looked at.
TYPED_TEST(FormatsSurvey, LooksNoFurtherThanItTakes) {
  auto const looked = [&](Csr<double> const& a, PlanRequest const& request) {
    CsrStorage<double> const there(this->ctx(), a.view());
    Survey seen = survey(this->ctx(), there.view());
    make_plan(this->ctx(), there.view(), seen, request, CostTable::h200());
    return seen;
  };
  for (Csr<double> const& grid :
       {generate(Poisson27Params{.n = 24}), generate(Poisson7Params{.n = 24})})
    for (bool const persistent : {true, false}) {
      Survey const seen = looked(grid, {.applies = 500, .persistent = persistent});
      EXPECT_TRUE(seen.knows("diagonals") && seen.knows("symmetry"));
      EXPECT_FALSE(seen.knows("tiles"));
      if (grid.entries() >= 8 * Offset{grid.rows}) EXPECT_FALSE(seen.knows("dense"));
    }
  // Which format it is is known before what the products with it take.
  Csr<double> const grid = generate(Poisson7Params{.n = 48});
  CsrStorage<double> const there(this->ctx(), grid.view());
  Survey fewer = survey(this->ctx(), there.view());
  PlanRequest const request{.values = Real::f16, .vectors = Real::f32, .persistent = false};
  make_choice(this->ctx(), there.view(), fewer, request, CostTable::h200());
  EXPECT_TRUE(fewer.knows("diagonals"));
  EXPECT_FALSE(fewer.knows("symmetry"));
  Csr<double> const lost = generate(Poisson27Params{24, Coefficient::random, Renumber::random});
  Survey const seen = looked(lost, {.applies = 500, .persistent = false});
  EXPECT_TRUE(seen.knows("tiles"));
  // Where csr is all that can be had, nothing is.
  Survey const transposed = looked(lost, {.transpose = true, .persistent = false});
  EXPECT_FALSE(transposed.knows("dense"));
  EXPECT_FALSE(transposed.knows("diagonals"));
}

TYPED_TEST(FormatsSurvey, TableSaysWhatIsABound) {
  Csr<double> const a = generate(Poisson27Params{.n = 24});
  CsrStorage<double> const there(this->ctx(), a.view());
  Survey seen = survey(this->ctx(), there.view());
  Plan const plan =
      make_plan(this->ctx(), there.view(), seen, {.persistent = false}, CostTable::h200());
  EXPECT_NE(text(plan).find("at least"), std::string::npos) << text(plan);
  seen.look(this->ctx(), there.view());
  std::string const all = text(make_plan(seen.least(), {.persistent = false}, CostTable::h200()));
  EXPECT_EQ(all.find("at least"), std::string::npos) << all;
}

}  // namespace
}  // namespace tcsolve::test
