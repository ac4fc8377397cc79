// SPDX-License-Identifier: Apache-2.0
/// The Context is the first argument of everything that computes. It holds the backend with its
/// stream and library handles, the workspace, the observers, the seed and the determinism request;
/// state reaches code through it alone. One Context serves one host thread at a time: a second one
/// that enters meanwhile is refused by a BusyError. cancel() may come from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <tcsolve/backends.hpp>
#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/communicator.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/core/events.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/core/ranges.hpp>
#include <tcsolve/core/recording.hpp>

namespace tcsolve {

enum class Backend { automatic, host, cuda };

bool graphs_by_default();

struct ContextOptions {
  std::uint64_t seed = 1;     ///< for everything random: generators, probes, shadow vectors
  bool deterministic = true;  ///< the same bits on every run on the same device and size
  int device = 0;             ///< CUDA ordinal
  /// Threads that work at a loop on the host, the caller's among them; at most 1024. 0:
  /// OMP_NUM_THREADS if that is set, else one for each processor that the process may use. A result
  /// does not depend on it. Small loops take one.
  int threads = 0;
  /// The caller's stream, a cudaStream_t; null is CUDA's legacy default stream. Products, setups
  /// and solves begin after the work that it holds when they are called, and work that is put into
  /// it after they return begins after theirs; the host waits no longer for it. A null stream
  /// stands for every stream but those made cudaStreamNonBlocking: name such a one here, or call
  /// Context::wait_for().
  void* stream = nullptr;
  /// False: the caller sees to that order himself, and saves some microseconds a call.
  bool ordered = true;
  /// Loops may run as CUDA graphs. False, or TCSOLVE_GRAPHS=0 in the environment: none does, also
  /// where `execution: graph` asks for it. Memory checkers lose track of conditional graph nodes.
  bool graphs = graphs_by_default();
  /// The ranks among which this Context is one; it outlives the Context. Null: there is no other.
  /// Of several ranks all compute on the host, or all on devices.
  Communicator* communicator = nullptr;
  /// What joins the devices of the ranks, the same on all; a device of its own for each is needed
  /// by all but `mpi`. Where it does not work all throw Unsupported or DeviceError.
  DeviceTransport transport = DeviceTransport::automatic;
};

namespace host {
/// The host backend: what its kernels take where those of a device take a cuda::Device.
struct Host {
  int threads;          ///< that share its loops
  Communicator* ranks;  ///< over which its sums go on
};

/// How many threads share the loops of the Context that is at work on this thread; thread_count(0)
/// where there is none.
int threads_of_visit();

/// Says so for the length of a scope.
class Visit {
 public:
  explicit Visit(int threads);
  ~Visit();
  Visit(Visit const&) = delete;
  Visit& operator=(Visit const&) = delete;

 private:
  int before_;
};
}  // namespace host
using host::Host;

/// A backend as visit() names it: code for a device alone stands in `if constexpr (OnDevice<On>)`.
template <class On>
concept OnDevice = std::is_same_v<std::remove_cv_t<On>, cuda::Device>;

/// Reports of operators that solve systems themselves, for the solve around them.
struct InnerSolves {
  std::string complaint;        ///< what the first of them that failed could not do
  std::int64_t iterations = 0;  ///< of all of them, and of those inside them
  double bytes = 0;             ///< that these moved, as estimated (SolveReport::bytes)
};

class Context {
 public:
  /// Backend::automatic takes the device when one can be opened, else the host, and says so in one
  /// log line. Backend::cuda throws NotBuilt, DeviceError or MemoryError when it cannot be had. The
  /// thread's current device stays what it is.
  explicit Context(Backend backend = Backend::automatic, ContextOptions options = {},
                   Observer* observer = nullptr);
  /// Waits for its work. An error of the device is not thrown here: the call that met it has.
  ~Context();
  Context(Context const&) = delete;
  Context& operator=(Context const&) = delete;

