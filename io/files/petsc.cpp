// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/petsc.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/files/assemble.hpp>
#include <tcsolve/io/files/binary_reader.hpp>
#include <tcsolve/io/files/petsc_scalars.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tcsolve {
namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214, indices_id = 1211218;
constexpr Offset dense_entries = -1;

NumberType integer_type(int bytes) { return {'i', bytes, std::endian::big}; }
NumberType real_type(int bytes) { return {'f', bytes, std::endian::big}; }
int scalar_bytes(ReadOptions const& options) {
  return options.petsc == PetscScalar::float32 ? 4 : 8;
}

/// An object whose data come next.
struct Object {
  std::int64_t id = 0;
  int integer_bytes = 4;
  std::int64_t rows = 0, cols = 1, entries = 0;  // entries of a vector: its length
  std::int64_t begin = 0;                        // its place in the file

  bool is_matrix() const { return id == matrix_id; }
  bool is_dense() const { return is_matrix() && entries == dense_entries; }
  NumberType integer() const { return integer_type(integer_bytes); }
};

/// What the next object is; nothing at the end of the file. `known`: bytes of the integers in this
/// file.
std::optional<Object> next_class(BinaryReader& in, int known) {
  std::array<char, 4> bytes;
  Object object;
  object.begin = in.position();
  std::size_t const got = in.some(bytes);
  if (got == 0) return std::nullopt;
  for (char const c : bytes) object.id = object.id << 8 | static_cast<unsigned char>(c);
  if (got == 4 && object.id == 0) {  // the upper half of 64 bits
    object.id = in.integer(integer_type(4), "the class of an object");
    object.integer_bytes = 8;
  }
  bool const is_known = object.id == matrix_id || object.id == vector_id || object.id == indices_id;
  if (got < 4 || !is_known || (known > 0 && known != object.integer_bytes))
    in.fail(known > 0 ? "what follows is no object of PETSc (are the values complex, or of another "
                        "precision?)"
                      : "no matrix or vector of PETSc begins here");
  return object;
}

/// The same with its extents, which the file has room for.
std::optional<Object> next_object(BinaryReader& in, int scalar, int known = 0) {
  auto object = next_class(in, known);
  if (!object) return object;
  NumberType const integer = object->integer();
  if (!object->is_matrix()) {
    object->rows = object->entries = in.integer(integer, "the length of the vector");
    if (object->rows < 0) in.fail(cat("a vector of ", object->rows, " entries"));
    in.require(object->rows, object->id == vector_id ? scalar : integer.bytes, "values");
    return object;
  }
  object->rows = in.integer(integer, "the number of rows");
  object->cols = in.integer(integer, "the number of columns");
  object->entries = in.integer(integer, "the number of entries");
  auto const [rows, cols, entries] = std::tuple{object->rows, object->cols, object->entries};
  if (rows < 0 || cols < 0 || (entries < 0 && entries != dense_entries))
    in.fail(cat("a matrix of ", rows, " x ", cols, " with ", entries, " entries"));
  if (object->is_dense()) {
    if (cols > 0 && rows > std::numeric_limits<std::int64_t>::max() / cols)
      in.fail(cat("a dense matrix of ", rows, " x ", cols));
    in.require(rows * cols, scalar, "values");
  } else {
    in.require(rows, integer.bytes, "row lengths");
    in.require(entries, integer.bytes + scalar, "columns and values");
  }
  return object;
}

void pass(BinaryReader& in, Object const& object, int scalar) {
  std::int64_t const integer = object.integer_bytes;
  if (object.id == indices_id)
    in.skip(integer * object.rows, "indices");
  else if (!object.is_matrix())
    in.skip(scalar * object.rows, "values");
  else if (object.is_dense())
    in.skip(scalar * object.rows * object.cols, "values");
  else
    in.skip(integer * object.rows + (integer + scalar) * object.entries, "a matrix");
}

/// All objects of a file whose values have `scalar` bytes. Throws where those do not fit together.
std::vector<Object> objects_of(TextInput const& input, int scalar, CancelFlag cancel) {
  BinaryReader in(cancellable(input.open(), cancel), input.name);
  std::vector<Object> all;
  while (auto const object = next_object(in, scalar, all.empty() ? 0 : all[0].integer_bytes)) {
    pass(in, *object, scalar);
    all.push_back(*object);
  }
  return all;
}

