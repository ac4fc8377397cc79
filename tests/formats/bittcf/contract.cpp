// SPDX-License-Identifier: Apache-2.0
/// BitTCF inside: the drawn arrays, there and back, the same arrays from host and device, new
/// values, which windows are cut to pieces, blocks of columns that the matrix unit takes, and their
/// X^T A X. What else it computes is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/bittcf/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "tests/support/cost.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr BittcfTuning tunings[] = {{},
                                    {.aside = 1},
                                    {.aside = 2, .aside_window = 40},
                                    {.imbalance = 0},
                                    {.aside = 8, .imbalance = 0, .long_window = 1},
                                    {.imbalance = 1000, .long_window = 3}};

/// Row i has columns 10 i and 10 (i + 1), 10 x 100, the last one column 0.
Csr<double> staircase() {
  Csr<double> a;
  a.rows = 10, a.cols = 100;
  for (Index i = 0; i < 10; ++i) {
    for (Index const j : {i < 9 ? 10 * i : 0, i < 9 ? 10 * i + 10 : 90}) {
      a.columns.push_back(j);
      a.values.push_back(i + 1);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// Rows of the lengths given, as far from each other as `cols` allow.
Csr<double> of_lengths(std::vector<Index> const& lengths, Index cols) {
  Csr<double> a;
  a.rows = static_cast<Index>(lengths.size()), a.cols = cols;
  for (Index const length : lengths) {
    for (Index k = 0; k < length; ++k) {
      a.columns.push_back(static_cast<Index>(std::int64_t{k} * cols / length));
      a.values.push_back(double(a.entries() % 7) - 3);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// What an array holds of the blocks, without those behind the last one.
template <class V>
std::vector<V> of_blocks(Context& ctx, Array<V> const& array, std::size_t each) {
  std::vector<V> all = to_host(ctx, array);
  std::size_t const behind = BittcfView<float>::behind * each;
  EXPECT_GE(all.size(), behind);
  for (std::size_t k = all.size() - behind; k < all.size(); ++k) EXPECT_EQ(all[k], V(0));
  all.resize(all.size() - behind);
  return all;
}

/// Columns of blocks in ascending order, in their places.
std::vector<std::int32_t> placed(std::vector<std::int32_t> const& columns) {
  std::vector<std::int32_t> to(columns.size());
  for (std::size_t e = 0; e < columns.size(); ++e)
    to[e / 8 * 8 + std::size_t(slot_of(int(e % 8)))] = columns[e];
  return to;
}
std::vector<std::uint64_t> placed_bits(std::vector<std::uint64_t> bitmaps) {
  for (std::uint64_t& bits : bitmaps) {
    std::uint64_t to = 0;
    for (int e = 0; e < 64; ++e) to |= (bits >> e & 1u) << (e / 8 * 8 + slot_of(e % 8));
    bits = to;
  }
  return bitmaps;
}

template <class P>
class BittcfContract : public BackendTest<P> {};
TYPED_TEST_SUITE(BittcfContract, StoredOnBoth, Label);

TYPED_TEST(BittcfContract, HoldsTheDrawnArrays) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(staircase()));
  Bittcf<S> const m(this->ctx(), there.view());
  auto const& arrays = m.arrays();
  EXPECT_EQ(to_host(this->ctx(), arrays.start), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(of_blocks(this->ctx(), arrays.column, 8),
            placed({0,  10, 20, 30, 40, 50, 60, 70, 80, 80, 80, 80,
                    80, 80, 80, 80, 0,  80, 90, 90, 90, 90, 90, 90}));
  EXPECT_EQ(of_blocks(this->ctx(), arrays.bitmaps, 1),
            placed_bits({0x80c06030180c0603u, 0x0100000000000000u, 0x0506u}));
  EXPECT_EQ(of_blocks(this->ctx(), arrays.offsets, 1), (std::vector<std::uint32_t>{0, 15, 16}));
  EXPECT_EQ(m.bytes(), 3 * 4 + (3 + 8) * 44 + 20 * sizeof(S));
  EXPECT_EQ(m.view().pieces, 0);
}

TYPED_TEST(BittcfContract, ColumnsOfFewEntriesStandAside) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(staircase()));
  Bittcf<S> const m(this->ctx(), there.view(), {.aside = 1});
  auto const& arrays = m.arrays();
  EXPECT_EQ(of_blocks(this->ctx(), arrays.column, 8), placed({10, 20, 30, 40, 50, 60, 70, 70,  //
                                                              90, 90, 90, 90, 90, 90, 90, 90}));
  EXPECT_EQ(to_host(this->ctx(), arrays.side_start),
            (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4}));
  EXPECT_EQ(to_host(this->ctx(), arrays.side_columns), (std::vector<std::int32_t>{0, 80, 80, 0}));
  // Not where a window has more entries than that.
  Bittcf<S> const none(this->ctx(), there.view(), {.aside = 1, .aside_window = 3});
  EXPECT_EQ(none.view().side_entries, 0);
}

TYPED_TEST(BittcfContract, ThereAndBackIsTheSameFromHostAndDevice) {
  using S = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& named : for_conversion()) {
    SCOPED_TRACE(named.name);
    Csr<S> const a = representable<S>(named.matrix);
    CsrStorage<S> const there(this->ctx(), a);
    for (BittcfTuning const& tuning : tunings) {
      SCOPED_TRACE(cat("tuning ", &tuning - tunings));
      Bittcf<S> m(this->ctx(), there.view(), tuning);
      ASSERT_EQ(m.to_csr(this->ctx()), a);
      Bittcf<S> const expected(host, a.view(), tuning);
      auto const &x = m.arrays(), &y = expected.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.start, y.start));
      ASSERT_TRUE(same_bits(this->ctx(), x.bitmaps, y.bitmaps));
      ASSERT_TRUE(same_bits(this->ctx(), x.offsets, y.offsets));
      ASSERT_TRUE(same_bits(this->ctx(), x.column, y.column));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_start, y.side_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_columns, y.side_columns));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_values, y.side_values));
      ASSERT_TRUE(same_bits(this->ctx(), x.piece_start, y.piece_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.piece, y.piece));
      // Every value another one.
      Csr<S> other = a;
      for (std::size_t k = 0; k < other.values.size(); ++k)
        other.values[k] = S(double(k % 251) + 1);
      m.update_values(this->ctx(), CsrStorage<S>(this->ctx(), other).view());
      ASSERT_EQ(m.to_csr(this->ctx()), other);
    }
  }
}

