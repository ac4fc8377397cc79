// SPDX-License-Identifier: Apache-2.0
/// `auto` keeps the limits of a solve over all that it tries, sets nothing up in vain, has one
/// preconditioner at a time, and says what ended a solve.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <thread>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

constexpr char const* all_auto = "solver: {type: auto}\npreconditioner: {type: auto}\n";

/// Iterations of cg with jacobi on the host that gain too little.
constexpr int trial = 100;

/// The set-ups that auto begins, and sleep where it is asked for.
struct Watcher : Observer {
  std::vector<std::string> begun;
  double per_setup = 0, at_the_end_of_the_trial = 0;
  static void sleep(double seconds) {
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  void on(LogEvent const& event) override {
    if (!event.text.starts_with("auto: ") || event.text.find(", since ") == std::string::npos)
      return;
    begun.push_back(event.text);
    sleep(per_setup);
  }
  void on(IterationEvent const& event) override {
    if (event.iteration == trial) sleep(at_the_end_of_the_trial);
  }
};

/// cg with jacobi does not solve it within its trial, and ic does.
Csr<double> slow_with_jacobi() { return beam(); }

/// Nonsymmetric, singular, and e is outside its range: nothing solves it.
Csr<double> hopeless() {
  Matrix m = Matrix::Zero(6, 6);
  for (Index i = 0; i < 5; ++i) m(i, (i + 1) % 5) = 2;
  m(5, 0) = 2;
  m(5, 1) = 2;  // the sum of two others
  return csr(m);
}

class AutoLimits : public OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    if (!IsSkipped()) ctx().attach(&watcher_);
  }
  void TearDown() override {
    if (!IsSkipped()) ctx().detach(&watcher_);
  }
  LinearSolver solver_of(Csr<double> const& a, std::string const& yaml) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), yaml);
    watcher_.begun.clear();
    return solver;
  }
  static SolveReport solved(LinearSolver& solver, Index n) {
    Column const b = Column::Ones(n);
    Column x = Column::Zero(n);
    return solve(solver, b, x);
  }
  Watcher watcher_;
};
TCSOLVE_ON_EACH_BACKEND(AutoLimits);

TEST_P(AutoLimits, IterationsAreThoseOfTheSolve) {
  Csr<double> const a = slow_with_jacobi();
  for (std::string const rest :
       {"type: auto, max_iters: ", "type: cg, max_iters: ", "type: gmres, max_iters: "})
    for (int const most : {0, 1, 3, 20, trial + 2}) {
      SCOPED_TRACE(cat(rest, most));
      LinearSolver solver = solver_of(
          a, cat("solver: {rtol: 1e-14, ", rest, most, "}\npreconditioner: {type: auto}\n"));
      for (int solve = 0; solve < 2; ++solve) {
        SolveReport const r = solved(solver, a.rows);
        EXPECT_LE(r.iterations, most);
        if (r.converged() || r.reason == Stop::precision_limit) continue;
        EXPECT_EQ(r.reason, Stop::max_iterations) << r.message;
        EXPECT_EQ(r.iterations, most);
        EXPECT_THAT(r.message, HasSubstr(cat("max_iterations after ", most, " iteration")));
        EXPECT_THAT(r.message, HasSubstr("raise max_iters"));
      }
    }
}

/// What a choice had left of the first solve is not what the next solve is given.
TEST_P(AutoLimits, EachSolveHasThemAnew) {
  if (ctx().space() != Space::host) GTEST_SKIP() << "jacobi is given more iterations";
  Csr<double> const a = slow_with_jacobi();
  LinearSolver solver = solver_of(
      a, "solver: {type: cg, rtol: 1e-8, max_iters: 101}\npreconditioner: {type: auto}\n");
  SolveReport r = solved(solver, a.rows);
  ASSERT_EQ(r.choices.size(), 2u) << r.message;
  EXPECT_EQ(r.choices[1].preconditioner, "ic");
  EXPECT_EQ(r.choices[1].iterations, 1);
  r = solved(solver, a.rows);
  EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_GE(r.iterations, 1);
  EXPECT_EQ(r.choices.size(), 1u);
}

/// The limit that auto gives a choice is not the user's.
TEST_P(AutoLimits, ItsOwnAreNotTheUsers) {
  Csr<double> const a = hopeless();
  LinearSolver solver = solver_of(a, all_auto);
  SolveReport const r = solved(solver, a.rows);
  EXPECT_FALSE(r.converged());
  EXPECT_THAT(r.message, Not(HasSubstr("raise max_iters")));
}

/// The time was up when a trial of auto's own ended.
TEST_P(AutoLimits, TheTimeThatWasUpIsTheOutcome) {
  if (ctx().space() != Space::host) GTEST_SKIP() << "the host sees not every iteration";
  Csr<double> const a = slow_with_jacobi();
  watcher_.at_the_end_of_the_trial = 1.0;
  for (std::string const type : {"auto", "cg"}) {
    LinearSolver solver = solver_of(
        a, cat("solver: {type: ", type, ", time_limit: 1.0}\npreconditioner: {type: auto}\n"));
    SolveReport const r = solved(solver, a.rows);
    EXPECT_EQ(r.reason, Stop::time_limit) << r.message;
    EXPECT_THAT(r.message, HasSubstr("raise time_limit"));
    EXPECT_THAT(r.message, Not(HasSubstr("raise max_iters")));
    EXPECT_TRUE(watcher_.begun.empty()) << "nothing is set up afterwards";
  }
}

