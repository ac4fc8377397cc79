// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/spin_wait.hpp>

#include <sched.h>
#include <time.h>

namespace tcsolve {

void SpinWait::pause() {
  ++looks_;
  if (looks_ < at_once) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (looks_ < at_once + yields) {
    sched_yield();
    return;
  }
  timespec const while_{0, 50'000};
  nanosleep(&while_, nullptr);
}

}  // namespace tcsolve
