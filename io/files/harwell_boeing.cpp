// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/harwell_boeing.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/csr_builder.hpp>
#include <tcsolve/io/files/fortran_format.hpp>
#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

namespace tcsolve {
namespace {

struct Header {
  Index rows = 0, cols = 0;
  Offset stored = 0;
  bool pattern = false;
  double mirror = 0;  // sign of the other triangle's entries; 0: there is none
  FortranFormat pointers, indices, values;

  MatrixFileSize size() const {
    Offset const most = std::numeric_limits<Offset>::max() / 2;
    Offset const entries = mirror != 0 ? 2 * std::min(stored, most) : stored;
    MatrixFileSize size = MatrixFileSize::of_arrays(rows, cols, entries, 16);
    size.stored = stored;
    return size;
  }
};

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0;;) {
    begin = line.find_first_not_of(" \t\r", begin);
    if (begin == std::string_view::npos) return out;
    std::size_t const end = std::min(line.find_first_of(" \t\r", begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    begin = end;
  }
}

/// A word as a count; nothing where it is none. 10^18 stands for all that are larger.
std::optional<std::int64_t> count_in(std::string_view word) {
  std::string const text = std::string(word) + '\n';
  char const* p = text.data();
  std::uint64_t n = 0;
  if (!parse_count(p, n) || *p != '\n') return std::nullopt;
  return static_cast<std::int64_t>(n);
}

bool are_counts(std::vector<std::string_view> const& list, std::size_t from, std::size_t to) {
  return list.size() >= to &&
         std::all_of(list.begin() + static_cast<std::ptrdiff_t>(from),
                     list.begin() + static_cast<std::ptrdiff_t>(to),
                     [](std::string_view word) { return count_in(word).has_value(); });
}

/// The three letters of the type, in capitals; "" where the line begins with none.
std::string type_in(std::string_view line) {
  std::string type(line.substr(0, 3));
  for (char& c : type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  auto const in = [&](std::size_t k, std::string_view letters) {
    return letters.find(type[k]) != std::string_view::npos;
  };
  bool const is_type = type.size() == 3 && in(0, "RCPIQ") && in(1, "SUHZR") && in(2, "AE") &&
                       (line.size() == 3 || line[3] == ' ' || line[3] == '\t');
  return is_type ? type : "";
}

/// The formats in parentheses, in order.
std::vector<std::string_view> formats_in(std::string_view line) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '(' && depth++ == 0) begin = i;
    if (line[i] == ')' && depth > 0 && --depth == 0)
      found.push_back(line.substr(begin, i + 1 - begin));
  }
  return found;
}

FortranFormat format(TextLines const& lines, std::vector<std::string_view> const& list,
                     std::size_t k, char const* of) {
  if (k >= list.size()) lines.fail(cat("there is no format of the ", of));
  auto const parsed = FortranFormat::parse(list[k]);
  if (!parsed) lines.fail(cat("the format ", quoted(list[k]), " of the ", of, " is not known"));
  return *parsed;
}

void read_type(TextLines const& lines, std::string const& type, Header& header) {
  if (type.empty()) lines.fail("no type of a matrix, such as RUA or rsa");
  if (type[0] == 'C' || type[1] == 'H')
    lines.fail(cat("the matrix is complex (", type, "); ", complex_advice));
  if (type[0] == 'Q') lines.fail("the values are in an auxiliary file (type Q); this is not read");
  if (type[2] == 'E')
    lines.fail(cat("the matrix is stored by elements (", type, "); assemble it first"));
  header.pattern = type[0] == 'P';
  header.mirror = type[1] == 'S' ? 1 : type[1] == 'Z' ? -1 : 0;
  if (header.pattern && header.mirror < 0)
    lines.fail("a pattern can't be skew-symmetric: it has no signs");
}

Header read_header(TextLines& lines) {
  Header header;
  lines.require("its title");
  auto const cards = words(lines.require("its counts of lines"));
  if (!are_counts(cards, 0, 4))
    lines.fail("the second line is not the counts of lines: total, pointers, indices, values");
  bool const has_rhs = cards.size() > 4 && count_in(cards[4]).value_or(0) > 0;
  std::string const type_line(lines.require("its type and sizes"));
  std::string const type = type_in(type_line);
  read_type(lines, type, header);
  auto const sizes = words(std::string_view(type_line).substr(3));
  if (!are_counts(sizes, 0, 3))
    lines.fail(cat(quoted(type_line), " is not a type with rows, columns and entries"));
  header.rows = narrow(*count_in(sizes[0]), "rows");
  header.cols = narrow(*count_in(sizes[1]), "columns");
  header.stored = *count_in(sizes[2]);
  lines.require_fields(std::int64_t{header.cols} + 1, "pointers");
  lines.require_fields(header.stored, "entries");
  if (header.mirror != 0 && header.rows != header.cols)
    lines.fail(cat("the matrix is symmetric or skew-symmetric (", type, ") but has ", header.rows,
                   " rows and ", header.cols, " columns"));
  std::string const kept(lines.require("its formats"));
  auto const list = formats_in(kept);
  header.pointers = format(lines, list, 0, "pointers");
  header.indices = format(lines, list, 1, "row indices");
  if (!header.pattern) header.values = format(lines, list, 2, "values");
  if (has_rhs) lines.require("the type of its right-hand sides");
  return header;
}

