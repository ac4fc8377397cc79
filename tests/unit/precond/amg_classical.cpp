// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening against plain serial references and dense algebra.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/amg/classical.hpp>
#include <tcsolve/precond/amg/cycle.hpp>
#include <tcsolve/sparse/transpose.hpp>

#include <gmock/gmock.h>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;
using Rows = std::vector<std::set<Index>>;

Dense dense(Csr<double> const& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

/// Cells of a grid whose coefficients jump by 1e4 from block to block.
Csr<double> jumps(Index n) {
  Csr<double> a = generate(Poisson7Params{.n = n});
  auto const size = [&](Index i) {
    Index const x = i % n, y = i / n % n, z = i / n / n;
    return (x / 4 + y / 4 + z / 4) % 2 == 0 ? 1e4 : 1.0;
  };
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    Offset own = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      Index const j = a.columns[k];
      if (j == i) {
        own = k;
        continue;
      }
      a.values[k] = -2 / (1 / size(i) + 1 / size(j));
      sum -= a.values[k];
    }
    bool const border = a.offsets[i + 1] - a.offsets[i] < 7;
    a.values[own] = sum + (border ? size(i) : 0.0);
  }
  return a;
}

/// What is strong, by row.
Rows strong_rows(Csr<double> const& a, double theta, double max_row_sum) {
  Rows strong(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    double most = 0, sum = 0, diagonal = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      sum += a.values[k];
      if (a.columns[k] == i)
        diagonal = a.values[k];
      else
        most = std::max(most, -a.values[k]);
    }
    if (std::abs(sum) > max_row_sum * std::abs(diagonal)) continue;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] != i && a.values[k] < 0 && -a.values[k] >= theta * most)
        strong[i].insert(a.columns[k]);
  }
  return strong;
}

Csr<double> pattern_of(Rows const& rows) {
  Csr<double> p;
  p.rows = p.cols = static_cast<Index>(rows.size());
  for (auto const& row : rows) {
    for (Index const j : row) p.columns.push_back(j), p.values.push_back(1);
    p.offsets.push_back(p.entries());
  }
  return p;
}

/// Extended interpolation from the points with a number >= 0, row by row.
Dense extended(Dense const& A, Rows const& strong, std::vector<Index> const& number, Index coarse,
               bool way_back) {
  Index const n = static_cast<Index>(A.rows());
  std::vector<double> b(n, 0.0), back(n, 0.0);
  std::vector<int> reach(n, 0);
  for (Index i = 0; i < n; ++i) {
    int fine = 0;
    for (Index const j : strong[i])
      if (number[j] >= 0)
        b[i] += A(i, j), ++reach[i];
      else
        back[i] += A(i, j), ++fine;
    if (fine > 0) back[i] /= fine;
    if (way_back) b[i] += back[i];
  }
  Dense P = Dense::Zero(n, coarse);
  for (Index i = 0; i < n; ++i) {
    if (number[i] >= 0) {
      P(i, number[i]) = 1;
      continue;
    }
    double own = A(i, i);
    for (Index j = 0; j < n; ++j) {
      if (j == i) continue;
      if (strong[i].count(j) == 0 || (number[j] < 0 && reach[j] == 0))
        own += A(i, j);
      else if (way_back && number[j] < 0)
        own += A(i, j) * back[j] / b[j];
    }
    // (A_FF + D_b) D_b^-1 A_FC
    auto const along = [&](Index j, double factor) {
      for (Index const c : strong[j])
        if (number[c] >= 0) P(i, number[c]) -= factor / own * A(j, c) / b[j];
    };
    if (reach[i] > 0) along(i, b[i]);
    for (Index const j : strong[i])
      if (number[j] < 0 && reach[j] > 0) along(j, A(i, j));
  }
  return P;
}

class AmgClassical : public OnEachBackend {
 protected:
  System system(Csr<double> const& a) {
    auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
    return {A->view(), A};
  }
  CoarsePoints points(Csr<double> const& strong) {
    CsrStorage<double> const there(ctx(), strong.view());
    std::vector<std::uint8_t> const all(strong.columns.size(), 1);
    Array<std::uint8_t> const keep = to_space(ctx(), all.data(), all.size());
    sparse::Filter const same(ctx(), there.view(), keep.data());
    sparse::Transpose const back(ctx(), there.view());
    return coarse_points(ctx(), same.pattern(), back.pattern());
  }
  /// Of the points `among`, those that stay where coarsening is aggressive.
  CoarsePoints fewer(CsrView<double> const& there, Csr<double> const& a, Rows const& strong,
                     CoarsePoints const& among) {
    std::vector<std::uint8_t> marks;
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        marks.push_back(strong[i].count(a.columns[k]) > 0);
    Array<std::uint8_t> const keep = to_space(ctx(), marks.data(), marks.size());
    return coarse_points_among(ctx(), there, keep.data(), among);
  }
  static std::vector<Named> problems() {
    return {{"7-point", generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random})},
            {"27-point", generate(Poisson27Params{.n = 8, .coefficient = Coefficient::random})},
            {"jumps", jumps(9)}};
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgClassical);

