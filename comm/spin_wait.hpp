// SPDX-License-Identifier: Apache-2.0
/// How a rank waits for another one: it looks again and again, first with its processor, then
/// between others' turns, at last with pauses.
#pragma once

#include <cstdint>

namespace tcsolve {

class SpinWait {
 public:
  /// crowded: there are more ranks than processors, so that each look gives its own away.
  explicit SpinWait(bool crowded) : looks_(crowded ? at_once : 0) {}
  /// Between two looks: a few nanoseconds for some 4000 times, then a turn of the scheduler for
  /// 20000 times, then 50 microseconds.
  void pause();
  /// A look at the clock is due.
  bool looks_at_clock() const { return looks_ >= at_once && looks_ % 64 == 0; }

 private:
  static constexpr int at_once = 4000, yields = 20000;
  std::int64_t looks_;
};

}  // namespace tcsolve
