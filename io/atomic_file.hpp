// SPDX-License-Identifier: Apache-2.0
/// Files that appear whole or not at all: written under a temporary name, then renamed.
#pragma once

#include <filesystem>
#include <string_view>

namespace tcsolve {

/// A file being written beside its final place. Until commit() nothing is seen under the final
/// name, and whatever file was there before stays. Without commit() the destructor removes the
/// temporary.
class AtomicFile {
 public:
  /// Creates `<path>.tmp-<process>-<number>` in the directory of `path`. Throws Error with the
  /// system's reason when it can't, or when `path` exists and is no regular file.
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(AtomicFile const&) = delete;
  AtomicFile& operator=(AtomicFile const&) = delete;
  ~AtomicFile();

  /// Appends. Throws Error, e.g. on a full disk.
  void write(std::string_view text);
  /// Flushes to the device and renames. Throws Error; the temporary is removed then.
  void commit();

 private:
  [[noreturn]] void fail(char const* action);
  void discard() noexcept;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// All of a file at once.
void write_file(std::filesystem::path const& path, std::string_view text);

}  // namespace tcsolve