TEST_P(AmgClassical, CoarsePointsAreIndependentAndNearToTheRest) {
  for (auto const& [name, a] : problems()) {
    SCOPED_TRACE(name);
    auto const strong = strong_rows(a, 0.25, 0.9);
    CoarsePoints const found = points(pattern_of(strong));
    std::vector<Index> const number = to_host(ctx(), found.number);
    std::vector<Index> ascending;
    std::vector<int> dependents(a.rows, 0);
    for (auto const& row : strong)
      for (Index const j : row) ++dependents[j];
    for (Index i = 0; i < a.rows; ++i) {
      if (number[i] >= 0) {
        ascending.push_back(number[i]);
        for (Index const j : strong[i])
          EXPECT_FALSE(strong[j].count(i) > 0 && number[j] >= 0) << i << " and " << j;
        continue;
      }
      // A fine row depends on a coarse one, unless no row depends on it.
      bool const near = std::ranges::any_of(strong[i], [&](Index j) { return number[j] >= 0; });
      EXPECT_TRUE(near || dependents[i] == 0) << i;
    }
    ASSERT_EQ(static_cast<Index>(ascending.size()), found.count);
    for (Index c = 0; c < found.count; ++c) EXPECT_EQ(ascending[c], c);
    EXPECT_LT(found.count, 0.6 * a.rows);
  }
}

/// Couplings along x are positive: weak, but strong by their size.
TEST_P(AmgClassical, PositiveCouplingsAreStrongByTheirSizeAlone) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  Csr<double> flipped = a;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (std::abs(a.columns[k] - i) == 1) flipped.values[k] = 1;
  System const s = system(flipped), original = system(a);
  for (bool const absolute : {false, true}) {
    Classical const transfer(ctx(), s.matrix, {.absolute = absolute, .max_row_sum = 10}),
        unlike(ctx(), original.matrix, {.max_row_sum = 10});
    std::vector<std::uint8_t> strong(a.values.size());
    copy_bytes(ctx(), strong.data(), Space::host, transfer.strong(), ctx().space(), strong.size());
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        ASSERT_EQ(strong[k] != 0, a.columns[k] != i && (absolute || flipped.values[k] < 0)) << i;
    EXPECT_EQ(transfer.coarse_rows() == unlike.coarse_rows(), absolute);
  }
}

TEST_P(AmgClassical, InterpolationIsItsFormula) {
  for (auto const& [name, a] : problems()) {
    SCOPED_TRACE(name);
    System const s = system(a);
    int const all = 1000;  // entries of a row: nothing is cut
    Rows const strong = strong_rows(a, 0.25, 0.9);
    CoarsePoints const coarse_points = points(pattern_of(strong));
    Dense const A = dense(a);
    Dense P;
    for (bool const way_back : {true, false}) {
      Classical transfer(ctx(), s.matrix, {.interpolation = {way_back, all}});
      ASSERT_FALSE(transfer.failed());
      transfer.numbers(ctx(), s.matrix, 1);
      P = dense(to_host(ctx(), transfer.P()));
      Dense const wanted =
          extended(A, strong, to_host(ctx(), coarse_points.number), coarse_points.count, way_back);
      ASSERT_EQ(P.cols(), wanted.cols());
      EXPECT_LE((P - wanted).norm(), 1e-13 * wanted.norm());
      Dense const coarse = dense(to_host(ctx(), transfer.coarse()));
      EXPECT_LE((coarse - P.transpose() * A * P).norm(), 1e-13 * coarse.norm());
      EXPECT_EQ(dense(to_host(ctx(), transfer.R())), Dense(P.transpose()));
    }

    // Cut: the largest entries, and their sums.
    Index const n = a.rows, m = coarse_points.count;
    Classical cut(ctx(), s.matrix, {.interpolation = {.most = 2}});
    cut.numbers(ctx(), s.matrix, 1);
    Csr<double> const few = to_host(ctx(), cut.P());
    for (Index i = 0; i < n; ++i) {
      ASSERT_LE(few.offsets[i + 1] - few.offsets[i], 2);
      double sum = 0, least = HUGE_VAL;
      for (Offset k = few.offsets[i]; k < few.offsets[i + 1]; ++k) {
        sum += few.values[k];
        least = std::min(least, std::abs(P(i, few.columns[k])));
      }
      EXPECT_NEAR(sum, P.row(i).sum(), 1e-13) << i;
      std::set<Index> kept(few.columns.begin() + few.offsets[i],
                           few.columns.begin() + few.offsets[i + 1]);
      for (Index c = 0; c < m; ++c)
        if (kept.count(c) == 0) EXPECT_LE(std::abs(P(i, c)), least) << i;
    }
  }
}

