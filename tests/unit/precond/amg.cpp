// SPDX-License-Identifier: Apache-2.0
/// Smoothed aggregation step by step against plain serial references and dense algebra.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/aggregation.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/sparse/independent_set.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;

/// A path of n vertices whose end points are free: singular, constants are mapped to zero.
Csr<double> free_path(Index n) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    double const degree = (i > 0) + (i + 1 < n);
    for (Index const j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      a.columns.push_back(j);
      a.values.push_back(i == j ? degree : -1.0);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

std::vector<Named> problems() {
  return {{"7-point", generate(Poisson7Params{.n = 11, .coefficient = Coefficient::random})},
          {"27-point", generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random})},
          {"anisotropic", generate(AnisotropicParams{.n = 10})},
          {"elasticity", generate(ElasticityParams{.n = 7})},
          {"path", free_path(900)}};
}

/// Narrower types: amg_types.cpp.
class Amg : public AmgOnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(Amg);

/// Norms of blocks by their definition.
std::vector<std::set<Index>> strong_neighbours(Csr<double> const& a, Index block, double theta) {
  Dense const d = dense(a);
  Index const nodes = a.rows / block;
  auto const norm = [&](Index I, Index J) {
    return d.block(I * block, J * block, block, block).norm();
  };
  std::vector<std::set<Index>> of(nodes);
  for (Index I = 0; I < nodes; ++I)
    for (Index J = 0; J < nodes; ++J)
      if (I != J && norm(I, J) > theta * std::sqrt(norm(I, I) * norm(J, J))) of[I].insert(J);
  return of;
}

TEST_P(Amg, StrengthGraphIsThatOfBlockNorms) {
  for (auto const& [name, a] : problems())
    for (Index const block : {1, 3})
      for (double const theta : {0.0, 0.015, 0.11}) {
        if (a.rows % block != 0 || a.rows > 1400) continue;
        SCOPED_TRACE(cat(name, ", block ", block, ", theta ", theta));
        System const s = system(a);
        StrengthGraph const graph = strength_graph(ctx(), s.matrix, block, theta);
        Csr<double> const on_host = to_host(
            ctx(),
            graph.strong.with(to_space(ctx(), std::vector<double>(graph.strong.entries, 1).data(),
                                       graph.strong.entries)
                                  .data()));
        auto const wanted = strong_neighbours(a, block, theta);
        std::vector<std::uint8_t> const keep = to_host(ctx(), graph.keep);
        Index weak = 0;
        for (Index I = 0; I < on_host.rows; ++I) {
          auto const row = on_host.row_columns(I);
          EXPECT_EQ(std::set<Index>(row.begin(), row.end()), wanted[I]) << "node " << I;
          bool coupled = false;
          for (Index r = 0; r < block; ++r) {
            Index const i = I * block + r;
            for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
              Index const J = a.columns[k] / block;
              EXPECT_EQ(keep[k], J == I || wanted[I].count(J) > 0) << i << ", " << a.columns[k];
              coupled = coupled || (J != I && a.values[k] != 0);
            }
          }
          weak += coupled && wanted[I].empty();
        }
        EXPECT_EQ(graph.weak, weak);
        EXPECT_EQ(graph.keeps_all, std::ranges::count(keep, 0) == 0);
      }
}

using Neighbours = std::vector<std::vector<Index>>;

/// Members round by round: the largest words within distance 2 of those that wait.
std::vector<bool> independent(Neighbours const& of) {
  std::size_t const n = of.size();
  auto const largest_around = [&](std::vector<std::uint32_t> word) {
    for (int step = 0; step < 2; ++step) {
      std::vector<std::uint32_t> const before = word;
      for (std::size_t i = 0; i < n; ++i)
        for (Index const j : of[i]) word[i] = std::max(word[i], before[j]);
    }
    return word;
  };
  std::vector<bool> member(n);
  std::vector<std::uint32_t> word(n, 1);
  for (int round = 0; std::ranges::count(word, 0u) < std::ssize(of); ++round) {
    for (std::size_t i = 0; i < n; ++i)
      if (word[i] != 0) word[i] = sparse::independent_word(static_cast<Index>(i), round);
    std::vector<std::uint32_t> const most = largest_around(word);
    std::vector<std::uint32_t> joined(n);
    for (std::size_t i = 0; i < n; ++i)
      if (word[i] != 0 && word[i] == most[i]) joined[i] = 1, member[i] = true;
    std::vector<std::uint32_t> const out = largest_around(joined);
    for (std::size_t i = 0; i < n; ++i)
      if (out[i] != 0) word[i] = 0;
  }
  return member;
}

