// SPDX-License-Identifier: Apache-2.0
/// Text in blocks of whole lines, read and decompressed one block ahead of its user.
#pragma once

#include <tcsolve/io/files/byte_source.hpp>

#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <string_view>
#include <vector>

namespace tcsolve {

/// Bytes that may be read (not used) beyond the end of a block, so that scanners can load words.
inline constexpr std::size_t text_padding = 8;

/// Text of one task, which stays in a cache, and tasks of a thread in a block, so that threads end
/// it together.
inline constexpr std::size_t text_chunk_bytes = std::size_t{1} << 19;
inline constexpr int text_chunks_per_thread = 4;

class TextBlocks {
 public:
  /// Blocks of about block_bytes, which is also the longest line accepted. `source` outlives this.
  TextBlocks(ByteSource& source, std::size_t block_bytes);

  /// The next block: whole lines, each ended by '\n' (one is added when the text ends without), or
  /// empty at the end. Valid until the next call. Throws MatrixError, without file name and line,
  /// when the source fails or a line is too long; all whole lines before it were delivered by then.
  std::string_view next();

  /// Bytes of text delivered so far.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Block {
    std::unique_ptr<char[]> data;
    std::size_t filled = 0;  // bytes
    std::size_t whole = 0;   // of which these are whole lines
    bool last = false;
    std::exception_ptr fault;
  };
  Block filled(std::unique_ptr<char[]> buffer, std::string_view carry);

  ByteSource& source_;
  std::size_t capacity_;
  std::int64_t bytes_ = 0;
  bool started_ = false;
  Block current_;
  std::unique_ptr<char[]> spare_;
  std::future<Block> ahead_;  // last member: its thread ends before the buffers go
};

/// `text`, whole lines, cut at line ends into pieces of at least piece_bytes (the last may be
/// less).
std::vector<std::string_view> cut_at_lines(std::string_view text, std::size_t piece_bytes);

}  // namespace tcsolve
