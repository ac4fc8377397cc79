// SPDX-License-Identifier: Apache-2.0
/// MATLAB's files of versions 5 to 7: as programs write them, cut, changed, and lying.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

using Values = std::vector<double>;

template <class F>
std::string fault(F const& f) {
  try {
    f();
  } catch (Error const& e) { return e.what(); }
  return "nothing";
}
std::string matrix_fault(std::string const& bytes) {
  return fault([&] { parse_matrix(bytes, "file", {.memory_limit = 64 << 20}); });
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// Writes elements of one byte order.
struct Writer {
  bool big = false;

  std::string number(std::uint64_t v, int bytes) const {
    std::string out;
    for (int k = 0; k < bytes; ++k) out += static_cast<char>(v >> (8 * (big ? bytes - 1 - k : k)));
    return out;
  }
  std::string element(int type, std::string data) const {
    std::string out = number(static_cast<std::uint64_t>(type), 4) + number(data.size(), 4) + data;
    if (type != 15 && type != 14) out.append((8 - data.size() % 8) % 8, '\0');
    return out;
  }
  /// At most 4 bytes.
  std::string small(int type, std::string data) const {
    std::string out = number(data.size() << 16 | static_cast<std::uint64_t>(type), 4) + data;
    out.resize(8, '\0');
    return out;
  }
  std::string integers(std::vector<int> const& values) const {
    std::string data;
    for (int const v : values) data += number(static_cast<std::uint32_t>(v), 4);
    return element(5, data);
  }
  std::string doubles(Values const& values) const {
    std::string data;
    for (double const v : values) data += number(std::bit_cast<std::uint64_t>(v), 8);
    return element(9, data);
  }
  std::string variable(int kind, std::vector<int> const& extents, std::string const& name,
                       std::string const& data, int flags = 0) const {
    std::string const named = name.size() <= 4 && !name.empty() ? small(1, name) : element(1, name);
    return element(14,
                   element(6, number(static_cast<std::uint64_t>(kind | flags), 4) + number(0, 4)) +
                       integers(extents) + named + data);
  }
  /// (4 0; 1 3) and a column without entries.
  std::string sparse(std::string const& name) const {
    return variable(5, {2, 3}, name,
                    integers({0, 1, 1}) + integers({0, 2, 3, 3}) + doubles({4, 1, 3}));
  }
  std::string full(std::string const& name, std::vector<int> const& extents,
                   Values const& values) const {
    return variable(6, extents, name, doubles(values));
  }
  std::string header() const {
    std::string out = "MATLAB 5.0 MAT-file, of a test";
    out.resize(124, ' ');
    return out + (big ? "\x01" + std::string(1, '\0') + "MI" : std::string(1, '\0') + "\x01IM");
  }
};

std::string compressed(std::string const& element) {
  std::string out(compressBound(element.size()), '\0');
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<Bytef const*>(element.data()), element.size());
  out.resize(size);
  return Writer{}.element(15, out);
}

Csr<double> const expected{
    .rows = 2, .cols = 3, .offsets = {0, 1, 3}, .columns = {0, 0, 1}, .values = {4, 1, 3}};

TEST(Matlab, SparseMatrices) {
  for (bool const big : {false, true}) {
    Writer const w{big};
    std::string const file = w.header() + w.sparse("A");
    EXPECT_EQ(parse_matrix(file), expected);
    TemporaryFolder const folder;
    auto const path = write_text(folder / "A.mat", file);
    EXPECT_EQ(file_type(path), FileType::matlab);
    EXPECT_EQ(read_matrix(path), expected);
    MatrixFileSize const size = matrix_file_size(path);
    EXPECT_EQ(size.rows, 2);
    EXPECT_EQ(size.cols, 3);
    EXPECT_EQ(size.entries, 3);
    EXPECT_FALSE(size.holds_rhs);
  }
  Writer const w;
  EXPECT_EQ(parse_matrix(w.header() + compressed(w.sparse("A"))), expected);
  // Logical values, and room for more entries than there are.
  std::string const logical = w.variable(
      5, {2, 3}, "A",
      w.integers({0, 1, 1, 0}) + w.integers({0, 2, 3, 3}) + w.element(2, {1, 1, 1, 0, 0}), 0x200);
  EXPECT_EQ(parse_matrix(w.header() + logical).values, (Values{1, 1, 1}));
}