std::vector<Index> aggregates_one_by_one(Neighbours const& of) {
  auto const n = static_cast<Index>(of.size());
  std::vector<Index> aggregate(n, -1);
  Index count = 0;
  auto const phase = [&](Neighbours const& graph, std::size_t least) {
    std::vector<bool> const member = independent(graph);
    for (Index i = 0; i < n; ++i) {
      if (!member[i] || graph[i].size() < least) continue;
      aggregate[i] = count;
      for (Index const j : graph[i]) aggregate[j] = count;
      ++count;
    }
  };
  phase(of, 1);
  Neighbours left(n);
  for (Index i = 0; i < n; ++i)
    for (Index const j : of[i])
      if (aggregate[i] < 0 && aggregate[j] < 0) left[i].push_back(j);
  phase(left, 2);
  std::vector<Index> const before = aggregate;
  for (Index i = 0; i < n; ++i) {
    if (before[i] >= 0) continue;
    std::map<Index, int> votes;
    for (Index const j : of[i])
      if (before[j] >= 0) ++votes[before[j]];
    int most = 0;
    for (auto const& [a, number] : votes)
      if (number > most) most = number, aggregate[i] = a;
  }
  return aggregate;
}

TEST_P(Amg, AggregatesAreThoseOfGoingThroughTheNodes) {
  for (auto const& [name, a] : problems())
    for (double const theta : {0.0, 0.08}) {
      Index const block = name == "elasticity" ? 3 : 1;
      SCOPED_TRACE(cat(name, ", theta ", theta));
      System const s = system(a);
      StrengthGraph const graph = strength_graph(ctx(), s.matrix, block, theta);
      Aggregates const found = aggregates(ctx(), graph.strong);
      Neighbours of;
      for (auto const& around : strong_neighbours(a, block, theta))
        of.emplace_back(around.begin(), around.end());
      std::vector<Index> const wanted = aggregates_one_by_one(of);
      EXPECT_EQ(to_host(ctx(), found.of), wanted);
      EXPECT_EQ(found.count, *std::ranges::max_element(wanted) + 1);
      EXPECT_GT(found.count, theta == 0 ? 0 : -1);
    }
}

/// More than one kernel takes from the start, in short rows and in long ones; none, and one.
TEST_P(Amg, AggregatesOfManyNodesAndOfFew) {
  std::vector<Named> const list{{"path", free_path(300000)},
                                {"27-point", generate(Poisson27Params{.n = 65})},
                                {"one", free_path(1)},
                                {"none", Csr<double>{}}};
  for (auto const& [name, a] : list) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(ctx(), a.view());
    StrengthGraph const graph = strength_graph(ctx(), there.view(), 1, 0);
    Aggregates const found = aggregates(ctx(), graph.strong);
    Neighbours of(static_cast<std::size_t>(a.rows));
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        if (a.columns[k] != i && a.values[k] != 0) of[i].push_back(a.columns[k]);
    std::vector<Index> const wanted = aggregates_one_by_one(of);
    EXPECT_EQ(to_host(ctx(), found.of), wanted);
    EXPECT_EQ(found.count, wanted.empty() ? 0 : std::ranges::max(wanted) + 1);
  }
}

/// Three unknowns a node in space, with rotations.
std::shared_ptr<std::vector<double>> shared_points(Index n) {
  return std::make_shared<std::vector<double>>(grid_points(n));
}

