// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/matrix_file.hpp>

#include <tcsolve/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tcsolve {
namespace {

[[noreturn]] void fail(char const* action) {
  throw MatrixError(cat("standard input: cannot ", action, ": ", std::strerror(errno)));
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

std::filesystem::path kept_input() {
  std::error_code none;
  auto const folder = std::filesystem::temp_directory_path(none);
  std::string name = (none ? "/tmp" : folder.string()) + "/tcsolve-XXXXXX";
  int const file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail("be kept in a temporary file (TMPDIR names another folder)");
  ::unlink(name.c_str());  // it lives as long as the descriptor does
  copy(STDIN_FILENO, file);
  return cat("/proc/self/fd/", file);
}

}  // namespace

bool is_standard_input(std::filesystem::path const& path) { return path == "-"; }

std::filesystem::path readable_file(std::filesystem::path const& path) {
  if (!is_standard_input(path)) return path;
  static std::filesystem::path const kept = kept_input();
  return kept;
}

std::string file_name(std::filesystem::path const& path) {
  return is_standard_input(path) ? "standard input" : path.string();
}

}  // namespace tcsolve
