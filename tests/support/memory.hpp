// SPDX-License-Identifier: Apache-2.0
/// What repeated calls take of memory.
#pragma once

#include <cstdint>

#include <tcsolve/core/faults.hpp>

#include <gtest/gtest.h>

namespace tcsolve::test {

/// After two calls of step() three more take no memory and give none back. Returns the bytes that
/// each of these copies.
template <class F>
std::int64_t expect_no_memory(F const& step) {
  for (int i = 0; i < 2; ++i) step();
  MemoryCounters const before = memory_counters();
  for (int i = 0; i < 3; ++i) step();
  MemoryCounters const now = memory_counters();
  EXPECT_EQ(now.allocations, before.allocations);
  EXPECT_EQ(now.releases, before.releases);
  return (now.copied_bytes - before.copied_bytes) / 3;
}

}  // namespace tcsolve::test
