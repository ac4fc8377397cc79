// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors of NumPy, SciPy, PETSc and SuiteSparse: files that those wrote, and files
/// that are cut, changed or lie. tests/data/scipy/make.py wrote the former.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/numpy.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

fs::path scipy(std::string const& name) {
  char const* const given = std::getenv("TCSOLVE_SOURCE_DIR");
  return fs::path(given ? given : TCSOLVE_SOURCE_DIR) / "tests/data/scipy" / name;
}

/// The matrix in those files.
Csr<double> const& expected() {
  static Csr<double> const a{.rows = 4,
                             .cols = 4,
                             .offsets = {0, 2, 3, 6, 7},
                             .columns = {0, 2, 1, 0, 2, 3, 3},
                             .values = {4, -1.5, 3, 0.125, 2, 1, 5}};
  return a;
}
std::vector<double> const expected_vector{1, -2.5, 3, 0.125};

template <class F>
std::string fault(F const& f) {
  try {
    f();
  } catch (Error const& e) { return e.what(); }
  return "nothing";
}
std::string matrix_fault(std::string const& bytes) {
  return fault([&] { parse_matrix(bytes, "file"); });
}
std::string vector_fault(std::string const& bytes) {
  return fault([&] { parse_vector_file(bytes, "b", "file"); });
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// `bytes` of an integer, big-endian.
std::string big(std::int64_t value, int bytes = 4) {
  std::string out;
  for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  return out;
}
std::string reals(std::vector<double> const& values) {
  std::string out;
  for (double const v : values) out += big(std::bit_cast<std::int64_t>(v), 8);
  return out;
}

/// As MatView() writes.
std::string petsc_matrix(int integer_bytes = 4) {
  std::string out;
  auto const add = [&](std::int64_t v) { out += big(v, integer_bytes); };
  for (std::int64_t const v : {1211216, 4, 4, 7}) add(v);
  for (std::int64_t const length : {2, 1, 3, 1}) add(length);
  for (Index const column : {2, 0, 1, 0, 2, 3, 3}) add(column);  // the first row is not sorted
  return out + reals({-1.5, 4, 3, 0.125, 2, 1, 5});
}
std::string petsc_vector(int integer_bytes = 4) {
  return big(1211214, integer_bytes) + big(4, integer_bytes) + reals(expected_vector);
}

using Members = std::vector<std::pair<std::string, std::string>>;

/// An archive of files, by libarchive.
std::string archive_of(Members const& members, bool zip) {
  archive* const a = archive_write_new();
  zip ? archive_write_set_format_zip(a) : archive_write_set_format_ustar(a);
  std::string out(1 << 16, '\0');
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  for (auto const& [name, bytes] : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    EXPECT_EQ(archive_write_header(a, entry), ARCHIVE_OK);
    EXPECT_EQ(archive_write_data(a, bytes.data(), bytes.size()),
              static_cast<la_ssize_t>(bytes.size()));
    archive_entry_free(entry);
  }
  EXPECT_EQ(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  out.resize(used);
  return out;
}

/// An .npy file.
std::string npy(std::string const& descr, std::string const& shape, std::string const& data,
                std::string const& more = "") {
  std::string const header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", " + more + "}\n";
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size()) + '\0' + header + data;
}
template <class T>
std::string raw(std::vector<T> const& values) {
  return {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(T)};
}
std::string npz(Members members) {
  for (auto& member : members) member.first += ".npy";
  return archive_of(members, true);
}
/// The members of a 2 x 3 csr matrix.
Members csr_members() {
  return {{"indices", npy("<i4", "(3,)", raw<std::int32_t>({0, 2, 1}))},
          {"indptr", npy("<i4", "(3,)", raw<std::int32_t>({0, 2, 3}))},
          {"format", npy("|S3", "()", "csr")},
          {"shape", npy("<i8", "(2,)", raw<std::int64_t>({2, 3}))},
          {"data", npy("<f8", "(3,)", raw<double>({1, 2, 3}))}};
}
/// The same with another array in the place of one.
std::string csr_with(std::string const& key, std::string const& array) {
  Members members = csr_members();
  for (auto& [name, bytes] : members)
    if (name == key) bytes = array;
  return npz(members);
}

TEST(BinaryFiles, MatricesOfScipy) {
  for (char const* name : {"csr.npz", "csc.npz", "coo.npz"}) {
    EXPECT_EQ(read_matrix(scipy(name)), expected()) << name;
    EXPECT_EQ(parse_matrix(read_text(scipy(name))), expected()) << name;
    MatrixFileSize const size = matrix_file_size(scipy(name));
    EXPECT_EQ(size.rows, 4);
    EXPECT_EQ(size.cols, 4);
    EXPECT_EQ(size.entries, name == "coo.npz"s ? 8 : 7);
    EXPECT_EQ(file_type(scipy(name)), FileType::numpy_archive);
  }
  Csr<double> const a = read_matrix(scipy("rectangular.npz"));
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.cols, 4);
  EXPECT_EQ(a.columns, (std::vector<Index>{0, 2, 1}));
  EXPECT_TRUE(has(fault([] { read_matrix(scipy("diagonals.npz")); }), "' is not read; save"));
  EXPECT_TRUE(has(fault([] { matrix_file_size(scipy("diagonals.npz")); }), "' is not read; save"));
  EXPECT_TRUE(has(fault([] { read_matrix(scipy("coo.npz"), {.duplicates = Duplicates::refuse}); }),
                  "coo.npz: entry (1, 1) is there more than once"));
}

