// SPDX-License-Identifier: Apache-2.0
/// Tiles of 16 x 16 inside: there and back, the same arrays from host and device, the drawn kind of
/// example, what its products of sparse vectors have beside those of CSR. The others are in
/// sparse_products.cpp, dense ones in operator_contract.cpp with all formats.
#include <tcsolve/formats/tile16/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <limits>

#include "tests/support/guarded.hpp"
#include "tests/support/sparse_products.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class Tile16Contract : public BackendTest<P> {};
TYPED_TEST_SUITE(Tile16Contract, StoredOnBoth, Label);

constexpr Tile16Tuning tunings[] = {{}, {.least = 1}, {.least = 2}, {.least = 257}};

TYPED_TEST(Tile16Contract, ThereAndBackIsTheSame) {
  using S = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> const a = representable<S>(m.matrix);
    CsrStorage<S> const there(this->ctx(), a);
    for (Tile16Tuning const& tuning : tunings) {
      Tile16<S> tiles(this->ctx(), there.view(), tuning);
      ASSERT_EQ(tiles.to_csr(this->ctx()), a) << tuning.least;
      Csr<S> other = a;
      for (S& v : other.values) v = S(float(v) * 0.5f);
      CsrStorage<S> const changed(this->ctx(), other);
      tiles.update_values(this->ctx(), changed.view());
      ASSERT_EQ(tiles.to_csr(this->ctx()), other) << tuning.least;
    }
  }
}

TYPED_TEST(Tile16Contract, HostAndDeviceMakeTheSameArrays) {
  using S = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> const a = representable<S>(m.matrix);
    CsrStorage<S> const there(this->ctx(), a);
    for (Tile16Tuning const& tuning : tunings) {
      Tile16<S> const got(this->ctx(), there.view(), tuning), wanted(host, a.view(), tuning);
      Tile16Arrays<S> const &x = got.arrays(), &y = wanted.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.start, y.start));
      ASSERT_TRUE(same_bits(this->ctx(), x.column, y.column));
      ASSERT_TRUE(same_bits(this->ctx(), x.first, y.first));
      ASSERT_TRUE(same_bits(this->ctx(), x.row_start, y.row_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.places, y.places));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.rest_start, y.rest_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.rest_columns, y.rest_columns));
      ASSERT_TRUE(same_bits(this->ctx(), x.rest_values, y.rest_values));
    }
  }
}

/// Tiles of least entries or more, by the definition.
TYPED_TEST(Tile16Contract, TilesOfFewEntriesGoToTheRest) {
  using S = typename TestFixture::T;
  Csr<double> const wide = generate(Poisson27Params{.n = 10});
  Csr<S> const a = representable<S>(wide);
  CsrStorage<S> const there(this->ctx(), a);
  for (Tile16Tuning const& tuning : tunings) {
    std::map<std::pair<Index, Index>, Offset> count;
    for (Index i = 0; i < a.rows; ++i)
      for (Index const j : a.row_columns(i)) ++count[{i / 16, j / 16}];
    Offset tiles = 0, packed = 0;
    for (auto const& tile : count)
      if (tile.second >= tuning.least) ++tiles, packed += tile.second;
    Tile16<S> const made(this->ctx(), there.view(), tuning);
    EXPECT_EQ(made.view().tiles, tiles);
    EXPECT_EQ(made.view().packed, packed);
    EXPECT_EQ(made.view().rest_start == nullptr, packed == a.entries());
  }
  EXPECT_THROW(Tile16<S>(this->ctx(), there.view(), {.least = 0}), ShapeError);
}

/// By its own choice: few tiles of x by columns, most of them by a dense product, for plus_times.
TYPED_TEST(Tile16Contract, TheWayFollowsFromTheTilesOfX) {
  using S = typename TestFixture::T;
  using T = std::conditional_t<std::is_same_v<S, double>, double, float>;
  Csr<S> const a = representable<S>(generate(Poisson27Params{.n = 16}));
  CsrStorage<S> const there(this->ctx(), a);
  Tile16Operator<T, S> const tiles(this->ctx(), there.view());
  auto const way = [&](Index count, Semiring semiring) {
    Sparse<T> x;
    for (Index k = 0; k < count; ++k) x[static_cast<Index>(std::int64_t{a.cols} * k / count)] = 1;
    SparseVector<T> y(this->ctx(), a.rows);
    return tiles
        .multiply_sparse(this->ctx(), {.semiring = semiring}, in_space(this->ctx(), a.cols, x, 16),
                         y)
        .way;
  };
  EXPECT_EQ(way(3, Semiring::plus_times), SpmspvWay::columns);
  EXPECT_EQ(way(60, Semiring::plus_times), SpmspvWay::rows);
  EXPECT_EQ(way(a.cols / 2, Semiring::plus_times), SpmspvWay::dense);
  EXPECT_EQ(way(a.cols / 2, Semiring::or_and), SpmspvWay::rows);
}

