// SPDX-License-Identifier: Apache-2.0
/// The files in a tar (plain, .gz, .xz) or zip archive, one after another, by libarchive.
#pragma once

#include <tcsolve/io/files/byte_source.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct archive;

namespace tcsolve {

class Archive {
 public:
  /// `name` stands for the file in messages. Throws MatrixError when it is no such archive.
  Archive(std::filesystem::path const& path, std::string name);
  /// Of bytes in memory, which must outlive the Archive.
  Archive(std::string_view bytes, std::string name);

  /// Advances to the next regular file and returns its name, or nothing at the end. Throws
  /// MatrixError,
  /// "<name>: <reason>", for a corrupt archive.
  std::optional<std::string> next();
  /// Bytes of this member: an upper bound from its header and from what an archive of this size can
  /// hold.
  std::int64_t max_bytes() const { return max_bytes_; }
  /// As ByteSource::read(), of this member.
  std::size_t read(std::span<char> out);

 private:
  explicit Archive(std::string name);
  void opened(int result);
  [[noreturn]] void fail() const;

  struct Free {
    void operator()(archive* a) const;
  };
  std::string name_;
  std::unique_ptr<archive, Free> handle_;
  std::int64_t archive_bytes_ = 0, max_bytes_ = 0;
};

/// The member at which an archive stands, as a stream; the archive outlives it.
std::unique_ptr<ByteSource> member_source(Archive& archive);
/// The same; the stream owns the archive.
std::unique_ptr<ByteSource> member_source(std::unique_ptr<Archive> archive);

}  // namespace tcsolve
