// SPDX-License-Identifier: Apache-2.0
/// Diagonals inside: there and back, the same arrays from host and device, symmetric storage and
/// what becomes of it when values change, padding. What they compute is in operator_contract.cpp
/// with all other formats.
#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/bounds.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class DiaContract : public BackendTest<P> {
 public:
  using T = typename P::Value;
  Dia<T> made(Csr<double> const& a, DiaTuning const& tuning = {}) {
    CsrStorage<T> there(this->ctx(), converted<T>(a));
    return Dia<T>(this->ctx(), there.view(), tuning);
  }
};
TYPED_TEST_SUITE(DiaContract, StoredOnBoth, Label);

TYPED_TEST(DiaContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (bool symmetric : {true, false}) {
      Dia<T> dia(this->ctx(), there.view(), {symmetric});
      ASSERT_EQ(widened(dia.to_csr(this->ctx())), widened(a));  // +0 for -0
    }
  }
}

TYPED_TEST(DiaContract, HostAndDeviceMakeTheSameArrays) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  auto list = for_conversion();
  list.push_back({"symmetric", generate(Poisson7Params{.n = 9})});
  for (Named const& m : list) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    Dia<T> const dia(this->ctx(), there.view()), expected(host, a.view());
    DiaArrays<T> const &x = dia.arrays(), &y = expected.arrays();
    EXPECT_EQ(x.stored, y.stored);
    ASSERT_TRUE(same_bits(this->ctx(), x.offsets, y.offsets));
    ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
    ASSERT_TRUE(same_bits(this->ctx(), x.upper, y.upper));
  }
}

TYPED_TEST(DiaContract, ASymmetricMatrixIsStoredByItsLowerTriangle) {
  using T = typename TestFixture::T;
  Csr<double> a = generate(Poisson27Params{.n = 7, .coefficient = Coefficient::random});
  for (double& v : a.values) v = double(T(v));  // rounded alike above and below
  Dia<T> const half = this->made(a), whole = this->made(a, {.symmetric = false});
  EXPECT_TRUE(half.symmetric());
  EXPECT_FALSE(whole.symmetric());
  EXPECT_EQ(half.view().distinct, 27);
  EXPECT_EQ(half.arrays().stored, 14);
  EXPECT_EQ(whole.arrays().stored, 27);
  EXPECT_EQ(half.view().count, 28);
  // One entry off by an ulp, or missing on one side, or a zero there.
  Csr<double> other = a;
  other.values[5] = double(std::nextafter(float(other.values[5]) * 1.5f, 9.0f));
  EXPECT_FALSE(this->made(other).symmetric());
  EXPECT_EQ(this->made(other).to_csr(this->ctx()), converted<T>(other));
  other = a;
  other.columns.erase(other.columns.begin() + 1), other.values.erase(other.values.begin() + 1);
  for (Index i = 1; i <= other.rows; ++i) --other.offsets[i];
  EXPECT_FALSE(this->made(other).symmetric());
  EXPECT_EQ(this->made(other).to_csr(this->ctx()), converted<T>(other));
  // Signs of zeros are not kept, and do not count.
  other = a;
  for (double& v : other.values) v = 0.0;
  other.values[1] = -0.0;
  EXPECT_TRUE(this->made(other).symmetric());
  EXPECT_EQ(widened(this->made(other).to_csr(this->ctx())), other);
}

TYPED_TEST(DiaContract, EachDiagonalSaysWhereItsValuesLie) {
  using T = typename TestFixture::T;
  Csr<double> a;  // rows 0 1 | 0 1 2 | 1 2, symmetric
  a.rows = a.cols = 3;
  a.offsets = {0, 2, 5, 7}, a.columns = {0, 1, 0, 1, 2, 1, 2}, a.values = {4, 1, 1, 4, 2, 2, 4};
  Dia<T> const dia = this->made(a);
  auto const list = to_host(this->ctx(), dia.arrays().diagonals);
  auto const values = to_host(this->ctx(), dia.arrays().values);
  auto const at = [&](int d, Index i) {
    return values[list[d].start + std::min<Offset>(i, list[d].last)];
  };
  ASSERT_EQ(list.size(), 4u);
  double const expected[3][3] = {{0, 1, 2}, {4, 4, 4}, {1, 2, 0}};
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(list[d].offset, d - 1);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(is_padding(at(d, i)), expected[d][i] == 0);
      EXPECT_EQ(double(at(d, i)), expected[d][i]);
    }
  }
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(is_padding(at(3, i)));  // the list is filled up
}