  /// Where its operands lie, and where memory that belongs to it is made.
  Space space() const { return space_; }
  ContextOptions const& options() const { return options_; }
  /// "NVIDIA H200", or "host, 8 threads" with as many as work at a large loop.
  std::string const& device_name() const { return device_name_; }
  /// That share loops on the host (ContextOptions::threads).
  int threads() const { return threads_; }
  cuda::Device* device() const { return device_.get(); }
  /// What this Context asks where something has to be the same on all ranks.
  Communicator& communicator() const { return *communicator_; }
  /// Workspace for what runs now; while something is recorded, that of the recording.
  Arena& arena() { return lent_ != nullptr ? *lent_ : arena_; }
  /// Runs f with `arena` as the workspace: what f takes is the arena's owner's alone.
  template <class F>
  void working_in(Arena& arena, F&& f) {
    Guard<Arena*> guard(lent_, &arena);
    f();
  }
  /// Bytes that a new allocation in this space may hope for.
  std::size_t available_memory() const;
  /// Bytes of the device's second-level cache; on the host, where nothing depends on it, no limit.
  std::size_t cache_bytes() const;
  /// Waits until everything submitted has finished.
  void synchronize();
  /// The stream that everything is submitted to, a cudaStream_t; null on the host.
  void* stream() const { return device_ ? cuda::stream(*device_) : nullptr; }
  /// What is submitted from here on begins after the work that `stream` holds now (a cudaStream_t
  /// of the same device). Nothing on the host, where work is done on return. Throws Unsupported
  /// where work in `stream` is being captured.
  void wait_for(void* stream) {
    if (device_) cuda::wait_for(*device_, stream);
  }

  /// Held by a function that callers call, as long as it computes: it begins after the work that
  /// the caller's stream holds (ContextOptions::stream), which goes on after its own. Inside
  /// another such function, a recording or a loop it does nothing. Throws BusyError while another
  /// thread holds one; threads may take turns.
  class Entry {
   public:
    explicit Entry(Context&);
    ~Entry();
    Entry(Entry const&) = delete;
    Entry& operator=(Entry const&) = delete;

   private:
    Context& ctx_;
    bool outermost_ = false;
  };
  /// An Entry of a function that begins a solve, or changes what solves go by: where it is called
  /// by an Observer of this Context, something is at work that it would pull the ground from under.
  /// Throws BusyError then; `what` names the function.
  class Call {
   public:
    Call(Context& ctx, char const* what) : entry_(ctx) { ctx.require_no_callback(what); }

   private:
    Entry entry_;
  };

  /// f(on) with the cuda::Device or the host::Host that this Context computes on. f is a generic
  /// lambda, and the kernels that it calls are found by their first argument. In a build without
  /// CUDA f is not instantiated for a device.
  template <class F>
  decltype(auto) visit(F&& f) {
    if constexpr (has_cuda) {
      if (device_) {
        cuda::Current const current(*device_);
        if (joined_) cuda::sum_over_ranks(*device_, !alone_ && communicator_->extends_sums());
        return f(*device_);
      }
    }
    Host on{threads_, communicator_};
    host::Visit const visit(threads_);
    return f(on);
  }

