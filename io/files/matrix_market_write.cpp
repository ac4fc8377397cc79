// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <algorithm>
#include <charconv>

namespace tcsolve {
namespace {

constexpr std::int64_t lines_per_piece = 1 << 15;

template <class Number>
void append(std::string& out, Number x, char separator) {
  char digits[32];  // the longest double takes 24
  out.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  out.push_back(separator);
}

/// Writes format(first line, last line, text) for all of `lines`, some pieces at a time by all
/// threads.
template <class Format>
void write_lines(AtomicFile& file, std::int64_t lines, int threads, Format const& format) {
  std::int64_t const pieces = (lines + lines_per_piece - 1) / lines_per_piece;
  std::vector<std::string> text(static_cast<std::size_t>(4 * threads));
  auto const batch = static_cast<std::int64_t>(text.size());
  for (std::int64_t piece = 0; piece < pieces; piece += batch) {
    std::int64_t const count = std::min(batch, pieces - piece);
    parallel_tasks(threads, count, [&](std::int64_t i, int) {
      std::int64_t const first = (piece + i) * lines_per_piece;
      auto& out = text[static_cast<std::size_t>(i)];
      out.clear();
      format(first, std::min(lines, first + lines_per_piece), out);
    });
    for (std::int64_t i = 0; i < count; ++i) file.write(text[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

void write_matrix_market(std::filesystem::path const& path, Csr<double> const& a, int threads) {
  AtomicFile file(path);
  file.write(cat("%%MatrixMarket matrix coordinate real general\n", a.rows, " ", a.cols, " ",
                 a.entries(), "\n"));
  write_lines(file, a.entries(), thread_count(threads),
              [&](Offset first, Offset last, std::string& out) {
                auto const after = std::upper_bound(a.offsets.begin(), a.offsets.end(), first);
                std::int64_t row = after - a.offsets.begin();  // 1-based
                for (Offset k = first; k < last; ++k) {
                  while (a.offsets[static_cast<std::size_t>(row)] <= k) ++row;
                  append(out, row, ' ');
                  append(out, std::int64_t{a.columns[static_cast<std::size_t>(k)]} + 1, ' ');
                  append(out, a.values[static_cast<std::size_t>(k)], '\n');
                }
              });
  file.commit();
}

void write_vector(std::filesystem::path const& path, std::span<double const> x, Index columns,
                  int threads) {
  AtomicFile file(path);
  file.write(cat("%%MatrixMarket matrix array real general\n",
                 x.size() / static_cast<std::size_t>(columns), " ", columns, "\n"));
  write_lines(file, static_cast<std::int64_t>(x.size()), thread_count(threads),
              [&](std::int64_t first, std::int64_t last, std::string& out) {
                for (std::int64_t i = first; i < last; ++i)
                  append(out, x[static_cast<std::size_t>(i)], '\n');
              });
  file.commit();
}

}  // namespace tcsolve
