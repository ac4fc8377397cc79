// SPDX-License-Identifier: Apache-2.0
/// The Context: which backend it takes and what it says, recording, the loop, events.
#include <tcsolve/kernels/vector_ops.hpp>

#include <stdexcept>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

struct Log final : Observer {
  std::vector<LogEvent> lines;
  std::vector<Index> iterations;
  void on(LogEvent const& event) override { lines.push_back(event); }
  void on(IterationEvent const& event) override { iterations.push_back(event.iteration); }
};

TEST(CoreContext, AutomaticTakesTheDeviceOrSaysWhyNotInOneLine) {
  std::string why;
  bool usable = cuda::available(why);
  Log log;
  Context ctx(Backend::automatic, {}, &log);
  if (usable) {
    EXPECT_EQ(ctx.space(), Space::cuda);
    EXPECT_TRUE(log.lines.empty());
    return;
  }
  EXPECT_EQ(ctx.space(), Space::host);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].severity, Severity::note);
  EXPECT_NE(log.lines[0].text.find("host"), std::string::npos);
  EXPECT_FALSE(why.empty());
  EXPECT_NE(log.lines[0].text.find(why), std::string::npos) << log.lines[0].text;
  EXPECT_EQ(log.lines[0].text.find('\n'), std::string::npos);
}

TEST(CoreContext, HostIsTakenSilently) {
  Log log;
  Context ctx(Backend::host, {.seed = 42}, &log);
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(ctx.space(), Space::host);
  EXPECT_EQ(ctx.device(), nullptr);
  EXPECT_EQ(ctx.options().seed, 42u);
  EXPECT_EQ(ctx.device_name().rfind("host", 0), 0u);
  EXPECT_EQ(ctx.visit([]<class On>(On&) { return OnDevice<On> ? 2 : 1; }), 1);
}

