// SPDX-License-Identifier: Apache-2.0
/// Checks of the memory available before it is taken: an allocation that the system can only refuse
/// by killing the process is refused here, with the numbers.
#pragma once

#include <cstdint>
#include <string>

namespace tcsolve {

/// Bytes this process may still allocate without swapping: MemAvailable of Linux, lowered to what
/// the memory cgroup leaves. The largest int64 where the system does not say.
std::int64_t available_memory();

/// Throws MemoryError, "<what> needs about ... GiB; ... GiB may be used", when `bytes` exceeds
/// `limit` bytes. limit = 0 stands for 80 % of available_memory().
void require_memory(std::int64_t bytes, std::int64_t limit, std::string const& what);

}  // namespace tcsolve
