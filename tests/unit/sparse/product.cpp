// SPDX-License-Identifier: Apache-2.0
/// A B and P^T A P of the Context against sums taken in the order of k by a map on the host, bit by
/// bit, for every way that a row can take: each size of table, by a thread or a warp, and sorted
/// with others.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/product_table.hpp>
#include <tcsolve/sparse/triple_product.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using sparse::ProductLimits;

template <class T>
Csr<T> as(Csr<double> const& a) {
  return {a.rows, a.cols, a.offsets, a.columns, {a.values.begin(), a.values.end()}};
}

/// c_ij = sum_k a_ik b_kj, k ascending from +0, each operation rounded to T.
template <class T>
Csr<T> by_map(Csr<T> const& a, Csr<T> const& b) {
  Csr<T> c{a.rows, b.cols, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    std::map<Index, T> row;
    for (Offset p = a.offsets[i]; p < a.offsets[i + 1]; ++p)
      for (Offset q = b.offsets[a.columns[p]]; q < b.offsets[a.columns[p] + 1]; ++q) {
        T volatile const product = a.values[p] * b.values[q];  // rounded before it is added
        T& sum = row.try_emplace(b.columns[q], T(0)).first->second;
        sum = sum + product;
      }
    for (auto const& [j, v] : row) c.columns.push_back(j), c.values.push_back(v);
    c.offsets.push_back(c.entries());
  }
  return c;
}

/// The same bits; any NaN is as good as another.
template <class T>
void expect_same(Csr<T> const& got, Csr<T> const& wanted) {
  ASSERT_EQ(got.rows, wanted.rows);
  ASSERT_EQ(got.cols, wanted.cols);
  ASSERT_EQ(got.offsets, wanted.offsets);
  ASSERT_EQ(got.columns, wanted.columns);
  for (std::size_t k = 0; k < wanted.values.size(); ++k) {
    T const x = got.values[k], y = wanted.values[k];
    ASSERT_TRUE(std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y))
        << "entry " << k << " is " << x << ", not " << y;
  }
}

/// A B as a plan with these limits makes it.
template <class T>
Csr<T> by_plan(Context& ctx, Csr<T> const& a, Csr<T> const& b, ProductLimits const& limits = {}) {
  CsrStorage<T> const A(ctx, a.view()), B(ctx, b.view());
  sparse::Product const plan(ctx, A.view(), B.view(), limits);
  There<T> c(ctx, std::vector<T>(static_cast<std::size_t>(plan.pattern().entries),
                                 std::numeric_limits<T>::quiet_NaN()));
  plan.values(ctx, A.view(), B.view(), c.data());
  return to_host(ctx, plan.pattern().with(static_cast<T const*>(c.data())));
}

struct Pair {
  std::string name;
  Csr<double> a, b;
};

std::vector<Pair> pairs() {
  std::vector<Pair> list;
  for (auto const& [name, a] : adversarial()) {
    list.push_back({name + ", A A^T", a, transpose(a.view())});
    list.push_back({name + ", A^T A", transpose(a.view()), a});
    if (a.rows == a.cols) list.push_back({name + ", A A", a, a});
  }
  auto const square = [&](std::string name, Csr<double> const& a) {
    list.push_back({std::move(name), a, a});
  };
  square("7-point", generate(Poisson7Params{.n = 12}));
  square("27-point", generate(Poisson27Params{.n = 12}));
  square("elasticity", generate(ElasticityParams{.n = 7}));
  square("hubs", generate(RmatParams{11, 8, Coefficient::random}));
  // Rows of C of every length around the sizes of tables (3071), by few and by many products.
  list.push_back({"one row of A for one of C", mixed_rows(40, 60, 4), mixed_rows(60, 9000, 9)});
  list.push_back({"long rows of A", mixed_rows(12, 12000, 6), random_matrix(12000, 40, 3, 2)});
  list.push_back(
      {"many products an entry", mixed_rows(30, 700, 7), random_matrix(700, 300, 120, 3)});
  list.push_back({"empty rows of B", random_matrix(200, 100, 9, 8), random_matrix(100, 80, 1, 9)});
  return list;
}

template <class P>
class SparseProduct : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseProduct, RealsOnBoth, Label);

TYPED_TEST(SparseProduct, IsTheSumInOrder) {
  using T = typename TestFixture::T;
  for (auto const& [name, a, b] : pairs()) {
    SCOPED_TRACE(name);
    expect_same(by_plan(this->ctx(), as<T>(a), as<T>(b)), by_map(as<T>(a), as<T>(b)));
  }
}

