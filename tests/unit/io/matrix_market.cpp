// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/hash.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tcsolve {
namespace {

std::string const real_general = "%%MatrixMarket matrix coordinate real general\n";
std::string const real_symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
std::string const real_array = "%%MatrixMarket matrix array real general\n";

/// A small matrix written row by row; 0 is an absent entry.
Csr<double> from_rows(std::vector<std::vector<double>> const& rows, Index cols) {
  Csr<double> a;
  a.rows = static_cast<Index>(rows.size());
  a.cols = cols;
  for (auto const& row : rows) {
    for (Index j = 0; j < cols; ++j)
      if (row[j] != 0) {
        a.columns.push_back(j);
        a.values.push_back(row[j]);
      }
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// What is thrown by reading `text`, as "Type: message".
template <class Read>
std::string thrown(Read const& read) {
  try {
    read();
  } catch (SizeError const& e) {
    return cat("SizeError: ", e.what());
  } catch (MatrixError const& e) {
    return cat("MatrixError: ", e.what());
  } catch (MemoryError const& e) { return cat("MemoryError: ", e.what()); } catch (Error const& e) {
    return cat("Error: ", e.what());
  }
  return "nothing";
}
std::string fault(std::string const& text, ReadOptions const& options = {}) {
  return thrown([&] { parse_matrix_market(text, "m.mtx", options); });
}

TEST(MatrixMarket, CoordinateRealGeneral) {
  auto const a = parse_matrix_market(real_general + "2 3 4\n1 1 1.5\n2 3 -2e1\n1 3 .25\n2 1 +4.\n");
  EXPECT_EQ(a, from_rows({{1.5, 0, .25}, {4, 0, -20}}, 3));
}

TEST(MatrixMarket, BannerInAnyCaseCommentsBlankLinesAndCarriageReturns) {
  auto const a = parse_matrix_market(
      "%%MATRIXMARKET Matrix COORDINATE Real\tGeneral\r\n% a comment\r\n\r\n%\r\n  2 2 2 \r\n"
      "\r\n 1\t1  3 \r\n% between\r\n2 2 4");  // no '\n' at the end
  EXPECT_EQ(a, from_rows({{3, 0}, {0, 4}}, 2));
}

TEST(MatrixMarket, IntegerAndPattern) {
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix coordinate integer general\n2 2 2\n"
                                "1 2 -7\n2 1 9007199254740993\n"),
            from_rows({{0, -7}, {9007199254740992.0, 0}}, 2));
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n"
                                "1 2\n2 1 \n"),
            from_rows({{0, 1}, {1, 0}}, 2));
}

TEST(MatrixMarket, SymmetricIsExpandedFromEitherTriangle) {
  auto const expected = from_rows({{1, 2, 0}, {2, 0, 3}, {0, 3, 4}}, 3);
  EXPECT_EQ(parse_matrix_market(real_symmetric + "3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n"), expected);
  EXPECT_EQ(parse_matrix_market(real_symmetric + "3 3 4\n1 1 1\n1 2 2\n2 3 3\n3 3 4\n"), expected);
  EXPECT_EQ(parse_matrix_market(real_symmetric + "3 3 4\n1 1 1\n1 2 2\n3 2 3\n3 3 4\n"), expected);
}

TEST(MatrixMarket, SkewSymmetricChangesSign) {
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix coordinate real skew-symmetric\n"
                                "2 2 1\n2 1 5\n"),
            from_rows({{0, -5}, {5, 0}}, 2));
}

TEST(MatrixMarket, ArraysRunDownTheColumns) {
  EXPECT_EQ(parse_matrix_market(real_array + "2 3\n1\n2\n3\n4\n5\n6\n"),
            from_rows({{1, 3, 5}, {2, 4, 6}}, 3));
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix array integer symmetric\n3 3\n"
                                "1\n2\n3\n4\n5\n6\n"),
            from_rows({{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}, 3));
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
            from_rows({{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}, 3));
}

TEST(MatrixMarket, EmptyMatrices) {
  auto const a = parse_matrix_market(real_general + "0 0 0\n");
  EXPECT_EQ(a.rows, 0);
  EXPECT_EQ(a.offsets, std::vector<Offset>{0});
  auto const b = parse_matrix_market(real_general + "3 2 0\n");
  EXPECT_EQ(b.offsets, (std::vector<Offset>{0, 0, 0, 0}));
  EXPECT_EQ(parse_matrix_market(real_array + "0 3\n").cols, 3);
}

TEST(MatrixMarket, ExplicitZerosAreKept) {
  EXPECT_EQ(parse_matrix_market(real_general + "1 2 2\n1 1 0\n1 2 -0.0\n").entries(), 2);
  EXPECT_EQ(parse_matrix_market(real_array + "2 1\n0\n1\n").entries(), 2);
}

