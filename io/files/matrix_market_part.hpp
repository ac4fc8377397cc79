// SPDX-License-Identifier: Apache-2.0
/// A Matrix Market file, coordinate and not compressed, that several readers take a part of each:
/// the lines that begin in their stretch of its bytes.
///
///     %%MatrixMarket matrix coordinate real general     header: read by all
///     3 3 4
///     1 1 2.0     part 0 of 2
///     2 2 2.0                   <- the middle byte: a line belongs to the part it begins in
///     3 3 -1.5    part 1 of 2
///     3 1 1.0
#pragma once

#include <tcsolve/io/csr_builder.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tcsolve {

/// What stands before the entries, and their bytes [begin, end) in the file.
struct MatrixMarketBody {
  MatrixHeader header;
  std::int64_t begin = 0, end = 0;
};
/// Throws as read_matrix_market_header().
MatrixMarketBody read_matrix_market_body(std::filesystem::path const& path);

/// Whole lines of the file, as bytes [begin, end) of it.
struct TextPart {
  std::int64_t begin = 0, end = 0;
};
/// Part k of n. Cost: two lines are read.
TextPart part_of(std::filesystem::path const& path, MatrixMarketBody const& body, int k, int n);

/// The entries of a part in the order of the file, or those before its first fault; of a part that
/// alone has more entries than the header says some of them. Nothing is mirrored.
struct PartEntries {
  std::vector<std::vector<Entry>> pieces;
  Offset count = 0;
  std::int64_t lines = 0;  ///< seen, the one at fault included
  bool lower = false, upper = false;
  std::string fault;  ///< what is wrong in line number `lines` of the part; empty: nothing
};
/// By all threads. Throws MatrixError where the file cannot be opened, Cancelled. Cost: 16 bytes of
/// memory for each entry.
PartEntries read_part(std::filesystem::path const& path, MatrixHeader const& header,
                      TextPart const& part, ReadOptions const& options);
/// Number of the line of a part, 1 for its first, that holds its entry k (0-based).
std::int64_t line_of_entry(std::filesystem::path const& path, TextPart const& part, Offset k);
/// Number of the line of the file that has the second entry at (i, j), or (j, i) when `mirrored`.
std::int64_t line_of_repeat(std::filesystem::path const& path, Index i, Index j, bool mirrored);

}  // namespace tcsolve
