// SPDX-License-Identifier: Apache-2.0
/// Matchings against all permutations, factorisations against dense ones, and the operators made of
/// them on each backend.
#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/apply/factored_inverse.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/factors/make/complete.hpp>
#include <tcsolve/graph/match/matching.hpp>
#include <tcsolve/graph/reorder/colouring.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/reorder/minimum_degree.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Csr<double> sparse(Dense const& d) {
  Csr<double> a;
  a.rows = static_cast<Index>(d.rows());
  a.cols = static_cast<Index>(d.cols());
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j)
      if (d(i, j) != 0) {
        a.columns.push_back(j);
        a.values.push_back(d(i, j));
      }
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// Nonsymmetric, regular, with zeros on its diagonal: a permuted dominant matrix.
Csr<double> hollow(Index n, std::uint64_t seed) {
  Dense const d = dense_rows(dominant(n, 5, seed));
  Dense moved(n, n);
  for (Index i = 0; i < n; ++i) moved.row((7 * i + 3) % n) = d.row(i);
  return sparse(moved);
}

/// Symmetric positive definite, random.
Csr<double> definite(Index n, std::uint64_t seed) {
  Dense d = dense_rows(dominant(n, 4, seed));
  d = Dense(d + d.transpose());
  for (Index i = 0; i < n; ++i) d(i, i) = d.row(i).cwiseAbs().sum() + 0.1 * (i % 7);
  return sparse(d);
}

/// L D U with the diagonals that are not stored.
Dense product(TriangularFactors const& f) {
  Index const n = f.lower.rows;
  Dense const one = Dense::Identity(n, n);
  Eigen::VectorXd d(n);
  for (Index i = 0; i < n; ++i) d(i) = 1 / f.inverse_pivots[i];
  return (dense_rows(f.lower) + one) * d.asDiagonal() * (dense_rows(f.upper) + one);
}

TEST(Matching, HasTheLargestProductOfAll) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Csr<double> const a = random_matrix(6, 6, 4, seed);
    Dense const d = dense_rows(a);
    std::vector<Index> p(6);
    std::iota(p.begin(), p.end(), 0);
    double best = 0;
    Index rank = 0;
    do {
      double value = 1;
      Index hit = 0;
      for (Index j = 0; j < 6; ++j) {
        value *= std::abs(d(p[j], j));
        hit += d(p[j], j) != 0;
      }
      best = std::max(best, value);
      rank = std::max(rank, hit);
    } while (std::next_permutation(p.begin(), p.end()));
    Matching const m = maximum_product_matching(a.view());
    EXPECT_EQ(m.rank, rank);
    std::vector<Index> sorted = m.row_of;
    std::sort(sorted.begin(), sorted.end());
    for (Index j = 0; j < 6; ++j) ASSERT_EQ(sorted[j], j) << "a permutation";
    if (rank < 6) continue;
    double value = 1;
    for (Index j = 0; j < 6; ++j) value *= std::abs(d(m.row_of[j], j));
    EXPECT_NEAR(value, best, 1e-12 * best);
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j) {
        double const scaled = std::abs(m.rows[i] * d(i, j) * m.columns[j]);
        EXPECT_LE(scaled, 1 + 1e-12);
        if (m.row_of[j] == i) EXPECT_NEAR(scaled, 1, 1e-12);
      }
  }
}

TEST(Matching, TakesScalesOfAnySizeAndSingularMatrices) {
  Csr<double> a = hollow(60, 3);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] = std::ldexp(a.values[k], (i * 37) % 400 - 200 + (a.columns[k] * 11) % 300 - 150);
  Matching const m = maximum_product_matching(a.view());
  EXPECT_EQ(m.rank, 60);
  for (Index j = 0; j < 60; ++j) EXPECT_EQ(m.row_of[j], (7 * j + 3) % 60);
  Csr<double> const empty = with_entries(5, {{0, 0}, {1, 0}});
  EXPECT_EQ(maximum_product_matching(empty.view()).rank, 1);
  Csr<double> bad = dominant(5, 2, 1);
  bad.values[0] = nan;
  EXPECT_THROW(maximum_product_matching(bad.view()), MatrixError);
  EXPECT_THROW(maximum_product_matching(random_matrix(3, 4, 2, 1).view()), ShapeError);
}