/// Blocks: 50, 1, 1, 1. Their mean is 13, IBD is (37 + 3 * 12) / 4, a little more than 18.
TYPED_TEST(BittcfContract, LongWindowsAreCutByTheImbalance) {
  using S = typename TestFixture::T;
  std::vector<Index> lengths(32, 2);
  lengths[3] = 400;
  CsrStorage<S> const there(this->ctx(), representable<S>(of_lengths(lengths, 400)));
  auto const pieces = [&](BittcfTuning const& tuning) {
    Bittcf<S> const m(this->ctx(), there.view(), tuning);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (BittcfPiece const& p : to_host(this->ctx(), m.arrays().piece))
      found.emplace_back(p.first, p.count);
    return found;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> const two{{0, 32}, {32, 18}};
  EXPECT_EQ(pieces({}), two);
  EXPECT_TRUE(pieces({.imbalance = 19}).empty());
  EXPECT_EQ(pieces({.imbalance = 18}), two);
  EXPECT_EQ(pieces({.imbalance = 19, .long_window = 49}), two);
  EXPECT_TRUE(pieces({.imbalance = 19, .long_window = 50}).empty());
}

TYPED_TEST(BittcfContract, TuningsOutOfRangeAreRefused) {
  using S = typename TestFixture::T;
  CsrStorage<S> const there(this->ctx(), representable<S>(staircase()));
  for (BittcfTuning const& wrong :
       {BittcfTuning{.aside = -1}, BittcfTuning{.aside = 9}, BittcfTuning{.aside_window = -1},
        BittcfTuning{.imbalance = -1}, BittcfTuning{.long_window = 0}})
    EXPECT_THROW(Bittcf<S>(this->ctx(), there.view(), wrong), ShapeError);
}

template <class P>
class BittcfProducts : public BackendTest<P> {
 public:
  using T = typename BackendTest<P>::T;
  using S = typename P::Stored;
  struct Way {
    Index k;
    Layout x, y;
    Index pad;  ///< elements between rows or columns
  };
  /// 2 A X - 3 Y in small integers, whose sums are exact, to the last bit.
  void is_exact(LinearOperator<T> const& A, Csr<double> const& a, Way const& way) {
    SCOPED_TRACE(cat(a.rows, " x ", a.cols, ", ", way.k, " columns, layouts ", int(way.x),
                     int(way.y), ", padding ", way.pad));
    auto const integers = [&](Index rows, unsigned seed) {
      std::mt19937 random(seed);
      std::vector<double> v(std::size_t(rows) * way.k);
      for (double& e : v) e = double(random() % 9) - 4;
      return v;
    };
    auto const X = integers(a.cols, 1), Y = integers(a.rows, 2);
    std::vector<double> expected(Y.size()), once(Y.size());
    for (Index i = 0; i < a.rows; ++i)
      for (Index j = 0; j < way.k; ++j) {
        double sum = 0;
        for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
          sum += a.values[e] * X[std::size_t(a.columns[e]) * way.k + j];
        std::size_t const at = std::size_t(i) * way.k + j;
        expected[at] = 2 * sum - 3 * Y[at], once[at] = sum;
      }
    Guarded<T> x(this->ctx(), a.cols, way.k, way.x, way.pad, X);
    Guarded<T> y(this->ctx(), a.rows, way.k, way.y, way.pad, Y);
    A.apply(this->ctx(), T(2), x.in(), T(-3), y.view());
    ASSERT_EQ(y.get(), expected);
    ASSERT_TRUE(y.untouched());
    // beta = 0 does not read y.
    std::vector<double> const unset(Y.size(), std::numeric_limits<double>::quiet_NaN());
    Guarded<T> fresh(this->ctx(), a.rows, way.k, way.y, way.pad, unset);
    A.apply(this->ctx(), x.in(), fresh.view());
    ASSERT_EQ(fresh.get(), once);
    ASSERT_TRUE(x.unchanged());
  }
};
TYPED_TEST_SUITE(BittcfProducts, PairsOnBoth, Label);

TYPED_TEST(BittcfProducts, MovesTheCompulsoryTraffic) {
  check_cost_of<BittcfOperator<typename TestFixture::T, typename TypeParam::Stored>,
                typename TestFixture::T, typename TypeParam::Stored>(this->ctx());
}

/// Matrices with dense parts, empty rows and a row of all columns.
std::vector<Csr<double>> integer_matrices() {
  std::vector<Csr<double>> all;
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
    all.push_back(a);
  }
  std::vector<Index> lengths(70, 3);
  lengths[0] = lengths[33] = lengths[69] = 0;
  lengths[40] = 9000;
  all.push_back(of_lengths(lengths, 9000));
  return all;
}