/// New values without symmetry: the upper diagonals come, and the list stays where persistent loops
/// look for it.
TYPED_TEST(DiaContract, ValuesThatAreSymmetricNoLongerBringTheUpperDiagonals) {
  using T = typename TestFixture::T;
  Csr<double> a = generate(Poisson7Params{.n = 6});
  Dia<T> dia = this->made(a);
  ASSERT_TRUE(dia.symmetric());
  DiaDiagonal const* const diagonals = dia.view().diagonals;
  T const* const values = dia.view().values;
  std::size_t const bytes = dia.bytes();
  auto const set = [&](std::uint64_t seed, bool symmetric) {
    auto const random = random_values(a.values.size(), seed, -2, 2);
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        Index const j = a.columns[k];
        a.values[k] = double(T(symmetric ? std::sin(double(seed) + i + j) : random[k]));
      }
    CsrStorage<T> there(this->ctx(), converted<T>(a));
    dia.update_values(this->ctx(), there.view());
    EXPECT_EQ(dia.to_csr(this->ctx()), converted<T>(a));
    EXPECT_EQ(dia.view().diagonals, diagonals);
    EXPECT_EQ(dia.view().values, values);
  };
  set(1, true);
  EXPECT_TRUE(dia.symmetric());
  EXPECT_EQ(dia.bytes(), bytes);
  set(2, false);
  EXPECT_FALSE(dia.symmetric());
  set(3, false);
  set(4, true);  // it stays whole
  EXPECT_FALSE(dia.symmetric());
  EXPECT_GT(dia.bytes(), bytes);
}

/// With values that are small integers, so that every sum is exact, vectors of V: two columns, by
/// columns and by rows, and the inner product.
template <class V, class T>
void multiplies_exactly(Context& ctx, Csr<double>& a) {
  for (bool symmetric : {true, false}) {
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        a.values[k] = symmetric ? (i + a.columns[k]) % 5 - 2 : (3 * i + a.columns[k]) % 7 - 3;
    Csr<T> const stored = converted<T>(a);
    DiaOperator<V, T> const A(ctx, stored.view());
    EXPECT_EQ(A.matrix().symmetric(), symmetric);
    std::size_t const n = a.rows;
    std::vector<V> x(2 * n), expected(2 * n), by_rows(2 * n);
    for (std::size_t i = 0; i < 2 * n; ++i) x[i] = V(i % 11) - 5;
    long double sigma = 0;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        for (int j = 0; j < 2; ++j) {
          expected[j * n + i] += V(a.values[k]) * x[j * n + a.columns[k]];
          by_rows[2 * i + j] += V(a.values[k]) * x[2 * a.columns[k] + j];
        }
      }
      sigma += static_cast<long double>(x[i]) * expected[i];
    }
    Space const s = ctx.space();
    Array<V> const there = to_space(ctx, x.data(), 2 * n);
    Array<V> y(s, 2 * n), z(s, n);
    A.apply(ctx, In<V>{there.data(), a.rows, 2, a.rows, Layout::col_major, s},
            Out<V>{y.data(), a.rows, 2, a.rows, Layout::col_major, s});
    EXPECT_EQ(to_host(ctx, y), expected);
    A.apply(ctx, In<V>{there.data(), a.rows, 2, 2, Layout::row_major, s},
            Out<V>{y.data(), a.rows, 2, 2, Layout::row_major, s});
    EXPECT_EQ(to_host(ctx, y), by_rows);
    There<double> dot(ctx, 0.0);
    A.apply_dot(ctx, vector_view(there.data(), a.rows, s), z.view(), dot.data());
    EXPECT_EQ(to_host(ctx, z), std::vector<V>(expected.begin(), expected.begin() + n));
    EXPECT_EQ(dot.get(), double(sigma));
  }
}

/// So many rows that a thread has several, and edges within its reach.
TYPED_TEST(DiaContract, ManyRowsAreMultipliedExactly) {
  using T = typename TestFixture::T;
  Csr<double> a = generate(Poisson7Params{.n = 77});  // 456533 rows
  multiplies_exactly<double, T>(this->ctx(), a);
  if constexpr (sizeof(T) < 8) multiplies_exactly<float, T>(this->ctx(), a);
}

