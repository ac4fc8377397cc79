// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_market_entries.hpp>

#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <cstring>

namespace tcsolve {
namespace {

char const* after_line(char const* p, char const* end) {
  auto const newline = static_cast<char const*>(std::memchr(p, '\n', end - p));
  return newline + 1;  // there is one: text ends with it
}

/// One index of an entry: 1 .. extent, ended by a blank or the end of the line.
bool parse_index(char const*& p, Index extent, Index& index) {
  std::uint64_t n = 0;
  if (!parse_count(p, n) || n - 1 >= static_cast<std::uint64_t>(extent)) return false;
  index = static_cast<Index>(n - 1);
  return is_blank(*p) || *p == '\n';
}

/// What is wrong with an index that parse_index refused; p stands at it.
std::string index_fault(char const* p, Index extent, char const* which, std::string_view line) {
  char const* q = p;
  std::uint64_t n = 0;
  if (*p == '\n') return cat("no ", which, " in ", quoted(line));
  if (!parse_count(q, n) || !(is_blank(*q) || *q == '\n'))
    return cat("the ", which, " in ", quoted(line), " is not a positive integer");
  return cat("the ", which, " in ", quoted(line), " is outside 1 .. ", extent);
}

std::string value_fault(Parsed parsed, char const* p, bool integer, std::string_view line) {
  if (parsed == Parsed::nonfinite)
    return cat("the value in ", quoted(line), " is not finite (NaN or Inf)");
  if (parsed == Parsed::out_of_range)
    return cat("the value in ", quoted(line), " is beyond the range of double (1.8e308)");
  if (*p == '\n') return cat("no value in ", quoted(line));
  for (char const* q = p; !is_blank(*q) && *q != '\n'; ++q)
    if (*q == ',' || *q == ';')
      return cat(quoted(line), " has a '", *q,
                 "': numbers are written with a point, 1.5, and stand apart by blanks");
  return cat("the value in ", quoted(line), integer ? " is not an integer" : " is not a number");
}

struct Rules {
  MatrixHeader const& header;
  bool refuse_nonfinite;
};

std::string goes_on(std::string_view line, char const* what) {
  return cat(quoted(line), " goes on behind its entry, ", what);
}

/// Lines of `per_line` numbers.
void parse_table(std::string_view text, Rules const& rules, EntryChunk& out) {
  Index const wanted = rules.header.per_line;
  char const *p = text.data(), *const end = p + text.size();
  // A number takes two bytes at least.
  out.numbers.reserve(std::min(
      static_cast<std::size_t>(std::count(p, end, '\n')) * static_cast<std::size_t>(wanted),
      text.size() / 2));
  for (out.lines = 0; p < end; ++p) {
    char const* const line = p;
    auto const here = [&] { return std::string_view(line, after_line(line, end)); };
    ++out.lines;
    p = skip_blanks(p);
    if (*p == '%') p = after_line(p, end) - 1;
    if (*p == '\n') continue;
    Index count = 0;
    for (; *p != '\n'; p = skip_blanks(p), ++count) {
      char const* const at = p;
      if (count == 1 && wanted == 1) {
        out.fault = goes_on(here(), "one number");
        break;
      }
      double value = 0;
      Parsed parsed = parse_real(p, value);
      if (parsed == Parsed::number && !is_blank(*p) && *p != '\n') parsed = Parsed::malformed;
      if (parsed != Parsed::number && (parsed != Parsed::nonfinite || rules.refuse_nonfinite)) {
        out.fault = value_fault(parsed, at, false, here());
        break;
      }
      out.numbers.push_back(value);
    }
    if (out.fault.empty() && count != wanted)
      out.fault = cat(quoted(here()), " has ", count, count == 1 ? " number" : " numbers",
                      "; the first line has ", wanted);
    if (out.fault.empty()) continue;
    out.numbers.resize(out.numbers.size() - static_cast<std::size_t>(count));
    return;
  }
}

/// The loop over lines, one instance for each kind of line.
template <MatrixLayout layout, MatrixField field>
void parse_lines(std::string_view text, Rules const& rules, EntryChunk& out) {
  constexpr bool placed = layout == MatrixLayout::coordinate;
  constexpr bool integer = field == MatrixField::integer;
  auto const [rows, cols] = std::pair{rules.header.rows, rules.header.cols};
  bool const skew = rules.header.symmetry == MatrixSymmetry::skew_symmetric;
  char const *p = text.data(), *const end = p + text.size();
  std::int64_t lines = 0;
  bool lower = false, upper = false;

  while (p < end) {
    char const* const line = p;
    ++lines;
    p = skip_blanks(p);
    if (*p == '\n' || *p == '%') {
      p = after_line(p, end);
      continue;
    }
    auto const here = [&] { return std::string_view(line, after_line(line, end)); };
    Entry entry{0, 0, 1.0};
    if constexpr (placed) {
      if (!parse_index(p, rows, entry.row)) {
        out.fault = index_fault(skip_blanks(line), rows, "row", here());
        break;
      }
      char const* const at = p = skip_blanks(p);
      if (!parse_index(p, cols, entry.col)) {
        out.fault = index_fault(at, cols, "column", here());
        break;
      }
      lower |= entry.row > entry.col;
      upper |= entry.row < entry.col;
      if (skew && entry.row == entry.col) {
        out.fault = cat(quoted(here()), " is a diagonal entry of a skew-symmetric matrix");
        break;
      }
      p = skip_blanks(p);
    }
    if constexpr (field != MatrixField::pattern) {
      char const* const at = p;
      Parsed const parsed = integer ? parse_integer(p, entry.value) : parse_real(p, entry.value);
      if (parsed != Parsed::number && (parsed != Parsed::nonfinite || rules.refuse_nonfinite)) {
        out.fault = value_fault(parsed, at, integer, here());
        break;
      }
    }
    if (*p != '\n') {
      char const* const rest = skip_blanks(p);
      if (*rest != '\n') {
        out.fault =
            field != MatrixField::pattern && rest == p
                ? value_fault(Parsed::malformed, p, integer, here())
                : goes_on(here(), placed && field == MatrixField::pattern ? "a row and a column"
                                  : placed ? "a row, a column and a value"
                                           : "one number");
        break;
      }
      p = rest;
    }
    ++p;
    out.entries.push_back(entry);
  }
  out.lines = lines;
  out.lower = lower;
  out.upper = upper;
}

}  // namespace

void parse_entries(std::string_view text, MatrixHeader const& header, NonFinite nonfinite,
                   EntryChunk& out) {
  Rules const rules{header, nonfinite == NonFinite::refuse};
  out.entries.clear();
  out.numbers.clear();
  out.fault.clear();
  out.lower = out.upper = false;
  if (header.per_line > 0) return parse_table(text, rules, out);
  constexpr auto coordinate = MatrixLayout::coordinate;
  constexpr auto array = MatrixLayout::array;
  if (header.layout == coordinate) {
    switch (header.field) {
      case MatrixField::real: return parse_lines<coordinate, MatrixField::real>(text, rules, out);
      case MatrixField::integer:
        return parse_lines<coordinate, MatrixField::integer>(text, rules, out);
      case MatrixField::pattern:
        return parse_lines<coordinate, MatrixField::pattern>(text, rules, out);
    }
  }
  if (header.field == MatrixField::integer)
    return parse_lines<array, MatrixField::integer>(text, rules, out);
  parse_lines<array, MatrixField::real>(text, rules, out);
}

std::int64_t line_of_entry(std::string_view text, std::int64_t k) {
  char const *p = text.data(), *const end = p + text.size();
  for (std::int64_t line = 1; p < end; ++line, p = after_line(p, end)) {
    p = skip_blanks(p);
    if (*p != '\n' && *p != '%' && k-- == 0) return line;
  }
  return 0;
}

void place_array_entries(std::vector<Entry>& entries, Offset first, MatrixHeader const& header) {
  if (entries.empty()) return;
  Offset const rows = header.rows;
  Offset const above = header.symmetry == MatrixSymmetry::general     ? -1
                       : header.symmetry == MatrixSymmetry::symmetric ? 0
                                                                      : 1;
  auto const top = [&](Offset col) { return above < 0 ? Offset{0} : col + above; };  // first row
  // Entries before column c: c rows - sum of top(0 .. c-1); the last c with no more than `first`.
  auto const before = [&](Offset c) {
    return above < 0 ? c * rows : c * (rows - above) - c * (c - 1) / 2;
  };
  Offset col = 0, beyond = header.cols;
  while (beyond - col > 1) {
    Offset const middle = col + (beyond - col) / 2;
    (before(middle) <= first ? col : beyond) = middle;
  }
  Offset row = top(col) + first - before(col);
  for (Entry& entry : entries) {
    while (row >= rows) row = top(++col);
    entry.row = static_cast<Index>(row++);
    entry.col = static_cast<Index>(col);
  }
}

void mirror(std::vector<Entry>& entries, MatrixSymmetry symmetry) {
  if (symmetry == MatrixSymmetry::general) return;
  double const sign = symmetry == MatrixSymmetry::symmetric ? 1 : -1;
  std::vector<Entry> both;
  both.reserve(2 * entries.size());
  for (Entry const& entry : entries) {
    both.push_back(entry);
    if (entry.row != entry.col) both.push_back({entry.col, entry.row, sign * entry.value});
  }
  entries.swap(both);
}

}  // namespace tcsolve
