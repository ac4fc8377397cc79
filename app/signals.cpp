// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/signals.hpp>

#include <atomic>
#include <csignal>

namespace tcsolve {
namespace {

// A signal handler has no other way to reach the Context.
std::atomic<Context*> running{nullptr};

extern "C" void tcsolve_cancel(int signal) {
  if (Context* const ctx = running.load()) ctx->cancel();
  std::signal(signal, SIG_DFL);
}

}  // namespace

void file_size_limit_is_an_error() { std::signal(SIGXFSZ, SIG_IGN); }

CancelOnSignal::CancelOnSignal(Context& ctx) {
  running.store(&ctx);
  std::signal(SIGINT, tcsolve_cancel);
  std::signal(SIGTERM, tcsolve_cancel);
}

CancelOnSignal::~CancelOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  running.store(nullptr);
}

}  // namespace tcsolve