TEST(FactorOrders, ArePermutationsThatDoWhatTheySay) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  Graph const graph = adjacency(Pattern(a));
  Colouring const c = colouring(graph);
  EXPECT_EQ(c.colours, 2) << "the grid is bipartite";
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : graph.of(i)) EXPECT_NE(c.colour[i], c.colour[j]);
  auto const fill = [&](Permutation const& P) {
    Csr<double> const b = permuted(a.view(), P);
    return threshold_cholesky(b, {}).upper.entries();
  };
  Offset const natural = fill(Permutation::identity(a.rows));
  EXPECT_LT(fill(minimum_degree(graph)), natural / 2);
  if (metis_built()) EXPECT_LT(fill(Permutation(nested_dissection(graph))), natural / 2);
}

TEST(IncompleteFactors, WithoutDroppingAreTheFactors) {
  for (Index n : {1, 2, 17, 60}) {
    SCOPED_TRACE(n);
    Csr<double> const a = dominant(n, 5, 7);
    double const size = dense_rows(a).norm();
    EXPECT_LE((product(threshold_lu(a, {}, 0)) - dense_rows(a)).norm(), 1e-13 * size);
    TriangularFactors all = fill_pattern(a, 1000);
    factorise_on_pattern(a, 0, all);
    EXPECT_LE((product(all) - dense_rows(a)).norm(), 1e-13 * size);
    Csr<double> const s = definite(n, 8);
    double const s_size = dense_rows(s).norm();
    EXPECT_LE((product(threshold_cholesky(s, {})) - dense_rows(s)).norm(), 1e-13 * s_size);
    TriangularFactors symmetric = fill_pattern(s, 1000);
    cholesky_on_pattern(s, symmetric);
    EXPECT_LE((product(symmetric) - dense_rows(s)).norm(), 1e-13 * s_size);
    EXPECT_EQ(symmetric.shift, 0);
  }
}

/// Saad 2003, proposition 10.4: L D U agrees with A on the pattern of the factors.
TEST(IncompleteFactors, OfALevelAgreeWithTheMatrixOnTheirPattern) {
  Csr<double> const a = generate(ConvdiffParams{.n = 6});
  Offset entries = 0;
  for (int level : {0, 1, 2}) {
    TriangularFactors f = fill_pattern(a, level);
    if (level == 0) EXPECT_EQ(f.entries(), a.entries());
    EXPECT_GT(f.entries(), entries);
    entries = f.entries();
    factorise_on_pattern(a, 0, f);
    Dense const difference = product(f) - dense_rows(a);
    for (Csr<double> const* t : {&f.lower, &f.upper})
      for (Index i = 0; i < a.rows; ++i)
        for (Index const j : t->row_columns(i))
          EXPECT_NEAR(difference(i, j), 0, 1e-12 * dense_rows(a).norm());
    EXPECT_GT(difference.norm(), 0);
  }
}

TEST(IncompleteFactors, ReplaceSmallPivotsAndShiftNegativeOnes) {
  Dense d(3, 3);
  d << 1, 1, 0, 1, 1, 1, 0, 1, 1;  // the second pivot is 0
  TriangularFactors const f = threshold_lu(sparse(d), {}, 1e-3);
  EXPECT_EQ(f.replaced, 1);
  for (double const inverse : f.inverse_pivots) EXPECT_TRUE(std::isfinite(inverse));
  d << 2, 3, 0, 3, 2, 1, 0, 1, 2;  // indefinite with a positive diagonal
  TriangularFactors const c = threshold_cholesky(sparse(d), {});
  EXPECT_GT(c.shift, 0);
  for (double const inverse : c.inverse_pivots) EXPECT_GT(inverse, 0);
  d(1, 1) = -1;
  EXPECT_THROW(threshold_cholesky(sparse(d), {}), MatrixError);
  EXPECT_THROW(threshold_lu(dominant(50, 5, 1), {}, 0, 60), MemoryError);
}

