// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/machine.hpp>

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace tcsolve {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// What follows `key` and a colon in the first line of a file that begins with it.
std::string line_of(char const* file, std::string const& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t const colon = line.find(':');
    std::size_t const first = line.find_first_not_of(" \t", colon + 1);
    return colon == std::string::npos || first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

}  // namespace

double process_seconds() {
  std::ifstream in("/proc/self/stat");
  std::string text;
  std::getline(in, text);
  // The second field is the program's name in brackets, which may hold anything; field 22 says in
  // clock ticks after the machine's start when the process began.
  std::size_t const bracket = text.rfind(')');
  if (bracket == std::string::npos) return not_known;
  std::istringstream fields(text.substr(bracket + 1));
  std::string field;
  for (int k = 3; k <= 22; ++k) fields >> field;
  timespec now{};
  if (!fields || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return not_known;
  double const began = std::stod(field) / double(sysconf(_SC_CLK_TCK));
  return std::max(0.0, double(now.tv_sec) + 1e-9 * double(now.tv_nsec) - began);
}

double peak_memory() {
  std::istringstream line(line_of("/proc/self/status", "VmHWM"));
  double kilobytes = 0;
  return line >> kilobytes ? 1024 * kilobytes : not_known;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string cpu_name() { return line_of("/proc/cpuinfo", "model name"); }

std::string utc_now() {
  std::time_t const now = std::time(nullptr);
  std::tm utc{};
  char text[32] = {};
  if (gmtime_r(&now, &utc) == nullptr) return "";
  return std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0 ? text : "";
}

std::vector<std::string> command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace tcsolve
