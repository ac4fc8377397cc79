// SPDX-License-Identifier: Apache-2.0
/// Harwell- and Rutherford-Boeing files: as programs write them, cut, changed, and lying.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/fortran_format.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

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

std::string const title(72, 't');

/// A file of this type and these formats.
std::string file_of(std::string const& type, std::string const& sizes, std::string const& formats,
                    std::string const& data, std::string const& counts = "9 1 1 1") {
  return title + "KEY     \n" + counts + "\n" + type + "           " + sizes + "\n" + formats +
         "\n" + data;
}

/// (4 0 1; 0 3 0; -1 0 12), by columns.
std::string const data = "   1   3   4   6\n   1   3   2   1   3\n";
std::string const general =
    file_of("RUA", "3 3 5 0", "(20I4) (20I4) (3E12.4)",
            data + "  4.0000E+00 -1.0000E+00  3.0000E+00\n  1.0000E+00  1.2000D+01\n");
Csr<double> const expected{.rows = 3,
                           .cols = 3,
                           .offsets = {0, 2, 3, 5},
                           .columns = {0, 2, 1, 0, 2},
                           .values = {4, 1, 3, -1, 12}};

TEST(HarwellBoeing, GeneralMatrices) {
  EXPECT_EQ(parse_matrix(general), expected);
  TemporaryFolder const folder;
  auto const path = write_text(folder / "A.rua", general);
  EXPECT_EQ(file_type(path), FileType::harwell_boeing);
  EXPECT_EQ(read_matrix(path), expected);
  MatrixFileSize const size = matrix_file_size(path);
  EXPECT_EQ(size.rows, 3);
  EXPECT_EQ(size.stored, 5);
  // Fields that touch, as (1P,...) leaves them, in lower case and with right-hand sides behind.
  EXPECT_EQ(parse_matrix(file_of("rua", "3 3 5 0", "(4I1) (5I1) (1P,3E7.1) (1P,3E7.1)",
                                 "F             1 0\n1346\n13213\n"
                                 "4.0E+00-1.E+003.0E+00\n1.0E+001.2E+01\n1.0E+001.0E+001.0E+00\n",
                                 "9 1 1 2 1")),
            expected);
  EXPECT_EQ(
      parse_matrix(file_of("IUA", "3 3 5", "(4I4) (5I4) (5I4)", data + "   4  -1   3   1  12\n"))
          .rows,
      3);
}

TEST(HarwellBoeing, PatternsAndOtherTriangles) {
  Csr<double> const pattern = parse_matrix(file_of("PUA", "3 3 5", "(20I4) (20I4)", data));
  EXPECT_EQ(pattern.columns, expected.columns);
  EXPECT_EQ(pattern.values, (std::vector<double>(5, 1.0)));
  std::string const lower = "  1 3 4\n 1 2 2\n";
  Csr<double> const s =
      parse_matrix(file_of("RSA", "2 2 3", "(3I2) (3I2) (3F5.1)", lower + "  4.0 -1.0  3.0\n"));
  EXPECT_EQ(s.values, (std::vector<double>{4, -1, -1, 3}));
  Csr<double> const z =
      parse_matrix(file_of("RZA", "2 2 1", "(3I2) (3I2) (3F5.1)", " 1 2 2\n 2\n -1.5\n"));
  EXPECT_EQ(z.offsets, (std::vector<Offset>{0, 1, 2}));
  EXPECT_EQ(z.values, (std::vector<double>{1.5, -1.5}));
  Csr<double> const wide = parse_matrix(file_of("RRA", "2 3 3", "(4I4) (3I4) (3F6.2)",
                                                "   1   2   3   4\n   2   1   2\n1.0 2.0 3.0\n"));
  EXPECT_EQ(wide.rows, 2);
  EXPECT_EQ(wide.cols, 3);
  EXPECT_EQ(wide.values, (std::vector<double>{2, 1, 3}));
  EXPECT_EQ(wide.columns, (std::vector<Index>{1, 0, 2}));
}

TEST(HarwellBoeing, WhatIsNotReadIsNamed) {
  auto const of = [](std::string const& type, std::string const& values,
                     std::string const& format = "(3F9.1)") {
    return matrix_fault(
        file_of(type, "2 2 3", "(3I2) (3I2) " + format, " 1 3 4\n 1 2 2\n" + values));
  };
  std::string const good = " 4.0 -1.0 3.0\n";
  EXPECT_EQ(of("RUA", good), "nothing");
  EXPECT_TRUE(has(of("CUA", good), "file:3: the matrix is complex (CUA); tcsolve solves real"));
  EXPECT_TRUE(has(of("RHA", good), "complex (RHA)"));
  EXPECT_TRUE(has(of("RSE", good), "stored by elements (RSE); assemble it first"));
  EXPECT_TRUE(has(of("PZA", good), "a pattern can't be skew-symmetric"));
  EXPECT_TRUE(has(of("RZA", good), "diagonal entry; the matrix is skew-symmetric"));
  EXPECT_TRUE(has(of("RUA", " 4.0 nan 3.0\n"), "'nan' among the values is not finite"));
  EXPECT_TRUE(has(of("RUA", " 4.0 1e999 3.0\n"), "beyond the range of double"));
  EXPECT_TRUE(has(of("RUA", " 4.0 x 3.0\n"), "file:7: 'x' among the values is not a number"));
  EXPECT_TRUE(has(of("RUA", " 4 -1.0 3.0\n"), "'4' among the values has no decimal point"));
  EXPECT_TRUE(has(of("RUA", " 4.0 -1.0 3.0\n", "(1P,3F9.1)"), "has no exponent: Fortran would"));
  EXPECT_TRUE(has(of("RUA", good, "(3A9)"), "the format '(3A9)' of the values is not known"));
  EXPECT_TRUE(has(of("RUA", " 4.0 -1.0\n"), "file:7: the line has 1 of 3 values") ||
              has(of("RUA", " 4.0 -1.0\n"), "is not a number"));
  EXPECT_TRUE(has(of("RUA", ""), "the file ends before 3 more of the values"));
  // Both triangles of a symmetric matrix.
  EXPECT_TRUE(
      has(matrix_fault(file_of("RSA", "2 2 2", "(3I2) (3I2) (3F9.1)", " 1 2 3\n 2 1\n 1.0 2.0\n")),
          "stores both triangles"));
}

