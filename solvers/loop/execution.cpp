// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/execution.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>
#include <tcsolve/solvers/loop/program.hpp>

namespace tcsolve {

namespace {

/// Steps that a graph repeats at once: enough to hide what the decision costs, few enough that
/// little is done in vain at the end. Of a method that stops every `cycle` steps whole rounds,
/// where a number near five divides them.
int steps_a_round(Index cycle) {
  for (int steps : {5, 6, 4, 7, 3, 8})
    if (cycle % steps == 0) return steps;
  return 5;
}

/// About a microsecond without a call into the driver, whose lock others need as well.
void pause() {
  auto const start = std::chrono::steady_clock::now();
  while (seconds_since(start) < 1e-6) {}
}

/// Steps of a persistent loop beside other Contexts before it lets them in, of one whose step
/// touches half of what the cache holds, at most: some 10 ms, of which the pause is less than a
/// hundredth.
constexpr std::int32_t persistent_turn = 1024;

/// Whether all that has been submitted to the device has finished.
bool device_idle(Context& ctx, double still = 0) {
  return ctx.visit([still]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      return finished(on, still);
    else
      return true;
  });
}

/// False, with the reason in `why`, where the device has no room for the kernel.
bool submit(Context& ctx, cuda::PersistentLoop& loop, OpenLoop const* opens, std::string& why) {
  return ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      return launch(on, loop, opens, why);
    else
      return false;
  });
}

/// A field that the device may be writing.
template <class T>
T peek(T const& shared) {
  return *static_cast<T const volatile*>(&shared);
}

}  // namespace

Loop::Loop(Context& ctx, Index steps)
    : captured_(ctx.space()),
      memory_(ctx.space(),
              history_at + static_cast<std::size_t>(std::clamp<Index>(steps, 1, history_chunk))) {
  LoopState const nothing;
  copy_bytes(ctx, state(), ctx.space(), &nothing, Space::host, sizeof nothing);
  captured_.keep();
  progress_ = ctx.device() != nullptr
                  ? static_cast<Progress*>(cuda::allocate_pinned(sizeof(Progress)))
                  : &host_progress_;
}

Loop::~Loop() {
  graph_.reset();
  if (progress_ != &host_progress_) cuda::release_pinned(progress_);
}

bool Loop::one_kernel() const { return loop_program(body_, 1, 512).why.empty(); }

void Loop::choose(Context& ctx, Execution wanted, Body const& facts) {
  graph_.reset();
  persistent_.reset();
  handle_ = 0;
  use_graph_ = false;
  wanted_ = wanted;
  round_ = steps_a_round(facts.cycle);
  turn_ = persistent_turn;
  bool const timed = dynamic_cast<TimingListener*>(ctx.range_listener()) != nullptr;
  if (ctx.device() == nullptr || wanted == Execution::eager || timed) return;
  Communicator& ranks = ctx.communicator();
  double const share = cache_share(body_) * (ranks.extends_sums() ? share_of_ranks : 1);
  auto const cache = static_cast<double>(ctx.cache_bytes());
  bool const large = ranks.agree(!(facts.bytes <= share * cache));
  if (facts.bytes > cache / 2)
    turn_ = static_cast<std::int32_t>(std::max(16.0, persistent_turn * (cache / 2 / facts.bytes)));
  if (wanted == Execution::persistent || (wanted == Execution::automatic && !large)) {
    std::string why;
    try {
      ctx.visit([&]<class On>(On& on) {
        if constexpr (OnDevice<On>)
          persistent_ = make_persistent(on, body_, state(), facts.kept, why);
      });
    } catch (MemoryError const& e) { why = e.what(); }
    // Kernels of two Contexts that fill the devices of ranks would wait for each other.
    if (ranks.extends_sums() && ranks.agree(!persistent_ || cuda::shared(*ctx.device()))) {
      if (persistent_) why = "on another rank it cannot, or a device has other Contexts";
      persistent_.reset();
    }
    if (persistent_) return;
    if (wanted == Execution::persistent)
      ctx.log(Severity::note, cat("the loop cannot be one kernel: ", why));
  }
  choose_graph(ctx);
}

