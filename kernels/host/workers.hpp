// SPDX-License-Identifier: Apache-2.0
/// The threads of the host's loops: one set of helper threads in a process, shared by all loops.
///
///     owner    opens a loop, works at it, closes it, waits for the helpers that are inside
///     helper   joins an open loop, takes stretches until none is left, leaves; looks for another
///              for some ten microseconds, and sleeps
///
/// A loop is cut into a share for each thread, and a share into stretches that are claimed one by
/// one; a thread that has finished its share takes stretches of the others. The owner waits for
/// stretches that were begun, never for a thread that has not been scheduled. Loops of several
/// owners run side by side. Where the owner had to sleep because a helper inside its loop had no
/// processor, or where the owner itself was interrupted, other processes compete for the
/// processors, and the next loops take fewer threads for a while.
///
/// After a fork the child has no helpers, starts its own when it needs them, and hangs nowhere.
#pragma once

#include <cstdint>

namespace tcsolve::host {

/// What a loop does to the elements [begin, end).
struct Stretch {
  void (*call)(void const* body, std::int64_t begin, std::int64_t end);
  void const* body;
};

/// Calls `stretch` for disjoint ranges that cover [begin, end), on at most `threads` threads, the
/// caller's among them; back when all have returned. Inside another such loop it runs on the
/// calling thread. The first exception that is thrown goes on to the caller, and the rest of the
/// loop is left out. Cost: about 1 us where the helpers are awake, some 10 us where they sleep.
void share_loop(int threads, std::int64_t begin, std::int64_t end, Stretch stretch);

}  // namespace tcsolve::host