  /// Calls f(*this) now, or appends it to the recording in progress. What a device's rank records
  /// as that rank alone (comm/ranks.hpp) stays that when the recording runs.
  template <class F>
  void submit(char const* name, F&& f, bool capturable = true) {
    if (recording_ == nullptr) return f(*this);
    bool const alone = joined_ && !communicator_->extends_sums();
    Command command{name, {}, capturable, alone, typeid(void), {}, {}};
    if (command.alone)
      command.call = [f = std::forward<F>(f)](Context& ctx) {
        Guard<bool> guard(ctx.alone_, true);
        f(ctx);
      };
    else
      command.call = std::forward<F>(f);
    recording_->commands.push_back(std::move(command));
  }
  /// The same for a command whose operands are a fused operation.
  template <class V, class F>
  void submit_op(V const& op, F&& f) {
    static_assert(std::is_trivially_copyable_v<V>);
    Range const range(*this, V::name);
    submit(V::name, std::forward<F>(f));
    if (recording_ == nullptr) return;
    Command& command = recording_->commands.back();
    command.type = typeid(V);
    command.operands.resize(sizeof(V));
    std::memcpy(command.operands.data(), &op, sizeof(V));
  }
  /// The same for a pass that does what parts(*this) submits. They are recorded with it, and work
  /// on memory that is there.
  template <class F, class Parts>
  void submit_pass(char const* name, F&& f, bool capturable, Parts const& parts) {
    submit(name, std::forward<F>(f), capturable);
    if (recording_ == nullptr) return;
    Recording apart;
    {
      Guard<Recording*> const guard(recording_, &apart);
      parts(*this);
    }
    recording_->commands.back().parts = std::move(apart.commands);
  }
  bool recording() const { return recording_ != nullptr; }
  /// The operations that body(*this) submits, as a list; none of them runs. Their workspace belongs
  /// to the list alone, so that the list may run at any later time.
  template <class Body>
  Recording record(Body&& body) {
    Recording list;
    list.workspace = std::make_shared<Arena>(space());
    list.workspace->keep();
    Guard<Recording*> guard(recording_, &list);
    working_in(*list.workspace, [&] { body(*this); });
    return list;
  }

  /// The loop whose operations are being run; null outside of one.
  LoopState* loop() const { return loop_; }
  /// Runs f with `state` as the current loop.
  template <class F>
  void within(LoopState* state, F&& f) {
    Guard<LoopState*> guard(loop_, state);
    f();
  }

  /// Runs f as a part of a solve that is to end at `deadline`, or earlier where a solve around it
  /// is. `inner` receives what complain() and count_inner() are told meanwhile.
  template <class F>
  void solving(Deadline deadline, InnerSolves& inner, F&& f) {
    require_no_callback("a solve");
    Guard<Deadline> until(deadline_, std::min(deadline, deadline_));
    Guard<InnerSolves*> listener(inner_, &inner);
    Guard<int> deeper(depth_, depth_ + 1);
    f();
  }
  /// Runs f, which makes solves one after another, all to end at `deadline`: none of them is within
  /// another for that.
  template <class F>
  void in_turn(Deadline deadline, F&& f) {
    Guard<Deadline> until(deadline_, std::min(deadline, deadline_));
    f();
  }
  /// When what runs is to end; max(): never.
  Deadline deadline() const { return deadline_; }
  /// Solves that run within one another now.
  int depth() const { return depth_; }
  /// What an operator could not do, for the report of the solve around it: the first complaint
  /// stands. Lost where there is none.
  void complain(std::string const& text) {
    if (inner_ != nullptr && inner_->complaint.empty()) inner_->complaint = text;
  }
  /// What an inner solve took, for the same report.
  void count_inner(std::int64_t iterations, double bytes) {
    if (inner_ == nullptr) return;
    inner_->iterations += iterations;
    inner_->bytes += bytes;
  }
  /// Stop::cancelled or Stop::time_limit when the solve that runs is to end, else Stop::running;
  /// `late` where the caller's own limit has passed. All ranks ask, and get the same answer.
  Stop asked(bool late = false) const { return communicator_->agree(wanted(late)); }
  /// The same by this rank alone.
  Stop wanted(bool late = false) const {
    late = late || is_over(deadline_);
    return cancelled() ? Stop::cancelled : late ? Stop::time_limit : Stop::running;
  }

  void attach(Observer* observer) { observers_.push_back(observer); }
  void detach(Observer* observer) { std::erase(observers_, observer); }
  bool observed() const { return !observers_.empty(); }
  void emit(IterationEvent event);
  void emit(PhaseEvent const& event);
  void log(Severity severity, std::string text);
  /// The receiver of named ranges: a profiler, where one is attached and a device is used.
  RangeListener* range_listener() const { return range_listener_; }
  void listen(RangeListener* listener) { range_listener_ = listener; }

