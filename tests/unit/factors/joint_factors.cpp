// SPDX-License-Identifier: Apache-2.0
/// Numbers of factors, and of their approximate inverses, that a Context makes on a pattern where
/// it computes, against the host's serial loops.
#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/apply/joint_inverse.hpp>
#include <tcsolve/factors/apply/swept_inverse.hpp>
#include <tcsolve/factors/arrange/arranged_values.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Symmetric positive definite, random.
Csr<double> definite(Index n, std::uint64_t seed) {
  Csr<double> const a = dominant(n, 4, seed), t = transpose(a.view());
  std::vector<std::map<Index, double>> rows(n);
  for (Csr<double> const* part : {&a, &t})
    for (Index i = 0; i < n; ++i)
      for (Offset k = part->offsets[i]; k < part->offsets[i + 1]; ++k)
        rows[i][part->columns[k]] += part->values[k];
  Csr<double> s;
  s.rows = s.cols = n;
  for (Index i = 0; i < n; ++i) {
    double sum = 0.1 * (i % 7);
    for (auto const& [j, v] : rows[i]) sum += std::abs(v);
    rows[i][i] = sum;
    for (auto const& [j, v] : rows[i]) {
      s.columns.push_back(j);
      s.values.push_back(v);
    }
    s.offsets.push_back(s.entries());
  }
  return s;
}

Csr<double> with_diagonal(Csr<double> a, double diagonal) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) a.values[k] = diagonal;
  return a;
}

/// An arrow: rows and columns `hubs` are full, the others have a diagonal.
Csr<double> arrow(Index n, std::vector<Index> const& hubs, double diagonal) {
  std::set<std::pair<Index, Index>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.insert({i, i});
    for (Index const hub : hubs) entries.insert({{i, hub}, {hub, i}});
  }
  return with_diagonal(with_entries(n, entries), diagonal);
}

class Eliminations : public OnEachBackend {
 protected:
  void same(Csr<double> const& got, Csr<double> const& expected, double tolerance) {
    ASSERT_EQ(got.columns, expected.columns);
    for (std::size_t k = 0; k < got.values.size(); ++k)
      ASSERT_NEAR(got.values[k], expected.values[k],
                  tolerance * std::max(1.0, std::abs(expected.values[k])))
          << "entry " << k;
  }
  void check(Csr<double> const& B, TriangularFactors patterns, bool definite, double floor) {
    JointFactors joint(ctx(), std::make_shared<TriangularFactors>(patterns));
    CsrStorage<double> const here(ctx(), B.view());
    for (int run = 0; run < 2; ++run) {  // the second one over old numbers
      if (definite) {
        joint.factorise_definite(ctx(), here.view());
        cholesky_on_pattern(B, patterns);
      } else {
        joint.factorise(ctx(), here.view(), floor);
        factorise_on_pattern(B, floor, patterns);
      }
      TriangularFactors const got = *joint.to_host(ctx());
      same(got.lower, patterns.lower, 1e-11);
      same(got.upper, patterns.upper, 1e-11);
      EXPECT_EQ(got.replaced, patterns.replaced);
      EXPECT_EQ(got.shift, patterns.shift);
      for (Index i = 0; i < B.rows; ++i)
        ASSERT_NEAR(got.inverse_pivots[i], patterns.inverse_pivots[i],
                    1e-11 * std::abs(patterns.inverse_pivots[i]));
    }
  }
};
TCSOLVE_ON_EACH_BACKEND(Eliminations);

TEST_P(Eliminations, MakeTheNumbersOfTheSerialLoops) {
  for (Index n : {1, 31, 400}) {
    SCOPED_TRACE(n);
    Csr<double> const a = dominant(n, 5, 3), s = definite(std::min<Index>(n, 150), 4);
    for (int level : {0, 1, 1000}) {
      check(a, fill_pattern(a, level), false, 1e-6);
      check(s, fill_pattern(s, level), true, 0);
    }
    check(a, *complete_pattern(a, 1000000), false, 0);
  }
  check(generate(Poisson27Params{.n = 14}), fill_pattern(generate(Poisson27Params{.n = 14}), 0),
        true, 0);
}

