// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matlab.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/files/assemble.hpp>
#include <tcsolve/io/files/binary_reader.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

namespace tcsolve {
namespace {

constexpr std::int64_t header_bytes = 128;
constexpr int compressed = 15, matrix = 14;                           // types of elements
constexpr int struct_class = 2, sparse_class = 5, opaque_class = 17;  // classes of variables
constexpr int first_full = 6, last_full = 15;                         // double, single, integers
constexpr std::int64_t longest_name = 1024, most_fields = 4096, most_extents = 64;

/// `bytes` of a BinaryReader that zlib has compressed, as a stream.
class Inflated final : public ByteSource {
 public:
  Inflated(BinaryReader& in, std::int64_t bytes) : in_(in), left_(bytes), bytes_(bytes) {
    if (inflateInit(&stream_) != Z_OK) throw MemoryError("zlib: out of memory");
  }
  Inflated(Inflated const&) = delete;
  Inflated& operator=(Inflated const&) = delete;
  ~Inflated() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    std::size_t const wanted = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) refill();
      int const result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) ended_ = true;
      if (result == Z_BUF_ERROR && left_ == 0) break;  // the data ends early
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        throw MatrixError(cat("corrupt zlib data: ", stream_.msg ? stream_.msg : zError(result)));
    }
    return wanted - stream_.avail_out;
  }
  std::int64_t max_bytes() const override {
    constexpr std::int64_t ratio = 1032;  // the most a byte of deflate expands to
    return bytes_ > std::numeric_limits<std::int64_t>::max() / ratio
               ? std::numeric_limits<std::int64_t>::max()
               : bytes_ * ratio;
  }

 private:
  void refill() {
    auto const n = std::min(left_, static_cast<std::int64_t>(input_.size()));
    if (n == 0) return;
    in_.all(std::span(input_).first(static_cast<std::size_t>(n)), "compressed data");
    left_ -= n;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(n);
  }

  BinaryReader& in_;
  std::int64_t left_, bytes_;
  std::array<char, 1 << 16> input_;
  z_stream stream_{};
  bool ended_ = false;
};

/// Elements one after another, of one byte order.
class Elements {
 public:
  Elements(BinaryReader& in, std::endian order) : in_(in), order_(order) {}

  BinaryReader& in() { return in_; }

  struct Tag {
    int type = 0;
    std::int64_t bytes = 0;
    std::int64_t padding = 0;  // behind its data
  };

  /// The tag of the next element, which lies within the next `room` bytes.
  Tag tag(std::int64_t room, std::string const& what) {
    if (room < 8) in_.fail(cat(what, " is missing"));
    std::int64_t const word = unsigned_word(what);
    Tag tag;
    if (word >> 16 != 0) {  // up to 4 bytes of data in the place of a length
      tag = {static_cast<int>(word & 0xffff), word >> 16, 0};
      tag.padding = 4 - tag.bytes;
      if (tag.bytes > 4) in_.fail(cat(what, ": a small element of ", tag.bytes, " bytes"));
      return tag;
    }
    tag = {static_cast<int>(word), unsigned_word(what), 0};
    if (tag.bytes > room - 8)
      in_.fail(cat(what, ": an element of ", tag.bytes, " bytes where ", room - 8, " are left"));
    if (tag.type != compressed && tag.type != matrix) tag.padding = -tag.bytes & 7;
    return tag;
  }

  /// `tag` is of numbers: their type.
  NumberType numbers(Tag const& tag, std::string const& what) {
    struct Known {
      int type;
      char kind;
      int bytes;
    };
    constexpr Known known[] = {{1, 'i', 1}, {2, 'u', 1}, {3, 'i', 2}, {4, 'u', 2},  {5, 'i', 4},
                               {6, 'u', 4}, {7, 'f', 4}, {9, 'f', 8}, {12, 'i', 8}, {13, 'u', 8}};
    for (auto const& [type, kind, bytes] : known)
      if (type == tag.type) {
        if (tag.bytes % bytes != 0)
          in_.fail(cat(what, ": ", tag.bytes, " bytes are no numbers of ", bytes));
        return {kind, bytes, order_};
      }
    in_.fail(cat(what, ": data of the type ", tag.type, " are no numbers"));
  }