TEST(CompleteFactors, AreTheMatrixInAnotherOrder) {
  for (std::uint64_t seed : {1, 2, 3}) {
    auto const check = [](Csr<double> const& a, CompleteFactors const& c) {
      Dense moved(a.rows, a.rows);
      for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.rows; ++j) moved(i, j) = dense_rows(a)(c.row[i], c.column[j]);
      EXPECT_LE((product(c.factors) - moved).norm(), 1e-12 * moved.norm());
    };
    Csr<double> const a = hollow(40, seed), s = definite(40, seed);
    check(a, complete_lu(a));
    check(s, complete_cholesky(s));
  }
  EXPECT_THROW(complete_lu(with_entries(4, {{0, 0}, {1, 1}, {2, 2}})), MatrixError);
}

FactorRecipe complete(Real values, FactorOrder order) {
  return {.name = "test",
          .fill = FillIn::by_level,
          .level = 1000,
          .arrangement = {UseMatching::automatic, FactorScaling::largest, order},
          .values = values,
          .solves = TriangularSolves::exact};
}

class FactorOperators : public OnEachBackend {
 protected:
  /// M x for blocks, layouts, alpha, beta and both ops, against the dense M.
  void matches(LinearOperator<double> const& M, Dense const& exact, double tolerance) {
    Index const n = M.rows();
    for (Op op : {Op::none, Op::transpose})
      for (Index k : {1, 2, 3, 5, 17, 27})  // columns that are solved together: widths 1 to 16
        for (Layout layout : {Layout::row_major, Layout::col_major})
          for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-0.75, 1.25}}) {
            SCOPED_TRACE(cat("op ", int(op), ", k ", k, ", layout ", int(layout)));
            auto x = random_values(n * k, 1), y0 = random_values(n * k, 2);
            if (beta == 0) y0.assign(y0.size(), nan);
            Guarded<double> gx(ctx(), n, k, layout, 3, x), y(ctx(), n, k, layout, 3, y0);
            M.apply(ctx(), alpha, gx.in(), beta, y.view(), op);
            Dense const E = op == Op::none ? exact : Dense(exact.transpose());
            Dense e = alpha * E * Eigen::Map<Dense>(x.data(), n, k);
            if (beta != 0) e += beta * Eigen::Map<Dense>(y0.data(), n, k);
            auto got = y.get();
            double const size = e.cwiseAbs().maxCoeff();
            for (Index i = 0; i < n * k; ++i)
              ASSERT_NEAR(got[i], e(i / k, i % k), tolerance * size) << "row " << i / k;
            EXPECT_TRUE(y.untouched());
            EXPECT_TRUE(gx.unchanged());
          }
  }
};
TCSOLVE_ON_EACH_BACKEND(FactorOperators);

TEST_P(FactorOperators, OfAllFillAreTheInverse) {
  std::vector<FactorOrder> orders = {FactorOrder::none, FactorOrder::rcm, FactorOrder::amd,
                                     FactorOrder::colours};
  if (metis_built()) orders.push_back(FactorOrder::metis);
  for (Index n : {1, 33, 200})
    for (FactorOrder order : orders) {
      Csr<double> const a = hollow(n, 5);
      Dense const inverse = inverse_of(dense_rows(a));
      SCOPED_TRACE(cat(n, " rows, order ", int(order)));
      matches(Factorisation(ctx(), a.view(), complete(Real::f64, order)), inverse, 1e-10);
      matches(Factorisation(ctx(), a.view(), complete(Real::f32, order)), inverse, 1e-5);
      matches(Factorisation(ctx(), a.view(), complete(Real::f16, order)), inverse, 5e-2);
    }
}