TEST(CoreContext, AskingForAnAbsentDeviceIsAnError) {
  std::string why, text;
  if (cuda::available(why)) {
    EXPECT_THROW(Context(Backend::cuda, {.device = 1000}), DeviceError);
    return;
  }
  try {
    Context ctx(Backend::cuda);
    ADD_FAILURE() << "there is no device";
  } catch (NotBuilt const& e) {
    text = e.what();
    EXPECT_NE(text.find("built without"), std::string::npos) << text;
    EXPECT_NE(text.find("backend: host"), std::string::npos) << "no remedy in: " << text;
  } catch (DeviceError const& e) {
    text = e.what();
    EXPECT_NE(text.find("backend: cuda"), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }
}

TEST(CoreContext, ObserversComeAndGo) {
  Log a, b;
  Context ctx(Backend::host);
  EXPECT_FALSE(ctx.observed());
  ctx.log(Severity::warning, "nobody listens");
  ctx.attach(&a);
  ctx.attach(&b);
  ctx.log(Severity::warning, "both");
  ctx.detach(&a);
  ctx.log(Severity::detail, "one");
  ctx.emit(IterationEvent{"cg", 3, 1, 1, 0});
  EXPECT_EQ(a.lines.size(), 1u);
  ASSERT_EQ(b.lines.size(), 2u);
  EXPECT_EQ(b.lines[1].text, "one");
  EXPECT_EQ(b.iterations, std::vector<Index>{3});
}

TEST(CoreContext, CancelStaysUntilItIsCleared) {
  Context ctx(Backend::host);
  EXPECT_FALSE(ctx.cancelled());
  ctx.cancel();
  EXPECT_TRUE(ctx.cancelled());
  ctx.clear_cancel();
  EXPECT_FALSE(ctx.cancelled());
}

TEST(CoreContext, WithinNestsAndRestoresTheLoop) {
  Context ctx(Backend::host);
  LoopState outer, inner;
  EXPECT_EQ(ctx.loop(), nullptr);
  ctx.within(&outer, [&] {
    EXPECT_EQ(ctx.loop(), &outer);
    ctx.within(&inner, [&] { EXPECT_EQ(ctx.loop(), &inner); });
    EXPECT_EQ(ctx.loop(), &outer);
    EXPECT_THROW(ctx.within(&inner, [] { throw std::runtime_error("out"); }), std::runtime_error);
    EXPECT_EQ(ctx.loop(), &outer);
  });
  EXPECT_EQ(ctx.loop(), nullptr);
}

template <class P>
class CoreRecording : public BackendTest<P> {};
TYPED_TEST_SUITE(CoreRecording, DoubleOnBoth, Label);

TYPED_TEST(CoreRecording, RunsNothingAndKeepsTheOrder) {
  Context& ctx = this->ctx();
  There<double> x(ctx, std::vector<double>(10, 1.0)), s(ctx, -1.0);
  Recording list = ctx.record([&](Context& c) {
    EXPECT_TRUE(c.recording());
    fill(c, x.view(), 2.0);
    axpby<double, double>(c, 0.0, x.in(), 3.0, x.view());
    dot<double>(c, x.in(), x.in(), s.data());
    c.submit(
        "waits", [](Context&) {}, false);
  });
  EXPECT_FALSE(ctx.recording());
  EXPECT_EQ(x.all(), std::vector<double>(10, 1.0));
  EXPECT_EQ(s.get(), -1.0);
  std::vector<std::string> names;
  for (Command const& command : list.commands) names.push_back(command.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fill", "axpby", "dot", "waits"}));
  EXPECT_TRUE(list.commands[0].capturable);
  EXPECT_FALSE(list.commands[3].capturable);
  EXPECT_FALSE(list.capturable());
  list.commands.pop_back();
  EXPECT_TRUE(list.capturable());
  for (int replay = 0; replay < 2; ++replay) {  // the same list serves again
    for (Command const& command : list.commands) command.call(ctx);
    EXPECT_EQ(x.all(), std::vector<double>(10, 6.0));
    EXPECT_EQ(s.get(), 360.0);
  }
}

TYPED_TEST(CoreRecording, AnExceptionEndsIt) {
  Context& ctx = this->ctx();
  There<double> x(ctx, std::vector<double>(3, 1.0));
  EXPECT_THROW(ctx.record([&](Context& c) {
    fill(c, x.view(), 2.0);
    throw std::runtime_error("body");
  }),
               std::runtime_error);
  EXPECT_FALSE(ctx.recording());
  fill(ctx, x.view(), 5.0);  // runs now
  EXPECT_EQ(x.all(), std::vector<double>(3, 5.0));
}

TYPED_TEST(CoreRecording, RecordingsNest) {
  Context& ctx = this->ctx();
  There<double> x(ctx, std::vector<double>(3, 1.0));
  Recording inner;
  Recording outer = ctx.record([&](Context& c) {
    fill(c, x.view(), 2.0);
    inner = c.record([&](Context& d) {
      fill(d, x.view(), 3.0);
      fill(d, x.view(), 4.0);
    });
    fill(c, x.view(), 5.0);
  });
  EXPECT_EQ(inner.commands.size(), 2u);
  EXPECT_EQ(outer.commands.size(), 2u);
}

TEST(CoreWords, EveryStopHasANameAndAnExitCode) {
  for (int i = 0; i <= static_cast<int>(Stop::out_of_memory); ++i) {
    EXPECT_STRNE(name(static_cast<Stop>(i)), "?") << i;
    EXPECT_GE(exit_code(static_cast<Stop>(i)), 0);
  }
  for (int i = 0; i <= static_cast<int>(Cause::inconsistent); ++i)
    EXPECT_STRNE(name(static_cast<Cause>(i)), "?") << i;
  EXPECT_EQ(exit_code(Stop::converged), 0);
  EXPECT_EQ(exit_code(Stop::max_iterations), 3);
  EXPECT_EQ(exit_code(Stop::diverged), 4);
  EXPECT_EQ(exit_code(Stop::false_convergence), 4);
  EXPECT_EQ(exit_code(Stop::out_of_memory), 5);
  EXPECT_EQ(exit_code(Stop::running), 6);
}

}  // namespace
}  // namespace tcsolve::test
