// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_market_part.hpp>

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/files/matrix_text.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace tcsolve {
namespace {

/// Where the first line that begins at `at` or later begins; body.end where none does.
std::int64_t line_from(std::filesystem::path const& path, MatrixMarketBody const& body,
                       std::int64_t at) {
  if (at <= body.begin) return body.begin;
  auto const source = open_stretch(path, at - 1, body.end);
  std::array<char, 4096> text;
  for (std::int64_t from = at - 1;;) {
    std::string_view const seen(text.data(), source->read(text));
    if (seen.empty()) return body.end;
    if (auto const end = seen.find('\n'); end != std::string_view::npos)
      return from + static_cast<std::int64_t>(end) + 1;
    from += static_cast<std::int64_t>(seen.size());
  }
}

}  // namespace

MatrixMarketBody read_matrix_market_body(std::filesystem::path const& path) {
  auto source = open_file(path);
  std::int64_t const end = source->max_bytes();
  MatrixText text(std::move(source), path.string(), 1);
  MatrixHeader const header = text.read_header();
  return {header, std::min(text.header_bytes(), end), end};
}

TextPart part_of(std::filesystem::path const& path, MatrixMarketBody const& body, int k, int n) {
  std::int64_t const bytes = body.end - body.begin;
  auto const cut = [&](int part) {
    return part == n ? body.end : line_from(path, body, body.begin + bytes * part / n);
  };
  return {cut(k), cut(k + 1)};
}

PartEntries read_part(std::filesystem::path const& path, MatrixHeader const& header,
                      TextPart const& part, ReadOptions const& options) {
  int const threads = thread_count(options.threads);
  auto const source = cancellable(open_stretch(path, part.begin, part.end), options.cancel);
  TextBlocks blocks(*source,
                    text_chunk_bytes * text_chunks_per_thread * static_cast<std::size_t>(threads));
  PartEntries out;
  std::vector<EntryChunk> chunks;
  while (out.fault.empty() && out.count <= header.stored) {
    std::string_view text;
    try {
      text = blocks.next();
    } catch (MatrixError const& e) {  // in the line after those that have come
      ++out.lines;
      out.fault = e.what();
      break;
    }
    if (text.empty()) break;
    auto const pieces = cut_at_lines(text, text_chunk_bytes);
    if (chunks.size() < pieces.size()) chunks.resize(pieces.size());
    parallel_tasks(threads, static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i, int) {
      auto const k = static_cast<std::size_t>(i);
      parse_entries(pieces[k], header, options.nonfinite, chunks[k]);
    });
    for (std::size_t i = 0; i < pieces.size() && out.fault.empty(); ++i) {
      EntryChunk const& chunk = chunks[i];
      out.pieces.emplace_back(chunk.entries);  // of its size, where the chunk has room for more
      out.count += static_cast<Offset>(chunk.entries.size());
      out.lines += chunk.lines;
      out.lower |= chunk.lower;
      out.upper |= chunk.upper;
      out.fault = chunk.fault;
    }
  }
  return out;
}

std::int64_t line_of_entry(std::filesystem::path const& path, TextPart const& part, Offset k) {
  auto const source = open_stretch(path, part.begin, part.end);
  TextBlocks blocks(*source, text_chunk_bytes);
  std::int64_t lines = 0;
  for (auto text = blocks.next(); !text.empty(); text = blocks.next())
    for (std::string_view const line : cut_at_lines(text, 1)) {
      ++lines;
      if (line_of_entry(line, 0) == 1 && k-- == 0) return lines;
    }
  return lines;
}

std::int64_t line_of_repeat(std::filesystem::path const& path, Index i, Index j, bool mirrored) {
  MatrixText text(open_file(path), path.string(), 1);
  text.read_header();
  return text.line_of_repeat(i, j, mirrored);
}

}  // namespace tcsolve