TEST(BinaryFiles, VectorsOfNumpy) {
  for (char const* name : {"f8.npy", "f8-big-endian.npy", "f4.npy", "f4-big-endian-column.npy"})
    EXPECT_EQ(read_vector_file(scipy(name), "b"), expected_vector) << name;
  EXPECT_EQ(read_vector_file(scipy("i8.npy"), "b"), (std::vector<double>{1, -2, 3, 0}));
  auto const refused = [](char const* name) {
    return fault([&] { read_vector_file(scipy(name), "b"); });
  };
  EXPECT_TRUE(has(refused("complex.npy"), "complex.npy: complex numbers ('<c16')"));
  EXPECT_TRUE(has(refused("row.npy"), "row.npy: 1 x 4 numbers; a vector has one column"));
  EXPECT_TRUE(has(refused("half.npy"), "half.npy: numbers of the type '<f2' are not read"));
  EXPECT_TRUE(has(refused("csr.npz"), "a vector is asked for"));
  EXPECT_TRUE(has(fault([] { read_matrix(scipy("f8.npy")); }), "a matrix is asked for"));
  EXPECT_TRUE(has(fault([] { matrix_file_size(scipy("f8.npy")); }), "a matrix is asked for"));
}

TEST(BinaryFiles, VectorsAreWrittenAsNumpyReadsThem) {
  TemporaryFolder const folder;
  write_numpy_vector(folder / "x.npy", expected_vector);
  EXPECT_EQ(read_text(folder / "x.npy"), read_text(scipy("f8.npy"))) << "what numpy.save wrote";
  std::vector<double> const odd{std::numeric_limits<double>::denorm_min(), -0.0, 1e308};
  write_numpy_vector(folder / "x.npy", odd);
  EXPECT_EQ(read_vector_file(folder / "x.npy", "b"), odd);
  write_numpy_vector(folder / "x.npy", {});
  EXPECT_TRUE(read_vector_file(folder / "x.npy", "b").empty());
}