// N^n = 0: as many sweeps as rows are exact, and each is a term of Neumann's series.
TEST_P(FactorOperators, SweepsAreNeumannsSeries) {
  Index const n = 40;
  Csr<double> const a = hollow(n, 5);
  FactorRecipe recipe = complete(Real::f64, FactorOrder::none);
  recipe.solves = TriangularSolves::sweeps;
  recipe.sweeps = n;
  matches(Factorisation(ctx(), a.view(), recipe), inverse_of(dense_rows(a)), 1e-10);
  Csr<double> const s = definite(40, 3);
  recipe.symmetric = true;
  recipe.level = 0;
  recipe.arrangement = {UseMatching::off, FactorScaling::none, FactorOrder::none};
  for (int sweeps : {1, 2, 5}) {
    recipe.sweeps = sweeps;
    Factorisation const M(ctx(), s.view(), recipe);
    auto const factors = M.factors(ctx());
    Dense const U = dense_rows(factors->upper);
    Dense series = Dense::Identity(s.rows, s.rows), power = series;
    for (int k = 0; k < sweeps; ++k) series += power = -U * power;
    Eigen::Map<Eigen::VectorXd const> const inverse(factors->inverse_pivots.data(), s.rows);
    matches(M, series * inverse.asDiagonal() * series.transpose(), 1e-12);
  }
}

TEST_P(FactorOperators, GiveTheSameBitsOnEveryRunAndAsTheHost) {
  Csr<double> const a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  FactorRecipe recipe = complete(Real::f64, FactorOrder::amd);
  recipe.level = 1;
  Factorisation const M(ctx(), a.view(), recipe);
  Context host(Backend::host);
  Factorisation const H(host, a.view(), recipe);
  auto const x = random_values(a.rows, 3);
  std::vector<double> first, there(a.rows);
  H.apply(host, vector_view(x.data(), a.rows), vector_view(there.data(), a.rows));
  double const size = std::abs(*std::max_element(there.begin(), there.end()));
  for (int run = 0; run < 20; ++run) {
    Guarded<double> gx(ctx(), x), y(ctx(), std::vector<double>(a.rows, nan));
    M.apply(ctx(), gx.in(), y.view());
    auto const got = y.get();
    if (run == 0) first = got;
    ASSERT_EQ(got, first);
    for (Index i = 0; i < a.rows; ++i) ASSERT_NEAR(got[i], there[i], 1e-12 * size);
  }
}

TEST_P(FactorOperators, FollowNewValues) {
  Csr<double> const a = hollow(90, 6);
  Csr<double> b = a;
  for (std::size_t k = 0; k < b.values.size(); ++k) b.values[k] *= 1 + 0.1 * std::sin(double(k));
  for (TriangularSolves solves :
       {TriangularSolves::exact, TriangularSolves::isai, TriangularSolves::sweeps})
    for (FillIn fill : {FillIn::by_level, FillIn::by_size, FillIn::complete}) {
      FactorRecipe recipe = complete(Real::f64, FactorOrder::none);
      recipe.solves = solves;
      recipe.fill = fill;
      recipe.level = 1;
      recipe.drop_tolerance = 1e-3;
      Factorisation followed(ctx(), a.view(), recipe);
      Guarded<double> x(ctx(), random_values(90, 4)), y(ctx(), std::vector<double>(90, nan)),
          z(ctx(), std::vector<double>(90, nan));
      followed.apply(ctx(), 1, x.in(), 0, y.view(), Op::transpose);  // makes the transpose
      followed.update(ctx(), b.view());
      if (fill == FillIn::complete) {
        Dense const inverse = inverse_of(dense_rows(b));
        if (solves == TriangularSolves::exact) matches(followed, inverse, 1e-10);
        continue;
      }
      // On the same patterns and permutations, as factorised from b alone.
      followed.apply(ctx(), x.in(), y.view());
      followed.update(ctx(), a.view());
      followed.update(ctx(), b.view());
      followed.apply(ctx(), x.in(), z.view());
      EXPECT_EQ(y.get(), z.get());
      // A x - x of the new matrix is small where M approximates its inverse.
      Eigen::VectorXd const applied =
          dense_rows(b) * Eigen::Map<Eigen::VectorXd>(y.get().data(), 90).eval();
      EXPECT_LE((applied - Eigen::Map<Eigen::VectorXd>(x.get().data(), 90)).norm(),
                0.5 * Eigen::Map<Eigen::VectorXd>(x.get().data(), 90).norm());
    }
}

