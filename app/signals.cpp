// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/signals.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace tcsolve {
namespace {

// A signal handler has no other way to reach the Context.
std::atomic<Context*> running{nullptr};

extern "C" void tcsolve_cancel(int signal) {
  if (Context* const ctx = running.load()) ctx->cancel();
  if (signal == SIGINT) {  // somebody is there to read it
    constexpr char text[] = "\ncancelling; once more ends at once\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
  std::signal(signal, SIG_DFL);
}

}  // namespace

void file_size_limit_is_an_error() { std::signal(SIGXFSZ, SIG_IGN); }

CancelOnSignal::CancelOnSignal(Context& ctx) {
  running.store(&ctx);
  hangup_ = std::signal(SIGHUP, tcsolve_cancel);
  if (hangup_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup asks for that
  std::signal(SIGINT, tcsolve_cancel);
  std::signal(SIGTERM, tcsolve_cancel);
}

CancelOnSignal::~CancelOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, hangup_);
  running.store(nullptr);
}

IgnoreLostReaders::IgnoreLostReaders() : before_(std::signal(SIGPIPE, SIG_IGN)) {}

IgnoreLostReaders::~IgnoreLostReaders() { std::signal(SIGPIPE, before_); }

}  // namespace tcsolve
