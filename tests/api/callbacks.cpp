// SPDX-License-Identifier: Apache-2.0
/// A caller hears of the iterations and may end a solve.
#include <stdexcept>
#include <thread>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

class LinearSolverCallbacks : public OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    if (IsSkipped()) return;
    // Each step is launched by the host, which sees every one of them.
    solver_.emplace(ctx(), a_.view(),
                    SolverOptions{.solver = {"cg", CgParams{.stopping = {.rtol = 1e-11},
                                                            .execution = Execution::eager}}});
    Column x = Column::Zero(a_.rows);
    whole_ = solve(*solver_, b_, x);
    ASSERT_TRUE(whole_.converged());
    ASSERT_GT(whole_.iterations, 20);
  }
  SolveReport solve_with(SolveCall const& callbacks) {
    x_.setZero();
    return solve(*solver_, b_, x_, callbacks);
  }
  void expect_converges() { EXPECT_EQ(solve_with({}).history.size(), whole_.history.size()); }

  Csr<double> const a_ = csr(laplace(60));
  Column const b_ = random_column(60, 4);
  Column x_ = Column::Zero(60);
  std::optional<LinearSolver> solver_;
  SolveReport whole_;
};
TCSOLVE_ON_EACH_BACKEND(LinearSolverCallbacks);

TEST_P(LinearSolverCallbacks, HearOfIterations) {
  std::vector<Record> heard;
  SolveReport const report = solve_with({.progress = [&](IterationEvent const& event) {
    EXPECT_EQ(event.solver, "cg");
    EXPECT_GT(event.tolerance, 0);
    heard.push_back({event.iteration, event.norm});
    return true;
  }});
  EXPECT_TRUE(report.converged());
  ASSERT_FALSE(heard.empty());
  for (std::size_t i = 1; i < heard.size(); ++i)
    EXPECT_GT(heard[i].iteration, heard[i - 1].iteration);
  if (GetParam() == Backend::host) {  // a device goes on while it is looked at
    EXPECT_EQ(heard.size(), report.history.size());
    for (Record const& record : heard)
      EXPECT_NEAR(record.norm, report.history[record.iteration - 1].norm, 1e-12 * record.norm);
  }
  std::size_t const so_far = heard.size();
  expect_converges();
  EXPECT_EQ(heard.size(), so_far) << "of one solve alone";
}

TEST_P(LinearSolverCallbacks, HearOfEverySoManyth) {
  std::vector<Index> heard;
  solve_with({.progress =
                  [&](IterationEvent const& event) {
                    heard.push_back(event.iteration);
                    return true;
                  },
              .every = 7});
  ASSERT_FALSE(heard.empty());
  if (GetParam() == Backend::host)
    for (std::size_t i = 0; i < heard.size(); ++i) EXPECT_EQ(heard[i], 7 * Index(i + 1));
  for (std::size_t i = 1; i < heard.size(); ++i) EXPECT_GE(heard[i] / 7, heard[i - 1] / 7 + 1);
}

TEST_P(LinearSolverCallbacks, EndASolve) {
  SolveReport const report =
      solve_with({.progress = [](IterationEvent const& event) { return event.iteration < 4; }});
  EXPECT_EQ(report.reason, Stop::cancelled);
  EXPECT_EQ(report.outcome(), "cancelled");
  EXPECT_LT(report.iterations, whole_.iterations);
  EXPECT_GE(report.iterations, 4);
  if (GetParam() == Backend::host) EXPECT_LE(report.iterations, 5) << "after the one it is in";
  EXPECT_NEAR(report.true_residual, (b_ - laplace(60) * x_).norm(), 1e-12 * b_.norm());
  EXPECT_FALSE(ctx().cancelled());
  expect_converges();
}

TEST_P(LinearSolverCallbacks, ThatThrowEndASolveToo) {
  EXPECT_THROW(solve_with({.progress = [](IterationEvent const&) -> bool {
                 throw std::domain_error("enough");
               }}),
               std::domain_error);
  expect_converges();
}

TEST_P(LinearSolverCallbacks, ATokenEndsASolve) {
  std::stop_source source;
  SolveReport report = solve_with({.progress =
                                       [&](IterationEvent const& event) {
                                         if (event.iteration >= 3)
                                           std::thread([&] { source.request_stop(); }).join();
                                         return true;
                                       },
                                   .stop = source.get_token()});
  EXPECT_EQ(report.reason, Stop::cancelled);
  EXPECT_LT(report.iterations, whole_.iterations);
  // Requested already: the solve ends as it begins.
  report = solve_with({.stop = source.get_token()});
  EXPECT_EQ(report.reason, Stop::cancelled);
  EXPECT_LE(report.iterations, 5);
  EXPECT_FALSE(ctx().cancelled());
  expect_converges();
  EXPECT_TRUE(solve_with({.stop = std::stop_source().get_token()}).converged());
}

