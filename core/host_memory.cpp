// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/host_memory.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/faults.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

namespace tcsolve {
namespace {

constexpr auto unknown = std::numeric_limits<std::int64_t>::max();

/// The number in a file that holds one number; `unknown` for "max" and for a missing file.
std::int64_t number_in(char const* path) {
  std::ifstream in(path);
  std::int64_t n = 0;
  return in >> n ? n : unknown;
}

std::int64_t available_in_system() {
  std::ifstream in("/proc/meminfo");
  std::string key, rest;
  std::int64_t kib = 0;
  while (in >> key >> kib && std::getline(in, rest))
    if (key == "MemAvailable:") return kib * 1024;
  return unknown;
}

/// Page cache charged to the memory cgroup: the kernel gives it back when asked.
std::int64_t cached_in_cgroup() {
  std::ifstream in("/sys/fs/cgroup/memory.stat");
  std::string key;
  std::int64_t bytes = 0, sum = 0;
  while (in >> key >> bytes)
    if (key == "active_file" || key == "inactive_file") sum += bytes;
  return sum;
}

std::int64_t available_in_cgroup() {
  std::int64_t const limit = number_in("/sys/fs/cgroup/memory.max");
  std::int64_t const used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == unknown || used == unknown) return unknown;
  return std::max<std::int64_t>(0, limit - used + cached_in_cgroup());
}

std::string gib(std::int64_t bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

std::int64_t available_memory() {
  return faults::available_at_most(std::min(available_in_system(), available_in_cgroup()));
}

void require_memory(std::int64_t bytes, std::int64_t limit, std::string const& what) {
  std::int64_t const allowed = limit > 0 ? limit : available_memory() / 10 * 8;
  if (bytes > allowed)
    throw MemoryError(cat(what, " needs about ", gib(bytes), "; ", gib(allowed), " may be used",
                          limit > 0 ? " (the limit given)" : " (80 % of what is available)"));
}

}  // namespace tcsolve