TEST(HarwellBoeing, FilesThatLie) {
  auto const of = [](std::string const& sizes, std::string const& numbers) {
    return matrix_fault(file_of("PUA", sizes, "(20I4) (20I4)", numbers));
  };
  EXPECT_TRUE(has(of("3 3 1000000000", data), "1000000000 entries are more than a file of this"));
  EXPECT_TRUE(has(of("3 1000000000 5", data), "1000000001 pointers are more than a file of this"));
  EXPECT_TRUE(has(of("3 99999999999999999999 5", data), "columns"));
  EXPECT_TRUE(has(of("2147483647 3 5", data), "needs about"));  // 16 GiB of row starts
  EXPECT_TRUE(has(of("3 3 5", "   1   3   2   6\n   1   3   2   1   3\n"),
                  "file:5: '2' among the pointers is outside 3 .. 6"));
  EXPECT_TRUE(has(of("3 3 5", "   2   3   4   6\n   1   3   2   1   3\n"), "outside 1 .. 1"));
  EXPECT_TRUE(has(of("3 3 5", "   1   3   4   5\n   1   3   2   1   3\n"),
                  "the last pointer is 5; there are 5 entries"));
  EXPECT_TRUE(has(of("3 3 5", "   1   3   4   6\n   1   4   2   1   3\n"),
                  "'4' among the row indices is outside 1 .. 3"));
  EXPECT_TRUE(has(of("3 3 5", "   1   3   4   6\n   1   0   2   1   3\n"), "outside 1 .. 3"));
  EXPECT_TRUE(
      has(of("3 3 5", "   1   3   4   6\n   1  -1   2   1   3\n"), "not a positive integer"));
}

TEST(HarwellBoeing, FilesThatAreCutOrChanged) {
  for (std::size_t n = 0; n < general.size() - 1; ++n) {
    try {
      Csr<double> const a = parse_matrix(general.substr(0, n), "file", {.memory_limit = 1 << 26});
      EXPECT_GE(n + 12, general.size()) << "only the last number may be shorter";
    } catch (Error const&) {}
  }
  std::string bytes = general;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int const bit : {0, 1, 3, 6}) {
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      try {
        Csr<double> const a = parse_matrix(bytes, "file", {.memory_limit = 64 << 20});
        EXPECT_NO_THROW(validate(a.view())) << i;
      } catch (Error const&) {}
      bytes[i] = general[i];
    }
}

TEST(HarwellBoeing, Formats) {
  struct {
    char const* text;
    int per_line, width, decimals, scale;
    char letter;
  } const known[] = {{"(16I5)", 16, 5, 0, 0, 'I'},        {"(5E16.8)", 5, 16, 8, 0, 'E'},
                     {"(1P,4D20.12)", 4, 20, 12, 1, 'D'}, {"(1P4E20.12)", 4, 20, 12, 1, 'E'},
                     {"(3(E25.16))", 3, 25, 16, 0, 'E'},  {" ( 8f10.3 ) ", 8, 10, 3, 0, 'F'},
                     {"(E26.18E3)", 1, 26, 18, 0, 'E'},   {"(4G20.12)", 4, 20, 12, 0, 'G'}};
  for (auto const& k : known) {
    auto const f = FortranFormat::parse(k.text);
    ASSERT_TRUE(f) << k.text;
    EXPECT_EQ(f->per_line, k.per_line) << k.text;
    EXPECT_EQ(f->width, k.width) << k.text;
    EXPECT_EQ(f->decimals, k.decimals) << k.text;
    EXPECT_EQ(f->scale, k.scale) << k.text;
    EXPECT_EQ(f->letter, k.letter) << k.text;
  }
  for (char const* text : {"", "(", "()", "16I5", "(16I)", "(I0)", "(0I5)", "(3E)", "(2I5,3I6)",
                           "(3(2E9.1))", "(A8)", "(P5E9.1)", "(3E9.)", "(99999I5)", "(3(E9.1)"})
    EXPECT_FALSE(FortranFormat::parse(text)) << text;
}

TEST(HarwellBoeing, SharedCases) {
  auto const folder = shared_case("05-matrixmarketjl-4-harwell-boeing");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  Csr<double> const a = read_matrix(folder / "A.rb"), b = read_matrix(folder / "A.rua");
  EXPECT_EQ(a.rows, 4);
  EXPECT_EQ(a.entries(), 10);
  EXPECT_EQ(b.rows, 8);
  for (Csr<double> const* m : {&a, &b})  // tridiag(-1, 2, -1)
    for (Index i = 0; i < m->rows; ++i)
      for (std::size_t k = 0; k < m->row_columns(i).size(); ++k)
        EXPECT_EQ(m->row_values(i)[k], m->row_columns(i)[k] == i ? 2 : -1);
}

}  // namespace
}  // namespace tcsolve::test
