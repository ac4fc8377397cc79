// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_text.hpp>

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tcsolve {
namespace {

/// Bytes of the shortest entry line, '\n' included: "1 1", "1 1 1" or "1".
std::int64_t shortest_line(MatrixHeader const& header) {
  if (header.layout == MatrixLayout::array) return 2;
  return header.field == MatrixField::pattern ? 4 : 6;
}

/// How many words are on the line at p, which ends with '\n'; 0 on a comment.
Index numbers_on_line(char const* p) {
  Index count = 0;
  for (p = skip_blanks(p); *p != '\n' && (count > 0 || *p != '%'); p = skip_blanks(p), ++count)
    while (!is_blank(*p) && *p != '\n') ++p;
  return count;
}

/// Pieces of a text without a header: a short one is shared by all threads, too.
std::size_t piece_of_numbers(std::size_t text, int threads) {
  constexpr std::size_t least = std::size_t{1} << 15;
  return std::clamp(text / static_cast<std::size_t>(text_chunks_per_thread * threads), least,
                    text_chunk_bytes);
}

}  // namespace

MatrixText::MatrixText(std::unique_ptr<ByteSource> source, std::string name, int threads)
    : source_(std::move(source)),
      name_(std::move(name)),
      threads_(thread_count(threads)),
      blocks_(*source_,
              text_chunk_bytes * text_chunks_per_thread * static_cast<std::size_t>(threads_)) {}

MatrixHeader const& MatrixText::read_header() {
  HeaderParser parser(name_);
  do {
    line_ = parser.line();
    rest_ = next_block();
    if (rest_.empty())
      fail(line_ + 1, line_ == 0 ? "the file is empty" : "the file ends before its size line");
  } while (!parser.feed(rest_));
  line_ = parser.line();
  header_ = parser.header();
  // The last line may lack its '\n'.
  if (header_.stored > (source_->max_bytes() + 1) / shortest_line(header_))
    fail(line_, cat("the size line promises ", header_.stored,
                    " entries, more than a file of this size can hold"));
  return header_;
}

Index MatrixText::read_no_header() {
  header_ = {};
  header_.layout = MatrixLayout::array;
  header_.stored = std::numeric_limits<Offset>::max();
  header_.per_line = 1;
  for (rest_ = next_block(); !rest_.empty(); rest_ = next_block()) {
    std::int64_t lines = 0;
    for (std::size_t at = 0; at < rest_.size(); at = rest_.find('\n', at) + 1, ++lines)
      if (Index const count = numbers_on_line(rest_.data() + at); count > 0)
        return header_.per_line = count;
    line_ += lines;
  }
  return header_.per_line;
}

std::string_view MatrixText::next_block() {
  try {
    return blocks_.next();
  } catch (MatrixError const& e) { fail(line_ + 1, e.what()); }
}

std::span<EntryChunk> MatrixText::next(NonFinite nonfinite) {
  std::string_view const text = rest_.empty() ? next_block() : std::exchange(rest_, {});
  bool const bare = header_.per_line > 0;
  auto const pieces =
      cut_at_lines(text, bare ? piece_of_numbers(text.size(), threads_) : text_chunk_bytes);
  if (chunks_.size() < pieces.size()) chunks_.resize(pieces.size());
  parallel_tasks(threads_, static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i, int) {
    auto const k = static_cast<std::size_t>(i);
    parse_entries(pieces[k], header_, nonfinite, chunks_[k]);
  });
  check(pieces);
  if (pieces.empty() && entries_ < header_.stored && !bare)
    fail(line_ + 1, cat("the file ends after ", entries_, " of ", header_.stored, " entries"));
  return std::span(chunks_).first(pieces.size());
}

void MatrixText::check(std::vector<std::string_view> const& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EntryChunk const& chunk = chunks_[i];
    Offset const n = chunk.count();
    if (n > header_.stored - entries_)
      fail(line_ + line_of_entry(pieces[i], header_.stored - entries_),
           cat("more entries than the ", header_.stored, " of the size line"));
    line_ += chunk.lines;
    entries_ += n;
    if (!chunk.fault.empty()) fail(line_, chunk.fault);
  }
}

std::int64_t MatrixText::line_of_repeat(Index i, Index j, bool mirrored) {
  EntryChunk chunk;
  int seen = 0;
  for (auto text = std::exchange(rest_, {});; text = next_block()) {
    if (text.empty() && (text = next_block()).empty()) return line_;
    for (auto const line : cut_at_lines(text, 1)) {
      ++line_;
      parse_entries(line, header_, NonFinite::keep, chunk);
      for (Entry const& e : chunk.entries)
        if ((e.row == i && e.col == j) || (mirrored && e.row == j && e.col == i))
          if (++seen == 2) return line_;
    }
  }
}

void MatrixText::fail(std::int64_t line, std::string const& what) const {
  throw MatrixError(cat(name_, ":", line, ": ", what));
}

}  // namespace tcsolve
