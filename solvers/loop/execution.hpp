// SPDX-License-Identifier: Apache-2.0
/// How a loop runs does not concern the solver. A step is recorded once, as a list of operations;
/// here the list is called (eager), captured under a conditional graph node that the device repeats
/// (graph), or interpreted by one kernel (persistent). The same operations.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/timing_listener.hpp>
#include <tcsolve/solvers/loop/graph.hpp>
#include <tcsolve/solvers/loop/moments.hpp>
#include <tcsolve/solvers/loop/open_loop.hpp>
#include <tcsolve/solvers/loop/persistent.hpp>
#include <tcsolve/solvers/stopping.hpp>

namespace tcsolve {

/// What the host does while a loop runs: shows progress, watches the clock and the cancel flag.
struct Watch {
  std::string solver;
  std::chrono::steady_clock::time_point start;
  double time_limit = 0;  ///< seconds after start
  Index iterations_before = 0;
  double residual_start = 1;  ///< ||b - A x|| at the start of this run of the loop
  double tolerance = 0;       ///< in the units of b
};

/// The limits of one run of a loop (see LoopState).
struct LoopLimits {
  std::int32_t steps;
  std::int32_t window;
  double const* norm2;  ///< square of the monitored norm, in the loop's space, as the run begins
  RunLimits norms;
};

/// What is done between two steps, outside the loop, which goes on afterwards.
struct Between {
  /// At Stop::replacement.
  std::function<void()> replace;
  /// In its place where it is given, and at a claim too: false ends the run, with the stop that it
  /// has put into the state.
  std::function<bool(LoopState&)> renew;
  /// Given the steps done so far, before the first and whenever the loop has come back; returns how
  /// many steps may go by until it is to be called again. It may record() the step anew: the state
  /// stays, and the loop goes on with the new recording.
  std::function<double(std::int32_t)> adapt;
  /// Submits what the host does next, given why a piece of a graph or kernel has stopped: called as
  /// soon as one has, unless it pauses only, so that nothing waits between. What it leaves in
  /// Loop::aside() comes back in the message that the piece ends with.
  std::function<void(Stop)> behind;
  /// Given the state after both of these ends, with the norms so far in the history, and whether a
  /// step has asked for it: false ends the run, with the stop that it has put there.
  std::function<bool(LoopState&, bool asked)> look;
};

class Loop {
 public:
  /// With room for the norms of so many steps, at most `history_chunk`; longer runs hand them over
  /// in pieces.
  explicit Loop(Context& ctx, Index steps = history_chunk);
  ~Loop();

  /// What the choice of the execution depends on.
  struct Body {
    CloseOperands kept;
    double bytes = 0;  ///< that a step reads and writes
    /// Steps after which the method stops by itself, to begin anew.
    Index cycle = std::numeric_limits<Index>::max();
  };
  /// Records one step. Throws what the step throws.
  template <class Step>
  void record(Context& ctx, Execution wanted, Body const& facts, Step&& step) {
    ctx.within(state(), [&] { body_ = ctx.record(step); });
    if (auto* const listener = dynamic_cast<TimingListener*>(ctx.range_listener()))
      listener->recorded(body_);
    choose(ctx, wanted, facts);
  }
  /// Made in this Context, so that it may record() anew there.
  bool belongs_to(Context const& ctx) const { return same_home(memory_.space(), ctx.space()); }
  bool recorded() const { return !body_.commands.empty(); }
  /// Whether the recorded step has a form in a persistent kernel.
  bool one_kernel() const;
  /// How the last run went, or the next one will: never `automatic`; on the host `eager`.
  Execution taken() const {
    return persistent_ ? Execution::persistent : use_graph_ ? Execution::graph : Execution::eager;
  }

  /// Begins a run of at most `limits.steps` steps and comes back when the state says stop, at once
  /// where no run can begin from *limits.norm2. Appends the norm (squared, as monitored) of every
  /// step to `history`. Waits for the device once, and once more for every 65536 steps.
  LoopState run(Context&, LoopLimits const& limits, Watch const&, std::vector<double>& history,
                Between const& between = {});
  /// When the steps of the last run were done, after Watch::start.
  Moments const& moments() const { return moments_; }
  LoopState* state() { return reinterpret_cast<LoopState*>(memory_.data()); }

  static constexpr std::int32_t history_chunk = 1 << 16;

  /// Doubles in the Context's space, and on the host as they were when the run ended.
  static constexpr std::size_t aside_doubles = 16;
  double* aside() { return memory_.data() + aside_at; }
  double const* told_aside() const { return message_.data() + aside_at; }

 private:
  void choose(Context&, Execution wanted, Body const&);
  void choose_graph(Context&);
  /// Given the Stop of a piece, once it has one.
  using Behind = std::function<void(Stop)>;
  void start(Context&, LoopState, LoopLimits const* opens, Watch const&, Behind const&);
  LoopState drain(Context&, std::int32_t drained, std::vector<double>& history);
  void capture(Context&);
  void abandon(Context&) noexcept;
  void run_host(Context&, Watch const&);
  void run_eager(Context&, Watch const&, std::int32_t limit);
  void watch_device(Context&, Watch const&, Behind const&);
  bool stop_if_asked(Context&, Watch const&);
  void tell(Context&, Watch const&);
  void ask(Context&, Stop reason);

  static constexpr std::size_t aside_at = sizeof(LoopState) / sizeof(double);
  static constexpr std::size_t history_at = aside_at + aside_doubles;
  Recording body_;
  Arena captured_;  // the workspace of what a graph replays
  Execution wanted_ = Execution::automatic;
  int round_ = 1;          // steps that a graph repeats at once
  std::int32_t turn_ = 1;  // steps of one kernel before it lets other Contexts in
  bool use_graph_ = false;
  Moments moments_;
  Index told_ = 0;                // the last iteration that observers were given
  Array<double> memory_;          // the state, what lies aside, and norm2 of each step: one message
  std::vector<double> message_;   // the same on the host
  bool asked_ = false;            // the last run to end: the state may still say so
  Progress* progress_ = nullptr;  // written by the loop, read here
  Progress host_progress_{};
  std::shared_ptr<cuda::WhileGraph> graph_;
  std::shared_ptr<cuda::PersistentLoop> persistent_;
  unsigned long long handle_ = 0;  // of the graph, kept across runs
};

}  // namespace tcsolve
