// SPDX-License-Identifier: Apache-2.0
/// Panels inside: the drawn arrays, there and back, the same arrays from host and device, long rows
/// in segments, rows sorted by their pattern, new values, and exact blocks of columns. What else it
/// computes is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/tiled/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "tests/support/cost.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

/// Stages, segments and sorted rows in matrices of a few rows; all that is gathered and nothing.
std::vector<TiledTuning> tunings() {
  return {{},
          {.panel_rows = 8, .capacity = 3, .direct_below = 0},
          {.panel_rows = 128, .capacity = 1700, .direct_below = 0},
          {.panel_rows = 256, .capacity = 60, .direct_below = 0},
          {.panel_rows = 256, .direct_below = 1e9},
          {.panel_rows = 16, .capacity = 9, .least_segment = 2, .direct_below = 0, .least_gain = 0},
          {.panel_rows = 64, .least_segment = 3, .most_segments = 4, .direct_below = 1e9},
          {.direct_below = 0, .balance = false},  // more of a long row than a warp copies at once
          {.direct_below = 1e9, .balance = false, .reorder = false}};
}

Csr<double> drawn() {
  return {4, 7, {0, 2, 5, 8, 9}, {0, 3, 1, 4, 6, 0, 1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
}

template <class P>
class TiledContract : public BackendTest<P> {};
TYPED_TEST_SUITE(TiledContract, StoredOnBoth, Label);

TYPED_TEST(TiledContract, HoldsTheDrawnArrays) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(drawn()));
  Tiled<S> const m(this->ctx(), there.view(), {.panel_rows = 8, .capacity = 3, .direct_below = 0});
  auto const& arrays = m.arrays();
  EXPECT_FALSE(m.view().direct);
  EXPECT_EQ(m.view().widest, 3);
  EXPECT_EQ(m.view().most_chunks, 1);
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(to_host(this->ctx(), arrays.stage_start), (Numbers{0, 2}));
  EXPECT_EQ(to_host(this->ctx(), arrays.map_start), (Numbers{0, 3, 5}));
  EXPECT_EQ(to_host(this->ctx(), arrays.map), (std::vector<std::int32_t>{0, 1, 3, 4, 6}));
  EXPECT_EQ(to_host(this->ctx(), arrays.start), (Numbers{0, 1, 1, 2, 2}));
  EXPECT_EQ(to_host(this->ctx(), arrays.local),
            (std::vector<std::uint16_t>{1, 3, 0, 0, 2, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0,  //
                                        0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
  std::vector<double> values;
  for (S const v : to_host(this->ctx(), arrays.values)) values.push_back(double(v));
  EXPECT_EQ(values, (std::vector<double>{1, 2, 0, 0, 3, 0, 0, 0, 6, 7, 8, 0, 0, 0, 0, 0,  //
                                         0, 0, 0, 0, 4, 5, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0}));
  EXPECT_EQ(m.bytes(), 4 * (2 + 3 + 5 + 5) + 32 * (2 + sizeof(S)));
}

TYPED_TEST(TiledContract, ThereAndBackIsTheSameFromHostAndDevice) {
  using S = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& named : for_conversion()) {
    SCOPED_TRACE(named.name);
    Csr<S> const a = representable<S>(named.matrix);
    CsrStorage<S> const there(this->ctx(), a);
    Csr<S> other = a;
    for (std::size_t k = 0; k < other.values.size(); ++k) other.values[k] = S(double(k % 251) + 1);
    CsrStorage<S> const others(this->ctx(), other);
    int number = 0;
    for (TiledTuning const& tuning : tunings()) {
      SCOPED_TRACE(cat("tuning ", number++));
      Tiled<S> m(this->ctx(), there.view(), tuning);
      ASSERT_EQ(m.to_csr(this->ctx()), a);
      Tiled<S> const expected(host, a.view(), tuning);
      auto const &x = m.arrays(), &y = expected.arrays();
      ASSERT_TRUE(x.model == y.model);
      ASSERT_TRUE(same_bits(this->ctx(), x.stage_start, y.stage_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.map_start, y.map_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.map, y.map));
      ASSERT_TRUE(same_bits(this->ctx(), x.start, y.start));
      ASSERT_TRUE(same_bits(this->ctx(), x.local, y.local));
      ASSERT_TRUE(same_bits(this->ctx(), x.columns, y.columns));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.target, y.target));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_start, y.long_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_row, y.long_row));
      m.update_values(this->ctx(), others.view());
      ASSERT_EQ(m.to_csr(this->ctx()), other);
    }
  }
}