  template <class T>
  std::vector<T> integers(std::int64_t room, T most, std::int64_t memory_limit,
                          std::string const& what) {
    Tag const t = tag(room, what);
    NumberType const type = numbers(t, what);
    if (type.kind == 'f') in_.fail(cat(what, " are no integers"));
    std::int64_t const n = t.bytes / type.bytes;
    require(n, memory_limit, what);
    auto values = in_.integers<T>(type, n, most, what);
    pass(t.padding);
    return values;
  }
  std::vector<double> reals(std::int64_t room, bool nonfinite, std::int64_t memory_limit,
                            std::string const& what) {
    Tag const t = tag(room, what);
    NumberType const type = numbers(t, what);
    std::int64_t const n = t.bytes / type.bytes;
    require(n, memory_limit, what);
    auto values = in_.reals(type, n, nonfinite, what);
    pass(t.padding);
    return values;
  }
  std::string text(std::int64_t room, std::int64_t longest, std::string const& what) {
    Tag const t = tag(room, what);
    if (t.bytes > longest) in_.fail(cat(what, ": a text of ", t.bytes, " bytes"));
    std::string value(static_cast<std::size_t>(t.bytes), '\0');
    in_.all(value, what);
    pass(t.padding);
    return value;
  }

 private:
  std::int64_t unsigned_word(std::string const& what) {
    return in_.integer({'u', 4, order_}, what);
  }
  /// What is read now stays until the matrix is there: 8 bytes a number, and another 12 each.
  void require(std::int64_t n, std::int64_t limit, std::string const& what) {
    require_memory(20 * n, limit, cat(in_.name(), ": ", what, ": ", n, " numbers"));
  }
  void pass(std::int64_t padding) {
    char none[8];
    in_.some(std::span(none).first(static_cast<std::size_t>(padding)));
  }

  BinaryReader& in_;
  std::endian order_;
};

/// A variable, or a field of a struct, whose data come next.
struct Variable {
  std::string name;  ///< "A", or "Problem.A"
  int kind = 0;      ///< its class
  bool complex = false;
  std::vector<Index> extents;
  int number = 0;  ///< in the order of the file

  bool is_sparse() const { return kind == sparse_class && extents.size() == 2; }
  bool is_full() const { return first_full <= kind && kind <= last_full && extents.size() == 2; }
  std::string last_name() const { return name.substr(name.rfind('.') + 1); }
  std::string text() const {
    std::string size;
    for (Index const extent : extents) size += cat(size.empty() ? "" : " x ", extent);
    char const* const what = is_sparse() ? "sparse" : is_full() ? "full" : "no numbers";
    return cat(name, " (", size, size.empty() ? "" : ", ", what, ")");
  }
};

/// Calls visit(variable, elements, room) for each variable: `room` bytes of data come next, of
/// which it may read some. Stops where it returns false.
class Variables {
 public:
  Variables(TextInput const& input, CancelFlag cancel)
      : in_(cancellable(input.open(), cancel), input.name) {
    std::array<char, header_bytes> header;
    in_.all(header, "the header");
    order_ = header[126] == 'I' ? std::endian::little : std::endian::big;
  }

