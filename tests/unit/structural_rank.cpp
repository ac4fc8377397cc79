// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/match/matching.hpp>
#include <tcsolve/graph/match/structural_rank.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tcsolve::test {
namespace {

Csr<double> matrix(std::vector<std::vector<double>> const& rows) {
  Csr<double> a;
  a.rows = static_cast<Index>(rows.size());
  a.cols = rows.empty() ? 0 : static_cast<Index>(rows.front().size());
  for (auto const& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0) continue;
      a.columns.push_back(static_cast<Index>(j));
      a.values.push_back(row[j] == 7 ? 0 : row[j]);  // 7: a zero that is stored
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

TEST(StructuralRank, OfSmallMatrices) {
  EXPECT_EQ(structural_rank(matrix({}).view()), 0);
  EXPECT_EQ(structural_rank(matrix({{2, 1, 0}, {0, 0, 0}, {1, 3, 4}}).view()), 2);
  EXPECT_EQ(structural_rank(matrix({{0, 1}, {1, 0}}).view()), 2);
  EXPECT_EQ(structural_rank(matrix({{1, 1}, {7, 7}}).view()), 1) << "zeros that are stored";
  EXPECT_EQ(structural_rank(matrix({{1, 0, 0}, {1, 0, 0}, {1, 2, 3}}).view()), 2);
  EXPECT_EQ(structural_rank(matrix({{1, 2, 0}, {3, 4, 0}, {5, 6, 0}, {7, 0, 1}}).view()), 3);
  EXPECT_EQ(structural_rank(matrix({{1, 2, 0, 1}, {3, 4, 0, 0}}).view()), 2);
}

TEST(StructuralRank, EmptyLines) {
  EmptyLines const empty = empty_lines(matrix({{2, 0, 7}, {0, 0, 7}, {1, 0, 0}}).view());
  EXPECT_EQ(empty.rows, (std::vector<Index>{1}));
  EXPECT_EQ(empty.columns, (std::vector<Index>{1, 2}));
}

/// The other matching of the package finds as many.
TEST(StructuralRank, AgreesWithTheMatchingOfLargestProduct) {
  std::mt19937 bits(5);
  int deficient = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::size_t const n = 1 + bits() % 40;
    double const density = 0.5 + static_cast<double>(bits() % 100) / 30;
    std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0.0));
    for (auto& row : rows)
      for (double& v : row)
        if (static_cast<double>(bits() % 1000) < 1000 * density / static_cast<double>(n))
          v = 1 + static_cast<double>(bits() % 5);
    Csr<double> const a = matrix(rows);
    Index const rank = structural_rank(a.view());
    ASSERT_EQ(rank, maximum_product_matching(a.view()).rank) << "trial " << trial;
    deficient += rank < a.rows;
  }
  EXPECT_GT(deficient, 50);
  EXPECT_LT(deficient, 400);
}

}  // namespace
}  // namespace tcsolve::test
