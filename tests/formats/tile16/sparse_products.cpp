// SPDX-License-Identifier: Apache-2.0
/// Products of sparse vectors by every operator that has them: of A and of A^T, every way, mask and
/// semiring, against the definition.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/tile16/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <limits>

#include "tests/support/sparse_products.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SparseProducts : public BackendTest<P> {
 public:
  using S = typename BackendTest<P>::T;
  using V = std::conditional_t<std::is_same_v<S, double>, double, float>;

  template <class F>
  void each_operator(Csr<S> const& a, F const& f) {
    CsrStorage<S> const there(this->ctx(), a);
    CsrOperator<V, S> csr(this->ctx(), there.view(), Arrays::copied);
    Tile16Operator<V, S> tiles(this->ctx(), there.view()),
        single(this->ctx(), there.view(), {.least = 1});
    f("csr", csr, false), f("tile16", tiles, true), f("tile16, least 1", single, true);
  }

  /// Of A and of A^T.
  void expect_those_of_the_definition(Csr<double> const& a) {
    Csr<S> const narrow = representable<S>(a);
    Csr<double> rounded = a;
    for (std::size_t k = 0; k < rounded.values.size(); ++k)
      rounded.values[k] = double(narrow.values[k]);
    each_operator(narrow, [&](std::string const& name, auto const& A, bool has_dense) {
      for (Op const op : {Op::none, Op::transpose}) {
        SCOPED_TRACE(cat(name, op == Op::none ? "" : ", transposed"));
        std::vector<SpmspvWay> ways{SpmspvWay::rows, SpmspvWay::columns, SpmspvWay::automatic};
        ways.push_back(has_dense ? SpmspvWay::dense : SpmspvWay::entries);
        expect_products<V>(
            this->ctx(), op == Op::none ? rounded : transpose(rounded.view()), ways,
            [&](SparseProduct<V> how, auto const& x, auto& y) {
              how.op = op;
              if (how.way == SpmspvWay::dense && how.semiring != Semiring::plus_times) {
                EXPECT_THROW(multiply_sparse<V>(this->ctx(), A, how, x, y), Unsupported);
                how.way = SpmspvWay::rows;
              }
              SparseProductNotes const notes = multiply_sparse<V>(this->ctx(), A, how, x, y);
              if (how.way != SpmspvWay::automatic) EXPECT_EQ(notes.way, how.way);
              EXPECT_EQ(notes.kept, y.tiles());
            });
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }

  Sparse<V> product(LinearOperator<V> const& A, SparseProduct<V> const& how, Sparse<V> const& x) {
    bool const turned = how.op != Op::none;
    SparseVector<V> y(this->ctx(), turned ? A.cols() : A.rows());
    multiply_sparse<V>(this->ctx(), A, how,
                       in_space(this->ctx(), turned ? A.rows() : A.cols(), x, 16), y);
    return on_host(this->ctx(), y);
  }
};
TYPED_TEST_SUITE(SparseProducts, StoredOnBoth, Label);

TYPED_TEST(SparseProducts, AreThoseOfTheDefinition) {
  std::vector<Named> list{{"27-point", generate(Poisson27Params{.n = 8})},
                          {"scattered", random_matrix(700, 500, 6, 4)},
                          {"hubs", generate(RmatParams{9, 8, Coefficient::random})}};
  for (Named const& m : adversarial())
    if (m.matrix.entries() < 3000) list.push_back(m);
  for (Named const& m : list) {
    SCOPED_TRACE(m.name);
    Csr<double> a = m.matrix;
    for (double& v : a.values) v = std::isfinite(v) ? std::remainder(v, 16.0) : 1;
    this->expect_those_of_the_definition(a);
    if (this->HasFatalFailure()) return;
  }
}

/// Each step as a kernel of its own, where the device runs no cooperative one.
TYPED_TEST(SparseProducts, WithoutCooperativeLaunchesAreTheSame) {
  struct Refused {
    Refused() { faults::refuse_cooperative_launches(true); }
    ~Refused() { faults::refuse_cooperative_launches(false); }
  } const refused;
  this->expect_those_of_the_definition(generate(Poisson27Params{.n = 6}));
}

/// Bits, not only values: sums in which an order tells.
TYPED_TEST(SparseProducts, HaveTheSameBitsInEveryFormatAndRunAndWay) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<double> wide = random_matrix(900, 640, 20, 9);
  for (std::size_t k = 0; k < wide.values.size(); ++k)
    wide.values[k] *= std::ldexp(1.0, static_cast<int>(k * 7 % 13));
  Csr<S> const a = representable<S>(wide);
  for (Op const op : {Op::none, Op::transpose}) {
    auto x = drawn<V>(op == Op::none ? a.cols : a.rows, 300, false, 8);
    for (auto& entry : x) entry.second = V(1) / entry.second;
    Sparse<V> by_csr, by_tiles;
    this->each_operator(a, [&](std::string const& name, auto const& A, bool has_dense) {
      // Tiles and the rest of a row are two sums in a row; only where all are tiles is it CSR's.
      Sparse<V>& first = name == "tile16" ? by_tiles : by_csr;
      for (int run = 0; run < 20; ++run)
        for (SpmspvWay const way : {SpmspvWay::rows, SpmspvWay::columns, SpmspvWay::entries}) {
          if (has_dense && way == SpmspvWay::entries) continue;
          auto const got = this->product(A, {.op = op, .way = way}, x);
          if (first.empty()) first = got;
          ASSERT_EQ(got, first) << name;
        }
    });
    EXPECT_GT(by_csr.size(), 300u);
  }
}

TYPED_TEST(SparseProducts, TheTransposeFollowsNewValues) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<double> wide = random_matrix(300, 200, 5, 4);
  Csr<S> const a = representable<S>(wide);
  for (double& v : wide.values) v *= 2;
  Csr<S> const twice = representable<S>(wide);
  CsrStorage<S> const changed(this->ctx(), twice);
  auto const x = drawn<V>(a.rows, 30, false, 5);
  this->each_operator(a, [&](std::string const& name, auto& A, bool) {
    SCOPED_TRACE(name);
    auto before = this->product(A, {.op = Op::transpose}, x);
    ASSERT_FALSE(before.empty());
    A.update_values(this->ctx(), changed.view());
    for (auto& entry : before) entry.second *= V(2);
    EXPECT_EQ(this->product(A, {.op = Op::transpose}, x), before);
  });
}