  template <class F>
  void each(F const& visit) {
    for (;;) {
      char next;
      if (in_.some({&next, 1}) == 0) return;
      // The first byte of a tag has been taken: the other seven follow.
      std::array<char, 8> bytes{next};
      in_.all(std::span(bytes).subspan(1), "the tag of a variable");
      auto const word = [&](std::size_t at) {
        std::int64_t value = 0;
        for (std::size_t k = 0; k < 4; ++k)
          value = value << 8 |
                  static_cast<unsigned char>(bytes[at + (order_ == std::endian::big ? k : 3 - k)]);
        return value;
      };
      std::int64_t const type = word(0), size = word(4);
      in_.require(size, 1, "a variable");
      std::int64_t const end = in_.position() + size;
      bool go_on = true;
      if (type == matrix) {
        Elements elements(in_, order_);
        go_on = variable(elements, size, "", visit);
      } else if (type == compressed) {
        BinaryReader inside(std::make_unique<Inflated>(in_, size),
                            cat(in_.name(), ": compressed variable ", number_ + 1));
        Elements elements(inside, order_);
        auto const tag = elements.tag(std::numeric_limits<std::int64_t>::max(), "the tag");
        inside.require(tag.bytes, 1, "a variable");
        if (tag.type == matrix) go_on = variable(elements, tag.bytes, "", visit);
      } else {
        in_.fail(cat("an element of the type ", type, " is no variable"));
      }
      if (!go_on) return;
      in_.skip(end - in_.position(), "a variable");
    }
  }

 private:
  template <class F>
  bool variable(Elements& elements, std::int64_t bytes, std::string const& field, F const& visit) {
    if (bytes == 0) return true;  // an empty array
    BinaryReader& in = elements.in();
    std::int64_t const end = in.position() + bytes;
    auto const room = [&] { return end - in.position(); };
    constexpr std::int64_t any = std::numeric_limits<std::uint32_t>::max();
    auto const flags = elements.integers<Offset>(room(), any, 0, "the flags of a variable");
    if (flags.size() != 2) in.fail("the flags of a variable are not two numbers");
    Variable v;
    v.number = ++number_;
    v.kind = static_cast<int>(flags[0] & 0xff);
    v.complex = (flags[0] & 0x800) != 0;
    if (v.kind != opaque_class) {
      v.extents = extents(elements, room());
      v.name = elements.text(room(), longest_name, "the name of a variable");
      if (!field.empty()) v.name = field;
      bool const single = std::ranges::all_of(v.extents, [](Index n) { return n == 1; });
      if (v.kind == struct_class && field.empty() && single) {
        if (!fields(elements, end, v.name, visit)) return false;
      } else if (!visit(v, elements, room())) {
        return false;
      }
    }
    if (room() < 0) in.fail(cat("the variable ", quoted(v.name), " is longer than it says"));
    in.skip(room(), "a variable");
    return true;
  }

  std::vector<Index> extents(Elements& elements, std::int64_t room) {
    auto const tag = elements.tag(room, "the extents of a variable");
    NumberType const type = elements.numbers(tag, "the extents of a variable");
    std::int64_t const n = tag.bytes / type.bytes;
    if (type.kind == 'f' || n > most_extents)
      elements.in().fail("the extents of a variable are no list of integers");
    auto values =
        elements.in().integers<Index>(type, n, std::numeric_limits<Index>::max() - 1, "extent");
    char none[8];
    elements.in().some(std::span(none).first(static_cast<std::size_t>(tag.padding)));
    return values;
  }

  template <class F>
  bool fields(Elements& elements, std::int64_t end, std::string const& name, F const& visit) {
    BinaryReader& in = elements.in();
    auto const room = [&] { return end - in.position(); };
    auto const length = elements.integers<Offset>(room(), longest_name, 0, "the length of a name");
    if (length.size() != 1 || length[0] < 1) in.fail("the fields of a struct have no names");
    std::string const names = elements.text(room(), length[0] * most_fields, "names of fields");
    auto const step = static_cast<std::size_t>(length[0]);
    for (std::size_t at = 0; at + step <= names.size(); at += step) {
      std::string field = names.substr(at, step);
      field = field.substr(0, field.find('\0'));
      auto const tag = elements.tag(room(), "a field of a struct");
      if (tag.type != matrix) in.fail(cat("a field of the type ", tag.type, " is no array"));
      if (!variable(elements, tag.bytes, cat(name, ".", field), visit)) return false;
    }
    return true;
  }

  BinaryReader in_;
  std::endian order_;
  int number_ = 0;
};

