// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/left_behind.hpp>

#include <pthread.h>
#include <csignal>
#include <cstring>

namespace tcsolve {
namespace {

std::atomic<int> calls{0};

}  // namespace

int left_behind() { return calls.load(); }

namespace detail {

void Abandoned::abandon() {
  if (!counted_.exchange(true)) calls.fetch_add(1);
}

Abandoned::~Abandoned() {
  if (counted_.load()) calls.fetch_sub(1);
}

static_assert(sizeof(sigset_t) <= 128);

NoSignals::NoSignals() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::memcpy(before_, &before, sizeof before);
}

NoSignals::~NoSignals() {
  sigset_t before;
  std::memcpy(&before, before_, sizeof before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace detail
}  // namespace tcsolve
