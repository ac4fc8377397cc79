// SPDX-License-Identifier: Apache-2.0
/// Reaches of sparse right-hand sides against a depth-first search, and the solves that visit them
/// alone against those of all rows, bit by bit.
#include <tcsolve/factors/apply/factored_inverse.hpp>
#include <tcsolve/factors/apply/reach.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/matrices.hpp"
#include "tests/support/two_sided.hpp"

namespace tcsolve::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// A strict triangle of few entries, values in [-1, 1).
Csr<double> triangle(Index n, double a_row, bool lower, unsigned seed) {
  std::mt19937 draw(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Csr<double> t;
  t.rows = t.cols = n;
  for (Index i = 0; i < n; ++i) {
    std::set<Index> columns;
    Index const others = lower ? i : n - 1 - i;
    for (double k = 0; k < a_row && others > 0; ++k) {
      Index const j =
          static_cast<Index>(draw() % static_cast<unsigned>(std::min(others, Index{40})));
      columns.insert(lower ? i - 1 - j : i + 1 + j);
    }
    if (draw() % 3 == 0) columns.clear();
    for (Index const j : columns) t.columns.push_back(j), t.values.push_back(value(draw));
    t.offsets.push_back(t.entries());
  }
  return t;
}

TriangleView<double> view(Csr<double> const& t) {
  TriangleView<double> v;
  v.rows = t.rows;
  v.begin = OffsetsView(t.offsets.data());
  v.end = OffsetsView(t.offsets.data() + 1);
  v.columns = t.columns.data();
  v.values = t.values.data();
  return v;
}

/// By the definition, and the entries of the columns reached.
std::pair<std::set<Index>, Offset> searched(Csr<double> const& t, std::vector<Index> const& from) {
  std::set<Index> found;
  Offset entries = 0;
  std::function<void(Index)> const enter = [&](Index j) {
    if (!found.insert(j).second) return;
    for (Index i = 0; i < t.rows; ++i) {
      auto const columns = t.row_columns(i);
      if (!std::ranges::binary_search(columns, j)) continue;
      ++entries;
      enter(i);
    }
  };
  for (Index const j : from) enter(j);
  return {found, entries};
}

TEST(TriangleReach, TheDrawnExample) {
  Csr<double> const t{4, 4, {0, 0, 1, 1, 3}, {0, 1, 2}, {5, 4, 7}};
  TriangleReach reach(view(t));
  EXPECT_EQ(reach.entries(), 3);
  std::vector<Index> const from{1};
  TriangleReach::Found const found = reach.of(from, 100);
  ASSERT_TRUE(found.known);
  EXPECT_EQ(std::vector<Index>(found.rows.begin(), found.rows.end()), (std::vector<Index>{1, 3}));
  EXPECT_TRUE(reach.of({}, 0).known);
  EXPECT_TRUE(reach.of({}, 0).rows.empty());
}

TEST(TriangleReach, IsThatOfADepthFirstSearchInAnOrderThatSolves) {
  for (bool const lower : {true, false})
    for (unsigned const seed : {1u, 2u, 3u}) {
      Csr<double> const t = triangle(300, 1.0 + seed, lower, seed);
      TriangleReach reach(view(t));
      std::mt19937 draw(seed);
      for (int const sources : {1, 2, 7})
        for (int round = 0; round < 20; ++round) {
          std::set<Index> some;
          for (int k = 0; k < sources; ++k) some.insert(static_cast<Index>(draw() % 300));
          std::vector<Index> from(some.begin(), some.end());
          std::ranges::shuffle(from, draw);
          auto const [wanted, entries] = searched(t, from);
          TriangleReach::Found const found = reach.of(from, entries);
          ASSERT_TRUE(found.known);
          EXPECT_EQ(found.visited, entries);
          EXPECT_EQ(std::set<Index>(found.rows.begin(), found.rows.end()), wanted);
          EXPECT_EQ(found.rows.size(), wanted.size());
          std::set<Index> before;
          for (Index const i : found.rows) {
            for (Index const j : t.row_columns(i))
              EXPECT_TRUE(before.contains(j) || !wanted.contains(j)) << i << " needs " << j;
            before.insert(i);
          }
          if (entries > 0) EXPECT_FALSE(reach.of(from, entries - 1).known);
        }
    }
}

/// A chain of 1,200,000 rows: no search by recursion.
TEST(TriangleReach, OfALongChain) {
  Csr<double> t;
  t.rows = t.cols = 1'200'000;
  for (Index i = 0; i < t.rows; ++i) {
    if (i > 0) t.columns.push_back(i - 1), t.values.push_back(1);
    t.offsets.push_back(t.entries());
  }
  TriangleReach reach(view(t));
  std::vector<Index> const from{0};
  EXPECT_EQ(reach.of(from, t.rows).rows.size(), static_cast<std::size_t>(t.rows));
}

/// y = alpha M x + beta y.
std::vector<double> applied(Context& ctx, LinearOperator<double> const& M, double alpha,
                            std::vector<double> const& x, double beta, std::vector<double> y,
                            Op op = Op::none) {
  M.apply(ctx, alpha, vector_view<double const>(x.data(), M.cols()), beta,
          vector_view(y.data(), M.rows()), op);
  return y;
}

/// Factors of rows that follow each other in blocks of 12, with the sides of a matrix in another
/// order and scaled.
std::shared_ptr<TriangularFactors> factors(Index n) {
  auto made = std::make_shared<TriangularFactors>();
  made->lower = triangle(n, 2, true, 5);
  made->upper = triangle(n, 2, false, 6);
  for (Csr<double>* t : {&made->lower, &made->upper}) {  // blocks: reaches are small parts
    Csr<double> kept;
    kept.rows = kept.cols = n;
    for (Index i = 0; i < n; ++i) {
      for (Offset k = t->offsets[i]; k < t->offsets[i + 1]; ++k)
        if (t->columns[k] / 12 == i / 12)
          kept.columns.push_back(t->columns[k]), kept.values.push_back(t->values[k]);
      kept.offsets.push_back(kept.entries());
    }
    *t = kept;
  }
  made->inverse_pivots = random_values(static_cast<std::size_t>(n), 9);
  return made;
}
template <class S>
void check_bits() {
  Context ctx(Backend::host);
  constexpr Index n = 600;
  auto const made = factors(n);
  FactoredInverse<S> const M(ctx, made, sides(n));
  std::mt19937 draw(11);
  Offset const all = made->lower.entries() + made->upper.entries();
  for (int round = 0; round < 60; ++round) {
    std::vector<double> x(n, 0.0);
    for (int k = 0; k <= round % 3; ++k) x[draw() % n] = double(draw() % 1000) - 499.5;
    double const alpha = round % 2 ? 1 : -0.37, beta = round % 4 < 2 ? 0 : 1.7;
    std::vector<double> const y =
        beta == 0 ? std::vector<double>(n, std::numeric_limits<double>::quiet_NaN())
                  : random_values(n, round);
    FactoredInverse<S> const in_full(ctx, made, sides(n));  // of its first sparse x
    std::vector<double> const wanted = applied(ctx, in_full, alpha, x, beta, y),
                              got = applied(ctx, M, alpha, x, beta, y);
    ASSERT_EQ(in_full.visited(), 0);
    for (Index i = 0; i < n; ++i) {
      ASSERT_EQ(got[i], wanted[i]) << i << ", round " << round;
      if (got[i] != 0)
        ASSERT_EQ(std::bit_cast<std::int64_t>(got[i]), std::bit_cast<std::int64_t>(wanted[i]));
    }
    if (round < SparseSolves<S>::worth_patterns) continue;
    EXPECT_LE(M.visited(), all / 8);
  }
  // A dense x between sparse ones, and the transposed.
  std::vector<double> const dense = random_values(n, 3), none(n, 0.0);
  EXPECT_EQ(applied(ctx, M, 1, dense, 0, none),
            applied(ctx, FactoredInverse<S>(ctx, made, sides(n)), 1, dense, 0, none));
  for (int round = 0; round < 8; ++round) {
    std::vector<double> x(n, 0.0);
    x[draw() % n] = 1;
    EXPECT_EQ(applied(ctx, M, 1, x, 0, none, Op::transpose),
              applied(ctx, FactoredInverse<S>(ctx, made, sides(n)), 1, x, 0, none, Op::transpose));
  }
  EXPECT_EQ(applied(ctx, M, 1, none, 0, dense), none);
}

TEST(SparseSolves, HaveTheBitsOfFullOnes) { check_bits<double>(); }
TEST(SparseSolves, HaveTheBitsOfFullOnesInFp32) { check_bits<float>(); }

TEST(SparseSolves, NonfiniteEntriesAreEntries) {
  Context ctx(Backend::host);
  constexpr Index n = 600;
  auto const made = factors(n);
  FactoredInverse<double> const M(ctx, made, sides(n));
  for (double const v : {1.0, 1.0, 1.0, 1.0, 1.0, inf, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> x(n, 0.0);
    x[100] = v;
    std::vector<double> const y = applied(ctx, M, 1, x, 0, std::vector<double>(n, 7.0));
    auto const finite = std::ranges::count_if(y, [](double at) { return std::isfinite(at); });
    EXPECT_EQ(finite == n, std::isfinite(v));
    EXPECT_GE(finite, n - 24) << "others stay as they are";
    x[100] = 1;  // what one solve left, the next does not see
    EXPECT_EQ(applied(ctx, M, 1, x, 0, y),
              applied(ctx, FactoredInverse<double>(ctx, made, sides(n)), 1, x, 0, y));
  }
}

TEST(SparseSolves, FollowNewValuesAndSeveralColumns) {
  Context ctx(Backend::host);
  constexpr Index n = 600, k = 20;
  auto made = factors(n);
  FactoredInverse<double> M(ctx, made, sides(n));
  std::vector<double> X(n * k, 0.0), Y(n * k), wanted;
  std::mt19937 draw(2);
  for (Index j = 0; j < k; ++j) X[j * n + draw() % n] = 1 + j;
  for (Index i = 0; i < n; i += 40) X[(k - 1) * n + i] = 1;  // some have others below them
  auto const block = [&](LinearOperator<double> const& of, std::vector<double>& to) {
    of.apply(ctx, 1, In<double>{X.data(), n, k, n, Layout::col_major, Space::host}, 0,
             Out<double>{to.data(), n, k, n, Layout::col_major, Space::host});
  };
  for (int values : {1, 2}) {
    block(M, Y);
    EXPECT_GT(M.visited(), 0);
    for (Index j = 0; j < k; ++j) {
      std::vector<double> const x(X.begin() + j * n, X.begin() + (j + 1) * n);
      EXPECT_EQ(std::vector<double>(Y.begin() + j * n, Y.begin() + (j + 1) * n),
                applied(ctx, FactoredInverse<double>(ctx, made, sides(n)), 1, x, 0, x))
          << values << ", column " << j;
    }
    made = std::make_shared<TriangularFactors>(*made);
    for (double& v : made->lower.values) v *= 1.5;
    M.update(ctx, made, sides(n));
  }
}

/// Where a reach is most of the triangle it is not looked for for ever.
TEST(SparseSolves, GiveUpWhereReachesAreLarge) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(Poisson7Params{.n = 9});
  FactorRecipe const recipe{.name = "test", .symmetric = true};
  Factorisation const M(ctx, a.view(), recipe);
  std::vector<double> x(static_cast<std::size_t>(a.rows), 0.0);
  for (Index j = 0; j < 40; ++j) {
    std::ranges::fill(x, 0.0);
    x[j] = 1;
    EXPECT_EQ(applied(ctx, M, 1, x, 0, x),
              applied(ctx, Factorisation(ctx, a.view(), recipe), 1, x, 0, x));
  }
}

/// D of blocks: the first triangle has unknowns of its own.
TEST(SparseSolves, OfBlockFactors) {
  Context ctx(Backend::host);
  std::vector<Csr<double>> const grids(40, generate(ElasticityParams{.n = 2}));
  Csr<double> a;
  a.rows = a.cols = 40 * grids[0].rows;
  for (std::size_t g = 0; g < grids.size(); ++g)
    for (Index i = 0; i < grids[g].rows; ++i) {
      for (Index const j : grids[g].row_columns(i))
        a.columns.push_back(j + static_cast<Index>(g) * grids[g].rows);
      for (double const v : grids[g].row_values(i)) a.values.push_back(v * (1 + 0.1 * double(g)));
      a.offsets.push_back(a.entries());
    }
  for (bool const symmetric : {false, true}) {
    FactorRecipe const recipe{.name = "test", .symmetric = symmetric, .block = 3};
    Factorisation const M(ctx, a.view(), recipe);
    for (Index j = 0; j < a.rows; j += 7) {
      std::vector<double> x(static_cast<std::size_t>(a.rows), 0.0);
      x[j] = -2;
      EXPECT_EQ(applied(ctx, M, 1, x, 0, x),
                applied(ctx, Factorisation(ctx, a.view(), recipe), 1, x, 0, x));
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
