// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_market_header.hpp>

#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace tcsolve {
namespace {

constexpr std::string_view banner = "%%matrixmarket";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

std::vector<std::string> lower_words(std::string_view line) {
  std::vector<std::string> out;
  for (;;) {
    auto const start = line.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return out;
    line.remove_prefix(start);
    auto const end = std::min(line.find_first_of(" \t\r\n"), line.size());
    out.push_back(lower(line.substr(0, end)));
    line.remove_prefix(end);
  }
}

/// Sets `value` to the enumerator called `word`; false when there is none.
template <class E>
bool find_name(std::string_view word, E& value) {
  for (auto const& [enumerator, name] : names(E{}))
    if (word == name) {
      value = enumerator;
      return true;
    }
  return false;
}

}  // namespace

Offset MatrixHeader::max_entries() const {
  constexpr auto most = std::numeric_limits<Offset>::max() / 2;
  return symmetry == MatrixSymmetry::general ? stored : 2 * std::min(stored, most);
}

std::int64_t MatrixHeader::csr_bytes() const {
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / 64;
  return 8 * (std::int64_t{rows} + 1) + 12 * std::min(max_entries(), most);
}

std::int64_t MatrixHeader::reading_bytes() const {
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / 64;
  return csr_bytes() + 16 * std::min(max_entries(), most);
}

std::string quoted(std::string_view line) {
  line = line.substr(0, line.find_first_of("\r\n"));
  std::string out(line.substr(0, 40));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return "'" + out + (line.size() > 40 ? "...'" : "'");
}

namespace {

/// Why a first line is no banner.
std::string no_banner(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  auto const begins = [&](std::string_view rest, std::string_view with) {
    return lower(rest.substr(0, with.size())) == with;
  };
  std::string_view rest = line;
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  std::size_t const blanks = std::min(rest.find_first_not_of(" \t"), rest.size());
  if (begins(rest.substr(blanks), banner) && rest.size() < line.size())
    return "a byte order mark (EF BB BF) stands before the banner; save the file as UTF-8 without "
           "one";
  if (begins(rest.substr(blanks), banner))
    return "a blank stands before the banner; remove it: the file begins with '%%MatrixMarket'";
  if (begins(line, banner.substr(1)) || begins(line, banner.substr(2)))
    return cat(begins(line, banner.substr(1)) ? "a '%' is" : "'%%' are", " missing before ",
               quoted(line), "; the file begins with '%%MatrixMarket'");
  return cat("not a Matrix Market file: it starts with ", quoted(line),
             " instead of '%%MatrixMarket matrix ...'");
}

}  // namespace

bool HeaderParser::feed(std::string_view& text) {
  while (!done_ && !text.empty()) {
    auto const line = text.substr(0, text.find('\n') + 1);
    text.remove_prefix(line.size());
    ++line_;
    if (line_ == 1)
      read_banner(line);
    else if (char const c = *skip_blanks(line.data()); c != '%' && c != '\n')
      read_sizes(line);
  }
  return done_;
}

void HeaderParser::read_banner(std::string_view line) {
  if (lower(line.substr(0, banner.size())) != banner) fail(no_banner(line));
  auto const word = lower_words(line);
  if (word.size() != 5 || word[0] != banner)
    fail(cat("the banner ", quoted(line),
             " is not of the form '%%MatrixMarket matrix LAYOUT FIELD SYMMETRY'"));
  if (word[1] != "matrix") fail(cat("the file holds a '", word[1], "'; only 'matrix' is read"));
  if (!find_name(word[2], header_.layout))
    fail(cat("unknown layout '", word[2], "'; known: coordinate, array"));
  if (word[3] == "complex") fail(cat("the matrix is complex; ", complex_advice));
  if (word[4] == "hermitian")
    fail(cat("'", word[3], " hermitian': only complex matrices are hermitian; write symmetric"));
  if (!find_name(word[3], header_.field))
    fail(cat("unknown field '", word[3], "'; known: real, integer, pattern"));
  if (!find_name(word[4], header_.symmetry))
    fail(cat("unknown symmetry '", word[4], "'; known: general, symmetric, skew-symmetric"));
  if (header_.field == MatrixField::pattern) {
    if (header_.layout == MatrixLayout::array)
      fail("an array can't be a pattern: it has no values");
    if (header_.symmetry == MatrixSymmetry::skew_symmetric)
      fail("a pattern can't be skew-symmetric: it has no signs");
  }
}

void HeaderParser::read_sizes(std::string_view line) {
  bool const array = header_.layout == MatrixLayout::array;
  std::array<std::uint64_t, 3> n{};
  std::size_t const count = array ? 2 : 3;
  char const* p = line.data();
  bool good = true;
  for (std::size_t i = 0; good && i < count; ++i) {
    p = skip_blanks(p);
    good = parse_count(p, n[i]) && (is_blank(*p) || *p == '\n');
  }
  if (!good || *skip_blanks(p) != '\n')
    fail(cat("the size line ", quoted(line), " is not '",
             array ? "ROWS COLUMNS'" : "ROWS COLUMNS ENTRIES'"));
  for (std::size_t i : {0, 1})
    if (n[i] > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      throw SizeError(cat(file_, ":", line_, ": ", i == 0 ? "rows" : "columns", " in ",
                          quoted(line), " do not fit a 32-bit index (0 .. 2147483647)"));
  constexpr std::uint64_t beyond = 1'000'000'000'000'000'000u;  // what parse_count() makes of more
  if (!array && n[2] >= beyond)
    fail(cat("the entries in ", quoted(line), " are more than a file of this size can hold"));
  header_.rows = static_cast<Index>(n[0]);
  header_.cols = static_cast<Index>(n[1]);
  header_.stored = static_cast<Offset>(n[2]);
  header_.line = line_;
  if (header_.symmetry != MatrixSymmetry::general && n[0] != n[1])
    fail(cat("the matrix is declared symmetric or skew-symmetric but has ", n[0], " rows and ",
             n[1], " columns"));
  auto const rows = Offset{header_.rows}, cols = Offset{header_.cols};
  if (array)
    header_.stored = header_.symmetry == MatrixSymmetry::general     ? rows * cols
                     : header_.symmetry == MatrixSymmetry::symmetric ? rows * (rows + 1) / 2
                                                                     : rows * (rows - 1) / 2;
  if (header_.stored > 0 && rows * cols == 0)
    fail(cat(header_.stored, " entries in a matrix of ", rows, " x ", cols));
  done_ = true;
}

void HeaderParser::fail(std::string const& what) const {
  throw MatrixError(cat(file_, ":", line_, ": ", what));
}

}  // namespace tcsolve