TEST_P(AmgClassical, AggressivePointsAreIndependentOverTwoStepsAndNearToTheRest) {
  for (auto const& [name, a] : problems()) {
    SCOPED_TRACE(name);
    System const s = system(a);
    Rows const strong = strong_rows(a, 0.25, 0.9);
    CoarsePoints const before = points(pattern_of(strong));
    CoarsePoints const found = fewer(s.matrix, a, strong, before);
    std::vector<Index> const first = to_host(ctx(), before.number),
                             number = to_host(ctx(), found.number);
    Rows two(a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      auto const reach = [&](Index j) {
        if (j != i && first[i] >= 0 && first[j] >= 0) two[i].insert(j);
      };
      for (Index const k : strong[i]) {
        reach(k);
        for (Index const j : strong[k]) reach(j);
      }
    }
    Index next = 0;
    for (Index i = 0; i < a.rows; ++i) {
      if (number[i] >= 0) {
        EXPECT_GE(first[i], 0) << i;
        EXPECT_EQ(number[i], next++);
        for (Index const j : two[i])
          EXPECT_FALSE(two[j].count(i) > 0 && number[j] >= 0) << i << " and " << j;
      } else if (first[i] >= 0) {
        EXPECT_TRUE(std::ranges::any_of(two[i], [&](Index j) { return number[j] >= 0; })) << i;
      }
    }
    EXPECT_EQ(next, found.count);
    EXPECT_LT(found.count, 0.5 * before.count);
  }
}

TEST_P(AmgClassical, AggressiveInterpolationIsThatOfTwoStages) {
  for (auto const& [name, a] : problems()) {
    SCOPED_TRACE(name);
    System const s = system(a);
    Rows const strong = strong_rows(a, 0.25, 0.9);
    CoarsePoints const before = points(pattern_of(strong));
    CoarsePoints const found = fewer(s.matrix, a, strong, before);
    std::vector<Index> const first = to_host(ctx(), before.number);
    Dense const A = dense(a);
    for (bool const way_back : {true, false}) {
      Dense const all = extended(A, strong, to_host(ctx(), found.number), found.count, way_back);
      Dense second = Dense::Zero(before.count, found.count);
      for (Index i = 0; i < a.rows; ++i)
        if (first[i] >= 0) second.row(first[i]) = all.row(i);
      Dense const wanted = extended(A, strong, first, before.count, way_back) * second;
      Classical transfer(ctx(), s.matrix, {.interpolation = {way_back, 1000}, .aggressive = true});
      ASSERT_FALSE(transfer.failed());
      transfer.numbers(ctx(), s.matrix, 1);
      Dense const P = dense(to_host(ctx(), transfer.P()));
      ASSERT_EQ(P.cols(), wanted.cols());
      EXPECT_LE((P - wanted).norm(), 1e-13 * wanted.norm());
      Dense const coarse = dense(to_host(ctx(), transfer.coarse()));
      EXPECT_LE((coarse - P.transpose() * A * P).norm(), 1e-13 * coarse.norm());
    }
    Classical cut(ctx(), s.matrix, {.interpolation = {.most = 3}, .aggressive = true});
    cut.numbers(ctx(), s.matrix, 1);
    Csr<double> const few = to_host(ctx(), cut.P());
    for (Index i = 0; i < a.rows; ++i) {
      EXPECT_LE(few.offsets[i + 1] - few.offsets[i], 3);
      EXPECT_GE(few.offsets[i + 1] - few.offsets[i], strong[i].empty() ? 0 : 1) << i;
    }
  }
}

TEST_P(AmgClassical, AggressiveLevelsHoldHalfTheEntries) {
  Csr<double> const a = generate(Poisson7Params{.n = 20});
  auto const complexity = [&](AmgParams params) {
    params.coarsening = AmgCoarsening::classical, params.coarse_size = 40;
    auto const owner = AmgFactory(params).build(ctx(), system(a));
    return std::dynamic_pointer_cast<AmgCycle const>(owner->view())
        ->hierarchy()
        .operator_complexity();
  };
  double const all = complexity({}), few = complexity({.classical = {.aggressive = 1}});
  EXPECT_GT(all, 2.2);
  EXPECT_LT(few, 1.6);
  EXPECT_LT(complexity({.classical = {.aggressive = 2}}), few);
  // What would be too much is coarsened aggressively.
  EXPECT_LE(complexity({.max_complexity = 1.7}), 1.7);
  EXPECT_THROW(complexity({.max_complexity = 1.05}), SetupError);
}

