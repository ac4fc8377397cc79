// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/petsc.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/assemble.hpp>

#include <array>
#include <optional>

namespace tcsolve {
namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214;
constexpr NumberType real{'f', 8, std::endian::big};

NumberType integer_type(int bytes) { return {'i', bytes, std::endian::big}; }

struct ClassId {
  std::int64_t id = 0;
  int integer_bytes = 4;
};

/// What the next object is; nothing at the end of the file. `known`: of the integers in this file.
std::optional<ClassId> next_object(BinaryReader& in, int known = 0) {
  std::array<char, 4> bytes;
  std::size_t const got = in.some(bytes);
  if (got == 0) return std::nullopt;
  std::int64_t id = 0;
  for (char const c : bytes) id = id << 8 | static_cast<unsigned char>(c);
  ClassId object{id, 4};
  // The upper half of 64 bits.
  if (got == 4 && id == 0) object = {in.integer(integer_type(4), "the class of an object"), 8};
  bool const is_known = object.id == matrix_id || object.id == vector_id;
  if (got < 4 || !is_known || (known > 0 && known != object.integer_bytes))
    in.fail(known > 0 ? "what follows is no object of PETSc: are the values complex or of single "
                        "precision? tcsolve reads real float64"
                      : "no matrix or vector of PETSc begins here");
  return object;
}

struct MatrixStart {
  MatrixFileSize size;
  NumberType integer;
};

MatrixStart read_start(BinaryReader& in) {
  auto const object = next_object(in);
  if (!object || object->id != matrix_id) in.fail("this is a PETSc vector; a matrix is asked for");
  NumberType const integer = integer_type(object->integer_bytes);
  std::int64_t const rows = in.integer(integer, "the number of rows"),
                     cols = in.integer(integer, "the number of columns"),
                     entries = in.integer(integer, "the number of entries");
  if (entries == -1) in.fail("the matrix is dense; convert it to MATAIJ");
  if (rows < 0 || cols < 0 || entries < 0)
    in.fail(cat("a matrix of ", rows, " x ", cols, " with ", entries, " entries"));
  in.require(rows, integer.bytes, "row lengths");
  in.require(entries, integer.bytes + 8, "columns and values");
  return {MatrixFileSize::of_arrays(narrow(rows, "rows"), narrow(cols, "cols"), entries, 12),
          integer};
}

/// Row starts from row lengths that are sure to add up to `entries`.
std::vector<Offset> read_offsets(BinaryReader& in, MatrixStart const& start) {
  Offset const entries = start.size.entries;
  std::vector<Offset> offsets =
      in.integers<Offset>(start.integer, start.size.rows, entries, "row length");
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

}  // namespace

bool is_petsc(std::string_view start) {
  using namespace std::string_view_literals;
  constexpr auto matrix = "\x00\x12\x7b\x50"sv, vector = "\x00\x12\x7b\x4e"sv, upper = "\0\0\0\0"sv;
  if (start.starts_with(upper)) start.remove_prefix(upper.size());
  return start.starts_with(matrix) || start.starts_with(vector);
}

MatrixFileSize petsc_matrix_size(BinaryReader& in) { return read_start(in).size; }

Csr<double> read_petsc_matrix(BinaryReader& in, ReadOptions const& options) {
  MatrixStart const start = read_start(in);
  MatrixFileSize const& size = start.size;
  require_memory(size.reading_bytes, options.memory_limit,
                 cat(in.name(), ": a matrix of ", size.rows, " x ", size.cols, " with ",
                     size.entries, " entries"));
  Csr<double> a;
  a.rows = size.rows;
  a.cols = size.cols;
  a.offsets = read_offsets(in, start);
  a.columns = in.integers<Index>(start.integer, size.entries, std::max(size.cols - 1, 0), "column");
  a.values = in.reals(real, size.entries, options.nonfinite == NonFinite::keep, "value");
  next_object(in, start.integer.bytes);
  return assembled_from_rows(std::move(a), in.name(), "row", options);
}

std::vector<double> read_petsc_vector(BinaryReader& in, ReadOptions const& options) {
  auto object = next_object(in);
  if (object && object->id == matrix_id) in.fail("this is a PETSc matrix; a vector is asked for");
  if (!object) in.fail("the file is empty");
  NumberType const integer = integer_type(object->integer_bytes);
  std::int64_t const n = in.integer(integer, "the length of the vector");
  if (n < 0) in.fail(cat("a vector of ", n, " entries"));
  narrow(n, "length of the vector");
  in.require(n, 8, "values");
  require_memory(16 * n, options.memory_limit, cat(in.name(), ": a vector of ", n, " entries"));
  auto x = in.reals(real, n, options.nonfinite == NonFinite::keep, "value");
  next_object(in, integer.bytes);
  return x;
}

}  // namespace tcsolve