std::vector<Variable> contents(TextInput const& input, CancelFlag cancel = {}) {
  std::vector<Variable> all;
  Variables(input, cancel).each([&](Variable const& v, Elements&, std::int64_t) {
    all.push_back(v);
    return true;
  });
  return all;
}

std::string listed(std::vector<Variable> const& all) {
  std::string text;
  for (Variable const& v : all) text += cat(text.empty() ? "" : ", ", v.text());
  return text.empty() ? "nothing" : text;
}

/// The matrix among the variables.
Variable chosen_matrix(std::vector<Variable> const& all, std::string const& name) {
  std::vector<Variable> sparse, named;
  for (Variable const& v : all)
    if (v.is_sparse()) {
      sparse.push_back(v);
      if (v.last_name() == "A") named.push_back(v);
    }
  if (sparse.empty())
    throw MatrixError(cat(name, ": no sparse matrix is in it, but ", listed(all),
                          "; in MATLAB: A = sparse(A), save A.mat A -v7"));
  auto const& possible = named.empty() ? sparse : named;
  if (possible.size() > 1)
    throw MatrixError(cat(name, ": which of them is the matrix? ", listed(possible),
                          "; save it alone, or call it A"));
  if (possible[0].complex)
    throw MatrixError(cat(name, ": ", possible[0].name, " is complex; ", complex_advice));
  return possible[0];
}

/// The names of a variable for each role.
bool is_called(Variable const& v, std::string const& role) {
  std::string const name = v.last_name();
  return name == role || (role == "b" && (name == "rhs" || name == "B")) ||
         (role == "z" && name == "Z");
}

Variable chosen_columns(std::vector<Variable> const& all, std::string const& role,
                        std::string const& name) {
  std::vector<Variable> possible, named;
  bool has_matrix = false;
  for (Variable const& v : all) {
    has_matrix |= v.is_sparse() && !is_called(v, role);
    if (!v.is_full() && !(v.is_sparse() && is_called(v, role))) continue;
    possible.push_back(v);
    if (is_called(v, role)) named.push_back(v);
  }
  auto const& found = named.empty() && !has_matrix ? possible : named;
  if (found.size() != 1)
    throw MatrixError(
        cat(name, ": a vector called ", role, " is asked for; there is ", listed(all)));
  if (found[0].complex)
    throw MatrixError(cat(name, ": ", found[0].name, " is complex; ", complex_advice));
  return found[0];
}

/// b = [1 2 3] is a row in MATLAB.
ColumnsSize as_column(ColumnsSize const& size) {
  if (*size.rows == 1 && size.cols > 1) return {size.cols, 1};
  return size;
}

Csr<double> read_sparse(Variable const& v, Elements& elements, std::int64_t room,
                        ReadOptions const& options) {
  BinaryReader& in = elements.in();
  std::int64_t const end = in.position() + room;
  auto const left = [&] { return end - in.position(); };
  Index const rows = v.extents[0], cols = v.extents[1];
  Csr<double> a{.rows = cols, .cols = rows, .offsets = {}, .columns = {}, .values = {}};
  a.columns =
      elements.integers<Index>(left(), std::max(rows - 1, 0), options.memory_limit, "row index");
  a.offsets = elements.integers<Offset>(left(), static_cast<Offset>(a.columns.size()),
                                        options.memory_limit, "column start");
  a.values =
      elements.reals(left(), options.nonfinite == NonFinite::keep, options.memory_limit, "value");
  if (a.offsets.size() != static_cast<std::size_t>(cols) + 1)
    in.fail(cat(v.name, ": ", a.offsets.size(), " column starts; ", cols, " columns have ",
                std::int64_t{cols} + 1));
  // Room for more entries than there are may be saved, too.
  auto const entries = static_cast<std::size_t>(a.offsets.back());
  if (a.values.size() < entries)
    in.fail(cat(v.name, ": ", a.values.size(), " values; the columns have ", entries));
  a.columns.resize(entries);
  a.values.resize(entries);
  MatrixFileSize const size =
      MatrixFileSize::of_arrays(rows, cols, static_cast<Offset>(entries), 24);
  require_memory(
      size.reading_bytes, options.memory_limit,
      cat(in.name(), ": a matrix of ", rows, " x ", cols, " with ", entries, " entries"));
  return transpose(assembled_from_rows(std::move(a), in.name(), "column", options).view());
}

