// SPDX-License-Identifier: Apache-2.0
/// Where text comes from: a plain, gzip or xz file, or memory; always a stream, never all at once.
#pragma once

#include <tcsolve/core/cancel.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace tcsolve {

/// A stream of bytes, decompressed.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` from the front and returns how many bytes were written: fewer than asked for only
  /// at the end, 0 after it. Throws MatrixError, without the file name, when the data is corrupt or
  /// ends early; the bytes before the fault have been delivered by then.
  virtual std::size_t read(std::span<char> out) = 0;
  /// Passes over `count` bytes; returns how many there were before the end. A plain file is not
  /// read for it.
  virtual std::int64_t skip(std::int64_t count);
  /// An upper bound of the bytes that read() will deliver in all, from the size of the file: what a
  /// header may promise.
  virtual std::int64_t max_bytes() const = 0;
};

/// Opens a regular file. The compression is found from the first bytes, not from the name.
/// Throws MatrixError, "<path>: <reason>", when it is missing, unreadable or not a regular file.
std::unique_ptr<ByteSource> open_file(std::filesystem::path const& path);

/// Bytes [begin, end) of a regular file as they lie there. Throws as open_file().
std::unique_ptr<ByteSource> open_stretch(std::filesystem::path const& path, std::int64_t begin,
                                         std::int64_t end);

/// The size of a regular file that is not compressed; nothing of another one. Throws MatrixError
/// where it cannot be read.
std::optional<std::int64_t> plain_size(std::filesystem::path const& path);

/// The same bytes; read() throws Cancelled once the flag is raised.
std::unique_ptr<ByteSource> cancellable(std::unique_ptr<ByteSource> source, CancelFlag cancel);

/// Bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> open_text(std::string_view text);

}  // namespace tcsolve
