// SPDX-License-Identifier: Apache-2.0
/// Orders and patterns of factors are found once for a set-up, whoever asks before it how long it
/// will take.
#include <tcsolve/api/ranking.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/api/systems.hpp"

namespace tcsolve::test {
namespace {

/// Counts the plans of factorisations.
struct Plans : RangeListener {
  void open(char const* name) override { count += std::string(name) == "factor_plan"; }
  void close() noexcept override {}
  int count = 0;
};

TEST(PlansOfFactors, AreMadeOnceForACandidateOfARace) {
  Context ctx(Backend::host);
  Plans plans;
  ctx.listen(&plans);
  Csr<double> const a = generate(ConvdiffParams{.n = 7});
  std::vector<double> const b(static_cast<std::size_t>(a.rows), 1.0);
  std::map<std::string, int> rounds, made;
  int before = 0;
  RankingParams params;
  params.all = true;
  params.watch = [&](RankedChoice const& c, bool over) {
    if (!over) {
      before = plans.count;
      ++rounds[c.preconditioner];
    } else {
      made[c.preconditioner] = plans.count - before;
    }
  };
  auto const list = ranking(ctx, a.view(), b, params);
  ASSERT_TRUE(list.front().solved());
  ASSERT_TRUE(made.contains("{type: direct}"));
  EXPECT_EQ(made["{type: direct}"], 1) << "in the round in which it was set up";
  for (auto const& [preconditioner, count] : made) EXPECT_LE(count, 1) << preconditioner;
}

/// Complete factors that auto has weighed, and those of a solve with a deadline.
TEST(PlansOfFactors, AreMadeOnceForAChoiceOfAuto) {
  for (char const* const limit : {"", ", time_limit: 1000"}) {
    SCOPED_TRACE(limit);
    Context ctx(Backend::host);
    Plans plans;
    Matrix m = Matrix::Zero(6, 6);
    for (Index i = 0; i < 5; ++i) m(i, (i + 1) % 5) = 2;
    m(5, 0) = m(5, 1) = 2;
    LinearSolver solver = LinearSolver::from_yaml(
        ctx, csr(m).view(), cat("solver: {type: auto", limit, "}\npreconditioner: {type: auto}\n"));
    ctx.listen(&plans);
    Column const b = Column::Ones(6);
    Column x = Column::Zero(6);
    SolveReport const r = solve(solver, b, x);
    ASSERT_GE(r.choices.size(), 3u) << r.message;
    EXPECT_EQ(r.choices[1].preconditioner, "direct") << "weighed";
    int factorised = 0;  // in this solve: all but the first, which was set up with the matrix
    for (std::size_t k = 1; k < r.choices.size(); ++k)
      factorised += r.choices[k].preconditioner == "direct" || r.choices[k].preconditioner == "ilu";
    EXPECT_EQ(plans.count, factorised);
  }
}

}  // namespace
}  // namespace tcsolve::test