/// 200 rows of three entries, and one of all columns.
Csr<double> one_long_row(Index cols) {
  Csr<double> a;
  a.rows = 200, a.cols = cols;
  for (Index i = 0; i < a.rows; ++i) {
    if (i == 77)
      for (Index j = 0; j < cols; ++j) a.columns.push_back(j);
    else
      for (Index j : {i, i + 1, i + 5}) a.columns.push_back(j);
    a.offsets.push_back(static_cast<Offset>(a.columns.size()));
  }
  for (std::size_t k = 0; k < a.columns.size(); ++k) a.values.push_back(double(k % 7) - 3);
  return a;
}

TYPED_TEST(TiledContract, LongRowsAreCutWhereTheChartSaysSo) {
  using S = typename TestFixture::T;
  Csr<S> const a = representable<S>(one_long_row(2000));
  CsrStorage<S> const there(this->ctx(), a);
  Tiled<S> const m(this->ctx(), there.view(), {.least_segment = 16, .most_segments = 50});
  EXPECT_TRUE(m.model().imbalanced());
  EXPECT_TRUE(m.model().underutilised());
  EXPECT_EQ(m.model().segment, 16);
  EXPECT_EQ(m.view().long_rows, 1);
  EXPECT_EQ(m.view().parts, 50);
  EXPECT_EQ(m.view().lines, 249);
  EXPECT_EQ(m.to_csr(this->ctx()), a);
  Tiled<S> const whole(this->ctx(), there.view(), {.balance = false});
  EXPECT_EQ(whole.view().lines, 200);
  EXPECT_EQ(whole.model().segment, 0);
  EXPECT_GE(whole.view().most_chunks, 100);  // of the long row
}

/// Rows i and i + 8 n refer to the same columns for every n: in order a panel of eight has 8 kinds.
TYPED_TEST(TiledContract, RowsAreSortedWhereThatGathersLess) {
  using S = typename TestFixture::T;
  Csr<double> a;
  a.rows = 64, a.cols = 80;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < 10; ++j) a.columns.push_back(10 * (i % 8) + j), a.values.push_back(j);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<S> const there(this->ctx(), representable<S>(a));
  Tiled<S> const m(this->ctx(), there.view(), {.panel_rows = 8});
  EXPECT_TRUE(m.model().reordered);
  EXPECT_EQ(m.model().rho_in_order, 1);
  EXPECT_EQ(m.model().rho, 8);
  EXPECT_FALSE(m.view().direct);
  EXPECT_EQ(m.to_csr(this->ctx()), representable<S>(a));
  Tiled<S> const kept(this->ctx(), there.view(), {.panel_rows = 8, .reorder = false});
  EXPECT_FALSE(kept.model().reordered);
  EXPECT_TRUE(kept.view().direct);
}

TYPED_TEST(TiledContract, TuningsOutOfRangeAreRefused) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(drawn()));
  for (TiledTuning const& bad : {TiledTuning{.panel_rows = 12}, TiledTuning{.panel_rows = 264},
                                 TiledTuning{.capacity = 0}, TiledTuning{.capacity = 70000},
                                 TiledTuning{.least_segment = 0}, TiledTuning{.most_segments = 1}})
    EXPECT_THROW(Tiled<S>(this->ctx(), there.view(), bad), ShapeError);
}