TEST(MatrixMarket, DuplicatesAreSummedInFileOrderOrRefused) {
  std::string const text =
      real_general + "3 3 6\n3 3 8\n2 1 1e16\n1 1 1\n2 1 1\n% comment\n2 1 -1e16\n2 2 7\n";
  auto const a = parse_matrix_market(text);
  EXPECT_EQ(a.offsets, (std::vector<Offset>{0, 1, 3, 4}));
  EXPECT_EQ(a.columns, (std::vector<Index>{0, 0, 1, 2}));
  EXPECT_EQ(a.values, (std::vector<double>{1, (1e16 + 1) - 1e16, 7, 8}));
  EXPECT_EQ(fault(text, {.duplicates = Duplicates::refuse}),
            "MatrixError: m.mtx:6: entry (2, 1) is there more than once");
}

TEST(MatrixMarket, DuplicatesOfSymmetricFilesStaySymmetric) {
  auto const a = parse_matrix_market(real_symmetric + "2 2 3\n2 1 .1\n2 1 .2\n2 1 .3\n");
  ASSERT_EQ(a.entries(), 2);
  EXPECT_EQ(a.values[0], .1 + .2 + .3);
  EXPECT_EQ(a.values[0], a.values[1]);
}

TEST(MatrixMarket, NonFiniteValuesAreRefusedOrKept) {
  for (std::string const value : {"nan", "NaN", "-inf", "Infinity", "+INF"}) {
    auto const text = real_general + "1 2 2\n1 1 1\n1 2 " + value + "\n";
    EXPECT_EQ(fault(text),
              "MatrixError: m.mtx:4: the value in '1 2 " + value + "' is not finite (NaN or Inf)");
    EXPECT_FALSE(std::isfinite(
        parse_matrix_market(text, "m", {.nonfinite = NonFinite::keep}).values.back()));
  }
  EXPECT_EQ(
      fault(real_general + "1 1 2\n1 1 1e308\n1 1 1e308\n"),
      "MatrixError: m.mtx: the duplicate entries of row 1 have a sum beyond the range of double");
}

struct Malformed {
  std::string text, expected;
};