/// Where they lie, and again with other numbers.
TEST_P(Eliminations, TransposedAreTheFactorsOfTheTransposedMatrix) {
  auto const equal = [](Csr<double> const& got, Csr<double> const& wanted) {
    EXPECT_EQ(got.offsets, wanted.offsets);
    EXPECT_EQ(got.columns, wanted.columns);
    EXPECT_EQ(got.values, wanted.values);
  };
  for (Index n : {1, 33, 400})
    for (int level : {0, 1}) {
      SCOPED_TRACE(cat(n, ", level ", level));
      Csr<double> a = dominant(n, 5, 3);
      JointFactors joint(ctx(), std::make_shared<TriangularFactors>(fill_pattern(a, level)));
      std::shared_ptr<JointFactors> there;
      for (int run = 0; run < 2; ++run) {
        CsrStorage<double> const here(ctx(), a.view());
        joint.factorise(ctx(), here.view(), 0);
        if (!there)
          there = JointFactors::transposed(ctx(), joint);
        else
          there->transpose_again(ctx(), joint);
        auto const wanted = transposed(*joint.to_host(ctx()));
        auto const got = there->to_host(ctx());
        equal(got->lower, wanted->lower);
        equal(got->upper, wanted->upper);
        EXPECT_EQ(got->inverse_pivots, wanted->inverse_pivots);
        LevelOrder const down = tcsolve::to_host(ctx(), there->lower_levels());
        EXPECT_EQ(down.row_of, level_order(wanted->lower, true).row_of);
        LevelOrder const up = tcsolve::to_host(ctx(), there->upper_levels());
        EXPECT_EQ(up.row_of, level_order(wanted->upper, false).row_of);
        for (double& v : a.values) v *= 1.5;
        a.values.front() += 1;
      }
    }
}

TEST_P(Eliminations, OfLongRows) {
  // Row and column 0 are full, so that all fill of a complete factor is there.
  Csr<double> const full = arrow(560, {0}, 50);
  check(full, fill_pattern(full, 1000), false, 0);
  // Beyond the shared memory; the last row waits for all others.
  for (Index n : {1500, 2300}) {
    Csr<double> const a = arrow(n, {0, n - 1}, 2 * n);
    check(a, fill_pattern(a, 0), false, 0);
  }
  // Four long rows of a level: those that are of one block share the room of one.
  Index const n = 700;
  std::set<std::pair<Index, Index>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.insert({i, i});
    for (Index h = 0; i >= 4 && h < 4; ++h) entries.insert({{h, i}, {i, h}});
  }
  Csr<double> const fan = with_diagonal(with_entries(n, entries), 2 * n);
  EXPECT_LT(JointFactors(ctx(), std::make_shared<TriangularFactors>(fill_pattern(fan, 0)))
                .arrays()
                .short_row,
            n - 4);
  check(fan, fill_pattern(fan, 0), false, 0);
}

TEST_P(Eliminations, ReplaceAndShiftPivotsAsTheSerialLoops) {
  Csr<double> a = dominant(120, 5, 8);
  for (Index i = 0; i < a.rows; i += 7)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) a.values[k] = 0;
  check(a, fill_pattern(a, 0), false, 1e-2);
  Csr<double> s = definite(120, 9);
  for (Index i = 0; i < s.rows; ++i)
    for (Offset k = s.offsets[i]; k < s.offsets[i + 1]; ++k)
      if (s.columns[k] == i) s.values[k] *= 0.05;
  TriangularFactors patterns = fill_pattern(s, 0);
  cholesky_on_pattern(s, patterns);
  ASSERT_GT(patterns.shift, 0);
  check(s, fill_pattern(s, 0), true, 0);
  s.values[0] = -1;
  CsrStorage<double> const here(ctx(), s.view());
  EXPECT_THROW(JointFactors(ctx(), std::make_shared<TriangularFactors>(fill_pattern(s, 0)))
                   .factorise_definite(ctx(), here.view()),
               MatrixError);
}

