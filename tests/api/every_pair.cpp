// SPDX-License-Identifier: Apache-2.0
/// What a caller is promised of every registered solver with every registered preconditioner,
/// `auto` among them: the callback is called and ends the solve, the time limit is kept, and M()
/// names what there is.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <chrono>
#include <limits>
#include <map>
#include <thread>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/heap.hpp"

namespace tcsolve::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string block_of(std::string const& preconditioner) {
  static std::map<std::string, std::string> const keys{
      {"solver", ", solver: {type: cg, max_iters: 4}"}};
  auto const more = keys.find(preconditioner);
  return cat("{type: ", preconditioner, more == keys.end() ? "" : more->second, "}");
}

class EveryPair : public OnEachBackend {
 protected:
  /// f(solver) for every pair that the matrix admits; returns how many these were.
  template <class F>
  int for_each_pair(std::string const& keys, F const& f) {
    int pairs = 0;
    for (std::string const& method : solver_registries().solvers.names())
      for (std::string const& preconditioner : solver_registries().preconditioners.names()) {
        SCOPED_TRACE(method + " with " + preconditioner);
        std::string const yaml =
            cat("solver: {type: ", method, keys, "}\npreconditioner: ", block_of(preconditioner),
                "\noperator: {format: csr}\n");
        std::optional<LinearSolver> solver;
        try {
          solver.emplace(LinearSolver::from_yaml(ctx(), a_.view(), yaml));
        } catch (Error const&) { continue; }  // bf16, a library that is not there, ...
        ++pairs;
        x_.setZero();
        f(*solver);
      }
    return pairs;
  }

  Csr<double> const a_ = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  Column const b_ = random_column(a_.rows, 7);
  Column x_ = Column::Zero(a_.rows);
};
TCSOLVE_ON_EACH_BACKEND(EveryPair);

constexpr int few_pairs = 150;

TEST_P(EveryPair, ACallbackIsCalledAndEndsTheSolve) {
  int const pairs = for_each_pair(", rtol: 1e-13", [&](LinearSolver& solver) {
    int calls = 0;
    Index last = 0;
    SolveReport const whole = solve(solver, b_, x_, {.progress = [&](IterationEvent const& event) {
                                      ++calls;
                                      last = event.iteration;
                                      EXPECT_EQ(event.depth, 1) << event.solver;
                                      return true;
                                    }});
    if (whole.iterations == 0) return;
    EXPECT_GT(calls, 0) << whole.message;
    EXPECT_LE(calls, whole.iterations);
    EXPECT_LE(last, whole.iterations);
    x_.setZero();
    calls = 0;
    Column const other = random_column(a_.rows, 8);  // of b a method may have kept directions
    SolveReport const ended = solve(solver, other, x_, {.progress = [&](IterationEvent const&) {
                                      ++calls;
                                      return false;
                                    }});
    EXPECT_GT(calls, 0) << ended.message;
    // The loop of a device does not wait for its listener: here it may be done before he has
    // spoken.
    bool const waits = GetParam() == Backend::host;
    bool const done = ended.converged() && ended.iterations <= calls;  // by the step it is told of
    if (calls < whole.iterations && !done && (waits || !ended.converged()))
      EXPECT_EQ(ended.reason, Stop::cancelled) << ended.message;
    EXPECT_FALSE(ctx().cancelled());
  });
  EXPECT_GT(pairs, few_pairs);
}

TEST_P(EveryPair, ATimeLimitIsKept) {
  constexpr double limit = 0.03;
  // A sanitizer takes most of the time that is measured.
  double const most = sanitized() ? std::numeric_limits<double>::infinity() : 1.1 * limit + 0.05;
  int const pairs =
      for_each_pair(cat(", rtol: 1e-13, time_limit: ", limit), [&](LinearSolver& solver) {
        auto const slowly = [](IterationEvent const&) {
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
          return true;
        };
        constexpr Index k = 3;
        Matrix B(a_.rows, k), X(a_.rows, k);
        B << b_, 2 * b_, b_ + Column::Ones(a_.rows);
        double seconds = 0;
        for (int attempt = 0; attempt < 6; ++attempt) {  // others may use this machine, too
          X.setZero();
          auto const start = Clock::now();
          auto const reports = solver.solve_columns(
              {B.data(), a_.rows, k, a_.rows, Layout::col_major},
              {X.data(), a_.rows, k, a_.rows, Layout::col_major}, {.progress = slowly});
          seconds = seconds_since(start);
          ASSERT_EQ(reports.size(), std::size_t(k));
          if (seconds <= most) break;
        }
        EXPECT_LE(seconds, most);
      });
  EXPECT_GT(pairs, few_pairs);
}

TEST_P(EveryPair, MIsWhatThereIs) {
  for_each_pair(", rtol: 1e-12, max_iters: 3000", [&](LinearSolver& solver) {
    std::weak_ptr<LinearOperator<double> const> const first = solver.M();
    bool const none = solver.M() == nullptr;
    SolveReport const report = solve(solver, b_, x_);
    OperatorPtr<double> const M = solver.M();
    if (!none && M.get() != first.lock().get()) EXPECT_TRUE(first.expired());
    if (!report.choices.empty() && report.converged())
      EXPECT_EQ(M ? M->details() : "", report.choices.back().details) << report.message;
    EXPECT_EQ(solver.setup_report().preconditioner, M ? M->details() : "");
  });
}

}  // namespace
}  // namespace tcsolve::test
