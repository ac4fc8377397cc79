// SPDX-License-Identifier: Apache-2.0
/// A cancel ends the call that is at work, also where it comes after the last time that a set-up
/// asks, and is not left to a later call.
#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/api/systems.hpp"
#include "tests/support/each_backend.hpp"

namespace tcsolve::test {
namespace {

/// Acts where a range of this name ends: what a set-up does then, it does without asking.
struct AtEndOf : RangeListener {
  AtEndOf(Context& ctx, std::string name, std::function<void()> act)
      : ctx_(ctx), before_(ctx.range_listener()), name_(std::move(name)), act_(std::move(act)) {
    ctx.listen(this);
  }
  ~AtEndOf() { ctx_.listen(before_); }
  void open(char const* name) override { open_.emplace_back(name); }
  void close() noexcept override {
    std::string const name = std::move(open_.back());
    open_.pop_back();
    if (name == name_ && act_) {
      act_();
      act_ = nullptr;
    }
  }
  bool acted() const { return !act_; }

 private:
  Context& ctx_;
  RangeListener* before_;
  std::string name_;
  std::function<void()> act_;
  std::vector<std::string> open_;
};

class Cancels : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(Cancels);

TEST_P(Cancels, ASetUpAnswersForItself) {
  Csr<double> const a = csr(at_time(0)), later = csr(at_time(1));
  Column const b = Column::Ones(a.rows);
  using Call = std::function<void(LinearSolver&)>;
  for (Call const& call : {Call([&](LinearSolver& s) { s.set_matrix(later.view()); }),
                           Call([&](LinearSolver& s) { s.update_values(later.view()); })}) {
    LinearSolver solver(ctx(), a.view(), {.solver = "cg", .preconditioner = "jacobi"});
    {
      AtEndOf const range(ctx(), "cg.setup", [this] { ctx().cancel(); });
      EXPECT_THROW(call(solver), Cancelled);
      EXPECT_TRUE(range.acted());
    }
    EXPECT_FALSE(solver.ready());
    ctx().clear_cancel();
    solver.set_matrix(later.view());
    Column x = Column::Zero(a.rows);
    EXPECT_TRUE(solve(solver, b, x).converged());
  }
}

TEST_P(Cancels, RefreshAnswersForItself) {
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), csr(at_time(0)).view());
  LinearSolver solver(ctx(), A, {.solver = "cg", .preconditioner = "jacobi"});
  {
    AtEndOf const range(ctx(), "cg.setup", [this] { ctx().cancel(); });
    EXPECT_THROW(solver.refresh(), Cancelled);
  }
  ctx().clear_cancel();
}

/// cg finds out that A is indefinite; gmres is set up within the solve, and does not begin.
TEST_P(Cancels, ASetUpWithinASolveIsFollowedByNoIteration) {
  Matrix m = Matrix::Zero(60, 60);
  for (Index i = 0; i < 60; ++i) {
    m(i, i) = 1 + 0.01 * (i % 5);
    if (i + 1 < 60) m(i, i + 1) = m(i + 1, i) = 3 + 0.1 * (i % 3);
  }
  Csr<double> const a = csr(m);
  Column const b = Column::Ones(60);
  for (bool const by_token : {false, true}) {
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), "solver: {type: auto}\npreconditioner: {type: auto}\n");
    Column x = Column::Zero(60);
    std::stop_source stop;
    SolveReport r;
    {
      AtEndOf const range(ctx(), "gmres.setup", [&] {
        if (by_token)
          stop.request_stop();
        else
          ctx().cancel();
      });
      r = solve(solver, b, x, {.stop = stop.get_token()});
      EXPECT_TRUE(range.acted());
    }
    EXPECT_EQ(r.reason, Stop::cancelled) << r.message;
    ASSERT_EQ(r.choices.size(), 1u) << r.message;
    EXPECT_EQ(r.choices[0].outcome, "indefinite_operator");
    EXPECT_EQ(r.iterations, r.choices[0].iterations);
    EXPECT_EQ(ctx().cancelled(), !by_token) << "the request of a solve goes with it";
    ctx().clear_cancel();
    x.setZero();
    EXPECT_TRUE(solve(solver, b, x).converged());
    EXPECT_NO_THROW(solver.update_values(a.view()));
  }
}

}  // namespace
}  // namespace tcsolve::test
