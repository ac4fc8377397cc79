// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/signals.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace tcsolve {
namespace {

// A signal handler has no other way to reach the Context.
std::atomic<Context*> running{nullptr};
std::atomic<bool> speaks{false};
std::atomic<std::int64_t> asked_at{0};  // nanoseconds; 0: no signal has come

std::int64_t nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

extern "C" void tcsolve_cancel(int signal) {
  if (Context* const ctx = running.load()) ctx->cancel();
  if (signal == SIGXCPU) return;  // the kernel repeats it every second
  // One that is sent to a group of processes comes twice: by itself, and from those of the group
  // that pass it on.
  constexpr std::int64_t one_and_the_same = 500'000'000;
  std::int64_t first = 0;
  std::int64_t const now = nanoseconds();
  if (asked_at.compare_exchange_strong(first, now)) {
    if (signal != SIGINT || !speaks.load()) return;  // nobody is there to read it
    constexpr char text[] = "\ncancelling; once more ends at once\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, sizeof text - 1);
  } else if (now - first > one_and_the_same) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

std::atomic<pid_t> aside{0};  // the process that signals are passed on to
std::atomic<int> asked_for{0};

extern "C" void tcsolve_pass_on(int signal) {
  bool const first = asked_for.fetch_add(1) == 0;
  if (signal == SIGXCPU && !first) return;  // the kernel repeats it
  if (pid_t const child = aside.load(); child > 0) ::kill(child, first ? SIGTERM : SIGKILL);
  if (signal == SIGINT && first) {
    constexpr char text[] = "\nstopping; once more ends this run at once\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
}

}  // namespace

void file_size_limit_is_an_error() { std::signal(SIGXFSZ, SIG_IGN); }

SignalsHandled::SignalsHandled(Handler handler) {
  for (std::size_t k = 0; k < signals.size(); ++k) {
    before_[k] = std::signal(signals[k], handler);
    if (before_[k] == SIG_IGN) std::signal(signals[k], SIG_IGN);  // nohup asks for that
  }
}

SignalsHandled::~SignalsHandled() {
  for (std::size_t k = 0; k < signals.size(); ++k) std::signal(signals[k], before_[k]);
}

CancelOnSignal::CancelOnSignal(Context& ctx)
    : handled_((speaks.store(ctx.communicator().rank() == 0), asked_at.store(0),
                running.store(&ctx), tcsolve_cancel)) {}

CancelOnSignal::~CancelOnSignal() { running.store(nullptr); }

PassSignalsOn::PassSignalsOn() : handled_((asked_for.store(0), tcsolve_pass_on)) {}

PassSignalsOn::~PassSignalsOn() = default;

bool PassSignalsOn::asked() const { return asked_for.load() > 0; }

pid_t PassSignalsOn::fork() {
  // No signal comes between the look at those that have come and the number of the process.
  sigset_t all, before;
  sigemptyset(&all);
  for (int const signal : SignalsHandled::signals) sigaddset(&all, signal);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  pid_t const child = asked() ? -1 : ::fork();
  if (child > 0) aside.store(child);
  if (child == 0) {
    ::setpgid(0, 0);                     // Ctrl-C reaches it once, through its parent
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would wait for it
    for (int const signal : SignalsHandled::signals)
      if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return child;
}

void PassSignalsOn::ended() { aside.store(0); }

IgnoreLostReaders::IgnoreLostReaders() : before_(std::signal(SIGPIPE, SIG_IGN)) {}

IgnoreLostReaders::~IgnoreLostReaders() { std::signal(SIGPIPE, before_); }

}  // namespace tcsolve
