// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/host_memory.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/faults.hpp>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;

constexpr auto unknown = std::numeric_limits<std::int64_t>::max();

/// The number in a file that holds one number; `unknown` for "max" and for a missing file.
std::int64_t number_in(fs::path const& path) {
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

/// Page cache charged to a memory cgroup: the kernel gives it back when asked. `prefix`: that of
/// v1 counts the cgroups below as well.
std::int64_t cached_in(fs::path const& group, std::string const& prefix) {
  std::ifstream in(group / "memory.stat");
  std::string key;
  std::int64_t bytes = 0, sum = 0;
  while (in >> key >> bytes)
    if (key == prefix + "active_file" || key == prefix + "inactive_file") sum += bytes;
  return sum;
}

/// What one cgroup leaves.
std::int64_t left_in(fs::path const& group, char const* limit_file, char const* used_file,
                     std::string const& prefix) {
  std::int64_t const limit = number_in(group / limit_file), used = number_in(group / used_file);
  if (limit == unknown || used == unknown) return unknown;
  // v1 writes the largest multiple of a page where there is no limit.
  if (limit > unknown / 2) return unknown;
  return std::max<std::int64_t>(0, limit - used + cached_in(group, prefix));
}

/// The least of what the cgroup `path` below `root` and those around it leave.
std::int64_t left_up_to(fs::path const& root, std::string const& path, bool second_version) {
  std::int64_t least = unknown;
  // Of a process in a container the path may be that of the host: `root` itself always counts.
  fs::path inside = fs::path(path).relative_path().lexically_normal();
  if (inside == "." || (!inside.empty() && *inside.begin() == "..")) inside.clear();
  for (;; inside = inside.parent_path()) {
    fs::path const group = inside.empty() ? root : root / inside;
    least = std::min(least, second_version ? left_in(group, "memory.max", "memory.current", "")
                                           : left_in(group, "memory.limit_in_bytes",
                                                     "memory.usage_in_bytes", "total_"));
    if (inside.empty()) return least;
  }
}

struct Allowance {
  std::int64_t bytes = unknown;
  char const* by = "";
};

/// A limit of the process in bytes; `unknown` where there is none.
template <class Resource>
std::int64_t limit_of(Resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return unknown;
  if (limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > static_cast<rlim_t>(std::numeric_limits<std::int64_t>::max()))
    return unknown;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

/// What the system and the cgroups leave. A set-up asks several times, and to ask opens a dozen
/// files, which is half of the set-up of a small system: an answer is good for some milliseconds,
/// in which a process touches some megabytes at the most.
struct SystemAllowance {
  std::int64_t system = unknown, cgroups = unknown;

  static SystemAllowance now() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds good{4};
    thread_local Clock::time_point asked{};
    thread_local SystemAllowance last;
    if (auto const now = Clock::now(); now - asked > good) {
      last = {available_in_system(), available_in_cgroups("/proc/self/cgroup", "/sys/fs/cgroup")};
      asked = now;
    }
    return last;
  }
};

Allowance allowance() {
  SystemAllowance const left = SystemAllowance::now();
  Allowance least{left.system, ""};
  auto const lower = [&](std::int64_t bytes, char const* by) {
    if (bytes < least.bytes) least = {bytes, by};
  };
  lower(left.cgroups, " in the cgroup");
  std::int64_t const whole_at_most = limit_of(RLIMIT_AS), data_at_most = limit_of(RLIMIT_DATA);
  if (whole_at_most == unknown && data_at_most == unknown) return least;
  std::int64_t whole = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident >> shared >> text >> library >> data;
  std::int64_t const page = ::sysconf(_SC_PAGESIZE);
  auto const left_of = [](std::int64_t limit, std::int64_t used) {
    return limit == unknown ? unknown : std::max<std::int64_t>(0, limit - used);
  };
  lower(left_of(whole_at_most, whole * page), " under ulimit -v");
  lower(left_of(data_at_most, data * page), " under ulimit -d");
  return least;
}

std::string gib(std::int64_t bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

std::int64_t available_in_cgroups(fs::path const& table, fs::path const& mount) {
  std::int64_t least = left_up_to(mount, "", true);
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);) {  // "0::/user.slice" or "9:memory:/job"
    std::istringstream fields(line);
    std::string number, controllers, path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (controllers.empty()) least = std::min(least, left_up_to(mount, path, true));
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      least = std::min(least, left_up_to(mount / "memory", path, false));
  }
  return least;
}

std::int64_t available_memory() { return faults::available_at_most(allowance().bytes); }

void require_memory(std::int64_t bytes, std::int64_t limit, std::string const& what) {
  std::int64_t const allowed = limit > 0 ? limit : available_memory() / 10 * 8;
  if (bytes <= allowed) return;
  std::string const why =
      limit > 0 ? " (the limit given)" : cat(" (80 % of what is available", allowance().by, ")");
  throw MemoryError(
      cat(what, " needs about ", gib(bytes), "; ", gib(allowed), " may be used", why));
}

}  // namespace tcsolve
