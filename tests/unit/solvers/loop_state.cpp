// SPDX-License-Identifier: Apache-2.0
/// A loop's state: what a stop does to the operations, and when the monitor raises which.
#include <tcsolve/solvers/cg/ops.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Stop stop_of(LoopState const& s) { return static_cast<Stop>(s.stop); }

template <class P>
class KernelsLoop : public BackendTest<P> {};
TYPED_TEST_SUITE(KernelsLoop, RealsOnBoth, Label);

TYPED_TEST(KernelsLoop, AStoppedLoopLeavesEverythingAlone) {
  using T = typename TestFixture::T;
  for (std::size_t n : {0, 1, 5000, 100000}) {
    LoopState stopped;
    stopped.stop = static_cast<int>(Stop::breakdown);
    stopped.cause = static_cast<int>(Cause::rho);
    stopped.value = 42;
    There<LoopState> state(this->ctx(), stopped);
    auto values = random_values(n, 1);
    Guarded<T> x(this->ctx(), values), y(this->ctx(), values), z(this->ctx(), values),
        r(this->ctx(), values);
    Guarded<double> s(this->ctx(), {2, 3, -1, nan});
    double* at = s.data();
    There<CgScalars> cg(this->ctx(), CgScalars{2, 3, -1, 0.5, 1});
    There<CgScalars> broken(this->ctx(), CgScalars{nan, 3, -1, 0.5, 1});
    this->ctx().within(state.data(), [&] {
      Context& c = this->ctx();
      auto size = static_cast<std::int64_t>(n);
      fill(c, y.view(), 1.0);
      axpby<T, T>(c, 2.0, x.in(), 3.0, y.view());
      copy<T, T>(c, x.in(), z.view());
      submit(c, Random<T>{size, 3, z.data()});
      submit(c, Multiply<T>{size, 1.0, x.data(), y.in(), 0.0, z.view()});
      dot<T>(c, x.in(), y.in(), at);
      dot2<T>(c, x.in(), y.in(), at + 1, at + 2);
      max_abs<T>(c, x.in(), at);
      submit(c, MultiplyDot<T>{size, 1, x.data(), r.data(), z.data(), at});
      update_direction<T>(c, cg.data(), {}, z.in(), y.view(), x.view());
      update_direction<T>(c, broken.data(), {}, z.in(), y.view(),
                          x.view());  // must not raise any more
      update_residual<T>(c, cg.data(), {}, true, y.in(), r.view(), Observe{0, &cg.data()->rr});
    });
    EXPECT_TRUE(x.unchanged() && y.unchanged() && z.unchanged() && r.unchanged() && s.unchanged())
        << n;
    LoopState after = state.get();
    EXPECT_EQ(stop_of(after), Stop::breakdown);
    EXPECT_EQ(after.cause, static_cast<int>(Cause::rho)) << "the first reason stands";
    EXPECT_EQ(after.value, 42);
  }
}

TYPED_TEST(KernelsLoop, ARunningLoopDoesNotHinderThem) {
  using T = typename TestFixture::T;
  There<LoopState> state(this->ctx(), LoopState{});
  Guarded<T> y(this->ctx(), std::vector<double>(5000, 0));
  There<double> sigma(this->ctx(), nan);
  this->ctx().within(state.data(), [&] {
    fill(this->ctx(), y.view(), 2.0);
    dot<T>(this->ctx(), y.in(), y.in(), sigma.data());
  });
  EXPECT_EQ(sigma.get(), 20000);
}

