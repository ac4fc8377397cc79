// SPDX-License-Identifier: Apache-2.0
/// Columns of every type of file that holds some: n x k in, column after column.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/numpy.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

using namespace std::string_literals;
using Values = std::vector<double>;

template <class F>
std::string fault(F const& f) {
  try {
    f();
  } catch (Error const& e) { return e.what(); }
  return "nothing";
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}
std::string columns_fault(std::string const& bytes, std::string const& role = "b") {
  return fault([&] { parse_columns_file(bytes, role, "file"); });
}

void expect_columns(std::string const& bytes, Index rows, Index cols, Values const& values,
                    std::string const& role = "b") {
  Columns const x = parse_columns_file(bytes, role, "file");
  EXPECT_EQ(x.rows, rows);
  EXPECT_EQ(x.cols, cols);
  EXPECT_EQ(x.values, values);
  TemporaryFolder const folder;
  ColumnsSize const size = columns_file_size(write_text(folder / "x", bytes), role);
  EXPECT_EQ(size.cols, cols);
  if (size.rows) EXPECT_EQ(*size.rows, rows);
}

std::string npy(std::string const& shape, bool fortran, Values const& values) {
  std::string const header = "{'descr': '<f8', 'fortran_order': "s + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }\n";
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size()) + '\0' + header +
         std::string(reinterpret_cast<char const*>(values.data()), 8 * values.size());
}

