// SPDX-License-Identifier: Apache-2.0
/// Results worth keeping between runs: files of a directory that any number of processes share.
///
///     <hash of the key>.tcsolve     "tcsolve cache 1\n", checksum, sizes, the key, the content
///
/// A file appears whole or not at all (atomic_file.hpp), so that a reader sees what one writer
/// wrote. What does not check out, whatever the reason, counts as absent and is removed: a cache
/// can cost time, never a result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tcsolve {

class DiskCache {
 public:
  /// Files in `directory`, made when it is first written to, of at most `limit` bytes together.
  DiskCache(std::filesystem::path directory, std::int64_t limit);

  /// What was put under `key`, and marks it as used; nothing where there is none or it is damaged.
  std::optional<std::string> get(std::string const& key) const;
  /// Keeps `content`, and removes what was used longest ago until the limit holds. Returns why
  /// nothing was kept (larger than the limit, a directory that cannot be written); "" when it was.
  std::string put(std::string const& key, std::string_view content) const;
  /// The file of a key, whether it is there or not.
  std::filesystem::path file(std::string const& key) const;

 private:
  void shrink(std::filesystem::path const& keep) const;
  std::filesystem::path directory_;
  std::int64_t limit_;
};

}  // namespace tcsolve