TYPED_TEST(KernelsLoop, AnOperationThatRaisesLeavesItsOperandsAlone) {
  using T = typename TestFixture::T;
  struct Expected {
    double rho, sigma;
    Stop stop;
    Cause cause;
  };
  for (std::size_t n : {1, 5000, 100000})
    for (Expected e : {Expected{1, -0.5, Stop::indefinite_operator, Cause::none},
                       Expected{1, 0, Stop::indefinite_operator, Cause::none},
                       Expected{1, nan, Stop::nonfinite, Cause::matrix},
                       Expected{1, inf, Stop::nonfinite, Cause::matrix},
                       Expected{1e300, 1e-300, Stop::breakdown, Cause::sigma}}) {
      SCOPED_TRACE(cat("n ", n, ", sigma ", e.sigma));
      There<LoopState> state(this->ctx(), LoopState{});
      auto values = random_values(n, 1);
      Guarded<T> p(this->ctx(), values), q(this->ctx(), values), x(this->ctx(), values),
          r(this->ctx(), values);
      There<CgScalars> k(this->ctx(), CgScalars{e.rho, 1, e.sigma, 0.5, -9});
      this->ctx().within(state.data(), [&] {
        update_residual<T>(this->ctx(), k.data(), {}, true, q.in(), r.view(),
                           Observe{0, &k.data()->rr});
        // A second fault in the same step does not replace the first.
        update_direction<T>(this->ctx(), k.data(), {}, r.in(), p.view(), x.view());
      });
      EXPECT_TRUE(x.unchanged() && r.unchanged() && p.unchanged() && q.unchanged());
      EXPECT_EQ(k.get().rr, -9);
      EXPECT_EQ(k.get().a, 0) << "a step that was not made is not pending";
      LoopState after = state.get();
      EXPECT_EQ(stop_of(after), e.stop);
      EXPECT_EQ(after.cause, static_cast<int>(e.cause));
      if (!std::isnan(e.sigma)) { EXPECT_EQ(after.value, e.sigma); }
    }
}

TEST(KernelsFrame, OnlyTheLeaderRaisesAndTheFirstReasonStands) {
  LoopState s;
  EXPECT_FALSE((Frame{&s, false}.raise(Stop::diverged, Cause::none, 1)));
  EXPECT_EQ(s.stop, 0);
  EXPECT_FALSE((Frame{&s, true}.raise(Stop::breakdown, Cause::rho, 2)));
  EXPECT_FALSE((Frame{&s, true}.raise(Stop::diverged, Cause::omega, 3)));
  EXPECT_EQ(stop_of(s), Stop::breakdown);
  EXPECT_EQ(s.cause, static_cast<int>(Cause::rho));
  EXPECT_EQ(s.value, 2);
  EXPECT_TRUE(Frame{&s}.stopped());
  Frame none;
  EXPECT_FALSE(none.stopped());
  EXPECT_FALSE(none.raise(Stop::diverged, Cause::none, 1));
}

/// Feeds squared norms to the monitor until it stops, or they are all seen.
template <class P>
class KernelsMonitor : public BackendTest<P> {
 public:
  LoopState feed(LoopState start, std::vector<double> const& norms, std::vector<double> done = {}) {
    Context& c = this->ctx();
    There<double> history(c, std::vector<double>(norms.size() + 8, -1.0)), norm2(c, 0.0),
        claim(c, 0.0);
    start.history = history.data();
    start.best2 = start.best2 == 0 ? inf : start.best2;
    if (start.limit == 0) start.limit = 1000;
    if (start.divergence2 == 0) start.divergence2 = inf;
    There<LoopState> state(c, start);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      norm2.set(norms[i]);
      claim.set(done.empty() ? 0.0 : done[i]);
      c.within(state.data(),
               [&] { observe(c, norm2.data(), done.empty() ? nullptr : claim.data()); });
    }
    history_ = history.all();
    return state.get();
  }
  std::vector<double> history_;
};
TYPED_TEST_SUITE(KernelsMonitor, DoubleOnBoth, Label);

void expect(LoopState const& s, Stop stop, Index steps) {
  EXPECT_EQ(stop_of(s), stop) << name(stop_of(s));
  EXPECT_EQ(s.iteration, steps);
}

TYPED_TEST(KernelsMonitor, CountsAndKeepsTheHistory) {
  LoopState start;
  LoopState end = this->feed(start, {4, 3, 2});
  expect(end, Stop::running, 3);
  EXPECT_EQ((std::vector<double>(this->history_.begin(), this->history_.begin() + 4)),
            (std::vector<double>{4, 3, 2, -1}));
  start.iteration = 10, start.history_start = 9;  // a run that goes on after another
  expect(this->feed(start, {4, 3}), Stop::running, 12);
  EXPECT_EQ((std::vector<double>(this->history_.begin(), this->history_.begin() + 4)),
            (std::vector<double>{-1, 4, 3, -1}));
}

