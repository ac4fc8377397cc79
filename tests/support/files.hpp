// SPDX-License-Identifier: Apache-2.0
/// Files of a test: in a folder of its own, since tests run side by side.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
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

/// A folder of inputs that are handed out beside the repository: of TCSOLVE_CASES, or of
/// ../shared/cases from the source tree. Empty where it is absent, which a test says as it skips.
inline std::filesystem::path shared_case(std::string const& name) {
  char const* const given = std::getenv("TCSOLVE_CASES");
  char const* const source = std::getenv("TCSOLVE_SOURCE_DIR");
  std::filesystem::path const root =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(source != nullptr ? source : TCSOLVE_SOURCE_DIR) /
                             "../shared/cases";
  std::error_code ignored;
  std::filesystem::path const found = std::filesystem::canonical(root / name, ignored);
  return ignored ? std::filesystem::path{} : found;
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
