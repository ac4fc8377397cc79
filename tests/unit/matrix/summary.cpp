// SPDX-License-Identifier: Apache-2.0
/// summarize() on matrices whose facts are known.
#include <tcsolve/matrix/csr.hpp>

#include <cmath>

#include "tests/support/matrices.hpp"

#include <gtest/gtest.h>

namespace tcsolve::test {
namespace {

TEST(FormatsSummary, PictureOfTheHeader) {
  //  5 . . 2
  //  . 7 . .
  //  1 . 4 .
  CsrSummary s = summarize({3, 4, {0, 2, 3, 5}, {0, 3, 1, 0, 2}, {5, 2, 7, 1, 4}});
  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.cols, 4);
  EXPECT_EQ(s.entries, 5);
  EXPECT_EQ(s.min_row, 1);
  EXPECT_EQ(s.max_row, 2);
  EXPECT_EQ(s.empty_rows, 0);
  EXPECT_EQ(s.zero_diagonal, 0);
  EXPECT_EQ(s.negative_diagonal, 0);
  EXPECT_EQ(s.dominant_rows, 3);
  EXPECT_EQ(s.bandwidth, 3);
  EXPECT_FALSE(s.pattern_symmetric);
  EXPECT_EQ(s.norm_inf, 7);
  EXPECT_EQ(s.max_abs, 7);
  EXPECT_DOUBLE_EQ(s.norm_frobenius, std::sqrt(95.0));
  EXPECT_EQ(s.histogram, (std::vector<Offset>{0, 1, 2}));
}

TEST(FormatsSummary, SymmetryOfPatternAndValues) {
  Csr<double> a{3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {2, -1, -1, 2, -1, -1, 2}};
  CsrSummary s = summarize(a);
  EXPECT_TRUE(s.pattern_symmetric);
  EXPECT_EQ(s.asymmetry, 0);
  EXPECT_EQ(s.dominant_rows, 3);
  EXPECT_EQ(s.norm_inf, 4);
  EXPECT_EQ(s.bandwidth, 1);
  a.values[1] = -4;  // a_01 = -4, a_10 = -1: ||A - A^T||_F = sqrt(2) 3
  s = summarize(a);
  EXPECT_TRUE(s.pattern_symmetric);
  EXPECT_DOUBLE_EQ(s.asymmetry, std::sqrt(18.0) / std::sqrt(31.0));
  EXPECT_EQ(s.dominant_rows, 2);
  // An entry without a partner: the pattern is not symmetric, and it counts in the values as well.
  s = summarize({2, 2, {0, 2, 3}, {0, 1, 1}, {3, 4, 5}});
  EXPECT_FALSE(s.pattern_symmetric);
  EXPECT_DOUBLE_EQ(s.asymmetry, std::sqrt(32.0) / std::sqrt(50.0));
  // A stored zero is an entry of the pattern, and no asymmetry.
  s = summarize({2, 2, {0, 2, 3}, {0, 1, 1}, {3, 0, 5}});
  EXPECT_FALSE(s.pattern_symmetric);
  EXPECT_EQ(s.asymmetry, 0);
}

TEST(FormatsSummary, DiagonalAndEmptyRows) {
  // row 0 empty, row 1 zero diagonal, row 2 negative and weak, row 3 beyond the columns
  CsrSummary s = summarize({4, 3, {0, 0, 2, 4, 5}, {1, 2, 1, 2, 0}, {0, 1, 3, -2, 1}});
  EXPECT_EQ(s.empty_rows, 1);
  EXPECT_EQ(s.min_row, 0);
  EXPECT_EQ(s.zero_diagonal, 2);
  EXPECT_EQ(s.negative_diagonal, 1);
  EXPECT_EQ(s.dominant_rows, 0);
  EXPECT_EQ(s.histogram, (std::vector<Offset>{1, 1, 2}));
}

TEST(FormatsSummary, DominanceIsNotBlurredByTheSum) {
  // 1e20 >= 1 holds, 1 >= 1e20 does not.
  CsrSummary s = summarize({2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1e20, 1, 1e20, 1}});
  EXPECT_EQ(s.dominant_rows, 1);
  Csr<double> a{1, 4, {0, 4}, {0, 1, 2, 3}, {0.75, 0.25, 0.25, 0.25}};
  EXPECT_EQ(summarize(a).dominant_rows, 1);
  a.values = {1e-17, 1, 0, 0};
  EXPECT_EQ(summarize(a).dominant_rows, 0);
  a.values = {0.1 + 0.2, 0.1, 0.2, 0};
  EXPECT_EQ(summarize(a).dominant_rows, 1)
      << "equality counts; the sum of the others is taken without a_ii";
}

TEST(FormatsSummary, HistogramDoubles) {
  Csr<double> a;
  a.cols = 20;
  for (Index length : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17}) {
    for (Index j = 0; j < length; ++j) a.columns.push_back(j), a.values.push_back(1);
    a.offsets.push_back(a.entries());
    ++a.rows;
  }
  //                                                      0  1  2 3-4 5-8 9-16 17-32
  EXPECT_EQ(summarize(a).histogram, (std::vector<Offset>{1, 1, 1, 2, 2, 2, 1}));
}

TEST(FormatsSummary, ExtremeValuesAndNothing) {
  CsrSummary s = summarize({2, 2, {0, 1, 2}, {0, 1}, {3e200, 4e200}});
  EXPECT_DOUBLE_EQ(s.norm_frobenius, 5e200);
  EXPECT_EQ(s.asymmetry, 0);
  s = summarize({2, 2, {0, 1, 2}, {0, 1}, {3e-200, 4e-200}});
  EXPECT_DOUBLE_EQ(s.norm_frobenius, 5e-200);
  for (Csr<double> const& a :
       {Csr<double>{}, Csr<double>{0, 3, {0}, {}, {}}, Csr<double>{3, 0, {0, 0, 0, 0}, {}, {}},
        Csr<double>{2, 2, {0, 1, 2}, {0, 1}, {0, 0}}}) {
    s = summarize(a);
    EXPECT_EQ(s.norm_frobenius, 0);
    EXPECT_EQ(s.norm_inf, 0);
    EXPECT_EQ(s.asymmetry, 0);
    EXPECT_EQ(s.entries, a.entries());
    EXPECT_EQ(s.pattern_symmetric, a.rows == a.cols);
  }
}

TEST(FormatsSummary, OfTheTransposeIsTheSameWhereItMustBe) {
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    CsrSummary s = summarize(m.matrix), t = summarize(transpose(m.matrix.view()));
    EXPECT_EQ(s.bandwidth, t.bandwidth);
    EXPECT_EQ(s.max_abs, t.max_abs);
    EXPECT_NEAR(s.norm_frobenius, t.norm_frobenius, 1e-12 * s.norm_frobenius);
    EXPECT_EQ(s.pattern_symmetric, t.pattern_symmetric);
    EXPECT_NEAR(s.asymmetry, t.asymmetry, 1e-12);
    Offset rows = 0;
    for (Offset count : s.histogram) rows += count;
    EXPECT_EQ(rows, m.matrix.rows);
  }
}

}  // namespace
}  // namespace tcsolve::test
