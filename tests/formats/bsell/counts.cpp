// SPDX-License-Identifier: Apache-2.0
/// The blocks of a matrix so large that they are not all counted: estimates, and what is made where
/// they choose the size of block.
#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr int C = BsellView<double>::C;

/// So many nodes of three unknowns that their blocks are not all counted; 2 to 6 a block row, in
/// the first half one of them far away, and an entry missing now and then.
Csr<double> large() {
  Index const n = 140000;
  Csr<double> a{n * 3, n * 3, {0}, {}, {}};
  for (Index I = 0; I < n; ++I)
    for (Index r = 0; r < 3; ++r) {
      auto const block = [&](Index J) {
        for (Index c = 0; c < 3 && J < n; ++c)
          if ((I + 5 * r + c) % 50 != 0) {
            a.columns.push_back(J * 3 + c);
            a.values.push_back(1 + (7 * I + 3 * J + 2 * r + c) % 9);
          }
      };
      for (Index k = 0; k < 2 + I * 11 % 5 - (I < n / 2); ++k) block(I + 7 * k);
      if (I < n / 2) block(I + n / 2);
      a.offsets.push_back(a.entries());
    }
  return a;
}
/// The first rows of a.
Csr<double> first_rows(Csr<double> a, Index rows) {
  a.rows = rows, a.offsets.resize(rows + 1);
  a.columns.resize(a.offsets[rows]), a.values.resize(a.offsets[rows]);
  return a;
}
/// Counted one by one; blocks_of() would take long.
BsellCounts counted(Csr<double> const& a) {
  BsellCounts counts{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    Index const b = bsell_blocks[k];
    std::vector<Index> blocks;
    for (Index first = 0; first < a.rows; first += C * b) {
      Offset most = 0;
      Index low = a.cols, high = -1;
      for (Index i = first; i < std::min(first + C * b, a.rows); i += b) {
        blocks.clear();
        for (Offset e = a.offsets[i]; e < a.offsets[std::min(i + b, a.rows)]; ++e)
          blocks.push_back(a.columns[e] / b);
        std::ranges::sort(blocks);
        auto const distinct = std::unique(blocks.begin(), blocks.end()) - blocks.begin();
        counts[k].blocks += distinct, most = std::max<Offset>(most, distinct);
        if (distinct > 0)
          low = std::min(low, blocks[0]), high = std::max(high, blocks[distinct - 1]);
      }
      counts[k].stored += C * most;
      if (high - low > 65535) counts[k].wide += C * most;
    }
  }
  return counts;
}

template <class P>
class BsellCountsContract : public BackendTest<P> {};
TYPED_TEST_SUITE(BsellCountsContract, StoredOnBoth, Label);

TYPED_TEST(BsellCountsContract, BlocksOfALargeMatrixAreEstimated) {
  using T = typename TestFixture::T;
  static Csr<double> const a = large(), most = first_rows(a, 1024 * 384);
  static BsellCounts const expected = counted(a), expected_of_most = counted(most);
  Csr<T> const stored = converted<T>(a);
  CsrStorage<T> const there(this->ctx(), stored), all(this->ctx(), converted<T>(most));
  EXPECT_EQ(count_blocks(this->ctx(), all.view()), expected_of_most);  // the most that are counted
  BsellCounts const counts = count_blocks(this->ctx(), there.view());
  Context host(Backend::host);
  EXPECT_EQ(counts, count_blocks(host, stored.view()));
  EXPECT_NE(counts, expected);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    SCOPED_TRACE(bsell_blocks[k]);
    auto const near = [](Offset n, Offset m) {
      return std::abs(double(n - m)) <= 0.02 * double(m);
    };
    EXPECT_TRUE(near(counts[k].blocks, expected[k].blocks)) << counts[k].blocks;
    EXPECT_TRUE(near(counts[k].stored, expected[k].stored)) << counts[k].stored;
    EXPECT_TRUE(near(counts[k].wide, expected[k].wide)) << counts[k].wide;
  }
  std::size_t const best = bsell_choice(counts, a.entries(), sizeof(T));
  EXPECT_EQ(best, bsell_choice(expected, a.entries(), sizeof(T)));
  EXPECT_EQ(bsell_blocks[best], 3);

  // The estimates choose; what is made does not depend on them.
  Bsell<T> const m(this->ctx(), there.view()), given(this->ctx(), there.view(), {.block = 3});
  EXPECT_EQ(m.view().block, 3);
  EXPECT_EQ(to_host(this->ctx(), m.arrays().order), to_host(this->ctx(), given.arrays().order));
  EXPECT_EQ(to_host(this->ctx(), m.arrays().numbers), to_host(this->ctx(), given.arrays().numbers));
  EXPECT_LT(m.view().steps * C, 1.02 * double(expected[best].blocks));  // sorted
  EXPECT_EQ(m.to_csr(this->ctx()), stored);
  EXPECT_EQ(given.to_csr(this->ctx()), stored);
}

}  // namespace
}  // namespace tcsolve::test