/// Whatever is tabled, and however many rows are sorted together.
TYPED_TEST(SparseProduct, DoesNotDependOnLimits) {
  using T = typename TestFixture::T;
  for (auto const& [name, a, b] : pairs()) {
    if (a.rows > 500) continue;
    SCOPED_TRACE(name);
    Csr<T> const wanted = by_map(as<T>(a), as<T>(b));
    for (ProductLimits const& limits :
         {ProductLimits{.sizes = 0, .products = 1000}, ProductLimits{.sizes = 0, .products = 1},
          ProductLimits{.sizes = 1, .products = 1 << 20}, ProductLimits{.sizes = 4, .row = 5},
          ProductLimits{.sizes = 2, .few = 0}, ProductLimits{.few = 0},
          ProductLimits{.few = 0, .keep = 0}, ProductLimits{.few = 100}, ProductLimits{}}) {
      SCOPED_TRACE(cat(limits.sizes, " sizes, ", limits.row, ", ", limits.products, ", ",
                       limits.few, ", ", limits.keep));
      expect_same(by_plan(this->ctx(), as<T>(a), as<T>(b), limits), wanted);
      ProductLimits tabled = limits;
      tabled.places = false;
      expect_same(by_plan(this->ctx(), as<T>(a), as<T>(b), tabled), wanted);
    }
  }
}

/// Stably, by what they need in the end, however many tables have been too small for them.
TYPED_TEST(SparseProduct, RowsAreInTheOrderOfTheirTables) {
  for (auto const& [name, a, b] : pairs())
    for (ProductLimits limits : {ProductLimits{}, ProductLimits{.sizes = 2},
                                 ProductLimits{.sizes = 5, .row = 5}, ProductLimits{.sizes = 0}}) {
      SCOPED_TRACE(cat(name, ", ", limits.sizes, " sizes"));
      limits.places = false;
      CsrStorage<double> const A(this->ctx(), a.view()), B(this->ctx(), b.view());
      sparse::ProductPattern const made = this->ctx().visit([&](auto& on) {
        return product_pattern(on, this->ctx().arena(), PatternView(A.view()),
                               sparse::RightFactor(B.view()), limits);
      });
      Csr<double> const wanted = by_map(a, b);
      std::vector<std::vector<Index>> of(made.begin.size());
      for (Index i = 0; i < wanted.rows; ++i) {
        Offset const columns = wanted.offsets[i + 1] - wanted.offsets[i],
                     factors = a.offsets[i + 1] - a.offsets[i];
        auto const size = columns == 0           ? sparse::done_rows
                          : factors > limits.row ? sparse::long_rows
                                                 : sparse::size_for(columns, factors, limits.sizes);
        of[size].push_back(i);
      }
      std::vector<Index> order;
      for (std::size_t s = 0; s < of.size(); ++s) {
        EXPECT_EQ(made.begin[s], static_cast<Offset>(order.size()));
        order.insert(order.end(), of[s].begin(), of[s].end());
      }
      EXPECT_EQ(to_host(this->ctx(), made.order), order);
    }
}

TYPED_TEST(SparseProduct, NewValuesAreThoseOfANewProduct) {
  using T = typename TestFixture::T;
  for (int const sizes : {9, 0}) {
    Csr<T> a = as<T>(mixed_rows(40, 60, 5)), b = as<T>(mixed_rows(60, 900, 6));
    CsrStorage<T> A(this->ctx(), Csr<T>(a)), B(this->ctx(), Csr<T>(b));
    sparse::Product const plan(this->ctx(), A.view(), B.view(), {.sizes = sizes});
    There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
    for (std::uint64_t seed : {1, 2, 3}) {
      auto const va = random_values(a.values.size(), seed), vb = random_values(b.values.size(), 9);
      a.values.assign(va.begin(), va.end()), b.values.assign(vb.begin(), vb.end());
      A.update_values(this->ctx(), a.view()), B.update_values(this->ctx(), b.view());
      for (int turn = 0; turn < 2; ++turn) {  // twice: nothing is left from the first
        plan.values(this->ctx(), A.view(), B.view(), c.data());
        EXPECT_EQ(to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(c.data()))),
                  to_host(this->ctx(), sparse::product(this->ctx(), A.view(), B.view()).view()));
      }
      EXPECT_EQ(c.all(), by_map(a, b).values);
    }
  }
}