TEST(Matlab, TheVariableIsFoundByItsNameOrAlone) {
  Writer const w;
  std::string const b = w.full("b", {2, 1}, {5, 6}), rows = w.full("x0", {1, 3}, {7, 8, 9}),
                    text = w.variable(4, {1, 2}, "note", w.element(4, "a b ")),
                    file = w.header() + text + b + compressed(w.sparse("K")) + rows;
  EXPECT_EQ(parse_matrix(file), expected);
  EXPECT_EQ(parse_vector_file(file, "b"), (Values{5, 6}));
  EXPECT_EQ(parse_vector_file(file, "x0"), (Values{7, 8, 9})) << "a row is a column";
  TemporaryFolder const folder;
  EXPECT_TRUE(matrix_file_size(write_text(folder / "a.mat", file)).holds_rhs);
  std::string const none = fault([&] { parse_vector_file(file, "x", "file"); });
  EXPECT_TRUE(has(none, "a vector called x is asked for; there is note")) << none;
  EXPECT_TRUE(has(none, "K (2 x 3, sparse)")) << none;
  EXPECT_EQ(parse_columns_file(w.header() + w.full("modes", {2, 2}, {1, 2, 3, 4}), "z").cols, 2);
  std::string const two = w.header() + w.sparse("K") + w.sparse("M");
  EXPECT_TRUE(has(matrix_fault(two), "which of them is the matrix? K (2 x 3, sparse), M"));
  EXPECT_EQ(parse_matrix(two + w.sparse("A")), expected);
  EXPECT_TRUE(has(matrix_fault(w.header() + w.full("A", {2, 2}, {1, 2, 3, 4})),
                  "no sparse matrix is in it, but A (2 x 2, full)"));
  // As the SuiteSparse collection has it.
  std::string const fields =
      w.small(5, w.number(5, 4)) + w.element(1, std::string("name\0A\0\0\0\0b\0\0\0\0", 15)) +
      w.variable(4, {1, 2}, "", w.element(4, "a b ")) + w.sparse("") + w.full("", {2, 1}, {5, 6});
  std::string const problem = w.header() + compressed(w.variable(2, {1, 1}, "Problem", fields));
  EXPECT_EQ(parse_matrix(problem), expected);
  EXPECT_EQ(parse_vector_file(problem, "b"), (Values{5, 6}));
}

TEST(Matlab, WhatIsNotReadIsNamed) {
  Writer const w;
  std::string const complex =
      w.variable(5, {1, 1}, "A",
                 w.integers({0}) + w.integers({0, 1}) + w.doubles({1}) + w.doubles({2}), 0x800);
  EXPECT_TRUE(has(matrix_fault(w.header() + complex), "A is complex; tcsolve solves real systems"));
  auto const of = [&](std::string const& data, std::vector<int> const& extents = {2, 3}) {
    return matrix_fault(w.header() + w.variable(5, extents, "A", data));
  };
  std::string const ir = w.integers({0, 1, 1}), jc = w.integers({0, 2, 3, 3}),
                    pr = w.doubles({4, 1, 3});
  EXPECT_EQ(of(ir + jc + pr), "nothing");
  EXPECT_TRUE(has(of(w.integers({0, 2, 1}) + jc + pr), "row index[1] = 2 is outside 0 .. 1"));
  EXPECT_TRUE(has(of(ir + w.integers({0, 2, 4, 3}) + pr), "column start[2] = 4 is outside 0 .. 3"));
  EXPECT_TRUE(has(of(ir + w.integers({0, 3, 2, 3}) + pr), "outside"));
  EXPECT_TRUE(has(of(ir + w.integers({0, 3, 3}) + pr), "3 column starts; 3 columns have 4"));
  EXPECT_TRUE(has(of(ir + jc + w.doubles({4, 1})), "2 values; the columns have 3"));
  EXPECT_TRUE(has(of(ir + jc), "value is missing"));
  EXPECT_TRUE(has(of(w.doubles({0, 1, 1}) + jc + pr), "row index are no integers"));
  EXPECT_TRUE(has(of(ir + w.integers({0}) + pr, {2, 2147483646}), "2147483646 columns have"));
  EXPECT_NE(of(ir + jc + pr, {-2, 3}), "nothing");
  // Elements that are longer than what they are in.
  std::string lies = w.header() + w.sparse("A");
  lies[128 + 4] = '\xff';
  EXPECT_NE(matrix_fault(lies), "nothing");
  lies = w.header() + w.number(14, 4) + w.number(0xfffffff0, 4);
  EXPECT_TRUE(has(matrix_fault(lies), "4294967280 numbers of 1 bytes; the file can hold"));
  lies = w.header() + w.number(99, 4) + w.number(0, 4);
  EXPECT_TRUE(has(matrix_fault(lies), "an element of the type 99 is no variable"));
  lies = w.header() + w.element(15, "no zlib data");
  EXPECT_TRUE(has(matrix_fault(lies), "corrupt zlib data"));
}

TEST(Matlab, FilesThatAreCutOrChanged) {
  Writer const w;
  for (std::string const& whole : {w.header() + w.full("b", {2, 1}, {5, 6}) + w.sparse("A"),
                                   w.header() + compressed(w.sparse("A"))}) {
    for (std::size_t n = 0; n < whole.size(); ++n)
      EXPECT_NE(matrix_fault(whole.substr(0, n)), "nothing") << n << " of " << whole.size();
    std::string bytes = whole;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (int const bit : {0, 3, 7}) {
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
        try {
          Csr<double> const a = parse_matrix(bytes, "file", {.memory_limit = 64 << 20});
          EXPECT_NO_THROW(validate(a.view())) << i;
        } catch (Error const&) {}
        try {
          parse_columns_file(bytes, "b", "file", {.memory_limit = 64 << 20});
        } catch (Error const&) {}
        bytes[i] = whole[i];
      }
  }
}

TEST(Matlab, SharedCase) {
  auto const folder = shared_case("16-pydatasparse-959-scipy-25305-npz");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  EXPECT_EQ(read_matrix(folder / "A.mat"), read_matrix(folder / "csr_array.npz"));
}

}  // namespace
}  // namespace tcsolve::test