/// What the size of a file that is no sequence of objects says of its values; "" when nothing.
std::string other_build(TextInput const& input, int scalar, CancelFlag cancel) {
  struct Build {
    int bytes;
    char const* what;
  };
  constexpr Build builds[] = {{8, "float64 (problem.petsc: {scalar: float64})"},
                              {4, "float32 (problem.petsc: {scalar: float32})"},
                              {16, "complex float64, or of quadruple precision"},
                              {32, "complex, of quadruple precision"}};
  for (auto const& [bytes, what] : builds) {
    if (bytes == scalar) continue;
    try {
      if (!objects_of(input, bytes, cancel).empty())
        return cat("; it has the size of a file whose values have ", bytes, " bytes: ", what);
    } catch (MatrixError const&) {}
  }
  return "";
}

/// f(objects), where a fault also says which build would have written a file of this size.
template <class F>
auto with_objects(TextInput const& input, ReadOptions const& options, F const& f) {
  int const scalar = scalar_bytes(options);
  std::vector<Object> objects;
  try {
    objects = objects_of(input, scalar, options.cancel);
  } catch (MatrixError const& e) {
    throw MatrixError(e.what() + other_build(input, scalar, options.cancel));
  }
  return f(objects);
}

[[noreturn]] void fail(TextInput const& input, std::int64_t at, std::string const& what) {
  throw MatrixError(cat(input.name, ": byte ", at, ": ", what));
}

/// The matrix with which a file begins.
Object const& first_matrix(TextInput const& input, std::vector<Object> const& objects) {
  if (objects.empty() || !objects[0].is_matrix())
    fail(input, objects.empty() ? 0 : 4, "this is a PETSc vector; a matrix is asked for");
  if (objects[0].is_dense()) fail(input, 16, "the matrix is dense; convert it to MATAIJ");
  return objects[0];
}

MatrixFileSize size_of(Object const& o) {
  return MatrixFileSize::of_arrays(narrow(o.rows, "rows"), narrow(o.cols, "cols"), o.entries, 12);
}

/// Row starts from row lengths that are sure to add up to `entries`.
std::vector<Offset> read_offsets(BinaryReader& in, Object const& a) {
  Offset const entries = a.entries;
  std::vector<Offset> offsets = in.integers<Offset>(a.integer(), a.rows, entries, "row length");
  Offset sum = 0;
  for (Offset& length : offsets) {
    Offset const begin = sum;
    if (length > entries - sum)
      in.fail(cat("the row lengths exceed the ", entries, " entries of the matrix"));
    sum += length;
    length = begin;
  }
  if (sum != entries)
    in.fail(cat("the row lengths add up to ", sum, "; the matrix has ", entries, " entries"));
  offsets.push_back(sum);
  return offsets;
}

/// The vectors behind the matrix.
std::vector<Object> vectors_of(std::vector<Object> const& objects) {
  std::vector<Object> vectors;
  for (Object const& object : objects)
    if (object.id == vector_id) vectors.push_back(object);
  return vectors;
}

/// The objects that hold the columns called `role`, all of one length.
std::vector<Object> columns_objects(TextInput const& input, std::vector<Object> const& objects,
                                    std::string const& role) {
  if (objects.empty()) fail(input, 0, "the file is empty");
  if (objects[0].is_dense()) return {objects[0]};
  std::vector<Object> const vectors = vectors_of(objects);
  if (objects[0].is_matrix()) {
    std::size_t const place = role == "b" ? 0 : role == "x0" ? 1 : vectors.size();
    if (place >= vectors.size())
      fail(input, 4,
           cat("this is a PETSc matrix; a vector is asked for (", role, "), and behind the matrix ",
               vectors.empty()       ? "there is none"
               : vectors.size() == 1 ? "there is only b"
                                     : "there are only b and x0"));
    return {vectors[place]};
  }
  if (vectors.empty()) fail(input, 4, "there is no vector, but indices");
  if (role != "z") return {vectors[0]};
  for (Object const& v : vectors)
    if (v.rows != vectors[0].rows)
      fail(input, v.begin,
           cat("a vector of ", v.rows, " entries; the first has ", vectors[0].rows));
  return vectors;
}

ColumnsSize extents(std::vector<Object> const& found) {
  bool const dense = found[0].is_dense();
  return {narrow(found[0].rows, "length of the vector"),
          dense ? narrow(found[0].cols, "columns") : static_cast<Index>(found.size())};
}

