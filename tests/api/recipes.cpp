// SPDX-License-Identifier: Apache-2.0
/// The choice knows the device that it is made for: rates of factors are data, scaled by what the
/// driver says of it.
#include <tcsolve/api/ranking.hpp>
#include <tcsolve/api/recipes.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace tcsolve::test {
namespace {

FactorRates rates_of(double bandwidth, double clock, int multiprocessors) {
  cuda::Facts facts;
  facts.name = "another GPU";
  facts.compute_capability = 80;
  facts.multiprocessors = multiprocessors;
  return CostTable::of_gpu(facts, {.bandwidth = bandwidth, .clock = clock, .single_to_double = 2})
      .factors;
}

TEST(ChoicesOnADevice, GoByItsClockAndItsMemory) {
  FactorRates const h200 = CostTable::h200().factors;
  EXPECT_EQ(h200, FactorRates{}) << "the defaults are those of the file";
  EXPECT_EQ(rates_of(4.917e12, 1.98e9, 132), h200);
  FactorRates const a100 = rates_of(1.555e12, 1.41e9, 108);
  double const clock = 1.98 / 1.41, memory = 4.917 / 1.555;
  EXPECT_NEAR(a100.solve_level, clock * h200.solve_level, 1e-3 * a100.solve_level);
  EXPECT_NEAR(a100.solve_wait, clock * h200.solve_wait, 1e-3 * a100.solve_wait);
  EXPECT_NEAR(a100.make_level, clock * h200.make_level, 1e-3 * a100.make_level);
  EXPECT_NEAR(a100.make_subtraction, clock * 132 / 108 * h200.make_subtraction,
              1e-3 * a100.make_subtraction);
  EXPECT_NEAR(a100.step_entries, memory * h200.step_entries, 1e-3 * a100.step_entries);
  EXPECT_EQ(a100.host_entries, h200.host_entries) << "of the host";
  EXPECT_EQ(CostTable::host().factors, h200) << "a host that is as that beside the H200";
}

TEST(ChoicesOnADevice, TryFewerCheapIterationsWhereTheseCostMore) {
  MatrixFacts const large{.rows = 2000000, .cols = 2000000, .entries = 20000000};
  auto const iterations = [&](FactorRates const& rates) {
    return recipes(large, true, false, rates).front().most_iterations;
  };
  int const h200 = iterations(CostTable::h200().factors);
  int const slower = iterations(rates_of(0.5e12, 1.98e9, 132));
  EXPECT_LT(slower, h200 / 4);
  EXPECT_GE(slower, 30);
}

/// A hierarchy comes after jacobi, on the host, for systems that are large.
TEST(ChoicesOnAHost, TakeAHierarchyWhereJacobiIsSlow) {
  MatrixFacts const large{.rows = 20000, .cols = 20000, .entries = 140000, .symmetric = true};
  MatrixFacts smaller = large, general = large;
  smaller.rows = smaller.cols = 19999;
  general.symmetric = false;
  auto const place = [](std::vector<Recipe> const& list) {
    auto const at = std::ranges::find(list, "{type: amg, elliptic: true}", &Recipe::preconditioner);
    return at == list.end() ? -1 : static_cast<int>(at - list.begin());
  };
  std::vector<Recipe> const list = recipes(large, false);
  ASSERT_EQ(place(list), 1);
  EXPECT_EQ(list[0].preconditioner, "{type: jacobi}");
  EXPECT_TRUE(list[1].definite);
  EXPECT_GT(list[1].patience.steps, 0);
  EXPECT_EQ(place(recipes(smaller, false)), -1);
  EXPECT_EQ(place(recipes(large, true)), -1);
  // Not symmetric, it comes after the jacobi of dominant rows and before incomplete factors.
  EXPECT_EQ(place(recipes(general, false)), 0);
  EXPECT_FALSE(recipes(general, false)[0].definite);
  general.dominant_rows = general.rows;
  EXPECT_EQ(place(recipes(general, false)), 1);
  EXPECT_EQ(place(recipes_for(general, false, {})), 1);
  general.negative_diagonal = 1;
  EXPECT_EQ(place(recipes(general, false)), -1);
  EXPECT_EQ(place(for_ranks(list, large, 2, false)), -1);
}

/// On a device it is for larger ones, and where it is refused or gains little, jacobi goes on.
TEST(ChoicesOnADevice, TakeAHierarchyBetweenTwoStretchesOfJacobi) {
  MatrixFacts f{.rows = 50000, .cols = 50000, .entries = 350000, .symmetric = true};
  std::vector<Recipe> const list = recipes(f, true);
  EXPECT_EQ(list[1].preconditioner, "{type: amg, elliptic: true}");
  for (Recipe const& r : {list[0], list[2]}) {
    EXPECT_EQ(r.preconditioner, "{type: jacobi}");
    EXPECT_EQ(r.most_iterations, list[0].most_iterations);
  }
  EXPECT_GT(list[0].patience.steps, 0);
  EXPECT_EQ(list[2].patience.steps, 0);
  EXPECT_GT(list[2].window, 0);
  f.rows = f.cols = 49999;
  std::vector<Recipe> const smaller = recipes(f, true);
  EXPECT_EQ(smaller[0].patience.steps, 0);
  EXPECT_EQ(smaller[1].preconditioner.find("amg"), std::string::npos);
}

std::vector<std::string> preconditioners_of(std::vector<Recipe> const& list) {
  std::vector<std::string> names;
  for (Recipe const& r : list) names.push_back(r.preconditioner);
  return names;
}

/// Factors of one rank's rows are what each has inside schwarz; complete ones are of all rows.
TEST(ChoicesOverRanks, AreThoseThatRanksHave) {
  std::string const parts = "{type: schwarz, parts: ranks, overlap: 1, inside: ";
  MatrixFacts f{.rows = 50000, .cols = 50000, .entries = 350000, .symmetric = true};
  EXPECT_THAT(preconditioners_of(for_ranks(recipes(f, false), f, 2, false)),
              testing::ElementsAre(
                  "{type: jacobi}", parts + "{type: ic, drop_tolerance: 0.01, complete_below: 5}}",
                  "{type: direct}", "{type: jacobi}",
                  parts + "{type: ilu, drop_tolerance: 0.1, complete_below: 8}}",
                  parts + "{type: ilu, drop_tolerance: 0.01}}",
                  parts + "{type: ilu, drop_tolerance: 1e-4, fill_factor: 40}}", "{type: direct}"));
  f.rows = f.cols = 2000001;
  for (std::string const& M : preconditioners_of(for_ranks(recipes(f, false), f, 2, false)))
    EXPECT_NE(M, "{type: direct}") << "one rank gathers fewer rows";
  f.rows = f.cols = 2000000;
  EXPECT_EQ(std::ranges::count(preconditioners_of(for_ranks(recipes(f, false), f, 2, false)),
                               "{type: direct}"),
            2);
}

/// Where there is no hierarchy, a device makes the two stretches of jacobi as one: the second,
/// which has all iterations.
TEST(ChoicesOverRanks, HaveOneStretchOfJacobi) {
  MatrixFacts const f{.rows = 50000, .cols = 50000, .entries = 350000, .symmetric = true};
  std::vector<Recipe> const one = recipes(f, true), list = for_ranks(one, f, 2, true);
  ASSERT_EQ(one[2].preconditioner, "{type: jacobi}");
  EXPECT_EQ(list[0].preconditioner, "{type: jacobi}");
  EXPECT_EQ(list[0].patience.steps, 0);
  EXPECT_EQ(list[0].window, one[2].window);
  EXPECT_THAT(list[1].preconditioner, testing::HasSubstr("inside: {type: ic"));
}

/// Sums by messages between devices take longer than passes over few rows.
TEST(ChoicesOverRanks, WaitForOneSumWhereSumsDominate) {
  MatrixFacts f{.rows = 300000, .cols = 300000, .entries = 2000000, .symmetric = true};
  auto const first = [&](int ranks, bool slow_sums) {
    return for_ranks(recipes(f, true), f, ranks, slow_sums).front();
  };
  EXPECT_EQ(first(2, true).solver, "{type: chronopoulos_gear}");
  EXPECT_EQ(first(2, true).preconditioner, "{type: jacobi}");
  EXPECT_THAT(first(2, true).reason, testing::EndsWith("one sum an iteration"));
  EXPECT_EQ(first(2, false).solver, "{type: cg}");
  f.rows = f.cols = 400000;
  EXPECT_EQ(first(2, true).solver, "{type: cg}");
  EXPECT_EQ(first(4, true).solver, "{type: chronopoulos_gear}");
  std::vector<Recipe> const list = for_ranks(recipes(f, true), f, 4, true);
  for (std::size_t k = 1; k < list.size(); ++k)
    EXPECT_NE(list[k].solver, "{type: chronopoulos_gear}") << "what fails goes on with cg";
  f.symmetric = false;
  f.dominant_rows = f.rows;
  EXPECT_EQ(first(4, true).solver, "{type: bicgstab}");
}

/// Of small systems an incomplete factor takes longer than all iterations with jacobi, unless these
/// are many.
TEST(ChoicesOnAHost, BeginWithJacobiWhereASmallSystemIsSoonSolved) {
  MatrixFacts const grid{.rows = 125,
                         .cols = 125,
                         .entries = 725,
                         .symmetric = true,
                         .dominant_rows = 125,
                         .least_row = 9,
                         .largest_row = 12};
  auto const first = [](MatrixFacts const& f, bool on_device = false) {
    return recipes(f, on_device).front();
  };
  EXPECT_EQ(first(grid).preconditioner, "{type: jacobi}");
  EXPECT_TRUE(first(grid).definite);
  EXPECT_GT(first(grid).patience.steps, 0) << "it is left where it gains too little";
  std::vector<Recipe> const list = recipes(grid, false);
  EXPECT_THAT(list[1].preconditioner, testing::StartsWith("{type: ic"));
  MatrixFacts weak = grid, chain = grid, uneven = grid, larger = grid, skew = grid;
  weak.dominant_rows = 124;
  chain.entries = 373;
  uneven.largest_row = 1000;
  larger.rows = larger.cols = larger.dominant_rows = 1001;
  larger.entries = 7000;
  skew.symmetric = false;
  for (MatrixFacts const& f : {weak, chain, uneven, larger})
    EXPECT_THAT(first(f).preconditioner, testing::StartsWith("{type: ic"));
  EXPECT_THAT(first(grid, true).preconditioner, testing::StartsWith("{type: ic"));
  EXPECT_EQ(first(skew).solver, "{type: bicgstab}");
}

TEST(ChoicesOnADevice, PredictAnotherIncompleteFactorisation) {
  MatrixFacts const f{.rows = 1000, .cols = 1000, .entries = 10000};
  Recipe const trial{.most_iterations = 400, .patience = {.steps = 50}},
      whole{.most_iterations = 400};
  EXPECT_LT(seconds_of_incomplete(f, 1e4, trial), seconds_of_incomplete(f, 1e5, trial));
  EXPECT_LT(seconds_of_incomplete(f, 1e4, trial), seconds_of_incomplete(f, 1e4, whole));
  EXPECT_GE(seconds_of_incomplete(f, 0, trial), seconds_of_incomplete(f, 1e4, trial) / 2)
      << "A's own entries at the least";
  std::vector<Recipe> const list = recipes(f, false);
  EXPECT_TRUE(list.front().incomplete);
  EXPECT_TRUE(list[list.size() - 2].complete);
  EXPECT_TRUE(list.back().least_squares) << "for a singular one alone";
}

/// The race runs what auto would run in turn, each once.
TEST(Candidates, AreTheRecipesOfAutoAndOthers) {
  MatrixFacts definite{.rows = 1000, .cols = 1000, .entries = 40000, .symmetric = true};
  MatrixFacts general = definite, hollow = definite, large = definite;
  general.symmetric = large.symmetric = false;
  hollow.zero_diagonal = 10;
  large.rows = large.cols = 200000;
  for (MatrixFacts const& f : {definite, general, hollow, large}) {
    std::vector<Recipe> const raced = candidates(f);
    auto const times = [&](Recipe const& r) {
      return std::ranges::count_if(raced, [&](Recipe const& c) {
        return c.solver == r.solver && c.preconditioner == r.preconditioner;
      });
    };
    std::vector<Recipe> const list = recipes(f, false);
    for (Recipe const& r : list)
      EXPECT_EQ(times(r), r.least_squares ? 0 : 1) << r.solver << r.preconditioner;
    for (Recipe const& r : raced) EXPECT_EQ(times(r), 1) << r.solver << r.preconditioner;
    EXPECT_GT(raced.size(), list.size());
  }
}

TEST(Candidates, HaveMultigridForLargerMatrices) {
  MatrixFacts f{.rows = 100000, .cols = 100000, .entries = 700000, .symmetric = true};
  auto const raced = [&] {
    return std::ranges::count(candidates(f), "{type: amg}", &Recipe::preconditioner);
  };
  EXPECT_EQ(raced(), 1);
  f.rows = f.cols = 300;
  EXPECT_EQ(raced(), 0);
  f = {.rows = 100000, .cols = 100000, .entries = 700000};
  EXPECT_EQ(raced(), 0) << "not symmetric";
}

/// Symmetric with a positive diagonal, and indefinite: what cg is not for is solved by another.
TEST(Candidates, SolveWhatIsNotDefinite) {
  Context ctx(Backend::host);
  Csr<double> a{60, 60, {0}, {}, {}};
  for (Index i = 0; i < 60; ++i) {
    for (Index j = std::max(i - 1, 0); j < std::min(i + 2, 60); ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 1 + 0.01 * (i % 5) : 3);
    }
    a.offsets.push_back(a.entries());
  }
  std::vector<double> const b(60, 1.0);
  std::vector<RankedChoice> const list = ranking(ctx, a.view(), b, {});
  EXPECT_TRUE(list.front().solved()) << list.front().outcome;
}

}  // namespace
}  // namespace tcsolve::test
