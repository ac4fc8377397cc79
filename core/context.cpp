// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/context.hpp>

#include <cstdlib>

#include <tcsolve/core/parallel.hpp>

namespace tcsolve {

namespace {

Communicator only_rank;  // has no state

std::shared_ptr<cuda::Device> choose(Backend backend, int ordinal, std::string& why) {
  if (backend == Backend::host) return nullptr;
  if (backend == Backend::cuda) return cuda::open(ordinal);
  if (!cuda::available(why, ordinal)) return nullptr;
  try {
    return cuda::open(ordinal);
  } catch (DeviceError const& e) {  // e.g. one that another process has for itself
    why = e.what();
  } catch (MemoryError const& e) { why = e.what(); }
  return nullptr;
}

}  // namespace

namespace host {

namespace {
thread_local int visiting = 0;  // with as many threads; 0: no Context is at work
}

int threads_of_visit() { return visiting > 0 ? visiting : thread_count(0); }
Visit::Visit(int threads) : before_(std::exchange(visiting, threads)) {}
Visit::~Visit() { visiting = before_; }

}  // namespace host

bool graphs_by_default() {
  char const* word = std::getenv("TCSOLVE_GRAPHS");
  return word == nullptr || std::string(word) != "0";
}

Context::Context(Backend backend, ContextOptions options, Observer* observer)
    : options_(options),
      communicator_(options.communicator != nullptr ? options.communicator : &only_rank),
      threads_(thread_count(options.threads)),
      arena_(Space::host) {
  if (observer != nullptr) attach(observer);
  std::string why;
  device_ = choose(backend, options.device, why);
  if (device_) {
    device_name_ = cuda::facts(*device_).name;
    space_ = cuda::space(*device_);
    arena_ = Arena(space_);
    if (communicator_->extends_sums()) {
      std::vector<std::string> notes;
      cuda::join_ranks(*device_, *communicator_, options.transport, notes);
      joined_ = true;
      for (std::string& note : notes) log(Severity::note, std::move(note));
    }
    cuda::lend(*device_, &arena_);
    range_listener_ = cuda::profiler();
  } else {
    device_name_ = cat("host, ", threads_, threads_ == 1 ? " thread" : " threads");
    if (backend == Backend::automatic) log(Severity::note, cat("running on the host: ", why));
  }
}

void Recording::run(Context& ctx) const {
  for (Command const& command : commands) {
    Range const range(ctx, command.name.c_str());
    command.call(ctx);
  }
}

Context::~Context() {
  if (!device_) return;
  cuda::lend(*device_, nullptr);
  if (joined_) cuda::leave_ranks(*device_);
}

void Context::enter() {
  std::thread::id const me = std::this_thread::get_id();
  if (inside_.load(std::memory_order_relaxed) != me) {
    std::thread::id nobody{};
    if (!inside_.compare_exchange_strong(nobody, me, std::memory_order_acquire,
                                         std::memory_order_relaxed))
      throw BusyError(
          "this Context is at work for another thread, and so are the solvers on it; take turns, "
          "or give each thread a solver with a Context of its own");
  }
  ++entries_;
}

void Context::leave() {
  if (--entries_ == 0) inside_.store({}, std::memory_order_release);
}

void Context::refuse_callback(char const* what) {
  throw BusyError(cat(what,
                      " from a callback of the same Context, which is at work meanwhile; let the "
                      "callback end first, or take a solver with a Context of its own"));
}

Context::Entry::Entry(Context& ctx) : ctx_(ctx) {
  ctx.enter();
  outermost_ = ctx.entries_ == 1 && !ctx.recording() && ctx.loop() == nullptr;
  if (!outermost_ || !ctx.device_ || !ctx.options_.ordered) return;
  try {
    ctx.wait_for(ctx.options_.stream);
  } catch (...) {
    ctx.leave();
    throw;
  }
}

Context::Entry::~Entry() {
  if (outermost_ && ctx_.device_ && ctx_.options_.ordered)
    cuda::let_wait(*ctx_.device_, ctx_.options_.stream);
  ctx_.leave();
}

void Context::synchronize() {
  if (device_) cuda::synchronize(*device_);
}

template <class Event>
void Context::tell(Event const& event) {
  Guard<bool> const guard(calling_back_, true);
  for (Observer* o : observers_) o->on(event);
}

void Context::emit(IterationEvent event) {
  event.depth = depth_;
  tell(event);
}
void Context::emit(PhaseEvent const& event) { tell(event); }

void Context::log(Severity severity, std::string text) {
  if (!observers_.empty()) tell(LogEvent{severity, std::move(text)});
}

}  // namespace tcsolve
