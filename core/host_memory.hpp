// SPDX-License-Identifier: Apache-2.0
/// Checks of the memory available before it is taken: an allocation that the system can only refuse
/// by killing the process is refused here, with the numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tcsolve {

/// Bytes this process may still allocate without swapping: MemAvailable of Linux, lowered to what
/// `ulimit -v`, `ulimit -d` and the memory cgroups leave. The largest int64 where the system does
/// not say.
std::int64_t available_memory();

/// What the memory cgroups leave, v1 and v2, of the process whose /proc/PID/cgroup is `table`:
/// limit - usage + page cache, the least of its cgroup and all around it; `mount` is
/// /sys/fs/cgroup. The largest int64 where there is no limit.
std::int64_t available_in_cgroups(std::filesystem::path const& table,
                                  std::filesystem::path const& mount);

/// Throws MemoryError, "<what> needs about ... GiB; ... GiB may be used", when `bytes` exceeds
/// `limit` bytes. limit = 0 stands for 80 % of available_memory().
void require_memory(std::int64_t bytes, std::int64_t limit, std::string const& what);

}  // namespace tcsolve
