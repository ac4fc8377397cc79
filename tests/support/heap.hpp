// SPDX-License-Identifier: Apache-2.0
/// What the process has from the heap at this moment.
#pragma once

#include <malloc.h>

#include <cstddef>

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

}  // namespace tcsolve::test