void Loop::choose_graph(Context& ctx) {
  if (!ctx.options().graphs && wanted_ == Execution::graph)
    ctx.log(Severity::note, "the loop runs eagerly: graphs are switched off (TCSOLVE_GRAPHS=0)");
  bool const graph_wanted = ctx.options().graphs;
  bool const sums = cuda::sums_in_graphs(*ctx.device());
  use_graph_ = graph_wanted && sums && body_.capturable();
  if (graph_wanted && !sums)
    ctx.log(Severity::note, "the loop runs eagerly: the host sends its sums to other ranks");
  else if (graph_wanted && !body_.capturable())
    ctx.log(Severity::note, "the loop runs eagerly: an operator in it cannot be recorded");
}

/// Makes the graph, if there is to be one and is none yet; of ranks all have one or none has.
void Loop::capture(Context& ctx) {
  if (graph_ || !ctx.communicator().agree(use_graph_)) return;
  std::string why = "on another rank it cannot be a graph";
  if (use_graph_) try {
      ctx.working_in(captured_, [&] {
        if constexpr (has_cuda)
          graph_ = cuda::record_while(ctx, body_, state(), round_, handle_, why);
      });
    } catch (MemoryError const& e) {
      why = cat("no room for its graph; ", e.what());
    } catch (Error const& e) {  // what a library of others puts into it may not be possible there
      if (cuda::transport(*ctx.device()) != DeviceTransport::nccl) throw;
      why = e.what();
    }
  if (!ctx.communicator().agree(!graph_)) return;
  if (use_graph_) ctx.log(Severity::note, cat("the loop runs eagerly: ", why));
  graph_.reset();
  use_graph_ = false;
}

LoopState Loop::run(Context& ctx, LoopLimits const& limits, Watch const& watch,
                    std::vector<double>& history, Between const& between) {
  auto const capacity =
      static_cast<std::int32_t>(std::min<std::size_t>(limits.steps, memory_.size() - history_at));
  if (asked_) {
    std::int32_t const nobody = 0;
    copy_bytes(ctx, &state()->cancel, ctx.space(), &nobody, Space::host, sizeof nobody);
    asked_ = false;
  }
  moments_.begin(seconds_since(watch.start));
  LoopState now;
  now.window = limits.window;
  now.progress = progress_;
  now.over_ranks = ctx.device() != nullptr && ctx.communicator().extends_sums();
  // A long loop hands its history over in pieces: the next piece writes the buffer from its start.
  now.history = memory_.data() + history_at;
  LoopLimits const* opens = &limits;
  for (std::int32_t drained = 0;;) {
    std::int32_t steps = std::min(limits.steps - drained, capacity);
    // A persistent kernel occupies the whole device: it pauses now and then for other Contexts.
    if (persistent_ && !now.over_ranks && cuda::shared(*ctx.device()))
      steps = std::min(steps, turn_);
    if (between.adapt)
      steps = static_cast<std::int32_t>(
          std::min<double>(steps, std::max(1.0, std::ceil(between.adapt(drained)))));
    now.limit = drained + steps;
    now.history_start = drained;
    // Observers keep seeing the last norm until the next piece reports one.
    *progress_ = {now.iteration, 0, peek(progress_->norm2), now.start2};
    told_ = now.iteration;
    try {
      bool const last = now.limit == limits.steps;
      start(ctx, now, std::exchange(opens, nullptr), watch, [&](Stop stop) {
        if (between.behind && (last || stop != Stop::cycle_end)) between.behind(stop);
      });
    } catch (...) {
      abandon(ctx);
      throw;
    }
    now = drain(ctx, drained, history);
    drained = now.iteration;
    moments_.end(drained, seconds_since(watch.start));
    auto stop = static_cast<Stop>(now.stop);
    bool const left = now.iteration < limits.steps;
    bool const paused = stop == Stop::cycle_end && left;
    bool const may_renew = stop == Stop::replacement || (stop == Stop::claimed && left);
    if (may_renew && between.renew) {
      if (!between.renew(now)) return now;
    } else if (stop == Stop::replacement)
      between.replace();
    else if (!paused)
      return now;
    now.stop = 0;
    if (between.look && !between.look(now, stop == Stop::replacement)) return now;
  }
}