TEST_P(LinearSolverCallbacks, ACancellationFromElsewhereStands) {
  ctx().cancel();
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(solve_with({.stop = source.get_token()}).reason, Stop::cancelled);
  EXPECT_TRUE(ctx().cancelled());
  ctx().clear_cancel();
  expect_converges();
}

TEST_P(LinearSolverCallbacks, EndASolveOfSeveralColumns) {
  Matrix const B = random_matrix(60, 3, 2);
  Matrix X = Matrix::Zero(60, 3);
  int solves = 1;
  Index last = 0;
  auto const first_alone = [&](IterationEvent const& event) {
    if (event.iteration <= last) ++solves;
    last = event.iteration;
    return solves < 2;
  };
  auto const reports =
      solver_->solve_columns({B.data(), 60, 3, 60, Layout::col_major},
                             {X.data(), 60, 3, 60, Layout::col_major}, {.progress = first_alone});
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_TRUE(reports[0].converged());
  EXPECT_EQ(reports[1].reason, Stop::cancelled);
  EXPECT_EQ(reports[2].reason, Stop::cancelled) << "it was not begun";
  EXPECT_EQ(X.col(2), Column::Zero(60));
}

/// Inner solves are not what the caller asked about.
TEST_P(LinearSolverCallbacks, HearOfTheOuterMethodAlone) {
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), a_.view(),
      "solver: {type: fgmres}\npreconditioner: {type: solver, solver: {type: cg, max_iters: 6}}\n");
  Index last = 0;
  SolveReport const report = solve(solver, b_, x_, {.progress = [&](IterationEvent const& event) {
                                     EXPECT_EQ(event.solver, "fgmres");
                                     EXPECT_GT(event.iteration, last);
                                     last = event.iteration;
                                     return true;
                                   }});
  EXPECT_LE(last, report.iterations);
  if (GetParam() == Backend::host) EXPECT_EQ(last, report.iterations);
}

/// A solve inside the solve is told by its depth: its method may have the same name.
TEST_P(LinearSolverCallbacks, HearOfNoInnerSolveOfTheSameName) {
  LinearSolver outer = LinearSolver::from_yaml(
      ctx(), a_.view(),
      "solver: {type: fgmres, max_iters: 8}\n"
      "preconditioner: {type: solver, solver: {type: fgmres, max_iters: 3}}\n");
  std::vector<Index> heard;
  SolveReport const report = solve(outer, b_, x_, {.progress = [&](IterationEvent const& event) {
                                     heard.push_back(event.iteration);
                                     return true;
                                   }});
  ASSERT_FALSE(heard.empty()) << report.message;
  for (std::size_t i = 1; i < heard.size(); ++i) EXPECT_GT(heard[i], heard[i - 1]);
  EXPECT_LE(heard.size(), std::size_t(report.iterations));
  if (GetParam() == Backend::host) EXPECT_EQ(heard.back(), report.iterations);
}

/// Whichever of the two is `auto`.
TEST_P(LinearSolverCallbacks, HearOfWhatAutoTries) {
  for (std::string const yaml : {"solver: {type: cg}\npreconditioner: {type: auto}\n",
                                 "solver: {type: auto}\npreconditioner: {type: jacobi}\n",
                                 "solver: {type: auto}\npreconditioner: {type: auto}\n"})
    for (Index const end : {Index{1000}, Index{1}}) {
      LinearSolver solver = LinearSolver::from_yaml(ctx(), a_.view(), yaml);
      int calls = 0;
      x_.setZero();
      SolveReport const report = solve(solver, b_, x_, {.progress = [&](IterationEvent const& e) {
                                         ++calls;
                                         EXPECT_EQ(e.solver, "cg");
                                         return e.iteration < end;
                                       }});
      EXPECT_GT(calls, 0) << yaml;
      // The loop of a device may be done before its listener has spoken.
      bool const waits = GetParam() == Backend::host;
      if (end == 1 && report.iterations > 1 && (waits || !report.converged()))
        EXPECT_EQ(report.reason, Stop::cancelled) << yaml;
    }
}

}  // namespace
}  // namespace tcsolve::test