TEST_P(Amg, TentativeProlongationIsTheQrFactorisationInEachAggregate) {
  Csr<double> const a = generate(ElasticityParams{.n = 7});
  System const s = system(a);
  NearNullspace const B = near_nullspace(ctx(), s, {.block = 3, .points = shared_points(7)});
  ASSERT_EQ(B.count, 6);
  StrengthGraph const graph = strength_graph(ctx(), s.matrix, 3, 0);
  Aggregates const found = aggregates(ctx(), graph.strong);
  TentativePattern const T = tentative_pattern(ctx(), found, 3, 6);
  Array<double> t(ctx().space(), T.pattern.entries), coarse(ctx().space(), found.count * 36);
  tentative_values(ctx(), T, B.vectors.data(), t.data(), coarse.data());
  Dense const q = dense(to_host(ctx(), T.pattern.with<double>(t.data())));
  std::vector<double> const b = to_host(ctx(), B.vectors), r = to_host(ctx(), coarse);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>;
  Dense const fine = Eigen::Map<Rows const>(b.data(), a.rows, 6);
  Dense const below = Eigen::Map<Rows const>(r.data(), q.cols(), 6);
  std::vector<Index> const of = to_host(ctx(), found.of);
  for (Index i = 0; i < a.rows; ++i)
    if (of[i / 3] >= 0) EXPECT_LE((q.row(i) * below - fine.row(i)).norm(), 1e-14) << i;
  EXPECT_LE((q.transpose() * q - Dense::Identity(q.cols(), q.cols())).norm(), 1e-13);
}

TEST_P(Amg, ColumnsThatDependOnOthersAreZero) {
  // Aggregates of two nodes with one unknown each, and vectors 1, 2, i: one dependent, one left.
  Csr<double> a;
  a.rows = a.cols = 4;
  a.offsets = {0, 2, 4, 6, 8};
  a.columns = {0, 1, 0, 1, 2, 3, 2, 3};
  a.values = {2, -1, -1, 2, 2, -1, -1, 2};
  System const s = system(a);
  StrengthGraph const graph = strength_graph(ctx(), s.matrix, 1, 0);
  Aggregates const found = aggregates(ctx(), graph.strong);
  ASSERT_EQ(found.count, 2);
  TentativePattern const T = tentative_pattern(ctx(), found, 1, 3);
  There<double> B(ctx(), std::vector<double>{1, 2, 0, 1, 2, 1, 1, 2, 2, 1, 2, 3});
  Array<double> t(ctx().space(), 12), coarse(ctx().space(), 18);
  tentative_values(ctx(), T, B.data(), t.data(), coarse.data());
  Dense const q = dense(to_host(ctx(), T.pattern.with<double>(t.data())));
  Dense wanted = Dense::Identity(6, 6);
  wanted(1, 1) = wanted(4, 4) = 0;
  EXPECT_LE((q.transpose() * q - wanted).norm(), 1e-14) << q;
}

TEST_P(Amg, ProlongationAndGalerkinProductAreTheirFormulas) {
  for (auto const& [name, a] : problems()) {
    if (a.rows > 1400) continue;
    for (double const theta : {0.0, 0.3}) {
      SCOPED_TRACE(cat(name, ", theta ", theta));
      Index const block = name == "elasticity" ? 3 : 1;
      System const s = system(a);
      NearNullspace const B = near_nullspace(ctx(), s, {.block = block});
      Aggregation transfer(ctx(), s.matrix, B.vectors.data(),
                           {.block = block, .vectors = block, .strength = theta});
      ASSERT_FALSE(transfer.failed());
      transfer.numbers(ctx(), s.matrix, 1.7);
      Dense const A = dense(a), P = dense(to_host(ctx(), transfer.P()));
      EXPECT_EQ(dense(to_host(ctx(), transfer.R())), Dense(P.transpose()));
      Dense const coarse = dense(to_host(ctx(), transfer.coarse()));
      EXPECT_LE((coarse - P.transpose() * A * P).norm(), 1e-13 * coarse.norm());
      if (!transfer.keeps_all()) continue;
      // P - T is a multiple of D^-1 A T.
      StrengthGraph const graph = strength_graph(ctx(), s.matrix, block, transfer.strength());
      Aggregates const found = aggregates(ctx(), graph.strong);
      TentativePattern const T = tentative_pattern(ctx(), found, block, block);
      Array<double> t(ctx().space(), T.pattern.entries),
          below(ctx().space(), found.count * block * block);
      tentative_values(ctx(), T, B.vectors.data(), t.data(), below.data());
      Dense const tentative = dense(to_host(ctx(), T.pattern.with<double>(t.data())));
      Dense const smoothed =
          tentative - 4 / (3 * 1.7) * A.diagonal().cwiseInverse().asDiagonal() * A * tentative;
      EXPECT_LE((P - smoothed).norm(), 1e-14 * P.norm());
    }
  }
}