  /// Asks the call at work to end: a solve after the iteration it is in, a set-up by Cancelled
  /// where it next asks, at the latest where it ends. Safe from a signal handler or another thread.
  /// Stands until clear_cancel(): a solve that begins before that stops at once.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void clear_cancel() { cancelled_.store(false, std::memory_order_relaxed); }
  /// For readers, generators and set-ups: they throw Cancelled after cancel(), and OutOfTime after
  /// the deadline of setting_up().
  CancelFlag cancel_flag() const {
    return CancelFlag(cancelled_, setup_deadline_, check_listener_);
  }
  /// Of the flags that cancel_flag() makes from here on; null: none.
  void listen_to_checks(CheckListener* listener) { check_listener_ = listener; }
  /// Runs f, which sets something up and throws OutOfTime where that is not done by `deadline`.
  /// What a library does in one call on the host is left behind (core/left_behind.hpp).
  template <class F>
  void setting_up(Deadline deadline, F&& f) {
    Guard<Deadline> until(setup_deadline_, std::min(deadline, setup_deadline_));
    f();
  }

 private:
  template <class V>
  struct Guard {  // sets a member for the length of a scope, also when something throws
    Guard(V& slot, V value) : slot_(slot), old_(slot) { slot_ = value; }
    ~Guard() { slot_ = old_; }
    V& slot_;
    V old_;
  };

  void enter();
  void leave();
  void require_no_callback(char const* what) const {
    if (calling_back_) refuse_callback(what);
  }
  [[noreturn]] static void refuse_callback(char const* what);
  template <class Event>
  void tell(Event const& event);

  ContextOptions options_;
  std::vector<Observer*> observers_;
  RangeListener* range_listener_ = nullptr;
  std::shared_ptr<cuda::Device> device_;
  std::string device_name_;
  Communicator* communicator_;
  bool joined_ = false;  // the device's sums may be those of all ranks
  bool alone_ = false;   // not those of the command that runs
  int threads_ = 1;
  Space space_ = Space::host;
  Arena arena_;
  Arena* lent_ = nullptr;                  // in the place of arena_
  int entries_ = 0;                        // of Entry
  std::atomic<std::thread::id> inside_{};  // the thread that holds them; none: nobody does
  bool calling_back_ = false;              // an observer is at work
  Recording* recording_ = nullptr;
  LoopState* loop_ = nullptr;
  Deadline deadline_ = Deadline::max(), setup_deadline_ = Deadline::max();
  InnerSolves* inner_ = nullptr;
  CheckListener* check_listener_ = nullptr;
  int depth_ = 0;  // of solving()
  std::atomic<bool> cancelled_{false};
};

inline RangeListener* Range::listener_of(Context const& ctx) { return ctx.range_listener(); }

/// For what has not learnt to go on over ranks: throws Unsupported where there are others.
inline void require_one_rank(Context const& ctx, char const* what) {
  if (ctx.communicator().extends_sums())
    throw Unsupported(cat(what, " over ", ctx.communicator().ranks(), " ranks"));
}

/// bytes from one space to the other, or within one, in the Context's order; done on return.
void copy_bytes(Context&, void* to, Space to_space, void const* from, Space from_space,
                std::size_t bytes);

/// Owned copies between the host and the Context's space.
template <class T>
Array<T> to_space(Context& ctx, T const* host, std::size_t n) {
  Array<T> there(ctx.space(), n);
  copy_bytes(ctx, there.data(), ctx.space(), host, Space::host, n * sizeof(T));
  return there;
}
template <class T>
std::vector<T> to_host(Context& ctx, T const* data, Space space, std::size_t n) {
  std::vector<T> here(n);
  copy_bytes(ctx, here.data(), Space::host, data, space, n * sizeof(T));
  return here;
}
template <class T>
std::vector<T> to_host(Context& ctx, Array<T> const& a) {
  return to_host(ctx, a.data(), a.space(), a.size());
}

}  // namespace tcsolve
