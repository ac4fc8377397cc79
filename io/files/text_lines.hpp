// SPDX-License-Identifier: Apache-2.0
/// A text one line after another, for files whose lines are read in order.
#pragma once

#include <tcsolve/io/files/byte_source.hpp>
#include <tcsolve/io/files/text_blocks.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tcsolve {

class TextLines {
 public:
  /// `name` stands for the file in messages.
  TextLines(std::unique_ptr<ByteSource> source, std::string name);

  /// The next line without its end, or nothing after the last. Valid until the next call.
  std::optional<std::string_view> next();
  /// The next line. Throws MatrixError where the file ends before: `what` is missing.
  std::string_view require(std::string const& what);

  std::string const& name() const { return name_; }
  /// Throws MatrixError where `count` fields, of a byte each at least, are more than the file
  /// holds.
  void require_fields(std::int64_t count, std::string const& what) const;
  /// Throws MatrixError "<name>:<line>: <what>", of the line last read.
  [[noreturn]] void fail(std::string const& what) const;

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  TextBlocks blocks_;
  std::string_view rest_;
  std::int64_t line_ = 0;
};

}  // namespace tcsolve