void check_plausible(std::string const& name, ReadOptions const& options,
                     std::string const& suspicion) {
  if (options.petsc != PetscScalar::automatic || suspicion.empty()) return;
  throw MatrixError(cat(name, ": ", suspicion, "; ", complex_advice,
                        ". If the values are real float64, say so: problem.petsc: {scalar: "
                        "float64}"));
}

}  // namespace

bool is_petsc(std::string_view start) {
  using namespace std::string_view_literals;
  constexpr auto matrix = "\x00\x12\x7b\x50"sv, vector = "\x00\x12\x7b\x4e"sv, upper = "\0\0\0\0"sv;
  if (start.starts_with(upper)) start.remove_prefix(upper.size());
  return start.starts_with(matrix) || start.starts_with(vector);
}

MatrixFileSize petsc_matrix_size(TextInput const& input, ReadOptions const& options) {
  return with_objects(input, options, [&](std::vector<Object> const& objects) {
    MatrixFileSize size = size_of(first_matrix(input, objects));
    std::vector<Object> const vectors = vectors_of(objects);
    size.holds_rhs = !vectors.empty() && vectors[0].rows == size.rows;
    size.holds_guess = size.holds_rhs && vectors.size() > 1 && vectors[1].rows == size.cols;
    size.assumed = cat("PETSc binary, read as real ",
                       options.petsc == PetscScalar::float32 ? "float32" : "float64",
                       "; the file does not say of what type its values are");
    return size;
  });
}

Csr<double> read_petsc_matrix(TextInput const& input, ReadOptions const& options) {
  return with_objects(input, options, [&](std::vector<Object> const& objects) {
    Object const& found = first_matrix(input, objects);
    MatrixFileSize const size = size_of(found);
    require_memory(size.reading_bytes, options.memory_limit,
                   cat(input.name, ": a matrix of ", size.rows, " x ", size.cols, " with ",
                       size.entries, " entries"));
    BinaryReader in(cancellable(input.open(), options.cancel), input.name);
    next_object(in, scalar_bytes(options));
    Csr<double> a;
    a.rows = size.rows;
    a.cols = size.cols;
    a.offsets = read_offsets(in, found);
    a.columns =
        in.integers<Index>(found.integer(), size.entries, std::max(size.cols - 1, 0), "column");
    a.values = in.reals(real_type(scalar_bytes(options)), size.entries,
                        options.nonfinite == NonFinite::keep, "value");
    a = assembled_from_rows(std::move(a), in.name(), "row", options);
    check_plausible(in.name(), options, complex_suspicion(a));
    return a;
  });
}

PetscRows::PetscRows(TextInput input, ReadOptions const& options, int part, int parts)
    : input_(std::move(input)), options_(options) {
  with_objects(input_, options, [&](std::vector<Object> const& objects) {
    Object const& found = first_matrix(input_, objects);
    MatrixFileSize const size = size_of(found);
    require_memory(size.reading_bytes / parts, options.memory_limit,
                   cat(input_.name, ": a share of a matrix of ", size.rows, " x ", size.cols,
                       " with ", size.entries, " entries"));
    integer_bytes_ = found.integer_bytes;
    rows_ = found.rows;
    entries_ = found.entries;
    a_.cols = size.cols;
    BinaryReader in(input_.open(), input_.name);
    next_object(in, scalar_bytes(options));
    lengths_at_ = in.position();
    columns_at_ = lengths_at_ + integer_bytes_ * rows_;
    values_at_ = columns_at_ + integer_bytes_ * entries_;
    read_lengths(part, parts);
  });
}

