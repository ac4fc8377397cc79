// SPDX-License-Identifier: Apache-2.0
/// What a Context hands to those that work for another: workspace of a recording's own, a deadline,
/// and somebody to complain to. And an exception in a batch on the host.
#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/loop/batch.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

using std::chrono::steady_clock;
constexpr double infinite = std::numeric_limits<double>::infinity();

template <class P>
class CoreSolving : public BackendTest<P> {};
TYPED_TEST_SUITE(CoreSolving, DoubleOnBoth, Label);

TYPED_TEST(CoreSolving, ARecordingsWorkspaceIsItsOwn) {
  Context& ctx = this->ctx();
  constexpr Index n = 1000;
  double *first = nullptr, *again = nullptr, *second = nullptr, *inside = nullptr;
  auto take = [&](double*& at) {
    return [&](Context& c) {
      auto scope = c.arena().scope();
      at = scope.template vector<double>(n).data;
      fill(c, Out<double>{at, n, 1, 1, Layout::row_major, c.space()}, 1);
    };
  };
  Arena* const shared = &ctx.arena();
  Recording const a = ctx.record(take(first));
  EXPECT_EQ(&ctx.arena(), shared) << "given back";
  Recording nested;
  Recording b = ctx.record([&](Context& c) {
    take(second)(c);
    take(again)(c);
    nested = c.record(take(inside));
    EXPECT_NE(nested.workspace, nullptr);
    EXPECT_NE(inside, second);
  });
  EXPECT_EQ(second, again) << "within a recording workspace is returned at the closing brace";
  EXPECT_NE(first, second);
  auto scope = ctx.arena().scope();
  Out<double> const held = scope.template vectors<double>(n, 4);
  fill(ctx, held, 7);
  for (Recording const* list : {&a, static_cast<Recording const*>(&b)})
    for (Command const& command : list->commands) command.call(ctx);
  for (double* p : {first, second, inside}) EXPECT_FALSE(p >= held.data && p < held.data + 4 * n);
  EXPECT_EQ(to_host(ctx, held.data, held.space, 4 * n), std::vector<double>(4 * n, 7.0));
  EXPECT_EQ(to_host(ctx, first, ctx.space(), n), std::vector<double>(n, 1.0));
  EXPECT_THROW(ctx.record([](Context&) { throw std::runtime_error("in a body"); }),
               std::runtime_error);
  EXPECT_EQ(&ctx.arena(), shared) << "also when the body throws";
  EXPECT_FALSE(ctx.recording());
}

TYPED_TEST(CoreSolving, TheNearerDeadlineCounts) {
  Context& ctx = this->ctx();
  InnerSolves said;
  auto const now = steady_clock::now();
  Deadline const past = now - std::chrono::hours(1), far = now + std::chrono::hours(1);
  EXPECT_EQ(ctx.asked(), Stop::running);
  ctx.solving(far, said, [&] {
    EXPECT_EQ(ctx.asked(), Stop::running);
    ctx.solving(past, said, [&] { EXPECT_EQ(ctx.asked(), Stop::time_limit); });
    EXPECT_EQ(ctx.asked(), Stop::running) << "the limit of an inner solve is not the outer's";
  });
  ctx.solving(past, said, [&] {
    ctx.solving(far, said, [&] { EXPECT_EQ(ctx.asked(), Stop::time_limit); });
    ctx.solving(Deadline::max(), said, [&] { EXPECT_EQ(ctx.asked(), Stop::time_limit); });
    ctx.cancel();
    EXPECT_EQ(ctx.asked(), Stop::cancelled);
    ctx.clear_cancel();
  });
  EXPECT_THROW(ctx.solving(past, said, [] { throw std::runtime_error("in a solve"); }),
               std::runtime_error);
  EXPECT_EQ(ctx.asked(), Stop::running);
}

/// An event says how deep its solve lies: 1 is the one that was asked for, whatever it is called.
TYPED_TEST(CoreSolving, EventsKnowTheirDepth) {
  struct Depths : Observer {
    std::vector<int> heard;
    void on(IterationEvent const& event) override { heard.push_back(event.depth); }
  } depths;
  Context& ctx = this->ctx();
  ctx.attach(&depths);
  InnerSolves said;
  IterationEvent const event{"cg", 1, 1, 1, 0};
  Deadline const past = steady_clock::now() - std::chrono::hours(1);
  ctx.solving(Deadline::max(), said, [&] {
    ctx.emit(event);
    ctx.solving(Deadline::max(), said, [&] { ctx.emit(event); });
  });
  ctx.in_turn(past, [&] {
    EXPECT_EQ(ctx.asked(), Stop::time_limit) << "of all that follow";
    EXPECT_EQ(ctx.deadline(), past);
    ctx.solving(Deadline::max(), said, [&] { ctx.emit(event); });
    EXPECT_EQ(ctx.asked(), Stop::time_limit);
  });
  ctx.detach(&depths);
  EXPECT_EQ(depths.heard, (std::vector<int>{1, 2, 1}));
  EXPECT_EQ(ctx.depth(), 0);
  EXPECT_EQ(ctx.asked(), Stop::running);
}

TYPED_TEST(CoreSolving, TheFirstComplaintReachesTheNearestSolve) {
  Context& ctx = this->ctx();
  ctx.complain("nobody listens");
  ctx.count_inner(1, 1);
  InnerSolves outer, inner;
  ctx.solving(Deadline::max(), outer, [&] {
    ctx.solving(Deadline::max(), inner, [&] {
      ctx.complain("first");
      ctx.complain("second");
      ctx.count_inner(3, 30);
    });
    EXPECT_EQ(outer.complaint, "");
    EXPECT_EQ(outer.iterations, 0);
    ctx.complain("third");
    ctx.count_inner(inner.iterations + 2, inner.bytes + 20);
    ctx.count_inner(4, 40);
  });
  EXPECT_EQ(inner.complaint, "first");
  EXPECT_EQ(outer.complaint, "third");
  EXPECT_EQ(outer.iterations, 9);
  EXPECT_EQ(outer.bytes, 90);
}

TEST(CoreDeadline, IsNoneBeyondTheClock) {
  auto const now = steady_clock::now();
  EXPECT_EQ(deadline_after(now, infinite), Deadline::max());
  EXPECT_EQ(deadline_after(now, 1e300), Deadline::max());
  EXPECT_EQ(deadline_after(now, std::numeric_limits<double>::quiet_NaN()), Deadline::max());
  EXPECT_EQ(deadline_after(now, 0), now);
  EXPECT_EQ(deadline_after(now, 2), now + std::chrono::seconds(2));
}

/// Teams of a batch run in a parallel region, which an exception must not leave.
TEST(HostBatch, ThrowsWhatATeamThrows) {
  BatchProgram program{};
  // More scalars than a vector may hold: it throws before it allocates.
  program.kept.scalars = {static_cast<std::byte*>(nullptr),
                          std::numeric_limits<std::size_t>::max()};
  Host host;
  for (std::vector<Index> const& starts : {std::vector<Index>{0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8}}) {
    BatchExtents const extents{.starts = starts};
    std::vector<SystemState> results(starts.size() - 1);
    EXPECT_THROW(
        host::run_batch(host, program, extents, results.data(), [] { return std::int32_t{0}; }),
        std::length_error);
  }
}

}  // namespace
}  // namespace tcsolve::test
