// SPDX-License-Identifier: Apache-2.0
/// Sparse vectors from and to their other forms, and their products with CSR matrices.
#include <tcsolve/sparse/sparse_vector.hpp>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <limits>

#include "tests/support/sparse_products.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SparseVectors : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseVectors, RealsOnBoth, Label);

TYPED_TEST(SparseVectors, TheDrawnExample) {
  using T = typename TestFixture::T;
  std::vector<Index> const indices{0, 2, 43};
  std::vector<T> const values{5, 0, 7};
  auto const x = SparseVector<T>::from_entries(this->ctx(), 64, indices, values);
  EXPECT_EQ(to_host(this->ctx(), x.arrays().place), (std::vector<Index>{0, -1, 1, -1}));
  EXPECT_EQ(to_host(this->ctx(), x.arrays().list), (std::vector<Index>{0, 2}));
  EXPECT_EQ(to_host(this->ctx(), x.arrays().there), (std::vector<std::uint64_t>{5, 1u << 11}));
  std::vector<T> packed(32, T(0));
  packed[0] = 5, packed[16 + 11] = 7;
  EXPECT_EQ(to_host(this->ctx(), x.arrays().values), packed);
  EXPECT_EQ(x.entries(this->ctx()), 3);  // the stored zero is one
}

/// A dense vector that is written in place: of a mask, and beside old elements.
TYPED_TEST(SparseVectors, ADenseVectorInPlace) {
  using T = typename TestFixture::T;
  T const nan = std::numeric_limits<T>::quiet_NaN();
  for (Index const rows : {0, 1, 15, 16, 17, 33, 64, 65, 129, 1000})
    for (int const side : {16, 32, 64}) {
      SCOPED_TRACE(cat(rows, " elements, tiles of ", side));
      Sparse<T> const open = drawn<T>(rows, rows / 3 + 1, false, 5);
      auto const mask = in_space(this->ctx(), rows, open, side);
      for (int const masked : {0, 1, 2}) {  // no mask, a mask, its complement
        auto x = in_space(this->ctx(), rows, drawn<T>(rows, rows / 20, false, 4), side);
        std::vector<T> all(static_cast<std::size_t>(rows));
        for (Index i = 0; i < rows; ++i) all[i] = i % 3 == 0 ? T(0) : i % 7 == 0 ? nan : T(i);
        for (int run = 0; run < 2; ++run) {
          x.become_dense(this->ctx(), false, masked != 0 ? &mask : nullptr, masked == 2,
                         [&](Out<T> to) {
                           ASSERT_EQ(to.rows, rows);
                           copy_bytes(this->ctx(), to.data, to.space, all.data(), Space::host,
                                      all.size() * sizeof(T));
                         });
          EXPECT_EQ(x.tiles(), x.view().tile_count());
          Sparse<T> const got = on_host(this->ctx(), x);
          Array<T> dense(this->ctx().space(), static_cast<std::size_t>(rows));
          x.to_dense(this->ctx(), dense.view());
          std::vector<T> const back = to_host(this->ctx(), dense);
          for (Index i = 0; i < rows; ++i) {
            bool const is = i % 3 != 0 && (masked == 0 || open.contains(i) == (masked == 1));
            ASSERT_EQ(got.contains(i), is) << i;
            if (!is) ASSERT_EQ(back[i], T(0));
            if (is && i % 7 != 0) ASSERT_EQ(got.at(i), T(i));
            if (is && i % 7 == 0) ASSERT_TRUE(std::isnan(got.at(i)));
          }
          ASSERT_TRUE(x.as_dense().has_value());
          EXPECT_EQ(x.as_dense()->rows, rows);
        }
      }
      // Old elements are there, whether all tiles are packed or few.
      auto const old = drawn<T>(rows, rows / 20, false, 6);
      auto x = in_space(this->ctx(), rows, old, side);
      for (int run = 0; run < 2; ++run) {
        x.become_dense(this->ctx(), true, nullptr, false, [](Out<T>) {});
        EXPECT_EQ(on_host(this->ctx(), x), old);
      }
    }
}