namespace {

/// With TCSOLVE_CHECK_RANKS=1: throws on all ranks where one has another norm of a step than rank
/// 0.
void require_alike(Communicator& ranks, std::span<double const> norms2) {
  if (!ranks.extends_sums()) return;
  char const* const word = std::getenv("TCSOLVE_CHECK_RANKS");
  if (word == nullptr || std::strcmp(word, "1") != 0) return;
  std::vector<double> all(norms2.size() * static_cast<std::size_t>(ranks.ranks()));
  ranks.gather(norms2.data(), std::ssize(norms2), all.data());
  for (std::size_t k = norms2.size(); k < all.size(); ++k)
    if (std::memcmp(&all[k], &all[k % norms2.size()], sizeof(double)) != 0)
      throw DeviceError(cat("rank ", k / norms2.size(), " has another norm of step ",
                            k % norms2.size() + 1, " of a loop than rank 0 (TCSOLVE_CHECK_RANKS)"));
}

}  // namespace

/// The state after a piece of the loop, and the norms of its steps, in one message.
LoopState Loop::drain(Context& ctx, std::int32_t drained, std::vector<double>& history) {
  // The last step has written its number to host memory.
  auto const expected = static_cast<std::size_t>(peek(progress_->iteration) - drained);
  message_.resize(history_at + expected);
  copy_bytes(ctx, message_.data(), Space::host, memory_.data(), ctx.space(),
             message_.size() * sizeof(double));
  LoopState after;
  std::memcpy(static_cast<void*>(&after), message_.data(), sizeof after);
  if (static_cast<std::size_t>(after.iteration - drained) != expected)
    throw Error("internal: a loop ended without telling its last step");
  history.insert(history.end(), message_.begin() + history_at, message_.end());
  require_alike(ctx.communicator(), std::span(message_).subspan(history_at));
  return after;
}

/// Runs the loop in the way that was chosen, or in the next one where the device has no room for
/// it: from its beginning, where `opens` says how, else from `state`.
void Loop::start(Context& ctx, LoopState state, LoopLimits const* opens, Watch const& watch,
                 Behind const& behind) {
  // Its state is there, or the operation that makes it, where the run begins.
  auto const open = [&](bool alone) -> std::optional<OpenLoop> {
    state.while_handle = handle_;
    // Writes to host memory are slow: a loop that does not wait for the host reports only now and
    // then.
    state.report_every = alone ? 16 : 1;
    if (opens != nullptr) return OpenLoop{0, opens->norm2, opens->norms, state, this->state()};
    copy_bytes(ctx, this->state(), ctx.space(), &state, Space::host, sizeof state);
    return std::nullopt;
  };
  auto const submit_opening = [&](bool alone) {
    if (auto const opening = open(alone)) submit(ctx, *opening);
  };
  if (ctx.device() == nullptr) {
    submit_opening(false);
    return run_host(ctx, watch);
  }
  if (persistent_) {
    auto const opening = open(true);
    std::string why;
    if (submit(ctx, *persistent_, opening ? &*opening : nullptr, why))
      return watch_device(ctx, watch, behind);
    if (state.over_ranks) throw DeviceError(cat("a loop over ranks that was one kernel: ", why));
    ctx.log(Severity::note, cat("the loop cannot be one kernel: ", why));
    persistent_.reset();
    choose_graph(ctx);
  }
  capture(ctx);
  submit_opening(use_graph_);
  if (!use_graph_) return run_eager(ctx, watch, state.limit);
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) launch(on, *graph_);
  });
  watch_device(ctx, watch, behind);
}

/// Something was thrown while the loop may be running: it is to be over before anything that it
/// uses goes.
void Loop::abandon(Context& ctx) noexcept {
  try {
    ask(ctx, Stop::cancelled);
  } catch (...) {}  // then the loop ends by its limit
  try {
    ctx.synchronize();
  } catch (...) {}  // of a device that has met an error: nothing runs there any more
}