/// On both sides of the main diagonal at these distances, and on it: the pattern.
Csr<double> banded(Index rows, std::vector<Index> const& offsets, bool main) {
  Csr<double> a;
  a.rows = a.cols = rows;
  for (Index i = 0; i < rows; ++i) {
    for (auto o = offsets.rbegin(); o != offsets.rend(); ++o)
      if (i >= *o) a.columns.push_back(i - *o);
    if (main) a.columns.push_back(i);
    for (Index const o : offsets)
      if (i + o < rows) a.columns.push_back(i + o);
    a.offsets.push_back(Offset(a.columns.size()));
  }
  a.values.resize(a.columns.size());
  return a;
}

/// Near the main diagonal and far from it, up to the matrix's corners; those of a periodic grid.
TYPED_TEST(DiaContract, AnyNumberOfDiagonalsIsMultipliedExactly) {
  using T = typename TestFixture::T;
  Index const rows = 2500;
  std::vector<std::vector<Index>> lists{{1, 49, 50, 2450, 2499}};
  std::vector<Index> list;
  for (Index const offset : {1, 2, 40, 41, 1000, 1001, 2047, 2048, 2499}) {
    list.push_back(offset);
    lists.push_back(list);
  }
  for (auto const& offsets : lists)
    for (bool main : {true, false}) {
      SCOPED_TRACE(2 * offsets.size() + main);
      Csr<double> a = banded(rows, offsets, main);
      multiplies_exactly<double, T>(this->ctx(), a);
      if constexpr (sizeof(T) < 8) multiplies_exactly<float, T>(this->ctx(), a);
    }
}

/// More than a kernel's parameters hold.
TYPED_TEST(DiaContract, ManyDiagonalsAreMultipliedExactly) {
  using T = typename TestFixture::T;
  for (Index const rows : {Index{3000}, this->ctx().device() ? Index{110000} : Index{5000}}) {
    std::vector<Index> offsets(33);
    std::iota(offsets.begin(), offsets.end(), 1);
    Csr<double> a = banded(rows, offsets, true);
    multiplies_exactly<double, T>(this->ctx(), a);
    if constexpr (sizeof(T) < 8) multiplies_exactly<float, T>(this->ctx(), a);
  }
}

TYPED_TEST(DiaContract, AnInfinityReachesOnlyRowsThatReferToIt) {
  using T = typename TestFixture::T;
  double const inf = std::numeric_limits<double>::infinity();
  Csr<double> const a = generate(Poisson7Params{.n = 5});
  Csr<T> const stored = converted<T>(a);
  for (bool symmetric : {true, false}) {
    DiaOperator<double, T> const A(this->ctx(), stored.view(), {symmetric});
    for (Index at : {Index{0}, Index{62}, Index{124}}) {
      std::vector<double> x(a.cols, 1.0);
      x[at] = inf;
      Array<double> const there = to_space(this->ctx(), x.data(), x.size());
      Array<double> y(this->ctx().space(), a.rows);
      A.apply(this->ctx(), there.view(), y.view());
      auto const got = to_host(this->ctx(), y);
      for (Index i = 0; i < a.rows; ++i) {
        auto const columns = a.row_columns(i);
        bool const refers = std::ranges::find(columns, at) != columns.end();
        EXPECT_EQ(std::isfinite(got[i]), !refers) << i;
      }
    }
  }
}

TYPED_TEST(DiaContract, RefusesWhatIsNotMadeOfDiagonals) {
  using T = typename TestFixture::T;
  Csr<double> const a = random_matrix(3000, 3000, 9, 4);
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  EXPECT_THROW(Dia<T>(this->ctx(), there.view()), MatrixError);
  Index const counted = count_diagonals(this->ctx(), there.view());
  EXPECT_GT(counted, 3000);
  EXPECT_LT(counted, 6000);
  CsrStorage<T> stencil(this->ctx(), converted<T>(generate(Poisson27Params{.n = 5})));
  EXPECT_EQ(count_diagonals(this->ctx(), stencil.view()), 27);
}

}  // namespace
}  // namespace tcsolve::test
