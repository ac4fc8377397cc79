// SPDX-License-Identifier: Apache-2.0
/// A Matrix Market text on its way in: header, then batches of entries parsed by several threads.
/// All faults leave as MatrixError `file:line: what`.
#pragma once

#include <tcsolve/io/files/byte_source.hpp>
#include <tcsolve/io/files/matrix_market_entries.hpp>
#include <tcsolve/io/files/text_blocks.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tcsolve {

class MatrixText {
 public:
  /// `name` stands for the text in messages.
  MatrixText(std::unique_ptr<ByteSource> source, std::string name, int threads);

  /// Reads banner, comments and sizes. Checks that so many entries can be in a file of this size.
  MatrixHeader const& read_header();
  /// Instead of read_header: bare numbers, as many as there are. Returns how many are on a line:
  /// as many as on the first one that has any, 1 where none has.
  Index read_no_header();
  MatrixHeader const& header() const { return header_; }
  /// Bytes up to the end of the size line; 1 more where that ends the file without a '\n'. Between
  /// read_header and next.
  std::int64_t header_bytes() const {
    return blocks_.bytes() - static_cast<std::int64_t>(rest_.size());
  }

  /// The next entries in file order, one chunk after the other; empty at the end. The chunks may be
  /// changed and are valid until the next call. Throws at the first fault in the file, be it a
  /// malformed line, an entry too many, a non-finite value if refused, or entries missing at the
  /// end.
  std::span<EntryChunk> next(NonFinite nonfinite);

  /// The line of the second entry at (i, j), or (j, i) when `mirrored`. After read_header, instead
  /// of next.
  std::int64_t line_of_repeat(Index i, Index j, bool mirrored);

  std::int64_t lines() const { return line_; }            ///< lines read so far
  std::int64_t bytes() const { return blocks_.bytes(); }  ///< bytes of text read so far
  Offset entries() const { return entries_; }             ///< entries delivered so far
  [[noreturn]] void fail(std::int64_t line, std::string const& what) const;

 private:
  std::string_view next_block();
  void check(std::vector<std::string_view> const& pieces);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  int threads_;
  TextBlocks blocks_;
  MatrixHeader header_;
  std::string_view rest_;  // of the block in which the header ends, or the numbers begin
  std::int64_t line_ = 0;
  Offset entries_ = 0;
  std::vector<EntryChunk> chunks_;
};

}  // namespace tcsolve
