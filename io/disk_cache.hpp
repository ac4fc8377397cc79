// SPDX-License-Identifier: Apache-2.0
/// Results kept between runs, as files of a directory that any number of processes share.
///
///     <hash of the key>.tcsolve     "tcsolve cache 1\n", checksum, sizes, the key, the content
///
/// A file appears whole or not at all (atomic_file.hpp), so that a reader sees what one writer
/// wrote. A file whose checksum or key does not match counts as absent and is removed: the
/// cache can cost time, never change a result.
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

  /// The content stored under `key`, which is marked as used; nothing where it is absent or
  /// damaged.
  std::optional<std::string> get(std::string const& key) const;
  /// Stores `content`, and removes the least recently used files until the limit holds. Returns why
  /// nothing was stored (larger than the limit, a directory that cannot be written), else "".
  std::string put(std::string const& key, std::string_view content) const;
  /// The file of a key, whether it is there or not.
  std::filesystem::path file(std::string const& key) const;

 private:
  void shrink(std::filesystem::path const& keep) const;
  std::filesystem::path directory_;
  std::int64_t limit_;
};

}  // namespace tcsolve