TEST(MatrixMarket, MalformedFilesAreRefusedWithTheLine) {
  std::string const g = real_general, s = real_symmetric;
  auto const banner = [](std::string const& rest) {
    return "%%MatrixMarket " + rest + "\n1 1 0\n";
  };
  Malformed const cases[] = {
      // banner
      {"", "1: the file is empty"},
      {"hello\n", "1: not a Matrix Market file: it starts with 'hello' instead"},
      {std::string("\x7f"
                   "ELF\0\1\2",
                   7),
       "1: not a Matrix Market file: it starts with '?ELF?"},
      {banner("matrix coordinate real"),
       "1: the banner '%%MatrixMarket matrix coordinate real' is"},
      {banner("matrix coordinate real general x"), "1: the banner"},
      {banner("vector coordinate real general"), "1: the file holds a 'vector'"},
      {banner("matrix sparse real general"),
       "1: unknown layout 'sparse'; known: coordinate, array"},
      {banner("matrix coordinate float general"), "1: unknown field 'float'"},
      {banner("matrix coordinate real lower"), "1: unknown symmetry 'lower'"},
      {banner("matrix coordinate complex general"),
       "1: the matrix is complex; tcsolve solves real systems; write the real form [Re -Im; Im "
       "Re]"},
      {banner("matrix coordinate complex Hermitian"), "1: the matrix is complex; "},
      {banner("matrix coordinate real hermitian"),
       "1: 'real hermitian': only complex matrices are hermitian; write symmetric"},
      {"\xef\xbb\xbf" + banner("matrix coordinate real general"),
       "1: a byte order mark (EF BB BF) stands before the banner"},
      {" " + banner("matrix coordinate real general"), "1: a blank stands before the banner"},
      {banner("matrix coordinate real general").substr(1),
       "1: a '%' is missing before '%MatrixMarket"},
      {banner("matrix coordinate real general").substr(2),
       "1: '%%' are missing before 'MatrixMarket"},
      {banner("matrix array pattern general"), "1: an array can't be a pattern"},
      {banner("matrix coordinate pattern skew-symmetric"), "1: a pattern can't be skew-symmetric"},
      // size line
      {g, "2: the file ends before its size line"},
      {g + "% only\n% comments\n", "4: the file ends before its size line"},
      {g + "% c\n1 1\n", "3: the size line '1 1' is not 'ROWS COLUMNS ENTRIES'"},
      {g + "1 1 1 1\n", "2: the size line '1 1 1 1' is not"},
      {g + "-1 1 1\n", "2: the size line '-1 1 1' is not"},
      {g + "1.0 1 1\n", "2: the size line '1.0 1 1' is not"},
      {g + "x y z\n", "2: the size line 'x y z' is not"},
      {s + "2 3 0\n", "2: the matrix is declared symmetric or skew-symmetric but has 2 rows and 3"},
      {g + "0 5 1\n1 1 1\n", "2: 1 entries in a matrix of 0 x 5"},
      {g + "9 9 10000000000\n1 1 1\n", "2: the size line promises 10000000000 entries, more than"},
      {g + "9 9 99999999999999999999\n", "2: the entries in '9 9 99999999999999999999' are more"},
      {real_array + "2147483647 2147483647\n1\n", "2: the size line promises 4611686014132420609"},
      // counts
      {g + "2 2 3\n1 1 1.00000\n2 2 2.0000000\n", "5: the file ends after 2 of 3 entries"},
      {g + "2 2 1\n1 1 1\n\n% c\n2 2 2\n1 2 3\n", "6: more entries than the 1 of the size line"},
      {g + "2 2 0\n1 1 1\n", "3: more entries than the 0 of the size line"},
      {real_array + "2 1\n1\n2\n3\n", "5: more entries than the 2 of the size line"},
      // indices
      {g + "2 2 1\n0 1 1\n", "3: the row in '0 1 1' is outside 1 .. 2"},
      {g + "2 2 1\n3 1 1\n", "3: the row in '3 1 1' is outside 1 .. 2"},
      {g + "2 2 1\n1 0 1\n", "3: the column in '1 0 1' is outside 1 .. 2"},
      {g + "2 2 1\n1 3 1\n", "3: the column in '1 3 1' is outside 1 .. 2"},
      {g + "2 2 1\n1 99999999999999999999999 1\n", "3: the column in '1 999999"},
      {g + "2 2 1\n-1 1 1\n", "3: the row in '-1 1 1' is not a positive integer"},
      {g + "2 2 1\n1.5 1 1\n", "3: the row in '1.5 1 1' is not a positive integer"},
      {g + "2 2 1\n1 b 1\n", "3: the column in '1 b 1' is not a positive integer"},
      {g + "2 2 1\n1      \n", "3: no column in '1      '"},
      // values
      {g + "2 2 1\n1 1    \n", "3: no value in '1 1    '"},
      {g + "2 2 1\n1 1 x\n", "3: the value in '1 1 x' is not a number"},
      {g + "2 2 1\n1 1 1.5.2\n", "3: the value in '1 1 1.5.2' is not a number"},
      {g + "2 2 1\n1 1 1e\n", "3: the value in '1 1 1e' is not a number"},
      {g + "2 2 1\n1 1 +-1\n", "3: the value in '1 1 +-1' is not a number"},
      {g + "2 2 1\n1 1 0x10\n", "3: the value in '1 1 0x10' is not a number"},
      {g + "2 2 1\n1 1 1,5\n", "3: '1 1 1,5' has a ',': numbers are written with a point"},
      {g + "2 2 1\n1 1 1e999\n", "3: the value in '1 1 1e999' is beyond the range of double"},
      {g + "2 2 1\n1 1 1.0 7\n",
       "3: '1 1 1.0 7' goes on behind its entry, a row, a column and a value"},
      {g + "2 2 1\n1 1 1 % comment\n", "3: '1 1 1 % comment' goes on"},
      {banner("matrix coordinate integer general") + "", ""},
      {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
       "3: the value in '1 1 1.5' is not an integer"},
      {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1.5\n",
       "3: '1 1 1.5' goes on behind its entry, a row and a column"},
      {g + "2 2 2\n1 1 1\n" + std::string("2\0 2 1\n", 7), "4: the row in '2? 2 1' is not"},
      // symmetry
      {s + "3 3 3\n2 1 1\n3 1 1\n1 2 1\n",
       "5: entry (1, 2) is there more than once: the symmetric file stores both triangles"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 1\n",
       "4: '2 2 1' is a diagonal entry of a skew-symmetric matrix"},
  };
  for (auto const& [text, expected] : cases) {
    SCOPED_TRACE(text);
    std::string const what = fault(text);
    if (expected.empty())
      EXPECT_EQ(what, "nothing");
    else
      EXPECT_EQ(what.substr(0, 19 + expected.size()), "MatrixError: m.mtx:" + expected) << what;
  }
}

TEST(MatrixMarket, DimensionsBeyondAnIndexAreSizeErrors) {
  EXPECT_EQ(
      fault(real_general + "2147483648 1 0\n"),
      "SizeError: m.mtx:2: rows in '2147483648 1 0' do not fit a 32-bit index (0 .. 2147483647)");
  EXPECT_EQ(fault(real_general + "1 99999999999999999999 0\n").substr(0, 27),
            "SizeError: m.mtx:2: columns");
}