TYPED_TEST(BittcfProducts, AnyNumberOfColumnsIsExact) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  using enum Layout;
  for (Csr<double> const& a : integer_matrices()) {
    Csr<S> const stored = converted<S>(a);
    for (BittcfTuning const& tuning : {tunings[0], tunings[1], tunings[4]}) {
      BittcfOperator<T, S> const A(this->ctx(), stored.view(), tuning);
      Index const pads[] = {0, 4, 3};
      bool const large = a.cols > 1000;
      for (Index k = 1; k <= 70; k += k < 34 ? 1 : 9) {
        if (large && k % 8 > 1) continue;
        this->is_exact(A, a, {k, row_major, row_major, pads[k % 3]});
        if (this->HasFatalFailure()) return;
      }
      for (Index const k : {8, 16, 24, 32, 40, 64, 120})  // rows that are aligned
        for (Index const pad : {0, 8}) {
          this->is_exact(A, a, {k, row_major, row_major, pad});
          if (this->HasFatalFailure()) return;
        }
      for (Index const k : {1, 8, 17, 33}) {
        this->is_exact(A, a, {k, col_major, col_major, pads[k % 3]});
        this->is_exact(A, a, {k, row_major, col_major, 0});
        this->is_exact(A, a, {k, col_major, row_major, 0});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// Square, n x n, in small integers: a diagonal, a block that is dense and entries far from it.
/// `wide`: rows 3 and n / 2 have an entry in every column.
Csr<double> square_integers(Index n, bool wide) {
  Csr<double> a;
  a.rows = a.cols = n;
  std::mt19937 random(9);
  for (Index i = 0; i < n; ++i) {
    bool const whole = wide && (i == 3 || i == n / 2);
    Index const around = i / 8 * 8, far = static_cast<Index>(std::int64_t{i} * 7919 % n);
    std::vector<Index> columns{i, far};
    for (Index j = around; j < around + 12; ++j)
      if (j < n && i / 8 % 3 == 0) columns.push_back(j);
    if (whole) {
      columns.resize(static_cast<std::size_t>(n));
      for (Index j = 0; j < n; ++j) columns[j] = j;
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (Index const j : columns) {
      a.columns.push_back(j);
      a.values.push_back(double(random() % 7) - 3);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

template <class P>
class BittcfGrams : public BackendTest<P> {
 public:
  /// Y = -2 A X and X^T Y in small integers, whose sums are exact, to the last bit.
  void is_exact(LinearOperator<double> const& A, Csr<double> const& a, Index k, Index pad) {
    SCOPED_TRACE(cat(a.rows, " rows, ", a.entries(), " entries, ", k, " columns, padding ", pad));
    std::mt19937 random(4);
    std::vector<double> X(std::size_t(a.rows) * k), Y(X.size()), G(std::size_t(k) * k);
    for (double& e : X) e = double(random() % 9) - 4;
    for (Index i = 0; i < a.rows; ++i) {
      double* const y = Y.data() + std::size_t(i) * k;
      double const* const x = X.data() + std::size_t(i) * k;
      for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
        for (Index j = 0; j < k; ++j)
          y[j] -= 2 * a.values[e] * X[std::size_t(a.columns[e]) * k + j];
      for (Index r = 0; r < k; ++r)
        for (Index j = 0; j < k; ++j) G[std::size_t(r) * k + j] += x[r] * y[j];
    }
    double const nan = std::numeric_limits<double>::quiet_NaN();
    Guarded<double> x(this->ctx(), a.rows, k, Layout::row_major, pad, X);
    Guarded<double> y(this->ctx(), a.rows, k, Layout::row_major, pad,
                      std::vector<double>(Y.size(), nan));
    Guarded<double> g(this->ctx(), k, k, Layout::row_major, 0, std::vector<double>(G.size(), nan));
    A.apply_gram(this->ctx(), -2, x.in(), y.view(), g.data());
    ASSERT_EQ(y.get(), Y);
    ASSERT_EQ(g.get(), G);
    ASSERT_TRUE(y.untouched());
    ASSERT_TRUE(g.untouched());
    ASSERT_TRUE(x.unchanged());
  }
};
using DoublesOnBoth = on_backends<PairOn, Pair<double, double>, Pair<double, float>,
                                  Pair<double, half>, Pair<double, bfloat16>>;
TYPED_TEST_SUITE(BittcfGrams, DoublesOnBoth, Label);

TYPED_TEST(BittcfGrams, AreExact) {
  using S = typename TypeParam::Stored;
  constexpr BittcfTuning all_at_once{.aside = 2, .imbalance = 0, .long_window = 1};
  // One window, the end of a window and of a thread block, several groups of these, and pieces.
  for (Index const n : {1, 5, 7, 8, 9, 31, 32, 33, 300, 1025, 2100})
    for (bool const wide : {false, true}) {
      Csr<double> const a = square_integers(n, wide);
      Csr<S> const stored = converted<S>(a);
      for (BittcfTuning const& tuning : {tunings[0], tunings[1], tunings[4], all_at_once}) {
        BittcfOperator<double, S> const A(this->ctx(), stored.view(), tuning);
        if (n > 1000 && wide && tuning.imbalance == 0) EXPECT_GT(A.matrix().view().pieces, 1);
        for (auto [k, pad] : {std::pair<Index, Index>{1, 0},
                              {5, 0},
                              {8, 0},
                              {8, 8},
                              {8, 1},  // rows that are not aligned
                              {16, 0},
                              {16, 4},
                              {16, 3},
                              {17, 0},
                              {24, 0}}) {
          this->is_exact(A, a, k, pad);
          if (this->HasFatalFailure()) return;
        }
      }
    }
}

/// As many thread blocks as are added in the largest number of groups, and more.
TYPED_TEST(BittcfGrams, OfManyWindowsAreExact) {
  using S = typename TypeParam::Stored;
  Csr<double> const a = square_integers(32 * 512 * 16 + 1000, false);
  BittcfOperator<double, S> const A(this->ctx(), converted<S>(a).view());
  for (Index const k : {8, 16}) this->is_exact(A, a, k, 0);
}

/// Sums that round: the same bits every time, with the workspace elsewhere too, near long double.
TYPED_TEST(BittcfGrams, AreTheSameBitsOnEveryRun) {
  using S = typename TypeParam::Stored;
  Csr<double> const a = square_integers(5003, true);
  for (BittcfTuning const& tuning : {tunings[0], tunings[4]}) {
    BittcfOperator<double, S> const A(this->ctx(), converted<S>(a).view(), tuning);
    for (Index const k : {8, 16}) {
      SCOPED_TRACE(cat(k, " columns, aside ", tuning.aside));
      std::size_t const size = std::size_t(a.rows) * k;
      auto const X = random_values(size, 8);
      std::vector<double> first;
      for (int run = 0; run < 3; ++run) {
        auto scope = this->ctx().arena().scope();
        if (run == 2) scope.template take<double>(1001);
        Guarded<double> x(this->ctx(), a.rows, k, Layout::row_major, 0, X);
        Guarded<double> y(this->ctx(), a.rows, k, Layout::row_major, 0, X);
        There<double> G(this->ctx(), std::vector<double>(std::size_t(k) * k));
        A.apply_gram(this->ctx(), x.in(), y.view(), G.data());
        if (run > 0) {
          EXPECT_EQ(G.all(), first);
          continue;
        }
        first = G.all();
        auto const Y = y.get();
        for (Index i = 0; i < k; ++i)
          for (Index j = 0; j < k; ++j) {
            long double exact = 0, magnitude = 0;
            for (std::size_t r = 0; r < size; r += std::size_t(k)) {
              long double const term = static_cast<long double>(X[r + i]) * Y[r + j];
              exact += term, magnitude += std::abs(term);
            }
            ASSERT_LE(std::abs(first[std::size_t(i) * k + j] - exact),
                      sum_bound(a.rows, magnitude));
          }
      }
    }
  }
}

/// What TF32 rounds the most: halves of its last digit, in single entries.
TYPED_TEST(BittcfProducts, RoundingIsWithinWhatTheTraitsSay) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Csr<double> a;
  a.rows = a.cols = 24;
  for (Index i = 0; i < a.rows; ++i) {
    a.columns.push_back(i);
    a.values.push_back(rounded<S>((i % 2 == 0 ? 1 : -1) * (1 + 0x1p-11 + i * 0x1p-13)));
    a.offsets.push_back(a.entries());
  }
  BittcfOperator<T, S> const A(this->ctx(), converted<S>(a).view());
  for (Index k : {1, 8, 32}) {
    std::vector<double> X(std::size_t(a.cols) * k);
    for (std::size_t e = 0; e < X.size(); ++e) X[e] = rounded<T>(1 + 0x1p-11 + double(e) * 0x1p-20);
    Guarded<T> x(this->ctx(), a.cols, k, Layout::row_major, 0, X);
    Guarded<T> y(this->ctx(), a.rows, k, Layout::row_major, 0, X);
    A.apply(this->ctx(), x.in(), y.view());
    EXPECT_TRUE(within(A.traits().precision, real_of<T>, exact_apply(a, Op::none, 1, X, 0, {}, k),
                       y.get()));
  }
}

}  // namespace
}  // namespace tcsolve::test