template <class P>
class TiledProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(TiledProducts, PairsOnBoth, Label);

TYPED_TEST(TiledProducts, MovesTheCompulsoryTraffic) {
  check_cost_of<TiledOperator<typename TestFixture::T, typename TypeParam::Stored>,
                typename TestFixture::T, typename TypeParam::Stored>(this->ctx());
}

/// Small integers in any layout, rows `gap` farther apart than need be.
template <class T>
struct IntegerBlock {
  Index rows, k;
  Layout layout;
  std::int64_t ld;
  std::vector<T> values;
  IntegerBlock(Index n, Index columns, Layout order, Index gap, std::mt19937& random)
      : rows(n),
        k(columns),
        layout(order),
        ld((order == Layout::row_major ? columns : std::max(n, 1)) + gap),
        values(std::size_t(ld) * std::max(order == Layout::row_major ? n : columns, 1)) {
    for (T& v : values) v = T(double(random() % 9) - 4);
  }
  std::size_t at(Index i, Index j) const {
    return layout == Layout::row_major ? std::size_t(i * ld + j) : std::size_t(i + j * ld);
  }
  Out<T> view(There<T>& there, Context& ctx) const {
    return {there.data(), rows, k, ld, layout, ctx.space()};
  }
};

std::vector<Csr<double>> integer_matrices() {
  std::mt19937 random(5);
  std::vector<Csr<double>> all{one_long_row(300)};
  for (auto const& [rows, cols] : {std::pair<Index, Index>{1, 1}, {133, 61}, {300, 301}}) {
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
    all.push_back(a);
  }
  return all;
}

/// Sums of small integers are exact: every number of columns and every layout must come out to the
/// last bit, and what lies between rows and behind columns must stay.
TYPED_TEST(TiledProducts, BlocksOfColumnsAreExact) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Context& ctx = this->ctx();
  std::mt19937 random(5);
  for (Csr<double> const& a : integer_matrices()) {
    Csr<S> const stored = converted<S>(a);
    int number = 0;
    for (TiledTuning const& tuning : tunings()) {
      TiledOperator<T, S> const A(ctx, stored.view(), tuning);
      ++number;
      for (Index k : {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 64, 65, 77, 128, 130})
        for (Layout layout : {Layout::row_major, Layout::col_major}) {
          Index const gap = std::array<Index, 3>{0, 4, 3}[std::size_t(k + number) % 3];
          SCOPED_TRACE(cat(a.rows, " x ", a.cols, ", ", k, " columns, tuning ", number - 1,
                           ", layout ", int(layout), ", gap ", gap));
          IntegerBlock<T> const x(a.cols, k, layout, gap, random);
          IntegerBlock<T> y(a.rows, k, k % 5 == 0 ? Layout::row_major : layout, gap, random);
          std::vector<T> expected = y.values;
          for (Index i = 0; i < a.rows; ++i)
            for (Index j = 0; j < k; ++j) {
              double sum = 0;
              for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
                sum += a.values[e] * double(x.values[x.at(a.columns[e], j)]);
              expected[y.at(i, j)] = T(2 * sum - 3 * double(y.values[y.at(i, j)]));
            }
          There<T> from(ctx, x.values), to(ctx, y.values);
          A.apply(ctx, T(2), x.view(from, ctx), T(-3), y.view(to, ctx));
          ASSERT_EQ(to.all(), expected);
          // beta = 0 does not read y.
          for (T& e : y.values) e = std::numeric_limits<T>::quiet_NaN();
          There<T> fresh(ctx, y.values);
          A.apply(ctx, x.view(from, ctx), y.view(fresh, ctx));
          auto const got = fresh.all();
          for (Index i = 0; i < a.rows; ++i)
            for (Index j = 0; j < k; ++j) ASSERT_TRUE(std::isfinite(double(got[y.at(i, j)])));
        }
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