TEST(MatrixMarket, WhatDoesNotFitIntoMemoryIsRefusedBefore) {
  auto const what = fault(real_general + "2147483647 1 1\n1 1 1\n", {.memory_limit = 1 << 30});
  EXPECT_EQ(what.substr(0, 64), "MemoryError: m.mtx: a matrix of 2147483647 x 1 with up to 1 entr")
      << what;
  EXPECT_NE(what.find("needs about 16 GiB; 1 GiB may be used"), std::string::npos) << what;
}

TEST(MatrixMarket, TheFirstOfSeveralFaultsIsNamed) {
  EXPECT_EQ(fault(real_general + "9 9 2\n1 1 1\n2 2 2\n3 3 3\nx\n"),
            "MatrixError: m.mtx:5: more entries than the 2 of the size line");
  EXPECT_EQ(fault(real_general + "9 9 2\n1 1 1\nx\n3 3 3\n4 4 4\n").substr(0, 20),
            "MatrixError: m.mtx:4");
}

/// A text of several blocks, with comments, blank lines, duplicates and unsorted rows.
std::string big_text(Index rows, int entries) {
  std::string text = real_general + cat(rows, " ", rows, " ", entries, "\n");
  for (int k = 0; k < entries; ++k) {
    auto const key = static_cast<std::uint64_t>(k);
    if (k % 1000 == 0) text += "% comment\n\n";
    text += cat(1 + mix(key) % rows, " ", 1 + mix(key + 1) % rows, " ", uniform(key) - 0.5, "\n");
  }
  return text;
}

TEST(MatrixMarket, EveryNumberOfThreadsGivesTheSameBits) {
  for (Index const rows : {7, 5000}) {
    std::string const text = big_text(rows, 200'000);
    ReadStats stats;
    auto const serial = parse_matrix_market(text, "m", {.threads = 1, .stats = &stats});
    EXPECT_EQ(stats.stored, 200'000);
    EXPECT_EQ(stats.lines, 200'402);
    EXPECT_EQ(stats.text_bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_NO_THROW(validate(serial.view()));
    for (int const threads : {2, 3, 8, 40})
      EXPECT_EQ(parse_matrix_market(text, "m", {.threads = threads}), serial) << threads;
  }
}

TEST(MatrixMarket, FaultsFarInsideHaveTheRightLine) {
  std::string text = big_text(5000, 200'000);
  text.replace(text.size() - 1, 1, "x\n");
  for (int const threads : {1, 2, 8})
    EXPECT_EQ(fault(text, {.threads = threads}).substr(0, 26), "MatrixError: m.mtx:200402:");
}

TEST(MatrixMarket, CommentsLongerThanABlock) {
  std::string text = real_general;
  for (int i = 0; i < 400'000; ++i) text += "% nothing\n";
  EXPECT_EQ(fault(text + "1 1 1\n2 2 2\n", {.threads = 1}).substr(0, 26),
            "MatrixError: m.mtx:400003:");
  EXPECT_EQ(parse_matrix_market(text + "1 1 1\n1 1 2\n", "m", {.threads = 1}).entries(), 1);
}

TEST(MatrixMarket, ALineThatNeverEndsIsRefused) {
  EXPECT_EQ(fault(real_general + "1 1 1\n" + std::string(5 << 20, ' '), {.threads = 1}),
            "MatrixError: m.mtx:3: line longer than 2097152 bytes: this is no text file");
}

TEST(Vector, MatrixMarketOrPlainNumbers) {
  std::vector<double> const expected = {1, -2.5, 0, 4e5};
  EXPECT_EQ(parse_vector(real_array + "4 1\n1\n-2.5\n0\n4e5\n"), expected);
  EXPECT_EQ(parse_vector(real_general + "4 1 3\n4 1 4e5\n1 1 1\n2 1 -2.5\n"), expected);
  EXPECT_EQ(parse_vector("1\n -2.5\r\n\n% comment\n0\n4e5"), expected);
}

TEST(Vector, FaultsNameTheLine) {
  auto const what = [](std::string const& text) {
    return thrown([&] { parse_vector(text, "b.txt"); });
  };
  EXPECT_EQ(what(real_array + "2 2\n1\n2\n3\n4\n"),
            "MatrixError: b.txt: 2 x 2 numbers; a vector has one column");
  EXPECT_EQ(what("1\n2\nthree\n"), "MatrixError: b.txt:3: the value in 'three' is not a number");
  EXPECT_EQ(what("1\n2 3\n"), "MatrixError: b.txt:2: '2 3' goes on behind its entry, one number");
  EXPECT_EQ(what("1\nnan\n"),
            "MatrixError: b.txt:2: the value in 'nan' is not finite (NaN or Inf)");
  EXPECT_EQ(what(""), "MatrixError: b.txt:1: the file is empty");
}

}  // namespace
}  // namespace tcsolve
