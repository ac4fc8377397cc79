// SPDX-License-Identifier: Apache-2.0
/// Files of a test: in a folder of its own, since tests run side by side.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace tcsolve::test {

inline std::string read_text(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns `path`. Throws where the text does not get there.
inline std::filesystem::path write_text(std::filesystem::path const& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush()) throw std::system_error(errno, std::generic_category(), path);
  return path;
}

/// An empty folder that no other object has; it goes with this one.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tcsolve-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  std::filesystem::path const& path() const { return path_; }
  std::filesystem::path operator/(std::filesystem::path const& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tcsolve::test