TEST_P(Eliminations, AreTakenForLargeFactorsAndFollowNewValues) {
  Csr<double> const a = generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random});
  Csr<double> b = a;
  for (double& v : b.values) v *= 1.5;
  for (bool symmetric : {true, false})
    for (Real values : {Real::f64, Real::f32}) {
      FactorRecipe const recipe{
          .name = "factors",
          .symmetric = symmetric,
          .pivot_floor = symmetric ? 0 : 1e-6,
          .arrangement = {UseMatching::off,
                          symmetric ? FactorScaling::diagonal : FactorScaling::largest,
                          FactorOrder::colours},
          .values = values,
          .solves = TriangularSolves::exact};
      Factorisation M(ctx(), a.view(), recipe);
      EXPECT_EQ(M.details().find("on the device") != std::string::npos,
                ctx().space() != Space::host);
      Context host(Backend::host);
      Factorisation const H(host, b.view(), recipe);
      M.update(ctx(), b.view());
      auto const x = random_values(a.rows, 5);
      std::vector<double> there(a.rows);
      for (Op op : {Op::none, Op::transpose}) {
        H.apply(host, 1, vector_view(x.data(), a.rows), 0, vector_view(there.data(), a.rows), op);
        Guarded<double> gx(ctx(), x), y(ctx(), std::vector<double>(a.rows, nan));
        M.apply(ctx(), 1, gx.in(), 0, y.view(), op);
        auto const got = y.get();
        double const size = std::abs(*std::max_element(there.begin(), there.end()));
        double const tolerance = values == Real::f64 ? 1e-12 : 1e-6;
        for (Index i = 0; i < a.rows; ++i) ASSERT_NEAR(got[i], there[i], tolerance * size);
      }
    }
}

TEST_P(Eliminations, OfArrangedValuesAreThoseOfTheHost) {
  Csr<double> const a = dominant(300, 6, 21), s = definite(200, 22);
  auto const check = [&](Csr<double> const& A, ArrangementParams const& params, bool symmetric) {
    Arrangement B(A.view(), params, symmetric);
    ArrangedValues there(ctx(), B);
    Csr<double> now = A;
    for (Index i = 0; i < A.rows; ++i)  // symmetric where A is
      for (Offset k = A.offsets[i]; k < A.offsets[i + 1]; ++k)
        now.values[k] *= std::ldexp(1.25, (i + A.columns[k]) % 9 - 4);
    CsrStorage<double> const here(ctx(), now.view());
    TwoSided sides = B.sides();
    there.update(ctx(), here.view(), sides);
    B.update(now.view());
    Csr<double> const got = to_host(ctx(), there.matrix());
    EXPECT_EQ(got.columns, B.matrix().columns);
    EXPECT_EQ(got.values, B.matrix().values);
    EXPECT_EQ(sides.row_scale, B.sides().row_scale);
    EXPECT_EQ(sides.column_scale, B.sides().column_scale);
  };
  for (FactorScaling scaling :
       {FactorScaling::none, FactorScaling::diagonal, FactorScaling::largest})
    for (FactorOrder order : {FactorOrder::none, FactorOrder::amd}) {
      check(a, {UseMatching::off, scaling, order}, false);
      check(a, {UseMatching::on, scaling, order}, false);
      check(s, {UseMatching::off, scaling, order}, true);
    }
  check(with_entries(7, {{0, 0}, {1, 2}, {2, 1}, {3, 3}}), {UseMatching::off}, false);
}