TEST(BinaryFiles, PetscMatricesAndVectors) {
  TemporaryFolder const folder;
  for (int const bytes : {4, 8}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(parse_matrix(petsc_matrix(bytes)), expected());
    EXPECT_EQ(parse_vector_file(petsc_vector(bytes), "b"), expected_vector);
    EXPECT_EQ(parse_matrix(petsc_matrix(bytes) + petsc_vector(bytes)), expected());
    fs::path const file = write_text(folder / "a.petsc", petsc_matrix(bytes));
    EXPECT_EQ(file_type(file), FileType::petsc);
    EXPECT_EQ(read_matrix(file), expected());
    EXPECT_EQ(matrix_file_size(file).entries, 7);
  }
  EXPECT_TRUE(has(vector_fault(petsc_matrix()), "this is a PETSc matrix; a vector is asked for"));
  EXPECT_TRUE(has(matrix_fault(petsc_vector()), "this is a PETSc vector; a matrix is asked for"));
  // Complex values take twice the bytes, so what follows the first half is no object.
  EXPECT_TRUE(has(vector_fault(petsc_vector() + reals({1.0, 1, 1, 1})), "are the values complex"));
  EXPECT_TRUE(has(matrix_fault(big(1211216) + big(2) + big(2) + big(-1) + reals({1, 2, 3, 4})),
                  "the matrix is dense"));
}

TEST(BinaryFiles, ArchivesOfTheSuiteSparseCollection) {
  std::string const banner = "%%MatrixMarket matrix ";
  std::string const matrix = banner + "coordinate real general\n2 2 2\n1 1 4\n2 2 3\n",
                    vector = banner + "array real general\n2 1\n5\n6\n";
  TemporaryFolder const folder;
  std::string const tar =
      archive_of({{"HB/HB_b.mtx", vector}, {"HB/other.mtx", "junk"}, {"HB/HB.mtx", matrix}}, false);
  fs::path const file = write_text(folder / "renamed.tar", tar);
  EXPECT_EQ(file_type(file), FileType::tar);
  EXPECT_EQ(read_matrix(file), parse_matrix_market(matrix));
  EXPECT_EQ(matrix_file_size(file).rows, 2);
  EXPECT_EQ(read_vector_file(file, "b"), (std::vector<double>{5, 6}));
  std::string const none = fault([&] { read_vector_file(file, "x"); });
  EXPECT_TRUE(has(none, "renamed.tar: no NAME/NAME_x.mtx")) << none;
  EXPECT_TRUE(has(none, "there is HB/HB_b.mtx, HB/other.mtx, HB/HB.mtx")) << none;
  // A fault is in a line of the member.
  std::string const bad =
      archive_of({{"A/A.mtx", banner + "coordinate real general\n1 1 1\n1 2 1"}}, false);
  EXPECT_EQ(matrix_fault(bad), "file: A/A.mtx:3: the column in '1 2 1' is outside 1 .. 1");
  std::string const twice =
      archive_of({{"A/A.mtx", banner + "coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"}}, false);
  EXPECT_TRUE(has(matrix_fault(twice), "file: A/A.mtx:4: ")) << matrix_fault(twice);
}

/// Whatever is cut off: an error, or, where nothing that matters is missing, the same matrix.
TEST(BinaryFiles, FilesThatAreCut) {
  Csr<double> const small = parse_matrix(npz(csr_members()));
  struct {
    std::string bytes;
    Csr<double> whole;
  } const files[] = {{petsc_matrix(), expected()},
                     {petsc_matrix(8), expected()},
                     {read_text(scipy("csr.npz")), expected()},
                     {read_text(scipy("csc.npz")), expected()},
                     {read_text(scipy("coo.npz")), expected()},
                     {npz(csr_members()), small}};
  for (auto const& [bytes, whole] : files) {
    bool const zip = bytes.starts_with("PK");
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      try {
        Csr<double> const a = parse_matrix(bytes.substr(0, n));
        ASSERT_TRUE(zip && a == whole) << n << " of " << bytes.size();
      } catch (Error const&) {}
    }
  }
  for (std::string const& bytes :
       {petsc_vector(), read_text(scipy("f8.npy")), read_text(scipy("f4-big-endian-column.npy"))})
    for (std::size_t n = 0; n < bytes.size(); ++n)
      EXPECT_NE(vector_fault(bytes.substr(0, n)), "nothing") << n << " of " << bytes.size();
  EXPECT_EQ(vector_fault(petsc_vector().substr(0, 20)),
            "file: byte 8: values: 4 numbers of 8 bytes; the file can hold 2");
  EXPECT_TRUE(has(vector_fault(read_text(scipy("f8.npy")).substr(0, 100)),
                  "the file ends in the header: it is truncated"));
}

