// SPDX-License-Identifier: Apache-2.0
/// What Linux says of processes that a test has started, and of devices for two of them.
#pragma once

#include <dlfcn.h>
#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <tcsolve/core/device.hpp>

namespace tcsolve::cli {

/// Why there are no two devices that this transport joins; "" where there are.
inline std::string lacks_devices(std::string const& transport) {
  std::string why;
  if (!cuda::available(why, 1)) return "two devices: " + why;
  if (transport != "nccl" || dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL) != nullptr) return "";
  return dlerror();
}

/// The processes that `parent` has started.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> out;
  std::string const number = std::to_string(parent);
  std::ifstream in("/proc/" + number + "/task/" + number + "/children");
  for (pid_t pid = 0; in >> pid;) out.push_back(pid);
  return out;
}

/// A variable that the process was started with; "" where it was not.
inline std::string variable_of(pid_t process, std::string const& name) {
  std::ifstream in("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.insert(text.begin(), '\0');
  std::string const before = '\0' + name + '=';
  std::size_t const at = text.find(before);
  if (at == std::string::npos) return "";
  return text.c_str() + at + before.size();  // up to the next zero
}

/// Whether it is there and has not ended; one that nobody has asked for yet has.
inline bool runs(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string const text(std::istreambuf_iterator<char>(in), {});
  std::size_t const name = text.rfind(") ");
  return name != std::string::npos && text[name + 2] != 'Z' && text[name + 2] != 'X';
}

}  // namespace tcsolve::cli