/// A dense product multiplies stored Inf and NaN by zeros that x does not have.
TYPED_TEST(Tile16Contract, InfAndNanStayInTheirRowsByADenseProduct) {
  using S = typename TestFixture::T;
  using T = std::conditional_t<std::is_same_v<S, double>, double, float>;
  Csr<double> wide = generate(Poisson27Params{.n = 8});
  wide.values[40] = std::numeric_limits<double>::infinity();
  wide.values[900] = std::numeric_limits<double>::quiet_NaN();
  Csr<S> a;
  a.rows = wide.rows, a.cols = wide.cols, a.offsets = wide.offsets, a.columns = wide.columns;
  for (double const v : wide.values) a.values.push_back(S(float(v)));
  CsrStorage<S> const there(this->ctx(), a);
  Tile16Operator<T, S> const tiles(this->ctx(), there.view());
  Sparse<T> x = drawn<T>(a.cols, 3 * a.cols / 4, false, 3);
  x.erase(a.columns[40]);
  SparseVector<T> const by = in_space(this->ctx(), a.cols, x, 16);
  SparseVector<T> y(this->ctx(), a.rows), z(this->ctx(), a.rows);
  tiles.multiply_sparse(this->ctx(), {.way = SpmspvWay::dense}, by, y);
  tiles.multiply_sparse(this->ctx(), {.way = SpmspvWay::rows}, by, z);
  auto const got = on_host(this->ctx(), y), wanted = on_host(this->ctx(), z);
  ASSERT_EQ(got.size(), wanted.size());
  Index infinite = 0;
  for (auto const& [i, v] : wanted) {
    infinite += !std::isfinite(double(v));
    ASSERT_TRUE(got.contains(i));
    EXPECT_TRUE(got.at(i) == v || (std::isnan(double(v)) && std::isnan(double(got.at(i)))));
  }
  EXPECT_LE(infinite, 1);  // the row of the NaN, where x meets it
}

/// y's arrays are kept: products with fewer and with more tiles, and y as x, one after the other.
TYPED_TEST(Tile16Contract, ManyProductsToOneVectorAreThoseToNewOnes) {
  using S = typename TestFixture::T;
  using T = std::conditional_t<std::is_same_v<S, double>, double, float>;
  Csr<S> const a = representable<S>(generate(Poisson7Params{.n = 14}));
  CsrStorage<S> const there(this->ctx(), a);
  Tile16Operator<T, S> const tiles(this->ctx(), there.view());
  for (int const side : {16, 64}) {
    SparseVector<T> y(this->ctx(), a.rows, side);
    unsigned seed = 40;
    for (Index const count : {5, 400, 1, 30, 0, 2744, 3, 60}) {
      for (SpmspvWay const way : {SpmspvWay::columns, SpmspvWay::rows, SpmspvWay::dense}) {
        SCOPED_TRACE(cat("side ", side, ", ", count, " entries, ", int(way)));
        auto const x = in_space(this->ctx(), a.cols, drawn<T>(a.cols, count, true, ++seed), side);
        SparseProduct<T> how{.beta = count % 2 == 0 ? T(0.5) : T(0), .way = way};
        SparseVector<T> fresh = in_space(this->ctx(), a.rows, on_host(this->ctx(), y), side);
        tiles.multiply_sparse(this->ctx(), how, x, fresh);
        tiles.multiply_sparse(this->ctx(), how, x, y);
        EXPECT_EQ(on_host(this->ctx(), y), on_host(this->ctx(), fresh));
        auto const place = to_host(this->ctx(), y.arrays().place);
        for (Index k = 0, tile = 0; tile < Index(place.size()); ++tile)
          if (place[tile] >= 0) ASSERT_EQ(place[tile], k++) << "tile " << tile;
        EXPECT_EQ(std::ranges::count_if(place, [](Index p) { return p >= 0; }), y.tiles());
      }
      SparseVector<T> again = in_space(this->ctx(), a.rows, on_host(this->ctx(), y), side);
      SparseVector<T> const from = in_space(this->ctx(), a.rows, on_host(this->ctx(), y), side);
      tiles.multiply_sparse(this->ctx(), {.beta = T(1)}, again, again);  // y = A y + y
      SparseVector<T> apart = in_space(this->ctx(), a.rows, on_host(this->ctx(), y), side);
      tiles.multiply_sparse(this->ctx(), {.beta = T(1)}, from, apart);
      EXPECT_EQ(on_host(this->ctx(), again), on_host(this->ctx(), apart));
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