void Loop::run_host(Context& ctx, Watch const& watch) {
  LoopState& state = *this->state();
  ctx.within(&state, [&] {
    while (state.stop == 0) {
      std::int32_t before = state.iteration;
      body_.run(ctx);
      if (state.iteration > before) tell(ctx, watch);
      if (state.cancel == 0) stop_if_asked(ctx, watch);
    }
  });
}

void Loop::run_eager(Context& ctx, Watch const& watch, std::int32_t limit) {
  // Enough steps in the queue to hide the launches, few enough that little is done in vain: a step
  // after the stop changes nothing, but its launches and a user's product cost time.
  constexpr std::int32_t ahead = 4;
  // Where other ranks take part in every submission, each ends with the same step.
  bool const in_turn =
      ctx.communicator().extends_sums() && cuda::transport(*ctx.device()) != DeviceTransport::peer;
  std::int32_t submitted = peek(progress_->iteration);
  bool asked = false;
  ctx.within(state(), [&] {
    while (peek(progress_->stop) == 0) {
      if (submitted < limit && submitted - peek(progress_->iteration) < ahead) {
        body_.run(ctx);
        ++submitted;
        if (in_turn) ctx.synchronize();
        tell(ctx, watch);
      } else if (device_idle(ctx) && submitted > peek(progress_->iteration) &&
                 peek(progress_->stop) == 0) {
        throw Error("internal: a step ended without counting itself");
      }
      if (!asked) asked = stop_if_asked(ctx, watch);
    }
  });
  ctx.synchronize();
  tell(ctx, watch);  // the last iteration at least, however short the loop was
}

// What comes behind a run is submitted once it has stopped, and no sooner: streams share the
// queues of a device, and work that waits in one kept requests to end from reaching the loop.
void Loop::watch_device(Context& ctx, Watch const& watch, Behind const& behind) {
  auto launched = std::chrono::steady_clock::now();
  bool asked = false, told = false;
  auto const go_on = [&] {
    auto const stop = static_cast<Stop>(peek(progress_->stop));
    if (stop != Stop::running && !std::exchange(told, true)) behind(stop);
  };
  auto moved = launched;
  std::int32_t seen = peek(progress_->iteration);
  while (!device_idle(ctx, seconds_since(moved))) {
    go_on();
    tell(ctx, watch);
    if (std::int32_t const now = peek(progress_->iteration); std::exchange(seen, now) != now)
      moved = std::chrono::steady_clock::now();
    if (!asked) asked = stop_if_asked(ctx, watch);
    // A sleep would show in a short solve; a processor that waits leaves the driver to others.
    if (seconds_since(launched) < 0.01)
      pause();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  go_on();
  tell(ctx, watch);  // the last iteration at least, however short the loop was
}

/// Ends the loop after a request to cancel, or once the time limit has passed.
bool Loop::stop_if_asked(Context& ctx, Watch const& watch) {
  double const seconds = seconds_since(watch.start);
  moments_.note(peek(progress_->iteration), seconds);
  // What a rank of devices wants travels with their sums (kernels/cuda/rank_sums.cuh).
  bool const late = seconds > watch.time_limit;
  Stop const reason = ctx.device() != nullptr ? ctx.wanted(late) : ctx.asked(late);
  if (reason == Stop::running) return false;
  ask(ctx, reason);
  return true;
}

void Loop::ask(Context& ctx, Stop reason) {
  std::int32_t word = static_cast<std::int32_t>(reason);
  asked_ = true;
  if (ctx.device() == nullptr)
    state()->cancel = word;
  else
    cuda::copy_aside(*ctx.device(),
                     reinterpret_cast<std::byte*>(state()) + offsetof(LoopState, cancel), &word,
                     sizeof word);
}

/// Each iteration once.
void Loop::tell(Context& ctx, Watch const& watch) {
  if (!ctx.observed()) return;
  Index iteration = peek(progress_->iteration);
  if (iteration == told_) return;
  told_ = iteration;
  ctx.emit({watch.solver, watch.iterations_before + iteration,
            std::sqrt(peek(progress_->norm2)) / std::sqrt(peek(progress_->start2)) *
                watch.residual_start,
            watch.tolerance, seconds_since(watch.start)});
}

}  // namespace tcsolve