TEST_P(Amg, FilteredProlongationKeepsConstants) {
  // Rows away from the border sum to zero, and so do those of the filtered matrix.
  Csr<double> const a = generate(AnisotropicParams{.n = 12});
  System const s = system(a);
  NearNullspace const B = near_nullspace(ctx(), s, {.block = 1});
  Aggregation transfer(ctx(), s.matrix, B.vectors.data(), {.strength = 0.1});
  ASSERT_FALSE(transfer.keeps_all());
  transfer.numbers(ctx(), s.matrix, 2);
  Csr<double> const P = to_host(ctx(), transfer.P());
  There<double> coarse(ctx(), std::vector<double>(P.cols));
  copy_bytes(ctx(), coarse.data(), ctx().space(), transfer.coarse_vectors(), ctx().space(),
             sizeof(double) * P.cols);
  std::vector<double> const below = coarse.all();
  Index const n = 12;
  for (Index i = 0; i < P.rows; ++i) {
    Index const x = i % n, y = i / n % n, z = i / n / n;
    if (std::min({x, y, z}) == 0 || std::max({x, y, z}) == n - 1) continue;
    double sum = 0;
    for (Offset k = P.offsets[i]; k < P.offsets[i + 1]; ++k)
      sum += P.values[k] * below[P.columns[k]];
    EXPECT_NEAR(sum, 1, 1e-13) << i;
  }
}

TEST_P(Amg, CycleIsSymmetricAndPositiveDefinite) {
  for (AmgParams const& params :
       {AmgParams{.coarse_size = 20},
        AmgParams{.degree = 3, .cycle = AmgCycleKind::w, .coarse_size = 20},
        AmgParams{.smoother = AmgSmoother::l1_jacobi, .coarse_size = 20},
        AmgParams{.smoothing = false, .coarse_size = 20},
        AmgParams{.cycle = AmgCycleKind::w, .smoothing = false, .coarse_size = 4},
        AmgParams{.unsmoothed = 1, .coarse_size = 20}, AmgParams{.max_levels = 1}})
    for (auto const& [name, a] :
         {Named{"7-point", generate(Poisson7Params{.n = 6, .coefficient = Coefficient::random})},
          Named{"elasticity", generate(ElasticityParams{.n = 4})}}) {
      SCOPED_TRACE(name);
      auto const owner = made(a, params);
      Dense const M = matrix_of(*owner->view());
      EXPECT_LE((M - M.transpose()).norm(), 1e-13 * M.norm());
      EXPECT_GT(symmetric_eigenvalues(0.5 * (M + M.transpose())).minCoeff(), 0);
    }
}

TEST_P(Amg, CycleOfAFewRowsIsTheInverse) {
  Csr<double> const a = generate(Poisson7Params{.n = 5, .coefficient = Coefficient::random});
  Dense const M = matrix_of(*made(a)->view());
  EXPECT_LE((M * dense(a) - Dense::Identity(a.rows, a.rows)).norm(), 1e-12);
}

TEST_P(Amg, IsTheSameForScaledMatrices) {
  Csr<double> const a = generate(AnisotropicParams{.n = 12, .coefficient = Coefficient::random});
  std::vector<double> const r = random_values(a.rows, 3);
  std::vector<double> const wanted = applied(*made(a)->view(), r);
  for (int const e : {1, -7, 300, -301}) {
    Csr<double> scaled = a;
    for (double& v : scaled.values) v = std::ldexp(v, e);
    std::vector<double> got = applied(*made(scaled)->view(), r);
    for (double& v : got) v = std::ldexp(v, e);
    EXPECT_EQ(got, wanted) << e;
  }
}