/// Whatever bit is flipped: an error or a canonical matrix.
TEST(BinaryFiles, FilesThatAreChanged) {
  for (std::string bytes : {petsc_matrix(), petsc_matrix(8), read_text(scipy("csr.npz")),
                            read_text(scipy("csc.npz")), npz(csr_members())})
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (int const bit : {0, 3, 7}) {
        auto const flip = [&] { bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit)); };
        flip();
        try {
          Csr<double> const a = parse_matrix(bytes, "file", {.memory_limit = 64 << 20});
          EXPECT_NO_THROW(validate(a.view())) << i;
        } catch (Error const&) {}
        flip();
      }
}

TEST(BinaryFiles, ArraysThatLie) {
  ASSERT_EQ(parse_matrix(npz(csr_members())).entries(), 3);
  auto const ints = [](std::string const& shape, std::vector<std::int32_t> const& values) {
    return npy("<i4", shape, raw(values));
  };
  struct {
    std::string key, array, says;
  } const cases[] = {
      {"indices", ints("(3,)", {0, 3, 1}), "file: the index 3 in row 0 is outside 0 .. 2"},
      {"indices", ints("(3,)", {0, -1, 1}), "indices.npy: indices[1] = -1 is outside 0 .. "},
      {"indices", ints("(2,)", {0, 1}), "data.npy has 3 numbers, indices.npy 2"},
      {"indices", ints("(4,)", {0, 2, 1}), "indices.npy: byte 80: the file ends in indices"},
      {"indices", ints("(3,)", {0, 2, 1, 9}), "bytes follow the array"},
      {"indices", ints("(1000000000000000,)", {0}), "1000000000000000 numbers of 4 bytes"},
      {"indices", ints("(9223372036854775808,)", {0}), "an extent in 'shape' is beyond"},
      {"indices", ints("(3, 3)", {0, 2, 1}), "the array has the shape (3, 3)"},
      {"indices", ints("()", {0}), "the array has the shape ()"},
      {"indices", npy("<f8", "(3,)", raw<double>({0, 2, 1})), "save them as int32 or int64"},
      {"indices", npy("<U3", "(3,)", raw<double>({0, 2, 1})), "'<U3' are not read"},
      {"indptr", ints("(3,)", {0, 4, 3}), "indptr[1] = 4 of row 0 is outside 0 .. 3"},
      {"indptr", ints("(3,)", {0, 3, 2}), "indptr[2] = 2 of row 1 is outside 3 .. 3"},
      {"indptr", ints("(3,)", {1, 2, 3}), "indptr[0] = 1; the first row begins at 0"},
      {"indptr", ints("(3,)", {0, 1, 2}), "indptr ends with 2; there are 3 entries"},
      {"indptr", ints("(2,)", {0, 3}), "indptr.npy has 2 numbers; 2 rows have 3"},
      {"shape", npy("<i8", "(2,)", raw<std::int64_t>({2, -3})), "shape[1] = -3 is outside 0 .."},
      {"shape", npy("<i8", "(2,)", raw<std::int64_t>({2, 1LL << 40})), "1099511627776"},
      {"shape", npy("<i8", "(3,)", raw<std::int64_t>({2, 3, 1})), "has 2 extents, here are 3"},
      {"format", npy("|S3", "()", "abc"), "the sparse format 'abc' is not read"},
      {"format", npy("|S99", "()", std::string(99, 'c')), "'format' is no short text"},
      {"format", npy("<f8", "()", raw<double>({1})), "'format' is no short text"},
      {"data", npy("<f8", "(3,)", raw<double>({1, 2, NAN})), "data[2] = nan is not finite"},
      {"data", npy("<c16", "(3,)", std::string(48, '\0')), "complex numbers ('<c16')"},
      {"data", npy("<f8", "(3,)", raw<double>({1, 2, 3}), "'more': 1"), "the key 'more'"},
      {"data", npy("<f8", "(3", raw<double>({1, 2, 3})), "data.npy: byte "},
      {"data", npy("", "(3,)", raw<double>({1, 2, 3})), "numbers of the type '' are not read"},
      {"data", "\x93NUMPY\x01"s + '\0' + "\x02"s + '\0' + "{}", "the header lacks 'descr'"},
      {"data", "\x93NUMPY\x09"s + '\0', "data.npy: byte 8: the version 9"},
      {"data", "\x93NUMPY\x02"s + '\0' + "\xff\xff\xff\xff"s, "a header of 4294967295 bytes"},
      {"data", "text", "the file ends in the magic string"},
  };
  for (auto const& [key, array, says] : cases) {
    std::string const message = matrix_fault(csr_with(key, array));
    EXPECT_TRUE(has(message, says)) << key << ": " << message;
    EXPECT_TRUE(message.starts_with("file: ") || says == "1099511627776") << message;
  }
  for (std::string const key : {"indices", "indptr", "format", "shape", "data"}) {
    Members members = csr_members();
    std::erase_if(members, [&](auto const& member) { return member.first == key; });
    EXPECT_TRUE(has(matrix_fault(npz(members)), key + ".npy")) << matrix_fault(npz(members));
  }
  Members doubled = csr_members();
  doubled.push_back(doubled.front());
  EXPECT_TRUE(has(matrix_fault(npz(doubled)), "is there twice"));
  EXPECT_NE(matrix_fault(npz({})), "nothing");
  EXPECT_NE(matrix_fault("PK\x03\x04 and then nothing of an archive"), "nothing");
}

