// SPDX-License-Identifier: Apache-2.0
/// When a preconditioner of old values is made anew, and that the answer is right in any case.
#include <tcsolve/api/renewal.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/api/systems.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

// Where solves take longer and longer, the stretch that it ends is the cheapest of all.
TEST(Renewal, EndsTheCheapestStretch) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(0, 1);
  for (int system = 0; system < 200; ++system) {
    double const setup = 20 * draw(random);
    std::vector<double> seconds(400);
    for (double& t : seconds) t = 5 * draw(random);
    std::ranges::sort(seconds);
    std::vector<double> cost;
    double spent = setup;
    for (std::size_t k = 0; k < seconds.size(); ++k)
      cost.push_back((spent += seconds[k]) / static_cast<double>(k + 1));
    std::size_t const best = std::ranges::min_element(cost) - cost.begin();
    Renewal renewal;
    renewal.renewed(setup);
    std::size_t served = 0;
    while (served < seconds.size() && !renewal.due()) renewal.solved(seconds[served++]);
    if (best + 1 < seconds.size())
      EXPECT_EQ(served, best + 2) << "the first solve beyond the cheapest stretch";
    else
      EXPECT_FALSE(renewal.due());
  }
}

TEST(Renewal, ForgetsWhatWasBefore) {
  Renewal renewal;
  renewal.renewed(1);
  for (double const t : {1.0, 1.0, 9.0}) renewal.solved(t);
  EXPECT_TRUE(renewal.due());
  renewal.renewed(100);
  EXPECT_FALSE(renewal.due());
  renewal.solved(9);
  renewal.solved(9);
  EXPECT_FALSE(renewal.due()) << "each of the two has cost 59";
}

class Renewals : public OnEachBackend {
 protected:
  LinearSolver solver_of(std::string const& yaml, Matrix const& a) {
    return LinearSolver::from_yaml(ctx(), csr(a).view(), yaml);
  }
  /// M e_1.
  Column column(LinearSolver& solver, Index n) {
    Column e = Column::Zero(n), y = Column::Zero(n);
    e[0] = 1;
    Vector<double> in(ctx().space(), n), out(ctx().space(), n);
    copy_bytes(ctx(), in.view().data, ctx().space(), e.data(), Space::host, sizeof(double) * n);
    solver.M()->apply(ctx(), in, out.view());
    copy_bytes(ctx(), y.data(), Space::host, out.view().data, ctx().space(), sizeof(double) * n);
    return y;
  }
};
TCSOLVE_ON_EACH_BACKEND(Renewals);

constexpr Index n = 120;

