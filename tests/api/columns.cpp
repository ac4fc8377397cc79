// SPDX-License-Identifier: Apache-2.0
/// Many right-hand sides are one solve: one time limit, and as many reports as columns, whatever
/// ends it.
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr Index n = 400, k = 6;

class Columns : public OnEachBackend {
 protected:
  std::vector<SolveReport> solved(std::string const& yaml, SolveCall const& callbacks) {
    X_ = Matrix::Constant(n, k, 0.5);
    LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(laplace(n)).view(), yaml);
    auto const start = Clock::now();
    auto reports = solver.solve_columns({B_.data(), n, k, n, Layout::col_major},
                                        {X_.data(), n, k, n, Layout::col_major}, callbacks);
    seconds_ = seconds_since(start);
    return reports;
  }
  Matrix const B_ = random_matrix(n, k, 3);
  Matrix X_;
  double seconds_ = 0;
};
TCSOLVE_ON_EACH_BACKEND(Columns);

std::vector<std::string> const methods{
    "solver: {type: cg, execution: eager",
    "solver: {type: deflated_cg, execution: eager",
    "operator: {reorder: rcm}\nsolver: {type: cg, execution: eager",
    "preconditioner: {type: none}\nsolver: {type: auto",
    "solver: {type: block_cg, execution: eager, columns: 2",
    "solver: {type: pseudo_block_cg, execution: eager, columns: 2"};

TEST_P(Columns, HaveOneTimeLimit) {
  if (GetParam() != Backend::host) GTEST_SKIP() << "a device's loop does not wait for its listener";
  constexpr double limit = 0.2;
  for (std::string const& method : methods) {
    SCOPED_TRACE(method);
    bool kept = false;
    for (int attempt = 0; attempt < 5 && !kept; ++attempt) {  // others may use this machine, too
      auto const reports = solved(cat(method, ", time_limit: ", limit, "}\n"),
                                  {.progress = [](IterationEvent const&) {
                                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                    return true;
                                  }});
      ASSERT_EQ(reports.size(), std::size_t(k));
      for (SolveReport const& r : reports) EXPECT_EQ(r.reason, Stop::time_limit) << r.message;
      EXPECT_GT(reports.front().iterations, 0);
      EXPECT_EQ(reports.back().iterations, 0);
      EXPECT_TRUE(std::isnan(reports.back().true_residual));
      EXPECT_THAT(reports.back().message,
                  HasSubstr("time_limit before it began; raise time_limit"));
      EXPECT_EQ(X_.col(k - 1), Column::Constant(n, 0.5)) << "its guess";
      kept = seconds_ <= 1.1 * limit + 0.05;
    }
    EXPECT_TRUE(kept) << seconds_;
  }
}

TEST_P(Columns, AreAllReportedAfterACancel) {
  for (std::string const& method : methods) {
    SCOPED_TRACE(method);
    auto const reports =
        solved(method + "}\n", {.progress = [](IterationEvent const&) { return false; }});
    ASSERT_EQ(reports.size(), std::size_t(k));
    for (SolveReport const& r : reports) EXPECT_EQ(r.reason, Stop::cancelled) << r.message;
    EXPECT_THAT(reports.back().message, HasSubstr("cancelled before it began"));
    EXPECT_EQ(X_.col(k - 1), Column::Constant(n, 0.5));
    EXPECT_FALSE(ctx().cancelled());
  }
  std::stop_source before_the_first;
  before_the_first.request_stop();
  for (std::string const& method : methods)
    for (SolveReport const& r : solved(method + "}\n", {.stop = before_the_first.get_token()}))
      EXPECT_EQ(r.reason, Stop::cancelled) << method;
}

TEST_P(Columns, OfASolverOfItsOwnLikewise) {
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), csr(laplace(n)).view());
  Cg<double> cg({.stopping = {.time_limit = 1e-9}});
  Matrix X = Matrix::Zero(n, k);
  EXPECT_THROW(cg.solve_columns({B_.data(), n, k, n, Layout::col_major},
                                {X.data(), n, k, n, Layout::col_major}),
               ShapeError);
  cg.setup(ctx(), A);
  auto const reports = cg.solve_columns({B_.data(), n, k, n, Layout::col_major},
                                        {X.data(), n, k, n, Layout::col_major});
  ASSERT_EQ(reports.size(), std::size_t(k));
  for (SolveReport const& r : reports) EXPECT_EQ(r.reason, Stop::time_limit);
}

/// P^T A P = 0 with A P != 0 is no singular A, however many columns P has.
TEST_P(Columns, AnIndefiniteMatrixIsCalledSo) {
  Matrix a = Matrix::Zero(40, 40);
  for (Index i = 0; i < 40; i += 2) a(i, i + 1) = a(i + 1, i) = 1;
  Column const b = random_column(40, 8);
  for (std::string const keys : {"type: cg", "type: block_cg", "type: block_cg, enlarge: 4",
                                 "type: block_cg, enlarge: 64", "type: pseudo_block_cg"}) {
    LinearSolver solver =
        LinearSolver::from_yaml(ctx(), csr(a).view(), cat("solver: {", keys, "}\n"));
    Column x = Column::Zero(40);
    SolveReport const r = solve(solver, b, x);
    EXPECT_EQ(r.reason, Stop::indefinite_operator) << keys << ": " << r.message;
    EXPECT_THAT(r.message, HasSubstr("use minres"));
  }
  // Seventeen columns, and a matrix that is skew: every direction has curvature 0.
  Matrix skew = Matrix::Zero(30, 30);
  for (Index i = 0; i + 1 < 30; ++i) skew(i, i + 1) = 1 + 0.1 * i, skew(i + 1, i) = -1 - 0.1 * i;
  LinearSolver solver =
      LinearSolver::from_yaml(ctx(), csr(skew).view(), "solver: {type: block_cg}\n");
  Matrix const B = random_matrix(30, 17, 4);
  Matrix X = Matrix::Zero(30, 17);
  for (SolveReport const& r : solver.solve_columns({B.data(), 30, 17, 30, Layout::col_major},
                                                   {X.data(), 30, 17, 30, Layout::col_major}))
    EXPECT_EQ(r.reason, Stop::indefinite_operator) << r.message;
  // A singular one is still called singular.
  Matrix half = Matrix::Zero(8, 8);
  for (Index i = 0; i < 4; ++i) half(i, i) = 1 + i;
  LinearSolver other =
      LinearSolver::from_yaml(ctx(), csr(half).view(), "solver: {type: block_cg, enlarge: 8}\n");
  Column const e = Column::Ones(8);
  Column x = Column::Zero(8);
  SolveReport const r = solve(other, e, x);
  EXPECT_EQ(r.outcome(), "breakdown:singular_operator") << r.message;
}

TEST_P(Columns, TheSharedCaseIsIndefinite) {
  auto const folder = shared_case("adversary/18");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not there";
  Csr<double> const a = read_matrix(folder / "a.mtx");
  std::vector<double> const b = read_vector_file(folder / "b.txt", "b");
  for (std::string const keys : {"type: cg", "type: block_cg", "type: block_cg, enlarge: 4",
                                 "type: block_cg, enlarge: 64", "type: pseudo_block_cg"}) {
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), cat("operator: {format: csr}\nsolver: {", keys, "}\n"));
    std::vector<double> x(b.size());
    EXPECT_EQ(solver.solve(b, x).reason, Stop::indefinite_operator) << keys;
  }
}

}  // namespace
}  // namespace tcsolve::test