TEST_P(Amg, NewValuesAreAsASetUpOfThem) {
  Csr<double> const a = generate(Poisson7Params{.n = 14, .coefficient = Coefficient::random});
  Csr<double> b = a, weaker = a;  // the last has other strong couplings on its first level
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k) {
      if (b.columns[k] == i) b.values[k] *= 1.25;
      if (std::abs(b.columns[k] - i) == 1) weaker.values[k] *= 1e-3;
    }
  std::vector<double> const r = random_values(a.rows, 5);
  for (AmgReuse const reuse : {AmgReuse::exact, AmgReuse::pattern, AmgReuse::none}) {
    // With strength 0 every coupling is strong.
    for (double const strength : {0.02, 0.0}) {
      AmgParams const params{.strength = strength, .coarse_size = 30, .reuse = reuse};
      SCOPED_TRACE(cat("reuse ", static_cast<int>(reuse), ", strength ", strength));
      auto const owner = made(a, params);
      std::vector<double> const before = applied(*owner->view(), r);
      for (Csr<double> const& now : {b, weaker, a}) {
        owner->update(ctx(), system(now));
        std::vector<double> const after = applied(*owner->view(), r);
        if (reuse != AmgReuse::pattern || strength == 0)
          EXPECT_EQ(after, applied(*made(now, params)->view(), r));
      }
      EXPECT_EQ(applied(*owner->view(), r), before);
      owner->update(ctx(), system(b));
      EXPECT_NE(applied(*owner->view(), r), before);
    }
  }
}

TEST_P(Amg, FrozenAggregatesStayWhateverTheValues) {
  Csr<double> const a = generate(AnisotropicParams{.n = 12});
  Csr<double> turned = generate(AnisotropicParams{.n = 12, .epsilon_x = 1e-3, .epsilon_z = 1});
  auto const owner = made(a, {.reuse = AmgReuse::pattern}), exact = made(a);
  std::vector<Index> const before = rows_of(*owner);
  owner->update(ctx(), system(turned));
  exact->update(ctx(), system(turned));
  EXPECT_EQ(rows_of(*owner), before);
  EXPECT_EQ(rows_of(*exact), rows_of(*made(turned)));
  std::vector<double> const r = random_values(a.rows, 5);
  EXPECT_NE(applied(*owner->view(), r), applied(*exact->view(), r));
}

TEST_P(Amg, BlocksOfColumnsAreTheirColumns) {
  Csr<double> const a = generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random});
  auto const owner = made(a, {.cycle = AmgCycleKind::w, .coarse_size = 20});
  expect_its_columns(*owner->view(), 2, 1);
}

TEST(AmgCoarse, InverseOfASingularMatrixIsAGeneralisedOne) {
  Csr<double> two = free_path(20);  // two pieces, and a row of zeros
  for (Index i = 0; i < 20; ++i)
    for (Offset k = two.offsets[i]; k < two.offsets[i + 1]; ++k) {
      bool const cut = (i < 10) != (two.columns[k] < 10);
      if (cut) two.values[k] = 0;
      if (two.columns[k] == i && (i == 9 || i == 10)) two.values[k] = 1;
      if (i == 19 || two.columns[k] == 19) two.values[k] = 0;
      if (i == 18 && two.columns[k] == 18) two.values[k] = 1;
    }
  Dense const A = dense(two), G = dense(coarse_inverse(two, {}));
  EXPECT_EQ(G, Dense(G.transpose()));
  EXPECT_LE((A * G * A - A).norm(), 1e-11 * A.norm());
  EXPECT_EQ(G.row(19).norm(), 0);
  EXPECT_GE(symmetric_eigenvalues(G).minCoeff(), -1e-12 * G.norm());
}

TEST(AmgCoarse, AnIndefiniteMatrixIsRefused) {
  Csr<double> a = free_path(4);
  a.values[0] = -3;
  EXPECT_THROW(coarse_inverse(a, {}), SetupError);
}