/// By its own choice csr goes by columns where few tiles are met, and has no dense way.
TYPED_TEST(SparseProducts, CsrChoosesBetweenRowsAndColumns) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<S> const a = representable<S>(generate(Poisson27Params{.n = 16}));
  CsrOperator<V, S> const A(this->ctx(), CsrStorage<S>(this->ctx(), a).view());
  for (Op const op : {Op::none, Op::transpose}) {
    auto const way = [&](Index count) {
      Sparse<V> x;
      for (Index k = 0; k < count; ++k) x[static_cast<Index>(std::int64_t{a.cols} * k / count)] = 1;
      SparseVector<V> y(this->ctx(), a.rows);
      return A.multiply_sparse(this->ctx(), {.op = op}, in_space(this->ctx(), a.cols, x, 16), y)
          .way;
    };
    EXPECT_EQ(way(3), SpmspvWay::columns);
    EXPECT_EQ(way(a.cols / 2), SpmspvWay::rows);
  }
  EXPECT_THROW(this->product(A, {.way = SpmspvWay::dense}, {{0, V(1)}}), Unsupported);
}

/// The rates decide, those of the product before those of the operator, and no way has other bits.
TYPED_TEST(SparseProducts, GoTheWayThatTheRatesSay) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<S> const a = representable<S>(generate(Poisson27Params{.n = 10}));
  CsrStorage<S> const there(this->ctx(), a);
  CsrOperator<V, S> csr(this->ctx(), there.view(), Arrays::copied);
  Tile16Operator<V, S> tiles(this->ctx(), there.view());
  Sparse<V> x;
  for (Index j = 0; j < a.cols; j += 40) x[j] = V(1) + V(j % 7);
  auto const there_x = in_space(this->ctx(), a.cols, x, 16);
  auto const way = [&](auto const& A, SpmspvRates const* rates) {
    SparseVector<V> y(this->ctx(), a.rows);
    SparseProductNotes const notes = A.multiply_sparse(this->ctx(), {.rates = rates}, there_x, y);
    EXPECT_EQ(on_host(this->ctx(), y), this->product(A, {.way = SpmspvWay::rows}, x));
    return notes.way;
  };
  SpmspvRates const rows{.columns = 10, .dense = 10}, columns{.rows = 10, .dense = 10},
      entries{.rows = 10, .columns = 10, .entries = 0, .dense = 10},
      dense{.rows = 10, .columns = 10, .dense_looked = 0};
  int asked = 0;
  for (auto const& [rates, wanted] :
       {std::pair(&rows, SpmspvWay::rows), std::pair(&columns, SpmspvWay::columns),
        std::pair(&dense, SpmspvWay::dense)}) {
    EXPECT_EQ(way(tiles, rates), wanted);
    tiles.decide_by([&, &r = *rates](Context const&) { return ++asked, r; });
    EXPECT_EQ(way(tiles, nullptr), wanted);
    EXPECT_EQ(way(tiles, nullptr), wanted);
    EXPECT_EQ(way(tiles, &columns), SpmspvWay::columns);
    csr.decide_by([&r = *rates](Context const&) { return r; });
    if (rates != &dense) EXPECT_EQ(way(csr, nullptr), wanted);
  }
  EXPECT_EQ(asked, 3) << "once each";
  EXPECT_EQ(way(csr, &entries), SpmspvWay::entries);
}