TEST(BinaryFiles, PetscFilesThatLie) {
  auto const start = [](std::int64_t rows, std::int64_t cols, std::int64_t entries) {
    return big(1211216) + big(rows) + big(cols) + big(entries);
  };
  struct {
    std::string bytes, says;
  } const cases[] = {
      {start(1 << 30, 4, 7), "byte 16: row lengths: 1073741824 numbers of 4 bytes"},
      {start(4, 4, 1 << 30), "columns and values: 1073741824 numbers"},
      {start(-4, 4, 1), "a matrix of -4 x 4"},
      {start(2, 2, 1) + big(1) + big(1) + big(0) + reals({1.0}),
       "row lengths exceed the 1 entries"},
      {start(2, 2, 2) + big(1) + big(0) + big(0) + big(1) + reals({1.0, 1}), "add up to 1"},
      {start(2, 2, 1) + big(-1) + big(2) + big(0) + reals({1.0}), "row length[0] = -1"},
      {start(2, 2, 1) + big(1) + big(0) + big(2) + reals({1.0}), "column[0] = 2 is outside 0 .. 1"},
      {start(1, 0, 1) + big(1) + big(0) + reals({1.0}), "is outside 0 .. -1"},
      {start(1, 1, 1) + big(1) + big(0) + reals({NAN}), "value[0] = nan is not finite"},
      {start(1, 1, 1) + big(1) + big(0) + reals({1.0}) + "x", "what follows is no object of PETSc"},
  };
  for (auto const& [bytes, says] : cases)
    EXPECT_TRUE(has(matrix_fault(bytes), says)) << matrix_fault(bytes);
  EXPECT_TRUE(has(vector_fault(big(1211214) + big(-1)), "a vector of -1 entries"));
  EXPECT_TRUE(has(vector_fault(big(1211214) + big(1 << 30)), "1073741824 numbers of 8 bytes"));
}

}  // namespace
}  // namespace tcsolve::test
