// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_file.hpp>

#include <tcsolve/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>

namespace tcsolve {
namespace {

[[noreturn]] void fail(char const* action) {
  throw MatrixError(cat("a pipe cannot ", action, ": ", std::strerror(errno)));
}

/// A pipe that a shell made, as of `tcsolve <(cat A.mtx)`.
bool is_pipe_of_shell(std::filesystem::path const& path) {
  std::string const name = path.string();
  bool const descriptor =
      name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/") || name == "/dev/stdin";
  std::error_code ignored;
  return descriptor && std::filesystem::is_fifo(path, ignored);
}

void copy(int from, int to) {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    ssize_t const got = ::read(from, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("be read");
    if (got == 0) return;
    for (ssize_t done = 0; done < got;) {
      ssize_t const put = ::write(to, bytes.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("be kept in a temporary file (TMPDIR names another folder)");
      done += put;
    }
  }
}

std::filesystem::path kept(int from) {
  std::error_code none;
  auto const folder = std::filesystem::temp_directory_path(none);
  std::string name = (none ? "/tmp" : folder.string()) + "/tcsolve-XXXXXX";
  int const file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail("be kept in a temporary file (TMPDIR names another folder)");
  ::unlink(name.c_str());  // it lives as long as the descriptor does
  copy(from, file);
  return cat("/proc/self/fd/", file);
}

}  // namespace

bool is_standard_input(std::filesystem::path const& path) { return path == "-"; }

std::filesystem::path readable_file(std::filesystem::path const& path) {
  static std::map<std::filesystem::path, std::filesystem::path> copies;
  if (auto const copy = copies.find(path); copy != copies.end()) return copy->second;
  if (is_standard_input(path)) return copies[path] = kept(STDIN_FILENO);
  if (!is_pipe_of_shell(path)) return path;
  int const pipe = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (pipe < 0) fail("be opened");
  auto const copy = kept(pipe);
  ::close(pipe);
  return copies[path] = copy;
}

std::string file_name(std::filesystem::path const& path) {
  return is_standard_input(path) ? "standard input" : path.string();
}

}  // namespace tcsolve
