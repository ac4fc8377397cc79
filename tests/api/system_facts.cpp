// SPDX-License-Identifier: Apache-2.0
/// What is known of a square system before a method is set up.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/io/generators.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

/// The Laplacian of a line with its rows `without` emptied.
Csr<double> line(Index n, std::vector<Index> const& without) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    bool const empty = std::ranges::find(without, i) != without.end();
    for (Index j = std::max<Index>(0, i - 1); j < std::min(n, i + 2) && !empty; ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 3 : -1);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

TEST(SystemFacts, NumbersAreThoseOfTheMatrixFromOne) {
  EXPECT_EQ(lines_text("row", {12}), "row 13");
  EXPECT_EQ(lines_text("row", {12, 26, 32}), "rows 13, 27 and 33");
  EXPECT_EQ(lines_text("row", {0, 1, 2, 3, 4, 5}), "rows 1, 2, 3, 4, 5 and 1 other");
  SystemFacts const facts(line(8, {2, 6}).view());
  EXPECT_EQ(facts.text(), "A is singular: rows 3 and 7 are empty");
  std::vector<double> b(8, 1.0);
  b[2] = 0;
  EXPECT_EQ(facts.contradiction(b.data()),
            "row 7 of A is empty and b is not zero there: no x satisfies this equation");
  EXPECT_EQ(SystemFacts(line(8, {}).view()).text(), "");
  EXPECT_FALSE(SystemFacts(Csr<double>{}.view()).is_singular());
}

/// A b that is almost zero there may still be met to the tolerance.
TEST(SystemFacts, GoByTheTolerance) {
  SystemFacts const facts(line(8, {2}).view());
  std::vector<double> b(8, 1.0);
  EXPECT_TRUE(facts.unsolvable(b.data(), {.rtol = 1e-8}, "auto"));
  EXPECT_TRUE(facts.unsolvable(b.data(), {.rtol = 0.35}, "auto"));
  EXPECT_FALSE(facts.unsolvable(b.data(), {.rtol = 0.36}, "auto")) << "1 / sqrt(8)";
  EXPECT_FALSE(facts.unsolvable(b.data(), {.rtol = 1e-8, .atol = 2}, "auto"));
  EXPECT_FALSE(facts.unsolvable(b.data(), {.baseline = Baseline::initial}, "auto"));
  b[2] = 1e-12;
  EXPECT_FALSE(facts.unsolvable(b.data(), {.rtol = 1e-8}, "auto"));
  EXPECT_TRUE(facts.unsolvable(b.data(), {.rtol = 0}, "auto"));
}

TEST(SystemFacts, AutoEndsBeforeItTriesAnything) {
  for (char const* const keys : {"", "operator: {reorder: rcm}\n"}) {
    LinearSolver solver(line(200, {150}).view(),
                        SolverOptions::from_yaml("solver: {type: auto}\n"
                                                 "preconditioner: {type: auto}\nbackend: host\n" +
                                                 std::string(keys)));
    std::vector<double> b(200, 1.0), x(200, 0.25);
    SolveReport const report = solver.solve(b, x);
    EXPECT_EQ(report.outcome(), "breakdown:inconsistent") << report.message;
    EXPECT_EQ(report.exit_code(), 4);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_NE(report.message.find("row 151 of A is empty"), std::string::npos) << report.message;
    EXPECT_EQ(x, std::vector<double>(200, 0.25));
    b[150] = 0;
    x.assign(200, 0.0);
    EXPECT_TRUE(solver.solve(b, x).converged());
  }
}

/// Several methods that find A singular: the advice is about that, and not the last one's own.
TEST(SystemFacts, TheClosingAdviceIsAboutTheSystem) {
  SystemFacts const regular(line(4, {}).view());
  SolveReport last;
  last.reason = Stop::stagnated;
  last.message = "gmres: stagnated after 5 iterations; use a larger restart";
  ChoiceReport singular;
  singular.outcome = "breakdown:singular_operator";
  ChoiceReport other;
  other.outcome = "stagnated";
  EXPECT_EQ(regular.closing(last, {singular, other}), last.message);
  std::string const closing = regular.closing(last, {singular, singular, other});
  EXPECT_TRUE(closing.starts_with("gmres: stagnated")) << closing;
  EXPECT_NE(closing.find("'nullspace'"), std::string::npos) << closing;
  EXPECT_EQ(closing.find("larger restart"), std::string::npos) << closing;
  EXPECT_EQ(regular.closing(last, {singular, singular}, true).find("lsmr"), std::string::npos)
      << "it was the last";
  SystemFacts const known(line(4, {1}).view());
  EXPECT_NE(known.closing(last, {other}).find("row 2 is empty"), std::string::npos);
  last.reason = Stop::max_iterations;
  EXPECT_EQ(known.closing(last, {singular, singular}), last.message) << "a limit is a limit";
}

}  // namespace
}  // namespace tcsolve::test