/// csr with a dense product: values are those of the definition, entries those that are not 0.
TYPED_TEST(SparseProducts, CsrTakesADenseProductThatIsGiven) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  double const unit = std::is_same_v<V, double> ? 0x1p-53 : 0x1p-24;
  for (Csr<double> given : {generate(Poisson27Params{.n = 8}), random_matrix(700, 500, 6, 4),
                            random_matrix(33, 90, 3, 1)}) {
    Csr<S> const a = representable<S>(given);
    for (std::size_t k = 0; k < given.values.size(); ++k) given.values[k] = double(a.values[k]);
    CsrOperator<V, S> A(this->ctx(), CsrStorage<S>(this->ctx(), a).view());
    A.dense_by({.A = std::make_shared<CsrOperator<V, S>>(this->ctx(),
                                                         CsrStorage<S>(this->ctx(), a).view())});
    unsigned seed = 1;
    for (Op const op : {Op::none, Op::transpose})
      for (int const side : {16, 32, 64})
        for (Index const count : {Index{0}, Index{1}, Index{40}, 20 * A.cols()}) {
          Csr<double> const turned = op == Op::none ? given : transpose(given.view());
          auto const x = drawn<V>(turned.cols, count, false, ++seed);
          auto const old = drawn<V>(turned.rows, turned.rows / 50 + 1, true, ++seed);
          auto const open = drawn<V>(turned.rows, turned.rows / 3 + 1, false, ++seed);
          auto const there = in_space(this->ctx(), turned.cols, x, side),
                     mask = in_space(this->ctx(), turned.rows, open, side);
          for (SparseProduct<V> how : {SparseProduct<V>{},
                                       {.alpha = V(-2), .beta = V(0.5)},
                                       {.mask = &mask},
                                       {.beta = V(1), .mask = &mask, .complement = true}}) {
            SCOPED_TRACE(cat(given.rows, " rows, side ", side, ", ", x.size(), " entries, beta ",
                             double(how.beta), how.mask != nullptr ? ", a mask" : ""));
            how.op = op, how.way = SpmspvWay::dense;
            auto const wanted =
                by_definition(turned, how, x, old, how.mask != nullptr ? &open : nullptr);
            SparseVector<V> y = in_space(this->ctx(), turned.rows, old, side);
            EXPECT_EQ(A.multiply_sparse(this->ctx(), how, there, y).way, SpmspvWay::dense);
            auto got = on_host(this->ctx(), y);
            for (auto const& [i, v] : wanted.value) {
              long double const bound = 1.01 * 103 * unit * wanted.size.at(i);
              if (!got.contains(i)) {
                ASSERT_LE(std::fabs(v), bound) << "row " << i;
                continue;
              }
              ASSERT_NE(got.at(i), V(0));
              ASSERT_LE(std::fabs(static_cast<long double>(got.at(i)) - v), bound) << "row " << i;
              got.erase(i);
            }
            EXPECT_TRUE(got.empty()) << "rows that meet no entry of x";
          }
        }
  }
}

