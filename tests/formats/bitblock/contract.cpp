// SPDX-License-Identifier: Apache-2.0
/// Bitmap blocks inside: the drawn arrays, there and back, the same arrays from host and device,
/// new values, and blocks of columns that the matrix unit takes. What else it computes is in
/// operator_contract.cpp with all other formats.
#include <tcsolve/formats/bitblock/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "tests/support/cost.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr int asides[] = {0, 1, 2, 8, 64};

/// 1 on three diagonals, 16 x 16: two blocks of 22 entries, two of one.
Csr<double> tridiagonal16() {
  Csr<double> a;
  a.rows = a.cols = 16;
  for (Index i = 0; i < 16; ++i) {
    for (Index j = std::max(0, i - 1); j < std::min(16, i + 2); ++j) {
      a.columns.push_back(j);
      a.values.push_back(100 * i + j);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

template <class P>
class BitblockContract : public BackendTest<P> {};
TYPED_TEST_SUITE(BitblockContract, StoredOnBoth, Label);

TYPED_TEST(BitblockContract, HoldsTheDrawnArrays) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(tridiagonal16()));
  Bitblock<S> const m(this->ctx(), there.view());
  auto const& arrays = m.arrays();
  EXPECT_EQ(to_host(this->ctx(), arrays.start), (std::vector<std::uint32_t>{0, 1, 2}));
  auto const blocks = to_host(this->ctx(), arrays.blocks);
  ASSERT_EQ(blocks.size(), 2u);
  for (std::uint32_t I : {0u, 1u}) {
    EXPECT_EQ(blocks[I].bitmap, 0xc0e070381c0e0703u);
    EXPECT_EQ(blocks[I].column, static_cast<std::int32_t>(I));
    EXPECT_EQ(blocks[I].offset, 22 * I);
  }
  EXPECT_EQ(to_host(this->ctx(), arrays.side_columns), (std::vector<std::int32_t>{8, 7}));
  auto const side = to_host(this->ctx(), arrays.side_start);
  EXPECT_EQ(side[7], 0u);
  EXPECT_EQ(side[8], 1u);
  EXPECT_EQ(side[16], 2u);
  EXPECT_EQ(m.bytes(), 3 * 4 + 17 * 4 + 2 * 16 + 46 * sizeof(S) + 2 * 4);
}

TYPED_TEST(BitblockContract, ThereAndBackIsTheSameFromHostAndDevice) {
  using S = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& named : for_conversion()) {
    SCOPED_TRACE(named.name);
    Csr<S> const a = representable<S>(named.matrix);
    CsrStorage<S> const there(this->ctx(), a);
    for (int const aside : asides) {
      Bitblock<S> m(this->ctx(), there.view(), {aside});
      ASSERT_EQ(m.to_csr(this->ctx()), a) << aside;
      Bitblock<S> const expected(host, a.view(), {aside});
      auto const &x = m.arrays(), &y = expected.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.start, y.start));
      ASSERT_TRUE(same_bits(this->ctx(), x.blocks, y.blocks));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_start, y.side_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_columns, y.side_columns));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_values, y.side_values));
      // Every value another one.
      Csr<S> other = a;
      for (std::size_t k = 0; k < other.values.size(); ++k)
        other.values[k] = S(double(k % 251) + 1);
      m.update_values(this->ctx(), CsrStorage<S>(this->ctx(), other).view());
      ASSERT_EQ(m.to_csr(this->ctx()), other) << aside;
    }
  }
}

TYPED_TEST(BitblockContract, TuningsOutOfRangeAreRefused) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(tridiagonal16()));
  EXPECT_THROW(Bitblock<S>(this->ctx(), there.view(), {-1}), ShapeError);
  EXPECT_THROW(Bitblock<S>(this->ctx(), there.view(), {65}), ShapeError);
}

template <class P>
class BitblockProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(BitblockProducts, PairsOnBoth, Label);

TYPED_TEST(BitblockProducts, MovesTheCompulsoryTraffic) {
  check_cost_of<BitblockOperator<typename TestFixture::T, typename TypeParam::Stored>,
                typename TestFixture::T, typename TypeParam::Stored>(this->ctx());
}

/// Small integers, whose sums are exact: adjacent blocks of columns that are tiles of the matrix
/// unit, with some left over, must come out to the last bit.
TYPED_TEST(BitblockProducts, BlocksOfColumnsAreExact) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Context& ctx = this->ctx();
  std::mt19937 random(5);
  for (auto const& [rows, cols] : {std::pair<Index, Index>{1, 1}, {8, 8}, {133, 61}, {300, 301}}) {
    Csr<double> a;
    a.rows = rows, a.cols = cols;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        bool const dense = i / 16 % 2 == 0 && j / 8 % 3 == 0;
        if (random() % (dense ? 2 : 29) != 0) continue;
        a.columns.push_back(j);
        a.values.push_back(double(random() % 7) - 3);
      }
      a.offsets.push_back(a.entries());
    }
    Csr<S> const stored = converted<S>(a);
    for (int const aside : {0, 2, 64}) {
      BitblockOperator<T, S> const A(ctx, stored.view(), {aside});
      for (Index k : {1, 2, 8, 9, 16, 24, 32, 40, 59}) {
        SCOPED_TRACE(cat(rows, " x ", cols, ", ", k, " columns, aside ", aside));
        std::vector<T> X(std::size_t(cols) * k), Y(std::size_t(rows) * k);
        for (T& x : X) x = T(double(random() % 9) - 4);
        for (T& y : Y) y = T(double(random() % 9) - 4);
        std::vector<T> expected(Y.size());
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < k; ++j) {
            double sum = 0;
            for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
              sum += a.values[e] * double(X[std::size_t(a.columns[e]) * k + j]);
            expected[std::size_t(i) * k + j] = T(2 * sum - 3 * double(Y[std::size_t(i) * k + j]));
          }
        There<T> x(ctx, X), y(ctx, Y);
        auto const view = [&](There<T>& v, Index n) -> Out<T> {
          return {v.data(), n, k, k, Layout::row_major, ctx.space()};
        };
        A.apply(ctx, T(2), view(x, cols), T(-3), view(y, rows));
        ASSERT_EQ(y.all(), expected);
        // beta = 0 does not read y.
        for (T& e : Y) e = std::numeric_limits<T>::quiet_NaN();
        There<T> fresh(ctx, Y);
        A.apply(ctx, view(x, cols), view(fresh, rows));
        for (T const e : fresh.all()) ASSERT_TRUE(std::isfinite(double(e)));
      }
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
