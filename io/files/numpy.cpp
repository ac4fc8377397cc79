// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/numpy.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/files/assemble.hpp>

#include <bit>
#include <map>
#include <optional>
#include <string_view>

namespace tcsolve {
namespace {

constexpr std::string_view magic_string = "\x93NUMPY";
constexpr std::int64_t longest_header = 1 << 16;

/// The header's dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class Literal {
 public:
  Literal(std::string_view text, BinaryReader const& in) : rest_(text), in_(in) {}

  NumpyHeader parse() {
    NumpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!next_is('}')) {
      std::string const key = quoted_text();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        if (next_is('[')) in_.fail("the array holds records ('descr' is a list), not numbers");
        header.descr = quoted_text();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = extents();
      } else {
        in_.fail(cat("the key ", tcsolve::quoted(key), " in the header is unknown or there twice"));
      }
      if (!next_is(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty())
      in_.fail(cat("text follows the dictionary of the header: ", tcsolve::quoted(rest_)));
    if (!descr || !order || !shape)
      in_.fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  void skip_blanks() {
    auto const n = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(n, rest_.size()));
  }
  /// Takes `c` where it is next.
  bool next_is(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!next_is(c)) in_.fail(cat("the header has no '", c, "' before ", tcsolve::quoted(rest_)));
  }
  std::string quoted_text() {
    skip_blanks();
    char const mark = rest_.empty() ? '\0' : rest_.front();
    auto const end = mark == '\'' || mark == '"' ? rest_.find(mark, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      in_.fail(cat("the header has no quoted text at ", tcsolve::quoted(rest_)));
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    skip_blanks();
    for (bool const value : {true, false}) {
      std::string_view const word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    in_.fail(cat("'fortran_order' is neither True nor False: ", tcsolve::quoted(rest_)));
  }
  std::int64_t extent() {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    skip_blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && '0' <= rest_[digits] && rest_[digits] <= '9'; ++digits) {
      int const digit = rest_[digits] - '0';
      if (value > (most - digit) / 10) in_.fail(cat("an extent in 'shape' is beyond ", most));
      value = 10 * value + digit;
    }
    if (digits == 0) in_.fail(cat("'shape' is no list of extents: ", tcsolve::quoted(rest_)));
    rest_.remove_prefix(digits);
    next_is('L');  // as Python 2 wrote
    return value;
  }
  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!next_is(')')) {
      shape.push_back(extent());
      if (next_is(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  std::string_view rest_;
  BinaryReader const& in_;
};

std::string shape_text(NumpyHeader const& h) {
  std::string text = "(";
  for (std::size_t i = 0; i < h.shape.size(); ++i)
    text += cat(i == 0 ? "" : ", ", h.shape[i], h.shape.size() == 1 ? "," : "");
  return text + ")";
}

/// The type of numbers, one of `kinds`.
NumberType number_type(NumpyHeader const& h, std::string const& name, std::string_view kinds) {
  std::string_view const descr = h.descr;
  char const order = descr.empty() ? '\0' : descr[0];
  char const kind = descr.size() < 2 ? '\0' : descr[1];
  std::string_view const size = descr.size() < 2 ? "" : descr.substr(2);
  int const bytes = size == "1" ? 1 : size == "2" ? 2 : size == "4" ? 4 : size == "8" ? 8 : 0;
  bool const ordered = order == '<' || order == '>' || (order == '|' && bytes == 1);
  bool const known = kinds.find(kind) != std::string_view::npos && bytes > 0 && ordered &&
                     (kind != 'f' || bytes >= 4) && (kind != 'b' || bytes == 1);
  if (kind == 'c')
    throw MatrixError(
        cat(name, ": complex numbers (", tcsolve::quoted(descr), "); ", complex_advice));
  if (!known)
    throw MatrixError(
        cat(name, ": numbers of the type ", tcsolve::quoted(descr), " are not read; save them as ",
            kinds.find('f') == std::string_view::npos ? "int32 or int64" : "float64"));
  return {kind, bytes, order == '>' ? std::endian::big : std::endian::little};
}

/// The length of an array of one dimension, or of one column.
std::int64_t length(NumpyHeader const& h, std::string const& name) {
  bool const one_column = h.shape.size() == 2 && h.shape[1] == 1;
  if (h.shape.size() != 1 && !one_column)
    throw MatrixError(
        cat(name, ": the array has the shape ", shape_text(h), "; a vector has (n,) or (n, 1)",
            h.shape.size() == 2 ? "; matrices are read as scipy.sparse.save_npz writes them" : ""));
  return h.shape[0];
}

/// The arrays of a sparse matrix, those that are there.
struct Arrays {
  std::string format;
  std::vector<Offset> shape, indptr;
  std::vector<Index> indices, row, col;
  std::vector<double> data;
  std::map<std::string, std::int64_t> lengths;  // of the arrays, by their names
  std::vector<std::string> members;             // the first few of them
};

/// Before anything else is looked at: other formats have arrays of other shapes.
void check_format(std::string const& format, std::string const& name) {
  if (format != "csr" && format != "csc" && format != "coo")
    throw MatrixError(cat(name, ": the sparse format ", tcsolve::quoted(format),
                          " is not read; save the matrix as .tocsr(), .tocsc() or .tocoo()"));
}

constexpr Index largest_index = std::numeric_limits<Index>::max() - 1;

/// The text of 'format': bytes (|S3), or characters of four bytes (<U3).
std::string short_text(BinaryReader& in, NumpyHeader const& h) {
  constexpr std::size_t longest = 16;
  char const kind = h.descr.size() > 2 ? h.descr[1] : '\0';
  std::size_t const wide = kind == 'U' ? 4 : 1;
  std::string const digits = kind == 'S' || kind == 'U' ? h.descr.substr(2) : "";
  bool const is_short = (digits.size() == 1 || digits.size() == 2) &&
                        digits.find_first_not_of("0123456789") == std::string::npos &&
                        static_cast<std::size_t>(std::stoi(digits)) <= longest;
  if (!is_short || h.count(in.name()) != 1)
    in.fail(cat("'format' is no short text, but ", tcsolve::quoted(h.descr)));
  std::string bytes(wide * static_cast<std::size_t>(std::stoi(digits)), '\0');
  in.all(bytes, "the text");
  std::string text;
  for (char const c : bytes)
    if (c != '\0') text += c;
  return text;
}

/// Reads what is there: all of the arrays, or, where `only_sizes`, the short ones.
Arrays read_arrays(Archive& archive, std::string const& name, ReadOptions const& options,
                   bool only_sizes) {
  Arrays arrays;
  bool const nonfinite = options.nonfinite == NonFinite::keep;
  constexpr auto largest = std::numeric_limits<Offset>::max();
  while (auto const member = archive.next()) {
    if (!member->ends_with(".npy")) continue;
    constexpr std::size_t few = 8;
    if (arrays.members.size() < few) arrays.members.push_back(*member);
    std::string const key = member->substr(0, member->size() - 4);
    std::string const what = cat(name, ": ", *member);
    BinaryReader in(cancellable(member_source(archive), options.cancel), what);
    NumpyHeader const h = read_numpy_header(in);
    if (key == "format") {
      arrays.format = short_text(in, h);
      check_format(arrays.format, name);
      continue;
    }
    bool const is_index =
        key == "indices" || key == "indptr" || key == "row" || key == "col" || key == "shape";
    if (!is_index && key != "data") continue;
    if (!arrays.lengths.emplace(key, length(h, what)).second)
      throw MatrixError(cat(what, ": is there twice"));
    std::int64_t const n = arrays.lengths[key];
    NumberType const type = number_type(h, what, is_index ? "iu" : "fiub");
    in.require(n, type.bytes, key);
    if (key == "shape") {
      if (n != 2) throw MatrixError(cat(what, ": a matrix has 2 extents, here are ", n));
      arrays.shape = in.integers<Offset>(type, n, largest, key);
    }
    if (only_sizes) continue;
    // What is read now stays until the matrix is there: 8 bytes a number, and another 12 each.
    require_memory(n > largest / 32 ? largest : 20 * n, options.memory_limit,
                   cat(what, ": ", n, " numbers"));
    if (key == "indptr") arrays.indptr = in.integers<Offset>(type, n, largest, key);
    if (key == "indices") arrays.indices = in.integers<Index>(type, n, largest_index, key);
    if (key == "row") arrays.row = in.integers<Index>(type, n, largest_index, key);
    if (key == "col") arrays.col = in.integers<Index>(type, n, largest_index, key);
    if (key == "data") arrays.data = in.reals(type, n, nonfinite, key);
    char beyond;
    if (in.some({&beyond, 1}) > 0) in.fail("bytes follow the array that its header states");
  }
  return arrays;
}

/// What an archive is that does not name the format of its matrix.
std::string no_format(Arrays const& arrays) {
  if (arrays.members.empty())
    return "a zip archive without arrays (.npy); unpack it, or write the matrix by "
           "scipy.sparse.save_npz";
  std::string names;
  bool pydata = false;
  for (std::string const& member : arrays.members) {
    names += cat(names.empty() ? "" : ", ", member);
    pydata |= member == "coords.npy";
  }
  if (pydata)
    return "an array of the package pydata/sparse (coords.npy); convert it in Python: "
           "scipy.sparse.save_npz('A.npz', sparse.load_npz(FILE).to_scipy_sparse())";
  return cat("there is no format.npy, as scipy.sparse.save_npz writes, but ", names,
             "; a dense array becomes a matrix by scipy.sparse.csr_matrix(array)");
}

/// The extents, once the arrays are known to go together.
MatrixFileSize checked_size(Arrays const& arrays, std::string const& name) {
  std::string const& format = arrays.format;
  bool const coo = format == "coo", csc = format == "csc";
  if (format.empty()) throw MatrixError(cat(name, ": ", no_format(arrays)));
  auto const length = [&](char const* key) {
    auto const found = arrays.lengths.find(key);
    if (found == arrays.lengths.end())
      throw MatrixError(cat(name, ": a ", format, " matrix without ", key, ".npy"));
    return found->second;
  };
  length("shape");
  Index const rows = narrow(arrays.shape[0], "rows"), cols = narrow(arrays.shape[1], "cols");
  std::int64_t const entries = length("data");
  using Keys = std::vector<char const*>;
  for (char const* const key : Keys(coo ? Keys{"row", "col"} : Keys{"indices"}))
    if (length(key) != entries)
      throw MatrixError(
          cat(name, ": data.npy has ", entries, " numbers, ", key, ".npy ", length(key)));
  if (!coo) {
    std::int64_t const lines = csc ? cols : rows;
    if (length("indptr") != lines + 1)
      throw MatrixError(cat(name, ": indptr.npy has ", length("indptr"), " numbers; ", lines,
                            csc ? " columns" : " rows", " have ", lines + 1));
  }
  return MatrixFileSize::of_arrays(rows, cols, entries, coo ? 32 : 24);
}

}  // namespace

std::int64_t NumpyHeader::count(std::string const& name) const {
  std::int64_t n = 1;
  for (std::int64_t const extent : shape) {
    if (extent > 0 && n > std::numeric_limits<std::int64_t>::max() / extent)
      throw MatrixError(cat(name, ": the array has more than 2^63 - 1 entries"));
    n *= extent;
  }
  return n;
}

NumpyHeader read_numpy_header(BinaryReader& in) {
  char start[8];
  in.all(start, "the magic string of an .npy array");
  if (std::string_view(start, magic_string.size()) != magic_string)
    in.fail("this is no .npy array");
  int const version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    in.fail(cat("the version ", version, " of the .npy format is unknown"));
  std::int64_t const bytes = in.integer({'u', version == 1 ? 2 : 4}, "the length of the header");
  if (bytes > longest_header) in.fail(cat("a header of ", bytes, " bytes is no array of numbers"));
  std::string text(static_cast<std::size_t>(bytes), '\0');
  in.all(text, "the header");
  return Literal(text, in).parse();
}

ColumnsSize numpy_columns_size(BinaryReader& in) {
  NumpyHeader const h = read_numpy_header(in);
  if (h.shape.empty() || h.shape.size() > 2)
    throw MatrixError(cat(in.name(), ": the array has the shape ", shape_text(h),
                          "; columns have (n,) or (n, k)"));
  return {narrow(h.shape[0], "length of the columns"),
          h.shape.size() == 1 ? 1 : narrow(h.shape[1], "columns")};
}

Columns read_numpy_columns(BinaryReader& in, ReadOptions const& options) {
  NumpyHeader const h = read_numpy_header(in);
  if (h.shape.empty() || h.shape.size() > 2)
    throw MatrixError(cat(in.name(), ": the array has the shape ", shape_text(h),
                          "; columns have (n,) or (n, k)"));
  std::int64_t const entries = h.count(in.name());
  NumberType const type = number_type(h, in.name(), "fiub");
  Columns x{narrow(h.shape[0], "length of the columns"),
            h.shape.size() == 1 ? 1 : narrow(h.shape[1], "columns"),
            {}};
  in.require(entries, type.bytes, "the array");
  require_memory(16 * entries, options.memory_limit,
                 cat(in.name(), ": an array of ", entries, " numbers"));
  x.values = in.reals(type, entries, options.nonfinite == NonFinite::keep, "the array");
  char beyond;
  if (in.some({&beyond, 1}) > 0) in.fail("bytes follow the array that the header states");
  if (!h.fortran_order && x.cols > 1) {
    auto const n = static_cast<std::size_t>(x.rows), k = static_cast<std::size_t>(x.cols);
    std::vector<double> columns(x.values.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < k; ++j) columns[j * n + i] = x.values[i * k + j];
    x.values = std::move(columns);
  }
  return x;
}

void write_numpy_vector(std::filesystem::path const& path, std::span<double const> x,
                        Index columns) {
  static_assert(std::endian::native == std::endian::little, "the header says '<f8'");
  std::string header =
      columns == 1 ? cat("{'descr': '<f8', 'fortran_order': False, 'shape': (", x.size(), ",), }")
                   : cat("{'descr': '<f8', 'fortran_order': True, 'shape': (",
                         x.size() / static_cast<std::size_t>(columns), ", ", columns, "), }");
  // Data begins at a multiple of 64 bytes; the header ends in a newline.
  std::size_t const before = magic_string.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string start(magic_string);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  AtomicFile file(path);
  file.write(start);
  file.write(header);
  file.write({reinterpret_cast<char const*>(x.data()), x.size_bytes()});
  file.commit();
}

Csr<double> read_numpy_matrix(Archive& archive, std::string const& name,
                              ReadOptions const& options) {
  Arrays arrays = read_arrays(archive, name, options, false);
  MatrixFileSize const size = checked_size(arrays, name);
  require_memory(
      size.reading_bytes, options.memory_limit,
      cat(name, ": a matrix of ", size.rows, " x ", size.cols, " with ", size.entries, " entries"));
  if (arrays.format == "coo")
    return assembled_from_triplets(size.rows, size.cols, arrays.row, arrays.col, arrays.data, name,
                                   options);
  bool const by_columns = arrays.format == "csc";
  Csr<double> a{.rows = by_columns ? size.cols : size.rows,
                .cols = by_columns ? size.rows : size.cols,
                .offsets = std::move(arrays.indptr),
                .columns = std::move(arrays.indices),
                .values = std::move(arrays.data)};
  a = assembled_from_rows(std::move(a), name, by_columns ? "column" : "row", options);
  return by_columns ? transpose(a.view()) : a;
}

MatrixFileSize numpy_matrix_size(Archive& archive, std::string const& name) {
  return checked_size(read_arrays(archive, name, {}, true), name);
}

}  // namespace tcsolve