/// With `elliptic` a matrix has to look like one.
TEST_P(Amg, MatricesThatAreNotEllipticAreRefusedWhereThatIsAsked) {
  Csr<double> const grid = generate(Poisson7Params{.n = 20});
  Csr<double> massive = grid, positive = grid;  // a large diagonal; couplings of both signs
  for (Index i = 0; i < grid.rows; ++i)
    for (Offset k = grid.offsets[i]; k < grid.offsets[i + 1]; ++k) {
      Index const j = grid.columns[k];
      if (j == i) massive.values[k] *= 2;
      if (j == i) positive.values[k] = 4.1;
      if (std::abs(j - i) == 1) positive.values[k] = 0.05;
    }
  Csr<double> const solid = generate(ElasticityParams{.n = 20, .coefficient = Coefficient::random});
  AmgParams const asked{.elliptic = true};
  EXPECT_NO_THROW(made(grid, asked));
  EXPECT_NO_THROW(made(solid, asked));
  EXPECT_NO_THROW(made(massive));
  EXPECT_NO_THROW(made(positive));
  EXPECT_THAT(message_of<SetupError>([&] { made(massive, asked); }), HasSubstr("|A z|"));
  EXPECT_THAT(message_of<SetupError>([&] { made(positive, asked); }), HasSubstr("positive"));
}

TEST_P(Amg, WhatItCannotTakeIsRefusedByName) {
  Csr<double> const good = generate(Poisson7Params{.n = 8});
  auto const at = [&](Index row, double v) {
    Csr<double> a = good;
    for (Offset k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
      if (a.columns[k] == row) a.values[k] = v;
    return a;
  };
  for (double const v : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THAT(message_of<SetupError>([&] { made(at(6, v)); }), HasSubstr("row 7")) << v;
  EXPECT_THAT(message_of<SetupError>([&] { made(good, {.near_nullspace = {.block = 3}}); }),
              HasSubstr("does not divide the 512 rows"));
  Csr<double> const solid = generate(ElasticityParams{.n = 7});
  auto points = shared_points(7);
  points->pop_back();
  EXPECT_THAT(message_of<SetupError>(
                  [&] { made(solid, {.near_nullspace = {.block = 3, .points = points}}); }),
              HasSubstr("343 nodes of 3 unknowns need 1029"));
  points->push_back(std::nan(""));
  EXPECT_THAT(message_of<SetupError>(
                  [&] { made(solid, {.near_nullspace = {.block = 3, .points = points}}); }),
              HasSubstr("node 343 are not finite"));
  EXPECT_THAT(message_of<SetupError>([&] {
                made(good, {.near_nullspace = {.block = 1, .points = shared_points(8)}});
              }),
              HasSubstr("a block of 2 or 3, not of 1"));
  EXPECT_THAT(message_of<SetupError>(
                  [&] { made(generate(Poisson7Params{.n = 12}), {.max_complexity = 1}); }),
              HasSubstr("max_complexity"));
  EXPECT_THROW(made(random_matrix(4, 5, 3, 1)), ShapeError);
}

TEST_P(Amg, RowsWithoutCouplingsAreLeftOut) {
  // Rows of zeros, rows of the unit matrix and a diagonal matrix: no coarse level has them.
  Csr<double> a = generate(Poisson7Params{.n = 12});
  Csr<double> b;
  b.rows = b.cols = a.rows + 400;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      b.columns.push_back(a.columns[k]);
      b.values.push_back(a.values[k]);
    }
    b.offsets.push_back(b.entries());
  }
  for (Index i = a.rows; i < b.rows; ++i) {
    if (i % 2 == 0) b.columns.push_back(i), b.values.push_back(5);
    b.offsets.push_back(b.entries());
  }
  std::vector<Index> const alone = rows_of(*made(a)), with = rows_of(*made(b));
  ASSERT_EQ(alone.size(), with.size());
  EXPECT_EQ(std::vector(alone.begin() + 1, alone.end()), std::vector(with.begin() + 1, with.end()));
  Csr<double> diagonal;
  diagonal.rows = diagonal.cols = 1000;
  for (Index i = 0; i < 1000; ++i) {
    diagonal.columns.push_back(i), diagonal.values.push_back(1 + i);
    diagonal.offsets.push_back(i + 1);
  }
  EXPECT_EQ(rows_of(*made(diagonal)).size(), 1u);
  auto const owner = made(diagonal);
  std::vector<double> const y = applied(*owner->view(), std::vector<double>(1000, 1.0));
  for (Index i = 0; i < 1000; ++i) EXPECT_NEAR(y[i] * (1 + i), y[0], 1e-12);
}

}  // namespace
}  // namespace tcsolve::test
