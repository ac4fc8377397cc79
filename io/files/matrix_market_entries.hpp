// SPDX-License-Identifier: Apache-2.0
/// The lines after the header: text to (row, column, value), one piece of text per thread.
#pragma once

#include <tcsolve/io/csr_builder.hpp>
#include <tcsolve/io/files/matrix_market_header.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

/// The entries of a piece of text, or as many as stand before the first fault.
struct EntryChunk {
  std::vector<Entry> entries;   ///< 0-based; of an array only the values, in file order
  std::vector<double> numbers;  ///< of text without a header, in the place of entries
  std::int64_t lines = 0;       ///< lines seen, the one at fault included
  bool lower = false;           ///< some entry lies below the diagonal
  bool upper = false;           ///< some entry lies above the diagonal
  std::string fault;  ///< what is wrong in line number `lines` of the piece; empty: nothing

  Offset count() const { return static_cast<Offset>(entries.size() + numbers.size()); }
};

/// Reads whole lines (the last byte is '\n'; text_padding bytes beyond are readable) into `out`,
/// which is emptied first. Blank lines and comment lines are skipped. Never throws on what the text
/// holds. Cost: 1 to 2 ns per byte.
void parse_entries(std::string_view text, MatrixHeader const& header, NonFinite nonfinite,
                   EntryChunk& out);

/// Number of the line, 1 for the first, that holds entry `k` (0-based) of the text.
std::int64_t line_of_entry(std::string_view text, std::int64_t k);

/// Gives entries of an array their places: entry `first` + i of the file, columns one after the
/// other, of a symmetric matrix the lower triangle (of a skew-symmetric one without the diagonal).
void place_array_entries(std::vector<Entry>& entries, Offset first, MatrixHeader const& header);

/// The entries and, of a symmetric or skew-symmetric matrix, each followed by its mirror image.
void mirror(std::vector<Entry>& entries, MatrixSymmetry symmetry);

}  // namespace tcsolve