TYPED_TEST(SparseVectors, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  T const inf = std::numeric_limits<T>::infinity();
  for (Index const rows : {1, 15, 16, 17, 63, 64, 65, 1000, 5000})
    for (int const side : {16, 32, 64})
      for (Index const count : {0, 1, 7, 200}) {
        SCOPED_TRACE(cat(rows, " elements, ", count, " drawn, tiles of ", side));
        Sparse<T> entries = drawn<T>(rows, count, count == 7, 3u + static_cast<unsigned>(rows));
        if (count == 200) entries.begin()->second = inf, entries.rbegin()->second = T(0);
        auto const x = in_space(this->ctx(), rows, entries, side);
        EXPECT_EQ(on_host(this->ctx(), x), entries);
        EXPECT_EQ(x.counted(), static_cast<Index>(entries.size()));
        EXPECT_EQ(x.entries(this->ctx()), x.counted());

        Array<T> dense(this->ctx().space(), static_cast<std::size_t>(rows));
        x.to_dense(this->ctx(), dense.view());
        std::vector<T> const all = to_host(this->ctx(), dense);
        for (Index i = 0; i < rows; ++i)
          ASSERT_EQ(all[i], entries.contains(i) ? entries.at(i) : T(0));
        auto nonzero = entries;
        std::erase_if(nonzero, [](auto const& entry) { return entry.second == T(0); });
        auto const back =
            SparseVector<T>::from_dense(this->ctx(), std::as_const(dense).view(), side);
        EXPECT_EQ(on_host(this->ctx(), back), nonzero);

        Array<std::uint64_t> words(this->ctx().space(), (static_cast<std::size_t>(rows) + 63) / 64);
        x.to_bits(this->ctx(), words.data());
        auto const ones = SparseVector<T>::from_bits(this->ctx(), rows, words.data(), side);
        Sparse<T> as_ones;
        for (auto const& entry : entries) as_ones[entry.first] = T(1);
        EXPECT_EQ(on_host(this->ctx(), ones), as_ones);
      }
}

TYPED_TEST(SparseVectors, EntriesMayComeInAnyOrderAndTwice) {
  using T = typename TestFixture::T;
  std::vector<Index> const indices{40, 3, 40, 0, 3};
  std::vector<T> const values{1, 2, 3, 4, 5};
  auto const x = SparseVector<T>::from_entries(this->ctx(), 50, indices, values, 32);
  EXPECT_EQ(on_host(this->ctx(), x), (Sparse<T>{{0, T(4)}, {3, T(7)}, {40, T(4)}}));
}

