// SPDX-License-Identifier: Apache-2.0
/// Compressed SELL-C-sigma inside: there and back, the same arrays from host and device, bytes,
/// sorting, pieces, new values. What it computes is in operator_contract.cpp with all other
/// formats.
#include <tcsolve/formats/csell/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/bounds.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class CsellContract : public BackendTest<P> {};
TYPED_TEST_SUITE(CsellContract, StoredOnBoth, Label);

constexpr CsellTuning tunings[] = {{},
                                   {.max_length = 8},
                                   {.max_length = 1},
                                   {.window = 64},
                                   {.padding = 0},
                                   {.padding = 1e9},
                                   {.max_length = 5, .window = 1, .padding = 0},
                                   {.max_length = 256, .strip = 1},
                                   {.max_length = 40, .strip = 3},
                                   {.max_length = 256, .padding = 1e9, .strip = 8}};

TYPED_TEST(CsellContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (CsellTuning const& tuning : tunings) {
      Csell<T> csell(this->ctx(), there.view(), tuning);
      ASSERT_EQ(csell.to_csr(this->ctx()), a) << tuning.max_length << " " << tuning.window << " "
                                              << tuning.padding << " " << tuning.strip;
      ASSERT_GE(csell.stored(), a.entries());
    }
  }
}

TYPED_TEST(CsellContract, HostAndDeviceMakeTheSameArrays) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (CsellTuning const& tuning : tunings) {
      Csell<T> csell(this->ctx(), there.view(), tuning), expected(host, a.view(), tuning);
      CsellArrays<T> const &x = csell.arrays(), &y = expected.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.strips, y.strips));
      ASSERT_TRUE(same_bits(this->ctx(), x.ends, y.ends));
      ASSERT_TRUE(same_bits(this->ctx(), x.bases, y.bases));
      ASSERT_TRUE(same_bits(this->ctx(), x.numbers, y.numbers));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.order, y.order));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_row, y.long_row));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_start, y.long_start));
    }
  }
}

TYPED_TEST(CsellContract, TwoStepsLieSideBySide) {
  using View = CsellView<typename TestFixture::T>;
  EXPECT_EQ(View::place(0, 0), 0);
  EXPECT_EQ(View::place(1, 0), 1);
  EXPECT_EQ(View::place(0, 1), 2);
  EXPECT_EQ(View::place(1, 31), 63);
  EXPECT_EQ(View::place(2, 0), 64);
  EXPECT_EQ(View::place(5, 3), 135);
}

TYPED_TEST(CsellContract, RegularMatricesTakeAByteForAColumn) {
  using T = typename TestFixture::T;
  auto const bytes_an_entry = [&](Csr<double> const& a) {
    CsrStorage<T> there(this->ctx(), converted<T>(a));
    Csell<T> const csell(this->ctx(), there.view(), {.max_length = 256, .strip = 2});
    for (CsellStrip const& strip : to_host(this->ctx(), csell.arrays().strips))
      EXPECT_LE(strip.bytes, 2);
    return double(csell.bytes()) / double(a.entries()) - double(sizeof(T));
  };
  EXPECT_LT(bytes_an_entry(generate(Poisson27Params{.n = 40})), 1.5);
  EXPECT_LT(bytes_an_entry(generate(ElasticityParams{.n = 14})), 1.6);
}

