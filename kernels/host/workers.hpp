// SPDX-License-Identifier: Apache-2.0
/// The threads of the host's loops: one set in a process, which helps whoever has a loop to share.
///
///     owner    opens a loop, works at it, closes it, waits for the helpers that are inside
///     helper   joins an open loop, takes stretches until none is left, leaves; looks for another
///              for some ten microseconds, and sleeps
///
/// A loop is cut into a share for each thread, and a share into stretches that are claimed one by
/// one; who has finished his own share takes from the others'. The owner waits for stretches that
/// were begun, never for a thread that has not been scheduled. Loops of several owners run side by
/// side. Where a helper inside a loop had no processor, so that its owner had to sleep, or where an
/// owner was interrupted, the processors are wanted by somebody else, and the next loops take fewer
/// threads for a while.
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