std::vector<Offset> read_pointers(TextLines& lines, Header const& h) {
  FortranFields fields(lines, h.pointers, std::int64_t{h.cols} + 1, "pointers");
  std::vector<Offset> starts;
  for (std::int64_t j = 0; j <= h.cols; ++j)
    starts.push_back(fields.integer(j == 0 ? 1 : starts.back() + 1, j == 0 ? 1 : h.stored + 1) - 1);
  if (starts.back() != h.stored)
    lines.fail(
        cat("the last pointer is ", starts.back() + 1, "; there are ", h.stored, " entries"));
  return starts;
}

/// Row indices, then values, into the builder. Returns whether entries lie on both sides of the
/// diagonal.
bool read_entries(TextLines& lines, Header const& h, std::vector<Offset> const& starts,
                  CsrBuilder& builder, ReadOptions const& options) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  std::vector<Index> rows;
  {
    FortranFields fields(lines, h.indices, h.stored, "row indices");
    for (Offset k = 0; k < h.stored; ++k)
      rows.push_back(static_cast<Index>(fields.integer(1, h.rows) - 1));
  }
  FortranFields fields(lines, h.values, h.pattern ? 0 : h.stored, "values");
  bool lower = false, upper = false;
  std::vector<Entry> entries;
  auto const flush = [&] {
    builder.append(builder.slice(entries));
    entries.clear();
  };
  for (Index j = 0; j < h.cols; ++j)
    for (Offset k = starts[static_cast<std::size_t>(j)];
         k < starts[static_cast<std::size_t>(j) + 1]; ++k) {
      Index const i = rows[static_cast<std::size_t>(k)];
      double const value = h.pattern ? 1 : fields.real(options.nonfinite == NonFinite::keep);
      lower |= i > j;
      upper |= i < j;
      if (h.mirror < 0 && i == j && value != 0)
        lines.fail(cat("row ", std::int64_t{i} + 1,
                       " has a diagonal entry; the matrix is "
                       "skew-symmetric"));
      entries.push_back({i, j, value});
      if (h.mirror != 0 && i != j) entries.push_back({j, i, h.mirror * value});
      if (entries.size() >= chunk) flush();
    }
  flush();
  return lower && upper && h.mirror != 0;
}

}  // namespace

bool is_harwell_boeing(std::string_view start) {
  std::vector<std::string_view> lines;
  while (lines.size() < 4 && !start.empty()) {
    std::size_t const end = std::min(start.find('\n'), start.size());
    lines.push_back(start.substr(0, end));
    start.remove_prefix(std::min(end + 1, start.size()));
  }
  return lines.size() == 4 && are_counts(words(lines[1]), 0, 4) && !type_in(lines[2]).empty() &&
         are_counts(words(lines[2].substr(3)), 0, 3) && !formats_in(lines[3]).empty();
}

MatrixFileSize harwell_boeing_size(TextInput const& input) {
  TextLines lines(input.open(), input.name);
  return read_header(lines).size();
}

Csr<double> read_harwell_boeing(TextInput const& input, ReadOptions const& options) {
  TextLines lines(cancellable(input.open(), options.cancel), input.name);
  Header const header = read_header(lines);
  MatrixFileSize const size = header.size();
  require_memory(size.reading_bytes, options.memory_limit,
                 cat(input.name, ": a matrix of ", size.rows, " x ", size.cols, " with up to ",
                     size.entries, " entries"));
  std::vector<Offset> const starts = read_pointers(lines, header);
  CsrBuilder builder(header.rows, header.cols);
  bool const both = read_entries(lines, header, starts, builder, options);
  bool const refuse = both || options.duplicates == Duplicates::refuse;
  try {
    Csr<double> a =
        builder.finish(refuse ? Repeats::refuse : Repeats::sum, {options.threads, options.cancel});
    if (options.nonfinite == NonFinite::refuse && a.entries() < size.entries) validate(a.view());
    return a;
  } catch (MatrixError const& e) {
    throw MatrixError(
        cat(input.name, ": ", e.what(), both ? ": the symmetric file stores both triangles" : ""));
  }
}

}  // namespace tcsolve