TEST(ColumnsOnFile, PlainText) {
  expect_columns("1\n2\n3\n", 3, 1, {1, 2, 3});
  expect_columns("% of numpy.savetxt\n\n1.0 4\n2.0\t5\n 3.0  6 \n", 3, 2, {1, 2, 3, 4, 5, 6});
  expect_columns("1 2 3", 1, 3, {1, 2, 3});
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += std::to_string(i) + " -" + std::to_string(i) + "\n";
  Columns const x = parse_columns_file(many, "b");
  ASSERT_EQ(x.values.size(), 200'000u);
  for (std::size_t i : {0u, 1u, 77'777u, 99'999u}) {
    EXPECT_EQ(x.values[i], double(i));
    EXPECT_EQ(x.values[100'000 + i], -double(i));
  }
  EXPECT_EQ(columns_fault("1 2\n3\n"), "file:2: '3' has 1 number; the first line has 2");
  EXPECT_EQ(columns_fault("1 2\n\n3 4 5\n"), "file:3: '3 4 5' has 3 numbers; the first line has 2");
  EXPECT_EQ(columns_fault("1 2\n3 x\n"), "file:2: the value in '3 x' is not a number");
  EXPECT_TRUE(has(columns_fault("1 2\n3 nan\n"), "file:2: the value in '3 nan' is not finite"));
  EXPECT_TRUE(has(columns_fault("1,5\n"), "file:1: '1,5' has a ',': numbers are written with a"));
  EXPECT_EQ(columns_fault("1\n2 3\n"), "file:2: '2 3' goes on behind its entry, one number");
  EXPECT_EQ(columns_fault(""), "file:1: the file is empty");
  EXPECT_TRUE(has(fault([] { parse_vector_file("1 2\n3 4\n", "b"); }), "2 x 2 numbers; a vector"));
}

/// A text is cut into pieces, which threads share, and into blocks, which follow each other. The
/// first fault is told, and its line, wherever others are.
TEST(ColumnsOnFile, PlainTextOfManyPieces) {
  constexpr std::size_t comments = 3000, rows = 40'000;  // the first are more than a block
  std::vector<std::string> lines(comments, "% " + std::string(1000, '-'));
  Values wanted(3 * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    wanted[i] = double(i), wanted[rows + i] = -double(i) / 100, wanted[2 * rows + i] = 0.5;
    lines.push_back(cat(i, " -", i, "e-2\t.5", i % 7 == 0 ? "\r\n\n" : ""));
  }
  auto const with = [&](std::size_t line, std::string const& other) {
    auto changed = lines;
    changed[line] = other;
    return changed;
  };
  auto const joined = [](std::vector<std::string> const& all) {
    std::string text;
    for (std::string const& line : all) text += line + "\n";
    return text;
  };
  // Where a line stands that follows so many rows.
  auto const number = [&](std::size_t row) { return comments + row + 2 * ((row + 6) / 7) + 1; };
  for (int const threads : {1, 3, 16}) {
    ReadOptions const options{.threads = threads};
    auto const read = [&](std::vector<std::string> const& all) {
      return parse_columns_file(joined(all), "x", "file", options);
    };
    Columns const x = read(lines);
    EXPECT_EQ(x.cols, 3);
    EXPECT_EQ(x.rows, Index{rows});
    EXPECT_EQ(x.values, wanted);
    EXPECT_EQ(read(with(comments + 39'996, "%")).rows, Index{rows - 1});
    auto two = with(comments + 39'998, "1 2");
    EXPECT_EQ(fault([&] { read(two); }),
              cat("file:", number(39'998), ": '1 2' has 2 numbers; the first line has 3"));
    two[comments + 101] = "1 x 3";
    EXPECT_EQ(fault([&] { read(two); }),
              cat("file:", number(101), ": the value in '1 x 3' is not a number"));
  }
}

TEST(ColumnsOnFile, MatrixMarket) {
  std::string const banner = "%%MatrixMarket matrix ";
  expect_columns(banner + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n", 2, 3, {1, 2, 3, 4, 5, 6});
  expect_columns(banner + "coordinate real general\n3 2 2\n2 1 5\n3 2 7\n", 3, 2,
                 {0, 5, 0, 0, 0, 7});
}

TEST(ColumnsOnFile, NumpyInEitherOrder) {
  expect_columns(npy("(3,)", false, {1, 2, 3}), 3, 1, {1, 2, 3});
  expect_columns(npy("(3, 1)", false, {1, 2, 3}), 3, 1, {1, 2, 3});
  expect_columns(npy("(2, 3)", true, {1, 2, 3, 4, 5, 6}), 2, 3, {1, 2, 3, 4, 5, 6});
  expect_columns(npy("(2, 3)", false, {1, 3, 5, 2, 4, 6}), 2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(has(columns_fault(npy("(1, 2, 1)", false, {1, 2})), "the shape (1, 2, 1); columns"));
  EXPECT_TRUE(has(columns_fault(npy("()", false, {1})), "the array has the shape ()"));
  EXPECT_TRUE(has(columns_fault(npy("(1000000000, 1000000000)", false, {1})),
                  "1000000000000000000 numbers of 8 bytes"));
  EXPECT_TRUE(has(columns_fault(npy("(2, 2)", false, {1, 2, 3})), "numbers of 8 bytes; the file") ||
              has(columns_fault(npy("(2, 2)", false, {1, 2, 3})), "truncated"));
  EXPECT_TRUE(has(columns_fault(npy("(2, 1)", false, {1, 2, 3})), "bytes follow the array"));
  TemporaryFolder const folder;
  write_numpy_vector(folder / "x.npy", Values{1, 2, 3, 4, 5, 6}, 3);
  expect_columns(read_text(folder / "x.npy"), 2, 3, {1, 2, 3, 4, 5, 6});
}

TEST(ColumnsOnFile, BytesCanBePassedOver) {
  TemporaryFolder const folder;
  std::string const text = "0123456789";
  auto const file = open_file(write_text(folder / "x", text));
  auto const memory = open_text(text);
  for (ByteSource* source : {file.get(), memory.get()}) {
    char c = 0;
    EXPECT_EQ(source->read({&c, 1}), 1u);
    EXPECT_EQ(source->skip(3), 3);
    EXPECT_EQ(source->read({&c, 1}), 1u);
    EXPECT_EQ(c, '4');
    EXPECT_EQ(source->skip(100), 5);
    EXPECT_EQ(source->read({&c, 1}), 0u);
  }
}

}  // namespace
}  // namespace tcsolve::test