TEST_P(Eliminations, HaveApproximateInversesWhereTheyLie) {
  auto const check = [&](Csr<double> const& B, int level, bool symmetric) {
    TriangularFactors factors = fill_pattern(B, level);
    JointFactors joint(ctx(), std::make_shared<TriangularFactors>(factors));
    CsrStorage<double> const here(ctx(), B.view());
    if (symmetric) {
      joint.factorise_definite(ctx(), here.view());
    } else {
      joint.factorise(ctx(), here.view(), 1e-6);
    }
    factors = *joint.to_host(ctx());
    ApproximateTriangles const expected = triangular_inverses(ctx(), factors, symmetric);
    std::vector<double> const nothing(static_cast<std::size_t>(joint.entries()), nan);
    Array<double> W = to_space(ctx(), nothing.data(), nothing.size());
    JointArrays const f = joint.arrays();
    ctx().visit([&](auto& on) { invert_triangles(on, f, joint.values(), symmetric, W.data()); });
    auto const part = [&](Csr<double> const& like, JointPart which) {
      CsrStorage<double> got(ctx(), like.view(), Arrays::copied);
      ctx().visit([&](auto& on) {
        take_part(on, f, W.data(), which, got.view().offsets, got.own_values());
      });
      return to_host(ctx(), got.view());
    };
    same(part(expected.lower, JointPart::lower_with_diagonal), expected.lower, 1e-11);
    same(part(expected.upper, JointPart::upper_with_diagonal), expected.upper, 1e-11);
  };
  for (Index n : {1, 33, 300}) {
    SCOPED_TRACE(n);
    for (int level : {0, 2}) {
      check(dominant(n, 5, 3), level, false);
      check(definite(n, 4), level, true);
    }
  }
  for (Index n : {560, 2300}) check(arrow(n, {0, n - 1}, 2 * n), 0, false);
}

TEST_P(Eliminations, SweepWithThoseInversesAsOnTheHost) {
  Csr<double> const B = definite(400, 11);
  for (bool symmetric : {true, false}) {
    JointFactors joint(ctx(), std::make_shared<TriangularFactors>(fill_pattern(B, 0)));
    TwoSided sides;
    for (Index i = 0; i < B.rows; ++i) {
      sides.row.push_back((i * 7) % B.rows);
      sides.row_scale.push_back(1 + 0.01 * (i % 5));
    }
    sides.column = sides.row;
    sides.column_scale = sides.row_scale;
    auto const factorise = [&](Csr<double> const& now) {
      CsrStorage<double> const here(ctx(), now.view());
      if (symmetric) {
        joint.factorise_definite(ctx(), here.view());
      } else {
        joint.factorise(ctx(), here.view(), 0);
      }
    };
    factorise(B);
    SweptInverse<double> M(ctx(), joint, sides, 1, symmetric);
    Csr<double> now = B;
    for (double& v : now.values) v *= 3;
    for (Csr<double> const* step : std::initializer_list<Csr<double> const*>{&B, &now}) {
      factorise(*step);
      M.update(ctx(), joint, sides, symmetric);
      TriangularFactors const factors = *joint.to_host(ctx());
      Context host(Backend::host);
      ApproximateTriangles const W = triangular_inverses(host, factors, symmetric);
      SweptInverse<double> const H(host, factors, sides, 1, &W);
      auto const x = random_values(B.rows, 5);
      std::vector<double> there(B.rows);
      for (Op op : {Op::none, Op::transpose}) {
        H.apply(host, 1, vector_view(x.data(), B.rows), 0, vector_view(there.data(), B.rows), op);
        Guarded<double> gx(ctx(), x), y(ctx(), std::vector<double>(B.rows, nan));
        M.apply(ctx(), 1, gx.in(), 0, y.view(), op);
        auto const got = y.get();
        for (Index i = 0; i < B.rows; ++i)
          ASSERT_NEAR(got[i], there[i], 1e-11 * std::max(1.0, std::abs(there[i])));
      }
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