TEST_P(AutoLimits, TheFirstGuessIsTheBaseline) {
  Csr<double> const a = slow_with_jacobi();
  for (std::string const type : {"cg", "auto"}) {
    LinearSolver solver = solver_of(a, cat("solver: {type: ", type,
                                           ", rtol: 1e-6, baseline: initial}\n"
                                           "preconditioner: {type: auto}\n"));
    for (double const size : {1e3, 1.0}) {
      Column const b = Column::Ones(a.rows);
      Column x = size * random_column(a.rows, 5);
      SolveReport const r = solve(solver, b, x);
      EXPECT_TRUE(r.converged()) << r.message;
      EXPECT_NEAR(r.tolerance, 1e-6 * r.initial_residual, 1e-14 * r.initial_residual);
      EXPECT_LE(r.true_residual, 1e-6 * r.initial_residual);
      if (size == 1e3 && ctx().space() == Space::host) EXPECT_GE(r.choices.size(), 2u);
    }
  }
}

TEST_P(AutoLimits, NothingIsSetUpInVain) {
  Csr<double> const a = hopeless();
  LinearSolver solver = solver_of(a, all_auto);
  watcher_.per_setup = 0.02;
  auto const start = Clock::now();
  SolveReport const r = solved(solver, a.rows);
  double const wall = seconds_since(start);
  EXPECT_FALSE(r.converged());
  // The first was set up with the matrix.
  EXPECT_EQ(watcher_.begun.size() + 1, r.choices.size());
  EXPECT_GE(r.seconds + r.setup_seconds, 0.9 * wall);
  EXPECT_LE(r.seconds + r.setup_seconds, wall);
  EXPECT_GE(r.setup_seconds, 0.02 * static_cast<double>(watcher_.begun.size()));
  watcher_.begun.clear();
  EXPECT_FALSE(solved(solver, a.rows).converged());
  EXPECT_LE(watcher_.begun.size(), 1u) << "what ran last, where it is not set up any more";
}

/// After an incomplete factorisation that failed, complete ones of little cost come first.
TEST_P(AutoLimits, CompleteFactorsAreWeighed) {
  if (ctx().space() != Space::host) GTEST_SKIP() << "jacobi comes first";
  Csr<double> const a = hopeless();
  LinearSolver solver = solver_of(a, all_auto);
  SolveReport const r = solved(solver, a.rows);
  ASSERT_GE(r.choices.size(), 3u);
  EXPECT_EQ(r.choices[0].preconditioner, "ilu");
  EXPECT_EQ(r.choices[1].preconditioner, "direct");
  EXPECT_EQ(r.choices[2].preconditioner, "ilu") << "then the others";
}

/// One preconditioner at a time, which M() names, before and after new values.
TEST_P(AutoLimits, OneOwnerOfM) {
  Csr<double> const a = slow_with_jacobi();
  Csr<double> scaled = a;
  for (double& v : scaled.values) v *= 1.25;
  for (std::string const type : {"auto", "cg"})
    for (std::string const renew : {"always", "auto", "never"}) {
      SCOPED_TRACE(cat(type, ", ", renew));
      LinearSolver solver = solver_of(a, cat("solver: {type: ", type,
                                             ", rtol: 1e-8}\npreconditioner: {type: auto}\n"
                                             "renew: ",
                                             renew, "\n"));
      std::weak_ptr<LinearOperator<double> const> const first = solver.M();
      EXPECT_FALSE(first.expired());
      SolveReport r = solved(solver, a.rows);
      ASSERT_TRUE(r.converged()) << r.message;
      EXPECT_EQ(solver.M()->name(), r.choices.back().preconditioner);
      EXPECT_EQ(solver.setup_report().preconditioner, solver.M()->details());
      EXPECT_EQ(first.expired(), r.choices.size() > 1);
      std::string const taken = solver.M()->name();
      for (int step = 0; step < 2; ++step) {
        solver.update_values(step == 0 ? scaled.view() : a.view());
        EXPECT_EQ(solver.M()->name(), taken);
        r = solved(solver, a.rows);
        EXPECT_TRUE(r.converged()) << r.message;
        EXPECT_EQ(r.choices.size(), 1u) << "what has converged stays: " << r.message;
        EXPECT_EQ(solver.M()->name(), taken);
        EXPECT_EQ(r.choices.back().preconditioner, taken);
      }
      EXPECT_EQ(solver.setup_report().renewals, renew == "always" ? 2 : 0);
    }
}