TEST_P(AmgClassical, IsChosenForMMatricesThatVary) {
  auto const classical = [&](Csr<double> const& a) {
    return varies_as_an_m_matrix(ctx(), system(a).matrix);
  };
  EXPECT_TRUE(classical(jumps(9)));
  EXPECT_FALSE(classical(generate(Poisson7Params{.n = 8})));
  EXPECT_FALSE(classical(generate(AnisotropicParams{.n = 8})));
  EXPECT_FALSE(classical(generate(ElasticityParams{.n = 4})));
  Csr<double> positive = jumps(9);
  for (Index i = 0; i < positive.rows; ++i)
    for (Offset k = positive.offsets[i]; k < positive.offsets[i + 1]; ++k)
      if (positive.columns[k] != i && (i + positive.columns[k]) % 3 == 0) positive.values[k] *= -1;
  EXPECT_FALSE(classical(positive));
}

/// -1 along x + y, -weak along x and y, on a square.
Csr<double> slanted(Index n, double weak) {
  Csr<double> a;
  a.rows = a.cols = n * n;
  for (Index y = 0; y < n; ++y)
    for (Index x = 0; x < n; ++x) {
      auto const put = [&](Index dx, Index dy, double v) {
        if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n) return;
        a.columns.push_back((y + dy) * n + x + dx), a.values.push_back(v);
      };
      put(-1, -1, -1), put(0, -1, -weak), put(-1, 0, -weak), put(0, 0, 2 + 4 * weak);
      put(1, 0, -weak), put(0, 1, -weak), put(1, 1, -1);
      a.offsets.push_back(a.entries());
    }
  return a;
}

TEST_P(AmgClassical, IsChosenForAnisotropyThatAggregationDoesNotSee) {
  auto const hidden = [&](Csr<double> const& a) {
    return hidden_anisotropy(ctx(), system(a).matrix, 0.02, 0.25);
  };
  for (Csr<double> const& a :
       {generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random}),
        generate(Poisson27Params{.n = 8, .coefficient = Coefficient::random}),
        generate(AnisotropicParams{.n = 8}), slanted(20, 1), slanted(20, 0.01)})
    EXPECT_EQ(hidden(a), 0);
  Csr<double> const a = slanted(40, 0.1);
  EXPECT_GT(hidden(a), 0.6);
  EXPECT_LT(hidden(a), 0.7);
  auto const told = [&](AmgCoarsening coarsening) {
    return AmgFactory({.coarsening = coarsening, .coarse_size = 40})
        .build(ctx(), system(a))
        ->view()
        ->details();
  };
  EXPECT_EQ(told(AmgCoarsening::automatic), told(AmgCoarsening::classical));
  EXPECT_THAT(told(AmgCoarsening::automatic), HasSubstr("by classical coarsening"));
}

TEST_P(AmgClassical, NewValuesAreAsASetUpOfThem) {
  Csr<double> const a = jumps(12);
  Csr<double> b = a;
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      if (b.columns[k] == i) b.values[k] *= 1.25;
  std::vector<double> const r = random_values(a.rows, 5);
  auto const applied = [&](Preconditioner const& M) {
    There<double> x(ctx(), r), y(ctx(), r);
    M.view()->apply(ctx(), 1, x.in(), 0, y.view());
    return y.all();
  };
  for (auto const& [reuse, aggressive] :
       {std::pair{AmgReuse::exact, 0}, std::pair{AmgReuse::pattern, 0},
        std::pair{AmgReuse::none, 0}, std::pair{AmgReuse::pattern, 1}}) {
    AmgParams const params{.coarsening = AmgCoarsening::classical,
                           .classical = {.aggressive = aggressive},
                           .coarse_size = 40,
                           .reuse = reuse};
    auto const owner = AmgFactory(params).build(ctx(), system(a));
    std::vector<double> const before = applied(*owner);
    owner->update(ctx(), system(b));
    EXPECT_NE(applied(*owner), before);
    if (reuse != AmgReuse::pattern)
      EXPECT_EQ(applied(*owner), applied(*AmgFactory(params).build(ctx(), system(b))));
    owner->update(ctx(), system(a));
    EXPECT_EQ(applied(*owner), before);
  }
}

TEST_P(AmgClassical, NodesOfSeveralUnknownsAreRefused) {
  Csr<double> const a = generate(ElasticityParams{.n = 4});
  AmgParams const params{.coarsening = AmgCoarsening::classical};
  EXPECT_THAT(message_of<SetupError>([&] { AmgFactory(params).build(ctx(), system(a)); }),
              HasSubstr("one unknown a node"));
}

}  // namespace
}  // namespace tcsolve::test
