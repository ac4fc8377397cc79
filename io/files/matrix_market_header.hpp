// SPDX-License-Identifier: Apache-2.0
/// The first lines of a Matrix Market file (Boisvert, Pozo, Remington 1996, NISTIR 5935):
///
///     %%MatrixMarket matrix coordinate real symmetric      banner, in any case
///     % comments                                           any number, blank lines too
///     5 5 8                                                rows, columns, stored entries
#pragma once

#include <tcsolve/core/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tcsolve {

enum class MatrixLayout { coordinate, array };
enum class MatrixField { real, integer, pattern };
enum class MatrixSymmetry { general, symmetric, skew_symmetric };

constexpr auto names(MatrixLayout) {
  return std::array{std::pair{MatrixLayout::coordinate, "coordinate"},
                    std::pair{MatrixLayout::array, "array"}};
}
constexpr auto names(MatrixField) {
  return std::array{std::pair{MatrixField::real, "real"},
                    std::pair{MatrixField::integer, "integer"},
                    std::pair{MatrixField::pattern, "pattern"}};
}
constexpr auto names(MatrixSymmetry) {
  return std::array{std::pair{MatrixSymmetry::general, "general"},
                    std::pair{MatrixSymmetry::symmetric, "symmetric"},
                    std::pair{MatrixSymmetry::skew_symmetric, "skew-symmetric"}};
}

/// What the first lines of a file state. Readers trust no number of it before the entries are read.
struct MatrixHeader {
  MatrixLayout layout = MatrixLayout::coordinate;
  MatrixField field = MatrixField::real;
  MatrixSymmetry symmetry = MatrixSymmetry::general;
  Index rows = 0;
  Index cols = 0;
  Offset stored = 0;      ///< entry lines in the file
  Index per_line = 0;     ///< numbers on each line of a text without a header; 0: there is one
  std::int64_t line = 0;  ///< number of the size line, 1 for the first line

  /// Entries of the matrix once both triangles are there: at most twice `stored`.
  Offset max_entries() const;
  /// Bytes of the Csr<double> that a file of this size becomes: 8 (rows + 1) + 12 max_entries.
  std::int64_t csr_bytes() const;
  /// Bytes that reading takes at its peak: the CSR, and 16 for each entry on its way there.
  std::int64_t reading_bytes() const;
};

/// Reads a header line by line, so that comments may be longer than any buffer.
class HeaderParser {
 public:
  /// `file` names the text in messages.
  explicit HeaderParser(std::string file) : file_(std::move(file)) {}

  /// Consumes lines, each ended by '\n', from the front of `text` until the size line has been
  /// read; true when it has. Throws MatrixError, `file:line: what`, on a banner or size line that
  /// is malformed, complex or hermitian, and SizeError on sizes beyond 2^31 - 1.
  bool feed(std::string_view& text);

  /// Number of lines consumed.
  std::int64_t line() const { return line_; }
  MatrixHeader const& header() const { return header_; }

 private:
  void read_banner(std::string_view line);
  void read_sizes(std::string_view line);
  [[noreturn]] void fail(std::string const& what) const;

  std::string file_;
  MatrixHeader header_;
  std::int64_t line_ = 0;
  bool done_ = false;
};

/// What to do with a complex matrix.
inline constexpr char const* complex_advice =
    "tcsolve solves real systems; write the real form [Re -Im; Im Re] with b = [Re b; Im b], which "
    "has twice the size and the same solution";

/// Up to 40 characters of a line for a message, in quotes, unprintable bytes shown as '?'.
std::string quoted(std::string_view line);

}  // namespace tcsolve