void PetscRows::read_lengths(int part, int parts) {
  constexpr std::int64_t some = 1 << 16;
  BinaryReader in(cancellable(input_.open(), options_.cancel), input_.name);
  in.skip(lengths_at_, "the header");
  Offset sum = 0;
  // Part r begins with the first row before which lies r-th part of all rows and entries.
  auto const begin_parts = [&](std::int64_t row) {
    while (static_cast<int>(starts_.size()) < parts &&
           (starts_.empty() ||
            (sum + row) * parts >= (entries_ + rows_) * static_cast<Offset>(starts_.size()))) {
      starts_.push_back(row);
      if (static_cast<int>(starts_.size()) == part + 1) first_entry_ = sum;
    }
  };
  for (std::int64_t first = 0; first < rows_; first += some) {
    std::int64_t row = first;
    for (Offset const length :
         in.integers<Offset>(integer_type(integer_bytes_), std::min(some, rows_ - first), entries_,
                             "row length", first)) {
      begin_parts(row++);
      if (length > entries_ - sum)
        in.fail(cat("the row lengths exceed the ", entries_, " entries of the matrix"));
      sum += length;
      if (static_cast<int>(starts_.size()) == part + 1) a_.offsets.push_back(sum - first_entry_);
    }
  }
  if (sum != entries_)
    in.fail(cat("the row lengths add up to ", sum, "; the matrix has ", entries_, " entries"));
  begin_parts(rows_);
  starts_.push_back(rows_);
  first_row_ = starts_[static_cast<std::size_t>(part)];
  a_.rows = static_cast<Index>(a_.offsets.size() - 1);
}

void PetscRows::read_columns() {
  BinaryReader in(cancellable(input_.open(), options_.cancel), input_.name);
  in.skip(columns_at_ + integer_bytes_ * first_entry_, "columns");
  a_.columns = in.integers<Index>(integer_type(integer_bytes_), a_.offsets.back(),
                                  std::max(a_.cols - 1, 0), "column", first_entry_);
}

void PetscRows::read_values() {
  int const scalar = scalar_bytes(options_);
  BinaryReader in(cancellable(input_.open(), options_.cancel), input_.name);
  in.skip(values_at_ + scalar * first_entry_, "values");
  a_.values = in.reals(real_type(scalar), a_.offsets.back(), options_.nonfinite == NonFinite::keep,
                       "value", first_entry_);
}

Csr<double> PetscRows::assembled() {
  // Rows in what is thrown are those of the matrix.
  if (first_row_ > 0 && options_.duplicates == Duplicates::refuse)
    throw Unsupported("PetscRows: repeated entries are summed");
  ReadOptions options = options_;
  options.nonfinite = NonFinite::keep;
  Csr<double> a = assembled_from_rows(std::move(a_), input_.name, "row", options);
  a_ = {};
  if (options_.nonfinite == NonFinite::keep) return a;
  for (Index i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.row_values(i).size(); ++k)
      if (double const sum = a.row_values(i)[k]; !std::isfinite(sum))
        throw MatrixError(cat(input_.name, ": CSR row ", first_row_ + i + 1, ", column ",
                              a.row_columns(i)[k] + 1, ": the sum of its entries is ", sum,
                              ", not finite"));
  return a;
}

void PetscRows::check_plausible(ComplexSigns const& signs) const {
  tcsolve::check_plausible(input_.name, options_, complex_suspicion(signs));
}

ColumnsSize petsc_columns_size(TextInput const& input, std::string const& role,
                               ReadOptions const& options) {
  return with_objects(input, options, [&](std::vector<Object> const& objects) {
    return extents(columns_objects(input, objects, role));
  });
}

Columns read_petsc_columns(TextInput const& input, std::string const& role,
                           ReadOptions const& options) {
  return with_objects(input, options, [&](std::vector<Object> const& objects) {
    std::vector<Object> const found = columns_objects(input, objects, role);
    ColumnsSize const size = extents(found);
    int const scalar = scalar_bytes(options);
    std::int64_t const numbers = std::int64_t{*size.rows} * size.cols;
    require_memory(16 * numbers, options.memory_limit,
                   cat(input.name, ": ", size.cols, " columns of ", *size.rows, " entries"));
    Columns x{*size.rows, size.cols, {}};
    BinaryReader in(cancellable(input.open(), options.cancel), input.name);
    for (Object const& object : found) {
      in.skip(object.begin - in.position(), "a vector");
      next_object(in, scalar);
      auto const values = in.reals(real_type(scalar), found.size() > 1 ? object.rows : numbers,
                                   options.nonfinite == NonFinite::keep, "value");
      if (object.is_dense()) {
        auto const n = static_cast<std::size_t>(x.rows), k = static_cast<std::size_t>(x.cols);
        x.values.resize(n * k);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < k; ++j) x.values[j * n + i] = values[i * k + j];
      } else {
        x.values.insert(x.values.end(), values.begin(), values.end());
      }
    }
    check_plausible(in.name(), options, complex_suspicion(x.values));
    return x;
  });
}

}  // namespace tcsolve