TYPED_TEST(KernelsMonitor, ClaimsAtTheThreshold) {
  LoopState start;
  start.threshold2 = 1;
  expect(this->feed(start, {4, 1.0000001, 1, 0.5}), Stop::claimed, 3);  // <=, and no step after it
  EXPECT_EQ(this->history_[3], -1);
  expect(this->feed(start, {0}), Stop::claimed, 1);
  start.threshold2 = 0;
  expect(this->feed(start, {1e-300, 0}), Stop::claimed, 2);  // a zero residual is always enough
}

TYPED_TEST(KernelsMonitor, AMethodMayClaimItself) {
  expect(this->feed({}, {4, 4, 4}, {0, 1, 0}), Stop::claimed, 2);
}

TYPED_TEST(KernelsMonitor, DivergesAboveTheLimitOnly) {
  LoopState start;
  start.divergence2 = 100;
  expect(this->feed(start, {4, 100, 100.1, 1}), Stop::diverged, 3);
}

TYPED_TEST(KernelsMonitor, NonFiniteComesBeforeEverything) {
  LoopState start;
  start.divergence2 = 100;
  start.limit = 2;
  start.cancel = static_cast<int>(Stop::cancelled);
  expect(this->feed(start, {nan}), Stop::nonfinite, 1);
  expect(this->feed(start, {inf}), Stop::nonfinite, 1);
  EXPECT_EQ(this->history_[0], inf);
}

TYPED_TEST(KernelsMonitor, StopsWhenTheHostAsks) {
  for (Stop asked : {Stop::cancelled, Stop::time_limit}) {
    LoopState start;
    start.cancel = static_cast<int>(asked);
    start.threshold2 = 1;
    expect(this->feed(start, {4, 3}), asked, 1);
    expect(this->feed(start, {0.5}), Stop::claimed, 1);  // a success is not thrown away
  }
}

TYPED_TEST(KernelsMonitor, EndsTheCycleAtItsLimit) {
  LoopState start;
  start.limit = 3;
  expect(this->feed(start, {4, 4, 4, 4}), Stop::cycle_end, 3);
  start.threshold2 = 1;
  expect(this->feed(start, {4, 4, 1}), Stop::claimed, 3);  // at the last step
}

TYPED_TEST(KernelsMonitor, StagnatesAfterAWindowWithoutProgress) {
  LoopState start;
  start.window = 3;
  expect(this->feed(start, {4, 4, 4, 4, 4}), Stop::stagnated, 4);  // best at step 1, three without
  expect(this->feed(start, {4, 4, 4, 3, 3, 3}), Stop::running, 6);
  expect(this->feed(start, {4, 4, 4, 3, 3, 3, 3}), Stop::stagnated, 7);
  // 0.1 % of the norm is progress, less is none.
  expect(this->feed(start, {4, 4 * 0.9995, 4 * 0.999, 4 * 0.9985}), Stop::stagnated, 4);
  expect(this->feed(start, {4, 4, 4, 4 * 0.9975, 4, 4}), Stop::running, 6);
  start.window = 0;
  expect(this->feed(start, std::vector<double>(50, 4.0)), Stop::running, 50);
}

TYPED_TEST(KernelsMonitor, ReportsAStopThatAnotherOperationRaised) {
  LoopState start;
  start.stop = static_cast<int>(Stop::breakdown);
  start.iteration = 5;
  expect(this->feed(start, {4, 0}), Stop::breakdown, 5);
  EXPECT_EQ(this->history_[5], -1);
}

TEST(KernelsMonitorHost, TellsTheHostWhatHappened) {
  Context ctx(Backend::host);
  Progress progress{};
  double history[4] = {}, norm2 = 9;
  LoopState state;
  state.limit = 2, state.divergence2 = inf, state.history = history, state.progress = &progress;
  ctx.within(&state, [&] { observe(ctx, &norm2); });
  EXPECT_EQ(progress.iteration, 1);
  EXPECT_EQ(progress.norm2, 9);
  EXPECT_EQ(progress.stop, 0);
  norm2 = 4;
  ctx.within(&state, [&] { observe(ctx, &norm2); });
  EXPECT_EQ(progress.iteration, 2);
  EXPECT_EQ(progress.norm2, 4);
  EXPECT_EQ(progress.stop, static_cast<int>(Stop::cycle_end));
}

}  // namespace
}  // namespace tcsolve::test