/// f(variable, elements, room) for the chosen one.
template <class F>
void read_chosen(TextInput const& input, CancelFlag cancel, Variable const& chosen, F const& f) {
  bool found = false;
  Variables(input, cancel).each([&](Variable const& v, Elements& elements, std::int64_t room) {
    if (v.number != chosen.number) return true;
    std::int64_t const end = elements.in().position() + room;
    f(v, elements, room);
    if (elements.in().position() > end) elements.in().fail(cat(v.name, " is longer than it says"));
    elements.in().skip(end - elements.in().position(), "a variable");
    char beyond;  // at the end of compressed data their checksum is compared
    elements.in().some({&beyond, 1});
    found = true;
    return false;
  });
  if (!found) throw MatrixError(cat(input.name, ": ", chosen.name, " is gone"));
}

}  // namespace

bool is_matlab(std::string_view start) {
  if (start.size() < static_cast<std::size_t>(header_bytes)) return false;
  std::string_view const mark = start.substr(126, 2), version = start.substr(124, 2);
  return (mark == "IM" && version[1] == '\x01') || (mark == "MI" && version[0] == '\x01');
}

MatrixFileSize matlab_matrix_size(TextInput const& input) {
  auto const all = contents(input);
  Variable const chosen = chosen_matrix(all, input.name);
  MatrixFileSize size;
  read_chosen(input, {}, chosen, [&](Variable const& v, Elements& elements, std::int64_t room) {
    auto const tag = elements.tag(room, "row index");
    NumberType const type = elements.numbers(tag, "row index");
    size = MatrixFileSize::of_arrays(v.extents[0], v.extents[1], tag.bytes / type.bytes, 24);
  });
  for (Variable const& v : all) {
    if (!v.is_full() || v.complex) continue;
    Index const length = *as_column({v.extents[0], v.extents[1]}).rows;
    size.holds_rhs |= is_called(v, "b") && length == size.rows;
    size.holds_guess |= is_called(v, "x0") && length == size.cols;
  }
  return size;
}

Csr<double> read_matlab_matrix(TextInput const& input, ReadOptions const& options) {
  Variable const chosen = chosen_matrix(contents(input, options.cancel), input.name);
  Csr<double> a;
  read_chosen(input, options.cancel, chosen,
              [&](Variable const& v, Elements& elements, std::int64_t room) {
                a = read_sparse(v, elements, room, options);
              });
  return a;
}

ColumnsSize matlab_columns_size(TextInput const& input, std::string const& role) {
  Variable const chosen = chosen_columns(contents(input), role, input.name);
  return as_column({chosen.extents[0], chosen.extents[1]});
}

Columns read_matlab_columns(TextInput const& input, std::string const& role,
                            ReadOptions const& options) {
  Variable const chosen = chosen_columns(contents(input, options.cancel), role, input.name);
  Columns x{chosen.extents[0], chosen.extents[1], {}};
  read_chosen(input, options.cancel, chosen,
              [&](Variable const& v, Elements& elements, std::int64_t room) {
                if (v.is_sparse()) {
                  x = dense_columns(read_sparse(v, elements, room, options), input.name,
                                    options.memory_limit);
                  return;
                }
                x.values = elements.reals(room, options.nonfinite == NonFinite::keep,
                                          options.memory_limit, "value");
                if (static_cast<std::int64_t>(x.values.size()) != std::int64_t{x.rows} * x.cols)
                  elements.in().fail(cat(v.text(), " has ", x.values.size(), " values"));
              });
  ColumnsSize const size = as_column({x.rows, x.cols});
  x.rows = *size.rows;
  x.cols = size.cols;
  return x;
}

}  // namespace tcsolve
