// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/text_blocks.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tcsolve {

TextBlocks::TextBlocks(ByteSource& source, std::size_t block_bytes)
    : source_(source),
      // 2 more: for a '\n' at the end, and to see that a short text ends
      capacity_(std::min(block_bytes, static_cast<std::size_t>(source.max_bytes())) + 2) {}

TextBlocks::Block TextBlocks::filled(std::unique_ptr<char[]> buffer, std::string_view carry) {
  Block block;
  block.data =
      buffer ? std::move(buffer) : std::make_unique_for_overwrite<char[]>(capacity_ + text_padding);
  char* const text = block.data.get();
  block.filled = carry.copy(text, capacity_);
  try {
    while (block.filled < capacity_) {
      std::size_t const got = source_.read({text + block.filled, capacity_ - block.filled});
      block.filled += got;
      if (got == 0) {
        block.last = true;
        break;
      }
    }
  } catch (...) { block.fault = std::current_exception(); }
  if (block.last && block.filled > 0 && text[block.filled - 1] != '\n') text[block.filled++] = '\n';
  block.whole = std::string_view(text, block.filled).rfind('\n') + 1;  // npos + 1 = 0
  if (block.whole == 0 && block.filled == capacity_)
    block.fault = std::make_exception_ptr(
        MatrixError(cat("line longer than ", capacity_ - 2, " bytes: this is no text file")));
  std::memset(text + block.filled, 0, text_padding);
  return block;
}

std::string_view TextBlocks::next() {
  if (!started_)
    current_ = filled(nullptr, {});
  else if (ahead_.valid()) {
    Block fresh =
        ahead_.get();  // its thread reads current_ and takes spare_: both are free after it
    spare_ = std::move(current_.data);
    current_ = std::move(fresh);
  } else {  // the block before was the last one
    current_.whole = 0;
  }
  started_ = true;
  if (current_.whole == 0) {
    if (current_.fault) std::rethrow_exception(current_.fault);
    return {};
  }
  std::string_view const text(current_.data.get(), current_.filled);
  if (!current_.last && !current_.fault)
    ahead_ = std::async(
        std::launch::async | std::launch::deferred,
        [this, carry = text.substr(current_.whole)] { return filled(std::move(spare_), carry); });
  bytes_ += static_cast<std::int64_t>(current_.whole);
  return text.substr(0, current_.whole);
}

std::vector<std::string_view> cut_at_lines(std::string_view text, std::size_t piece_bytes) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::size_t const from = std::min(piece_bytes, text.size()) - 1;
    std::size_t const end = std::min(text.find('\n', from), text.size() - 1) + 1;
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return pieces;
}

}  // namespace tcsolve
