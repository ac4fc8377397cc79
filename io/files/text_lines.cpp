// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/text_lines.hpp>

#include <tcsolve/core/error.hpp>

#include <utility>

namespace tcsolve {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

}  // namespace

TextLines::TextLines(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), blocks_(*source_, block_bytes) {}

std::optional<std::string_view> TextLines::next() {
  ++line_;
  if (rest_.empty()) {
    try {
      rest_ = blocks_.next();
    } catch (MatrixError const& e) { fail(e.what()); }
  }
  if (rest_.empty()) return std::nullopt;
  std::string_view line = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(line.size() + 1);  // whole lines: each has its '\n'
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view TextLines::require(std::string const& what) {
  auto const line = next();
  if (!line) fail(cat("the file ends before ", what));
  return *line;
}

void TextLines::require_fields(std::int64_t count, std::string const& what) const {
  if (count < 0 || count > source_->max_bytes())
    fail(cat(count, " ", what, " are more than a file of this size can hold"));
}

void TextLines::fail(std::string const& what) const {
  throw MatrixError(cat(name_, ":", line_, ": ", what));
}

}  // namespace tcsolve
