// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/signals.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>

namespace tcsolve {
namespace {

// A signal handler has no other way to reach the Context.
std::atomic<Context*> running{nullptr};

extern "C" void tcsolve_cancel(int signal) {
  if (Context* const ctx = running.load()) ctx->cancel();
  if (signal == SIGXCPU) return;  // the kernel repeats it every second
  if (signal == SIGINT) {         // somebody is there to read it
    constexpr char text[] = "\ncancelling; once more ends at once\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
  std::signal(signal, SIG_DFL);
}

}  // namespace

void file_size_limit_is_an_error() { std::signal(SIGXFSZ, SIG_IGN); }

CancelOnSignal::CancelOnSignal(Context& ctx) {
  running.store(&ctx);
  for (std::size_t k = 0; k < signals.size(); ++k) {
    before_[k] = std::signal(signals[k], tcsolve_cancel);
    if (before_[k] == SIG_IGN) std::signal(signals[k], SIG_IGN);  // nohup asks for that
  }
}

CancelOnSignal::~CancelOnSignal() {
  for (std::size_t k = 0; k < signals.size(); ++k) std::signal(signals[k], before_[k]);
  running.store(nullptr);
}

IgnoreLostReaders::IgnoreLostReaders() : before_(std::signal(SIGPIPE, SIG_IGN)) {}

IgnoreLostReaders::~IgnoreLostReaders() { std::signal(SIGPIPE, before_); }

}  // namespace tcsolve