/// It follows new values where it can, is not for other semirings, and has A's extents.
TYPED_TEST(SparseProducts, ADenseProductThatIsGivenIsOfTheSameMatrix) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<double> wide = random_matrix(300, 200, 5, 4);
  CsrStorage<S> const a(this->ctx(), representable<S>(wide));
  CsrOperator<V, S> A(this->ctx(), a.view(), Arrays::copied);
  A.dense_by({.A = std::make_shared<CsrOperator<V, S>>(this->ctx(), a.view(), Arrays::copied)});
  Sparse<V> const x{{0, V(1)}, {5, V(-2)}, {190, V(4)}};
  auto before = this->product(A, {.way = SpmspvWay::dense}, x);
  ASSERT_FALSE(before.empty());
  SpmspvRates const dense{.rows = 10, .columns = 10, .given = 0};
  EXPECT_EQ(this->product(A, {.rates = &dense}, x), before);
  EXPECT_THROW(this->product(A, {.semiring = Semiring::or_and, .way = SpmspvWay::dense}, x),
               Unsupported);
  EXPECT_EQ(this->product(A, {.semiring = Semiring::or_and, .rates = &dense}, x),
            this->product(A, {.semiring = Semiring::or_and, .way = SpmspvWay::rows}, x));
  for (double& v : wide.values) v *= 2;
  CsrStorage<S> const twice(this->ctx(), representable<S>(wide));
  A.update_values(this->ctx(), twice.view());
  if constexpr (std::is_same_v<V, S>) {
    for (auto& entry : before) entry.second *= V(2);
    EXPECT_EQ(this->product(A, {.way = SpmspvWay::dense}, x), before);
  } else {
    EXPECT_THROW(this->product(A, {.way = SpmspvWay::dense}, x), Unsupported);
  }
  CsrStorage<S> const turned(this->ctx(), representable<S>(random_matrix(200, 300, 5, 4)));
  EXPECT_THROW(A.dense_by({.A = std::make_shared<CsrOperator<V, S>>(this->ctx(), turned.view(),
                                                                    Arrays::copied)}),
               ShapeError);
}

/// Lists that are full are gathered, those that are not are added, in one product: as many entries
/// of x as the rows of a list of 16 have room for, and one more.
TYPED_TEST(SparseProducts, ListsMayBeFull) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<double> wide{128, 64, {0}, {}, {}};
  for (Index i = 0; i < wide.rows; ++i) {
    Index const list = i / 16 % 3, length = list == 2 ? i % 2 : i % 16 == 5 ? 17 - list : 0;
    for (Index j = 0; j < length; ++j)
      wide.columns.push_back(3 * j + i % 2), wide.values.push_back(1.0 / double(i + j + 1));
    wide.offsets.push_back(static_cast<Offset>(wide.columns.size()));
  }
  Csr<S> const a = representable<S>(wide);
  CsrOperator<V, S> const A(this->ctx(), CsrStorage<S>(this->ctx(), a).view());
  for (int const side : {16, 32, 64})
    for (Index const step : {1, 2, 3}) {
      Sparse<V> x;
      for (Index j = 0; j < a.cols; j += step) x[j] = V(1) / V(j + 1);
      auto const there = in_space(this->ctx(), a.cols, x, side);
      SparseVector<V> y(this->ctx(), a.rows, side), by_rows(this->ctx(), a.rows, side);
      for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(A.multiply_sparse(this->ctx(), {.way = SpmspvWay::entries}, there, y).way,
                  SpmspvWay::entries);
        A.multiply_sparse(this->ctx(), {.way = SpmspvWay::rows}, there, by_rows);
        EXPECT_EQ(on_host(this->ctx(), y), on_host(this->ctx(), by_rows)) << side << " " << step;
      }
    }
}