TYPED_TEST(SparseProduct, WhatCancelsStays) {
  using T = typename TestFixture::T;
  // [1 1] [ 2  3 ]   [0 0]
  //       [-2 -3 ] =
  Csr<T> const a{1, 2, {0, 2}, {0, 1}, {1, 1}}, b{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 3, -2, -3}};
  for (int const sizes : {9, 0}) {
    Csr<T> const c = by_plan(this->ctx(), a, b, {.sizes = sizes});
    EXPECT_EQ(c.columns, (std::vector<Index>{0, 1}));
    EXPECT_EQ(c.values, (std::vector<T>{0, 0}));
  }
}

/// An infinity and a NaN reach the entries that they are factors of, and no other.
TYPED_TEST(SparseProduct, NotFiniteValuesStayWhereTheyAre) {
  using T = typename TestFixture::T;
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  Csr<T> const a{2, 2, {0, 2, 3}, {0, 1, 1}, {1, 1, 1}};
  Csr<T> const b{2, 3, {0, 2, 4}, {0, 1, 1, 2}, {inf, 1, 1, nan}};
  for (int const sizes : {9, 0}) {
    Csr<T> const c = by_plan(this->ctx(), a, b, {.sizes = sizes});
    ASSERT_EQ(c.columns, (std::vector<Index>{0, 1, 2, 1, 2}));
    EXPECT_EQ(c.values[0], inf);
    EXPECT_EQ(c.values[1], T(2));
    EXPECT_TRUE(std::isnan(c.values[2]));
    EXPECT_EQ(c.values[3], T(1));
    EXPECT_TRUE(std::isnan(c.values[4]));
  }
}

TYPED_TEST(SparseProduct, WrongShapesAreRefused) {
  using T = typename TestFixture::T;
  CsrStorage<T> const A(this->ctx(), as<T>(random_matrix(4, 5, 3, 1)));
  CsrStorage<T> const B(this->ctx(), as<T>(random_matrix(5, 6, 3, 2)));
  CsrStorage<T> const fewer(this->ctx(), Csr<T>{5, 6, {0, 0, 0, 0, 0, 0}, {}, {}});
  EXPECT_THROW(sparse::product(this->ctx(), A.view(), A.view()), ShapeError);
  EXPECT_THROW(sparse::triple_product(this->ctx(), A.view(), B.view()), ShapeError);
  sparse::Product const plan(this->ctx(), A.view(), B.view());
  There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
  EXPECT_THROW(plan.values(this->ctx(), B.view(), B.view(), c.data()), ShapeError);
  EXPECT_THROW(plan.values(this->ctx(), A.view(), fewer.view(), c.data()), ShapeError);
}

/// Aggregates of `size` neighbours: the columns of P.
Csr<double> aggregates(Index n, Index size) {
  Csr<double> p{n, (n + size - 1) / size, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    p.columns.push_back(i / size), p.values.push_back(1 + 0.125 * (i % 5));
    p.offsets.push_back(p.entries());
  }
  return p;
}

TYPED_TEST(SparseProduct, TripleProductIsThatOfItsParts) {
  using T = typename TestFixture::T;
  Csr<double> const grid = generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random});
  std::vector<Pair> const list{
      {"aggregates", grid, aggregates(grid.rows, 7)},
      {"random", random_matrix(300, 300, 12, 4), random_matrix(300, 90, 4, 5)},
      {"one column", random_matrix(60, 60, 5, 6), aggregates(60, 60)},
      {"no column", random_matrix(60, 60, 5, 6), random_matrix(60, 0, 3, 7)}};
  for (auto const& [name, of_a, of_p] : list) {
    SCOPED_TRACE(name);
    Csr<T> a = as<T>(of_a);
    Csr<T> const p = as<T>(of_p), pt = transpose(p.view());
    CsrStorage<T> A(this->ctx(), Csr<T>(a)), P(this->ctx(), Csr<T>(p));
    sparse::TripleProduct const plan(this->ctx(), A.view(), P.view());
    There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
    for (int turn = 0; turn < 2; ++turn) {
      plan.values(this->ctx(), A.view(), P.view(), c.data());
      Csr<T> const got = to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(c.data())));
      expect_same(got, by_map(pt, by_map(a, p)));
      expect_same(
          to_host(this->ctx(), sparse::triple_product(this->ctx(), A.view(), P.view()).view()),
          got);
      for (T& v : a.values) v = T(1) / (T(2) + v);
      A.update_values(this->ctx(), a.view());
    }
  }
}