TYPED_TEST(SparseVectors, RefuseByName) {
  using T = typename TestFixture::T;
  std::vector<Index> const indices{1, 50}, below{-1};
  std::vector<T> const values{1, 2}, one{1};
  auto const refused = [&](auto const& f, std::string const& says) {
    std::string const text = message_of<ShapeError>(f);
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  refused([&] { SparseVector<T>::from_entries(this->ctx(), 50, indices, values); },
          "entry 1 is element 50, outside [0, 50)");
  refused([&] { SparseVector<T>::from_entries(this->ctx(), 50, below, one); }, "element -1");
  refused([&] { SparseVector<T>::from_entries(this->ctx(), 50, indices, one); },
          "2 indices and 1 values");
  refused([&] { SparseVector<T>(this->ctx(), 50, 48); }, "tiles of 48");
  // What counts tiles in 32 bits refuses more entries before it looks at one.
  PatternView large;
  large.rows = large.cols = 70'000, large.entries = Offset{1} << 31;
  EXPECT_THROW(tiles_below(this->ctx(), large), SizeError);
}

TYPED_TEST(SparseVectors, ProductsWithCsrAreThoseOfTheDefinition) {
  using T = typename TestFixture::T;
  std::vector<Named> list;
  for (auto const& m : adversarial()) list.push_back(m);
  list.push_back({"27-point", generate(Poisson27Params{.n = 9})});
  list.push_back({"scattered", random_matrix(700, 500, 6, 4)});
  for (auto const& m : list) {
    if (m.matrix.entries() > 40000) continue;
    SCOPED_TRACE(m.name);
    Csr<double> a = m.matrix;
    for (double& v : a.values) v = std::isfinite(v) ? std::remainder(v, 16.0) : 1;
    if constexpr (std::is_same_v<T, float>)
      for (double& v : a.values) v = static_cast<float>(v);
    Csr<T> narrow{a.rows, a.cols, a.offsets, a.columns, {a.values.begin(), a.values.end()}};
    CsrStorage<T> const there(this->ctx(), narrow);
    SpmspvMemory<T> memory;
    StoredTilesBelow const below = tiles_below(this->ctx(), there.view());
    expect_products<T>(this->ctx(), a, {SpmspvWay::automatic, SpmspvWay::rows, SpmspvWay::columns},
                       [&](SparseProduct<T> const& how, auto const& x, auto& y) {
                         multiply_sparse(this->ctx(), there.view(), how, x, y, memory, below.view);
                       });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SparseVectors, InfAndNanStayInTheirRows) {
  using T = typename TestFixture::T;
  Csr<double> const pattern = with_entries(40, {{0, 0}, {0, 20}, {5, 3}, {39, 39}, {7, 21}});
  Csr<T> a{40, 40, pattern.offsets, pattern.columns, std::vector<T>(5, T(2))};
  CsrStorage<T> const there(this->ctx(), a);
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  auto const x = in_space<T>(this->ctx(), 40, {{20, inf}, {3, nan}, {39, T(0)}, {1, nan}}, 16);
  SparseVector<T> y(this->ctx(), 40);
  EXPECT_EQ(y.counted(), 0);
  multiply_sparse(this->ctx(), there.view(), SparseProduct<T>{}, x, y);
  EXPECT_EQ(y.counted(), -1) << "not before somebody asks";
  auto const got = on_host(this->ctx(), y);
  EXPECT_EQ(y.counted(), 3);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got.at(0), inf);
  EXPECT_TRUE(std::isnan(got.at(5)));
  EXPECT_EQ(got.at(39), T(0));
}

TYPED_TEST(SparseVectors, ResidualsAreUpdated) {
  using T = typename TestFixture::T;
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  Csr<T> const narrow{a.rows, a.cols, a.offsets, a.columns, {a.values.begin(), a.values.end()}};
  CsrStorage<T> const there(this->ctx(), narrow);
  std::vector<T> r(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) r[i] = T(i % 13);
  Array<T> residual = to_space(this->ctx(), r.data(), r.size());
  Sparse<T> const dx{{0, T(2)}, {300, T(-1)}, {301, T(0.5)}};
  auto const change = in_space(this->ctx(), a.cols, dx, 32);
  Index const touched = update_residual(this->ctx(), there.view(), change, residual.view());
  std::set<Index> rows;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (auto const at = dx.find(a.columns[k]); at != dx.end())
        r[i] -= T(a.values[k]) * at->second, rows.insert(i);
  EXPECT_EQ(to_host(this->ctx(), residual), r);  // small whole numbers: exact
  EXPECT_EQ(touched, static_cast<Index>(rows.size()));
}

TYPED_TEST(SparseVectors, ProductsRefuseByName) {
  using T = typename TestFixture::T;
  Csr<T> const a{2, 3, {0, 1, 2}, {0, 2}, {T(1), T(2)}};
  CsrStorage<T> const there(this->ctx(), a);
  SparseVector<T> const x(this->ctx(), 3), longer(this->ctx(), 4), wide(this->ctx(), 3, 32);
  SparseVector<T> y(this->ctx(), 2);
  auto const refused = [&](SparseVector<T> const& by, SparseProduct<T> const& how,
                           std::string const& says) {
    std::string const text =
        message_of<ShapeError>([&] { multiply_sparse(this->ctx(), there.view(), how, by, y); });
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  refused(longer, {}, "x has 4 elements");
  refused(wide, {}, "tiles of 32, y of 16");
  refused(x, {.mask = &longer}, "mask has 4 elements");
  refused(x, {.alpha = T(2), .semiring = Semiring::or_and}, "alpha = 1");
  for (SparseProduct<T> const& how :
       {SparseProduct<T>{.way = SpmspvWay::columns}, SparseProduct<T>{.way = SpmspvWay::entries},
        SparseProduct<T>{.way = SpmspvWay::dense}, SparseProduct<T>{.op = Op::transpose}})
    EXPECT_THROW(multiply_sparse(this->ctx(), there.view(), how, x, y), Unsupported);
}

}  // namespace
}  // namespace tcsolve::test