/// W T = I on the pattern of W, and W = T^-1 where T is dense.
TEST_P(FactorOperators, ApproximateInversesMeetTheirEquations) {
  for (bool lower : {true, false})
    for (Index n : {1, 30, 700}) {
      Dense d = dense_rows(dominant(n, 5, 9));
      Dense const strict = lower ? Dense(d.triangularView<Eigen::StrictlyLower>())
                                 : Dense(d.triangularView<Eigen::StrictlyUpper>());
      Csr<double> const t = sparse(strict), w = triangular_inverse(ctx(), t, lower);
      validate(w.view());
      EXPECT_EQ(w.entries(), t.entries() + n);
      Dense const identity = dense_rows(w) * (strict + Dense::Identity(n, n));
      for (Index i = 0; i < n; ++i)
        for (Index const j : w.row_columns(i)) EXPECT_NEAR(identity(i, j), i == j, 1e-12);
    }
  Dense full = Dense::Random(12, 12).triangularView<Eigen::StrictlyLower>();
  Dense const w = dense_rows(triangular_inverse(ctx(), sparse(full), true));
  EXPECT_LE((w * (full + Dense::Identity(12, 12)) - Dense::Identity(12, 12)).norm(), 1e-9);
}

TEST_P(FactorOperators, ByPartsLeaveOutWhatCouplesThem) {
  Csr<double> const a = dominant(150, 6, 31), s = definite(150, 32);
  for (Csr<double> const* matrix : {&a, &s})
    for (int part : {32, 64, 1024})
      for (FactorOrder order : {FactorOrder::none, FactorOrder::amd}) {
        SCOPED_TRACE(cat(part, ", ", int(order)));
        FactorRecipe recipe = complete(Real::f64, order);
        recipe.level = 1;
        recipe.symmetric = matrix == &s;
        recipe.solves = TriangularSolves::parts;
        recipe.part = part;
        if (recipe.symmetric) recipe.arrangement.matching = UseMatching::off;
        Factorisation M(ctx(), matrix->view(), recipe);
        Csr<double> now = *matrix;
        for (double& v : now.values) v *= 1.25;
        for (Csr<double> const* values : {matrix, static_cast<Csr<double> const*>(&now)}) {
          M.update(ctx(), values->view());
          TriangularFactors factors = *M.factors(ctx());
          for (Csr<double>* t : {&factors.lower, &factors.upper})
            for (Index i = 0; i < t->rows; ++i)
              for (Offset k = t->offsets[i]; k < t->offsets[i + 1]; ++k)
                if (i / part != t->columns[k] / part) t->values[k] = 0;
          Arrangement const B(values->view(), recipe.arrangement, recipe.symmetric);
          matches(M,
                  dense_rows(B.sides().leaving()) * inverse_of(product(factors)) *
                      dense_rows(B.sides().entering()),
                  1e-11);
        }
      }
}

TEST_P(FactorOperators, RefuseWhatTheirTypeCannotHold) {
  Dense d = Dense::Identity(3, 3);
  d(2, 0) = 1e6;
  FactorRecipe recipe = complete(Real::f16, FactorOrder::none);
  recipe.arrangement = {UseMatching::off, FactorScaling::none, FactorOrder::none};
  EXPECT_THROW(Factorisation(ctx(), sparse(d).view(), recipe), MatrixError);
}

}  // namespace
}  // namespace tcsolve::test