/// A hub: its row and its column are full, and so is every row of A A.
Csr<double> star(Index n) {
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j)
      if (i == 0 || j == 0 || i == j) a.columns.push_back(j), a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// The bits of the two products, whatever is tabled and walked: with A P where a row of it is too
/// long for a lane, in windows where a row of C has more columns than a group has room for.
TYPED_TEST(SparseProduct, AggregatesHaveTheBitsOfTwoProducts) {
  using T = typename TestFixture::T;
  Csr<double> const grid = generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random}),
                    hubs = generate(RmatParams{10, 8, Coefficient::random});
  std::vector<Pair> const list{
      {"boxes", grid, aggregates(grid.rows, 7)},
      {"some in none, some empty", grid, random_matrix(grid.rows, 150, 1, 5)},
      {"hubs", hubs, random_matrix(hubs.rows, 300, 1, 6)},
      {"long rows of C", star(12000), random_matrix(12000, 8000, 1, 7)},
      {"one column", random_matrix(900, 900, 5, 6), aggregates(900, 900)},
      {"none", random_matrix(60, 60, 5, 6), random_matrix(60, 20, 0, 7)}};
  for (auto const& [name, of_a, of_p] : list) {
    Csr<T> const a = as<T>(of_a), p = as<T>(of_p), pt = transpose(p.view());
    Csr<T> const wanted = by_map(pt, by_map(a, p));
    CsrStorage<T> const A(this->ctx(), Csr<T>(a)), P(this->ctx(), Csr<T>(p));
    for (ProductLimits const& limits :
         {ProductLimits{.walked = 1 << 20}, ProductLimits{}, ProductLimits{.walked = 0},
          ProductLimits{.sizes = 0, .walked = 1 << 20}, ProductLimits{.sizes = 2, .few = 0},
          ProductLimits{.row = 5}, ProductLimits{.places = false}}) {
      SCOPED_TRACE(cat(name, ", ", limits.sizes, " sizes, ", limits.walked, ", ", limits.row));
      sparse::TripleProduct const plan(this->ctx(), A.view(), P.view(), limits);
      if (limits.walked != ProductLimits{}.walked)
        EXPECT_EQ(plan.goes_by_aggregates(), limits.walked > 0);
      There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries),
                                             std::numeric_limits<T>::quiet_NaN())),
          r(this->ctx(), std::vector<T>(p.values.size()));
      plan.values(this->ctx(), A.view(), P.view(), c.data(), r.data());
      expect_same(to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(c.data()))),
                  wanted);
      EXPECT_EQ(r.all(), pt.values);
    }
  }
}

/// One row with two entries is enough for A P to be made.
TYPED_TEST(SparseProduct, AggregatesAreOfOneEntryARow) {
  using T = typename TestFixture::T;
  Csr<T> const a = as<T>(random_matrix(5, 5, 5, 3)),
               p{5, 3, {0, 1, 1, 3, 4, 4}, {1, 0, 2, 1}, {1, 2, 3, 4}};
  CsrStorage<T> const A(this->ctx(), Csr<T>(a)), P(this->ctx(), Csr<T>(p));
  sparse::TripleProduct const plan(this->ctx(), A.view(), P.view());
  EXPECT_FALSE(plan.goes_by_aggregates());
  expect_same(to_host(this->ctx(), sparse::triple_product(this->ctx(), A.view(), P.view()).view()),
              by_map(transpose(p.view()), by_map(a, p)));
}

TEST(ProductLimit, TellsWhatWouldBeDenseBeforeItIsMade) {
  Context ctx(Backend::host);
  Csr<double> const a = star(3000);  // 9e6 products, 1000 an entry
  EXPECT_THROW(sparse::Product(ctx, a.view(), a.view(), {.for_an_entry = 500}), SizeError);
  EXPECT_EQ(sparse::Product(ctx, a.view(), a.view(), {.for_an_entry = 1500}).pattern().entries,
            Offset{3000} * 3000);
}

TEST(ProductLimit, ADeadlineEndsAPlan) {
  Context ctx(Backend::host);
  Csr<double> const a = star(40000);  // 1.6e9 products
  auto const start = std::chrono::steady_clock::now();
  EXPECT_THROW(ctx.setting_up(start + std::chrono::milliseconds(200),
                              [&] { sparse::Product const plan(ctx, a.view(), a.view()); }),
               OutOfTime);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace tcsolve::test