Csr<double> chain(double diagonal, double beside, double asymmetry = 0) {
  Matrix m = Matrix::Zero(60, 60);
  for (Index i = 0; i < 60; ++i) {
    m(i, i) = diagonal + 0.01 * (i % 5);
    if (i + 1 < 60) m(i, i + 1) = beside + 0.1 * (i % 3), m(i + 1, i) = m(i, i + 1) + asymmetry;
  }
  return csr(m);
}

/// The list follows the values: cg comes back with a definite matrix.
TEST_P(AutoLimits, CgComesBack) {
  for (double const asymmetry : {0.0, 1.0}) {
    LinearSolver solver = solver_of(chain(1, 3, asymmetry), all_auto);
    EXPECT_EQ(solved(solver, 60).choices.back().solver, "gmres");
    std::string last;
    for (int step = 0; step < 2; ++step) {
      solver.update_values(chain(8, -2).view());
      SolveReport const r = solved(solver, 60);
      EXPECT_TRUE(r.converged()) << r.message;
      last = r.choices.back().solver;
    }
    EXPECT_EQ(last, "cg") << asymmetry;
    // And what is indefinite again is found out by the solve.
    solver.update_values(chain(1, 3).view());
    SolveReport const r = solved(solver, 60);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_EQ(r.choices.back().solver, "gmres");
  }
}

/// Values that the preconditioner at work cannot be made of lead to another choice.
TEST_P(AutoLimits, AnUpdateThatFailsGoesOn) {
  for (std::string const renew : {"always", "auto", "never"}) {
    LinearSolver solver = solver_of(chain(8, -2), cat(all_auto, "renew: ", renew, "\n"));
    EXPECT_TRUE(solved(solver, 60).converged());
    Matrix m = Matrix::Zero(60, 60);  // rows in pairs: no diagonal at all
    for (Index i = 0; i < 60; ++i) {
      m(i, i) = 0;
      if (i % 2 == 0) m(i, i + 1) = m(i + 1, i) = 3 + 0.1 * i;
    }
    Csr<double> other = chain(8, -2);
    for (Index i = 0; i < 60; ++i)
      for (Offset k = other.offsets[i]; k < other.offsets[i + 1]; ++k)
        other.values[k] = m(i, other.columns[k]);
    solver.update_values(other.view());
    SolveReport const r = solved(solver, 60);
    EXPECT_TRUE(r.converged()) << renew << ": " << r.message;
    EXPECT_TRUE(solver.ready());
  }
}

/// Cancelled while the second choice is set up: the first one's report is there.
TEST_P(AutoLimits, ACancelInASetUpKeepsTheReport) {
  struct Canceller : Observer {
    Context* ctx = nullptr;
    void on(LogEvent const& event) override {
      if (event.text.find("auto: gmres") == 0) ctx->cancel();
    }
  } canceller;
  LinearSolver solver = solver_of(chain(1, 3), all_auto);
  canceller.ctx = &ctx();
  ctx().attach(&canceller);
  SolveReport const r = solved(solver, 60);
  ctx().detach(&canceller);
  ctx().clear_cancel();
  EXPECT_EQ(r.reason, Stop::cancelled) << r.message;
  ASSERT_GE(r.choices.size(), 1u);
  EXPECT_EQ(r.choices[0].outcome, "indefinite_operator");
  EXPECT_TRUE(solved(solver, 60).converged());
}

/// Systems that once took more iterations than they were given, or tightened their tolerance.
TEST_P(AutoLimits, KeepsThoseOfTheSharedCases) {
  auto const iterations = shared_case("adversary/07");
  if (iterations.empty()) GTEST_SKIP() << "the shared cases are not there";
  Csr<double> const n = read_matrix(iterations / "n.mtx"), s = read_matrix(iterations / "s.mtx");
  for (int const most : {1, 3, 20, 40}) {
    for (std::string const& yaml :
         {cat("solver: {type: auto, max_iters: ", most, "}\npreconditioner: {type: none}\n"),
          cat("solver: {type: gmres, max_iters: ", most, "}\npreconditioner: {type: auto}\n")}) {
      LinearSolver solver = solver_of(n, yaml);
      EXPECT_LE(solved(solver, n.rows).iterations, most) << yaml;
    }
    LinearSolver solver = solver_of(s, cat("solver: {type: auto, max_iters: ", most,
                                           "}\npreconditioner: {type: ic, values: fp32}\n"
                                           "operator: {format: csr}\n"));
    EXPECT_LE(solved(solver, s.rows).iterations, most);
  }
  Csr<double> const cv = read_matrix(shared_case("adversary/08") / "cv.mtx");
  LinearSolver solver =
      solver_of(cv,
                "solver: {type: gmres, baseline: initial, rtol: 1e-6, restart: 2, max_iters: 12}\n"
                "preconditioner: {type: auto}\n");
  Column const b = Column::Ones(cv.rows);
  Column x = random_column(cv.rows, 1);
  SolveReport const r = solve(solver, b, x);
  EXPECT_LE(r.iterations, 12);
  EXPECT_NEAR(r.tolerance, 1e-6 * r.initial_residual, 1e-14 * r.initial_residual);
}

}  // namespace
}  // namespace tcsolve::test