/// (In FP64 the finest level of amg is A itself, and has its values whatever `renew` says.)
TEST_P(Renewals, GoByTheOption) {
  for (std::string const type : {"jacobi", "ic", "ilu", "block_jacobi", "direct",
                                 "amg, coarse_size: 20, values: fp32", "auto"})
    for (std::string const renew : {"always", "never"}) {
      SCOPED_TRACE(type + ", " + renew);
      LinearSolver solver = solver_of(
          cat("solver: {type: cg}\npreconditioner: {type: ", type, "}\nrenew: ", renew, "\n"),
          at_time(0));
      Column const b = random_column(n, 1), before = column(solver, n);
      for (int step = 1; step <= 5; ++step) {
        Matrix const a = at_time(0.1 * step);
        solver.update_values(csr(a).view());
        Column x = Column::Zero(n);
        SolveReport const report = solve(solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        expect_solved(a, b, x, 1e-8);
        EXPECT_EQ(solver.setup_report().updates, step);
        EXPECT_EQ(solver.setup_report().renewals, renew == "always" ? step : 0);
        EXPECT_EQ(column(solver, n) == before, renew == "never");
      }
      EXPECT_EQ(solver.setup_report().renewal > 0, renew == "always");
    }
}

TEST_P(Renewals, ComeWhereTheOldOneFails) {
  for (std::string const renew : {"never", "auto"}) {
    SCOPED_TRACE(renew);
    LinearSolver solver = solver_of(
        cat("solver: {type: gmres, max_iters: 4}\npreconditioner: {type: direct}\nrenew: ", renew,
            "\n"),
        at_time(0));
    Column const b = random_column(n, 1);
    Column x = Column::Zero(n);
    EXPECT_TRUE(solve(solver, b, x).converged());
    Matrix const other = at_time(9);
    solver.update_values(csr(other).view());
    x.setZero();
    SolveReport const report = solve(solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_GT(report.iterations, 4) << "those with the old one count";
    EXPECT_GT(report.setup_seconds, 0);
    ASSERT_GT(report.history.size(), 4u);
    EXPECT_GE(report.history[4].seconds, report.history[3].seconds + report.setup_seconds);
    EXPECT_LE(report.history.back().seconds, report.seconds + report.setup_seconds);
    EXPECT_TRUE(report.choices.empty()) << "both are named";
    expect_solved(other, b, x, 1e-8);
    EXPECT_EQ(solver.setup_report().renewals, 1);
    x.setZero();
    EXPECT_LE(solve(solver, b, x).iterations, 2) << "the new one stays";
    EXPECT_EQ(solver.setup_report().renewals, 1);
  }
}

/// New values of which no preconditioner can be made: the old one stays, the report of the solve
/// that ended is there and says why, and the solver goes on.
TEST_P(Renewals, ThatFailKeepTheOldOne) {
  Matrix const a = at_time(0);
  Matrix zero = a;  // a row of zeros, on the same pattern
  Csr<double> broken = csr(a);
  for (Offset k = broken.offsets[5]; k < broken.offsets[6]; ++k) {
    zero(5, broken.columns[k]) = 0;
    broken.values[k] = 0;
  }
  Column const b = random_column(n, 1);
  for (std::string const renew : {"never", "auto"})
    for (std::string const type :
         {"jacobi", "ic", "fsai", "block_jacobi", "direct", "ilu", "amg, coarse_size: 20"}) {
      SCOPED_TRACE(type + ", " + renew);
      LinearSolver solver = solver_of(cat("solver: {type: gmres, max_iters: 100}\n"
                                          "preconditioner: {type: ",
                                          type, "}\nrenew: ", renew, "\n"),
                                      a);
      Column x = Column::Zero(n);
      EXPECT_TRUE(solve(solver, b, x).converged());
      OperatorPtr<double> const before = solver.M();
      solver.update_values(broken.view());
      x.setZero();
      SolveReport const report = solve(solver, b, x);
      EXPECT_FALSE(report.converged());
      EXPECT_LT(report.true_residual, b.norm()) << "it did end by itself";
      ASSERT_TRUE(solver.ready());
      if (solver.setup_report().renewals == 0) {  // some are made of anything
        EXPECT_THAT(report.message, HasSubstr("a preconditioner of the new values could not be "
                                              "made: "));
        EXPECT_EQ(solver.M(), before);
      }
      Matrix const later = at_time(1);
      solver.update_values(csr(later).view());
      x.setZero();
      EXPECT_TRUE(solve(solver, b, x).converged());
      expect_solved(later, b, x, 1e-8);
    }
}

TEST_P(Renewals, ThatFailKeepTheOldOneForColumnsToo) {
  Matrix const a = at_time(0);
  Csr<double> broken = csr(a);
  for (Offset k = broken.offsets[5]; k < broken.offsets[6]; ++k) broken.values[k] = 0;
  LinearSolver solver = solver_of(
      "solver: {type: block_cg, max_iters: 30}\npreconditioner: {type: jacobi}\nrenew: never\n", a);
  Matrix const B = random_matrix(n, 3, 2);
  Matrix X = Matrix::Zero(n, 3);
  solver.update_values(broken.view());
  auto const reports = solver.solve_columns({B.data(), n, 3, n, Layout::col_major},
                                            {X.data(), n, 3, n, Layout::col_major});
  EXPECT_EQ(reports.size(), 3u);
  EXPECT_TRUE(solver.ready());
  EXPECT_NE(solver.M(), nullptr);
}

// What no preconditioner mends is not tried again.
TEST_P(Renewals, LeaveOtherEndsAsTheyAre) {
  LinearSolver solver =
      solver_of("solver: {type: cg}\npreconditioner: {type: jacobi}\nrenew: never\n", at_time(0));
  Column b = random_column(n, 1), x = Column::Zero(n);
  solver.update_values(csr(at_time(1)).view());
  b[3] = std::numeric_limits<double>::infinity();
  SolveReport const report = solve(solver, b, x);
  EXPECT_EQ(report.reason, Stop::nonfinite);
  EXPECT_EQ(solver.setup_report().renewals, 0);
}

}  // namespace
}  // namespace tcsolve::test