/// A row is added as it is stored; where that is not by ascending column, not by entries.
TYPED_TEST(SparseProducts, ByEntriesColumnsAscend) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<S> const a{2, 3, {0, 2, 3}, {2, 0, 1}, {S(1.0f), S(2.0f), S(3.0f)}};
  CsrOperator<V, S> const A(this->ctx(), a.view());
  SpmspvRates const entries{.rows = 10, .columns = 5, .entries = 0};
  auto const x = in_space<V>(this->ctx(), 3, {{0, V(1)}, {2, V(2)}}, 16);
  SparseVector<V> y(this->ctx(), 2);
  EXPECT_THROW(A.multiply_sparse(this->ctx(), {.way = SpmspvWay::entries}, x, y), Unsupported);
  EXPECT_EQ(A.multiply_sparse(this->ctx(), {.rates = &entries}, x, y).way, SpmspvWay::columns);
  EXPECT_EQ(on_host(this->ctx(), y), (Sparse<V>{{0, V(4)}}));
}

/// By its own choice it does not go by entries through a column that one warp would go through.
TYPED_TEST(SparseProducts, ALongColumnIsNotTakenByEntries) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<double> wide{300, 2, {0}, {}, {}};
  for (Index i = 0; i < wide.rows; ++i)
    wide.columns.push_back(1), wide.values.push_back(2), wide.offsets.push_back(i + 1);
  CsrOperator<V, S> const A(this->ctx(), representable<S>(wide).view());
  SpmspvRates const entries{.rows = 10, .columns = 5, .entries = 0};
  auto const x = in_space<V>(this->ctx(), 2, {{1, V(3)}}, 16);
  SparseVector<V> y(this->ctx(), 300), by_entries(this->ctx(), 300);
  EXPECT_EQ(A.multiply_sparse(this->ctx(), {.rates = &entries}, x, y).way, SpmspvWay::columns);
  A.multiply_sparse(this->ctx(), {.way = SpmspvWay::entries}, x, by_entries);
  EXPECT_EQ(on_host(this->ctx(), by_entries), on_host(this->ctx(), y));
}

/// The kept A^T counts as memory, not as what a product reads; new values drop it.
TYPED_TEST(SparseProducts, TheTransposeIsCounted) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<S> const a = representable<S>(random_matrix(300, 200, 5, 4));
  CsrStorage<S> const there(this->ctx(), a);
  Tile16Operator<V, S> A(this->ctx(), there.view());
  std::size_t const alone = A.matrix().bytes();
  double const read = A.cost(1).bytes;
  this->product(A, {.op = Op::transpose}, {{7, V(1)}});
  Tile16<S> const& turned = A.matrix().transposed(this->ctx());
  EXPECT_EQ(A.matrix().bytes(), alone + turned.bytes());
  EXPECT_EQ(A.matrix().own_bytes(), alone);
  EXPECT_EQ(A.cost(1).bytes, read);
  A.update_values(this->ctx(), there.view());
  EXPECT_EQ(A.matrix().bytes(), alone);
}

TYPED_TEST(SparseProducts, TheTransposeHasTheExtentsOfTheTranspose) {
  using S = typename TestFixture::S;
  using V = typename TestFixture::V;
  Csr<S> const a = representable<S>(random_matrix(30, 20, 3, 4));
  this->each_operator(a, [&](std::string const& name, auto const& A, bool) {
    SCOPED_TRACE(name);
    SparseVector<V> const x(this->ctx(), 20);
    SparseVector<V> y(this->ctx(), 30);
    std::string const text = message_of<ShapeError>(
        [&] { multiply_sparse<V>(this->ctx(), A, {.op = Op::transpose}, x, y); });
    EXPECT_NE(text.find("the matrix is 20 x 30; x has 20 elements, y 30"), std::string::npos)
        << text;
  });
}

}  // namespace
}  // namespace tcsolve::test
