// SPDX-License-Identifier: Apache-2.0
/// What the process has from the heap at this moment.
#pragma once

#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <thread>

/// Of a build under a sanitizer, whose heap the C library knows nothing of.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace tcsolve::test {

/// Whether this build runs under one: what is timed there is not the library.
inline bool sanitized() { return __sanitizer_get_current_allocated_bytes != nullptr; }

inline double heap_bytes() {
  if (sanitized()) return static_cast<double>(__sanitizer_get_current_allocated_bytes());
  auto const info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// A thread that a library's call ran in gives back what it has set aside as it ends, a moment
/// after its result is there.
inline double settled_heap_bytes() {
  double now = heap_bytes();
  for (int looks = 0, same = 0; looks < 1000 && same < 25; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    double const next = heap_bytes();
    same = next == now ? same + 1 : 0;
    now = next;
  }
  return now;
}

}  // namespace tcsolve::test