TYPED_TEST(CsellContract, EachSliceTakesTheBytesItNeeds) {
  using T = typename TestFixture::T;
  // 32 rows with one entry each, some of them columns apart: 255 and 65535 are padding.
  Csr<double> a;
  a.rows = 160, a.cols = 70000;
  Index const reach[] = {0, 254, 255, 65534, 65535};
  for (Index i = 0; i < a.rows; ++i) {
    a.columns.push_back(i % 32 == 31 ? 7 + reach[i / 32] : 7);
    a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  Csell<T> const csell(this->ctx(), there.view());
  std::vector<int> bytes;
  for (CsellStrip const& strip : to_host(this->ctx(), csell.arrays().strips))
    bytes.push_back(strip.bytes);
  EXPECT_EQ(bytes, (std::vector<int>{1, 1, 2, 2, 4}));
}

TYPED_TEST(CsellContract, AStripIsItsSlicesEndToEnd) {
  using T = typename TestFixture::T;
  // Slices of 1, 3, 0 and 2 steps; the last has 4 lines.
  Csr<double> a;
  a.rows = 100, a.cols = 9;
  for (Index i = 0; i < a.rows; ++i) {
    Index const lengths[] = {1, 3, 0, 2};
    for (Index j = 0; j < lengths[i / 32]; ++j) a.columns.push_back(2 * j), a.values.push_back(i);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  Csell<T> const csell(this->ctx(), there.view(), {.padding = 1e9, .strip = 3});
  auto const strips = to_host(this->ctx(), csell.arrays().strips);
  ASSERT_EQ(strips.size(), 2u);
  EXPECT_EQ(strips[0].steps, 6);  // 5: a slice without entries has a step; made even
  EXPECT_EQ(strips[1].steps, 2);
  EXPECT_EQ(strips[1].first, 6);
  EXPECT_EQ(strips[1].numbers, 3u);
  // After the last of each come zeros, which kernels may read.
  auto const begins = [&](auto const& array, std::vector<std::int32_t> const& expected) {
    auto got = to_host(this->ctx(), array);
    ASSERT_GT(got.size(), expected.size());
    EXPECT_EQ(std::count(got.begin() + expected.size(), got.end(), 0),
              std::ptrdiff_t(got.size() - expected.size()));
    got.resize(expected.size());
    EXPECT_EQ(got, expected);
  };
  begins(csell.arrays().ends, {1, 4, 5, 2});
  begins(csell.arrays().bases, {0, 0, 2, 4, 0, 0, 0, 2});
  EXPECT_EQ(csell.to_csr(this->ctx()), converted<T>(a));
}

/// 55 steps in eight slices, and a slice of 56 after them: the step that makes the strip even is
/// where that one ends.
TYPED_TEST(CsellContract, AStepThatMakesAStripEvenEndsNoSlice) {
  using T = typename TestFixture::T;
  Csr<double> a;
  a.rows = 32 * 20, a.cols = 60;
  for (Index i = 0; i < a.rows; ++i) {
    Index const slice = i / 32, length = slice % 8 > 0 ? 7 : slice % 16 == 0 ? 6 : 56;
    for (Index j = 0; j < length; ++j) a.columns.push_back(j), a.values.push_back(1 + (i + j) % 5);
    a.offsets.push_back(a.entries());
  }
  Csr<T> const stored = converted<T>(a);
  CsellOperator<double, T> const A(this->ctx(), stored.view(),
                                   {.max_length = 256, .padding = 1e9, .strip = 8});
  EXPECT_EQ(to_host(this->ctx(), A.matrix().arrays().strips)[0].steps, 56);
  std::vector<double> x(a.cols), expected(a.rows);
  for (Index j = 0; j < a.cols; ++j) x[j] = 1 + j % 7;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      expected[i] += a.values[k] * x[a.columns[k]];
  Array<double> const there = to_space(this->ctx(), x.data(), x.size());
  Array<double> y(this->ctx().space(), a.rows);
  A.apply(this->ctx(), there.view(), y.view());
  EXPECT_EQ(to_host(this->ctx(), y), expected);
}

TYPED_TEST(CsellContract, ChoosesShorterLinesForFewEntriesAndDeeperStripsForMany) {
  using T = typename TestFixture::T;
  auto const made = [&](Csr<double> const& a) {
    CsrStorage<T> there(this->ctx(), converted<T>(a));
    Csell<T> const csell(this->ctx(), there.view());
    return std::pair(csell.arrays().most, csell.view().depth);
  };
  EXPECT_EQ(made(generate(Poisson7Params{.n = 8})), std::pair(Index{32}, Index{1}));
  // 21953 slices of 7 entries a row.
  EXPECT_EQ(made(generate(Poisson7Params{.n = 89})), std::pair(Index{80}, Index{4}));
}

TYPED_TEST(CsellContract, SortsOnlyWherePaddingIsTooMuch) {
  using T = typename TestFixture::T;
  auto const made = [&](Csr<double> const& a, CsellTuning const& tuning) {
    CsrStorage<T> there(this->ctx(), converted<T>(a));
    return Csell<T>(this->ctx(), there.view(), tuning);
  };
  Csr<double> const regular = generate(Poisson7Params{.n = 16}),
                    ragged = random_matrix(4000, 500, 40, 9);
  EXPECT_EQ(made(regular, {.max_length = 256}).arrays().order.size(), 0u);
  Csell<T> const sorted = made(ragged, {.max_length = 256, .strip = 4}),
                 unsorted = made(ragged, {.max_length = 256, .padding = 1e9});
  EXPECT_EQ(unsorted.arrays().order.size(), 0u);
  EXPECT_EQ(sorted.arrays().order.size(), 4000u);
  // Lines that wait take steps, where that saves more bytes of column numbers: most in FP16.
  EXPECT_LT(double(sorted.stored()), 1.05 * double(ragged.entries()));
  EXPECT_GT(double(unsorted.stored()), 1.5 * double(ragged.entries()));
  // Within a window rows stay together: each place's row is of its own window.
  Csell<T> const windows = made(ragged, {.max_length = 256, .window = 256});
  auto const order = to_host(this->ctx(), windows.arrays().order);
  for (std::size_t p = 0; p < order.size(); ++p) ASSERT_EQ(order[p] / 256, Index(p / 256));
}

TYPED_TEST(CsellContract, CutsLongRows) {
  using T = typename TestFixture::T;
  Csr<double> a;
  a.rows = 4, a.cols = 1000;
  for (Index length : {0, 1000, 256, 513}) {
    for (Index j = 0; j < length; ++j) a.columns.push_back(j), a.values.push_back(1 + j % 3);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  Csell<T> const csell(this->ctx(), there.view(), {.max_length = 256});
  EXPECT_EQ(csell.view().lines, 1 + 4 + 1 + 3);
  EXPECT_EQ(csell.view().parts, 7);
  EXPECT_EQ(to_host(this->ctx(), csell.arrays().long_row), (std::vector<Index>{1, 3}));
  EXPECT_EQ(to_host(this->ctx(), csell.arrays().long_start), (std::vector<Index>{0, 4, 7}));
}

TYPED_TEST(CsellContract, TakesNewValues) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix), b = a;
    for (std::size_t k = 0; k < b.values.size(); ++k) b.values[k] = T(double(k % 97) - 48.0);
    CsrStorage<T> there(this->ctx(), a), then(this->ctx(), b);
    for (CsellTuning const& tuning : tunings) {
      Csell<T> csell(this->ctx(), there.view(), tuning);
      Csell<T> const expected(this->ctx(), then.view(), tuning);
      auto const* const address = csell.view().values;
      csell.update_values(this->ctx(), then.view());
      ASSERT_EQ(csell.view().values, address);
      ASSERT_EQ(to_host(this->ctx(), csell.arrays().values),
                to_host(this->ctx(), expected.arrays().values));
    }
  }
  Csr<T> const a = converted<T>(generate(Poisson7Params{.n = 4}));
  Csr<T> const other = converted<T>(generate(Poisson27Params{.n = 4}));
  CsrStorage<T> there(this->ctx(), a), then(this->ctx(), other);
  Csell<T> csell(this->ctx(), there.view());
  EXPECT_THROW(csell.update_values(this->ctx(), then.view()), ShapeError);
}

TYPED_TEST(CsellContract, RefusesATuningOutOfRange) {
  using T = typename TestFixture::T;
  CsrStorage<T> there(this->ctx(), converted<T>(generate(Poisson7Params{.n = 3})));
  for (CsellTuning const& tuning : {CsellTuning{.max_length = -1},
                                    {.max_length = 65536},
                                    {.window = 0},
                                    {.window = 1 << 30},
                                    {.strip = -1},
                                    {.strip = 9}})
    EXPECT_THROW(Csell<T>(this->ctx(), there.view(), tuning), ShapeError);
}

}  // namespace
}  // namespace tcsolve::test
