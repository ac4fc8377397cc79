// SPDX-License-Identifier: Apache-2.0
/// Levels that another preconditioner smooths, against cycles of dense algebra.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/level_smoother.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

class AmgSmoothers : public AmgOnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(AmgSmoothers);

Csr<double> convection(Index n) { return generate(ConvdiffParams{.n = n, .velocity = 2}); }
Csr<double> grid(Index n) {
  return generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
}
Csr<double> times(Csr<double> a, double factor) {
  for (double& v : a.values) v *= factor;
  return a;
}

/// G^T G, row i of G from the dense system of the entries of A's row up to the diagonal.
Dense dense_fsai(Csr<double> const& a) {
  Dense const A = dense(a);
  Dense G = Dense::Zero(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    std::vector<Index> P;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] <= i) P.push_back(a.columns[k]);
    auto const m = static_cast<Index>(P.size());
    Dense block(m, m);
    for (Index r = 0; r < m; ++r)
      for (Index c = 0; c < m; ++c) block(r, c) = A(P[r], P[c]);
    Vector const y = lu_solve(block, Vector::Unit(m, m - 1));
    for (Index r = 0; r < m; ++r) G(i, P[r]) = y[r] / std::sqrt(y[m - 1]);
  }
  return G.transpose() * G;
}

/// (L U)^-1 on the pattern of A (Saad 2003, Algorithm 10.4).
Dense dense_ilu(Csr<double> const& a) {
  Index const n = a.rows;
  Dense F = dense(a), stored = Dense::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) stored(i, a.columns[k]) = 1;
  for (Index i = 1; i < n; ++i)
    for (Index k = 0; k < i; ++k) {
      if (stored(i, k) == 0) continue;
      F(i, k) /= F(k, k);
      for (Index j = k + 1; j < n; ++j)
        if (stored(i, j) != 0) F(i, j) -= F(i, k) * F(k, j);
    }
  Dense const L = F.triangularView<Eigen::UnitLower>(), U = F.triangularView<Eigen::Upper>();
  return inverse_of(L * U);
}

/// A cycle by its definition with the smoother x += S (f - A x), S of each level's matrix.
template <class Smoother>
Dense cycle_of(Context& ctx, AmgHierarchy const& made, Smoother const& smoother) {
  struct Level {
    Dense A, S, P;
    double gain = 1;
  };
  std::vector<Level> levels;
  for (std::size_t l = 0; l < made.levels().size(); ++l) {
    Csr<double> const a = to_host(ctx, made.matrix(l));
    bool const last = made.is_coarsest(l);
    levels.push_back({dense(a), last ? Dense() : smoother(a),
                      last ? Dense() : dense(to_host(ctx, made.transfer(l).P())),
                      !last && made.transfer(l).plain() ? made.params().overcorrection : 1});
  }
  int const degree = made.params().degree;
  auto const cycle = [&](auto const& self, std::size_t l, Vector const& f) -> Vector {
    auto const& [A, S_l, P, gain] = levels[l];
    if (l + 1 == levels.size()) return lu_solve(A, f);
    Vector x = Vector::Zero(f.size());
    for (int k = 0; k < degree; ++k) x += S_l * (f - A * x);
    x += gain * P * self(self, l + 1, P.transpose() * (f - A * x));
    for (int k = 0; k < degree; ++k) x += S_l * (f - A * x);
    return x;
  };
  Index const n = levels[0].A.rows();
  Dense M(n, n);
  for (Index j = 0; j < n; ++j) M.col(j) = cycle(cycle, 0, Vector::Unit(n, j));
  return M;
}

TEST_P(AmgSmoothers, CyclesAreTheirDefinition) {
  struct Case {
    int degree, unsmoothed;
    Index side;
  };
  for (auto const& [degree, unsmoothed, side] : {Case{1, 0, 8}, Case{2, 0, 6}, Case{1, 1, 6}}) {
    SCOPED_TRACE(cat(degree, ", ", unsmoothed));
    AmgParams params{.smoother = AmgSmoother::fsai,
                     .degree = degree,
                     .unsmoothed = unsmoothed,
                     .coarse_size = 20,
                     .reuse = AmgReuse::pattern};  // all of the hierarchy stays
    auto owner = made(grid(side), params);
    ASSERT_GE(rows_of(*owner).size(), 3u);
    Dense wanted = cycle_of(ctx(), hierarchy_of(*owner), dense_fsai);
    EXPECT_LE((matrix_of(*owner->view()) - wanted).norm(), 1e-12 * wanted.norm());
    params.smoother = AmgSmoother::ilu;
    owner = made(convection(side), params);
    ASSERT_GE(rows_of(*owner).size(), 2u);
    wanted = cycle_of(ctx(), hierarchy_of(*owner), dense_ilu);
    EXPECT_LE((matrix_of(*owner->view()) - wanted).norm(), 1e-11 * wanted.norm());
  }
}

/// The largest eigenvalue of S A, A = R R^T.
double largest_eigenvalue(Dense const& S, Dense const& A) {
  Modes const modes = symmetric_modes(A);
  Dense const R = modes.vectors * modes.values.cwiseSqrt().asDiagonal();
  return symmetric_eigenvalues(R.transpose() * S * R).maxCoeff();
}

TEST_P(AmgSmoothers, FsaiIsBoundedSoThatTheCycleIsDefinite) {
  Csr<double> const solid = generate(ElasticityParams{.n = 5, .coefficient = Coefficient::random});
  // One that overshoots: rows of a full matrix that lie near each other.
  Csr<double> near = solid;
  for (Index i = 0; i < near.rows; ++i)
    for (Offset k = near.offsets[i]; k < near.offsets[i + 1]; ++k)
      near.values[k] = near.columns[k] == i ? 1.0 : 0.9 / (1 + std::abs(near.columns[k] - i));
  bool bounded = false;
  for (auto const& [name, a] : {Named{"elasticity", solid}, Named{"near", near}}) {
    SCOPED_TRACE(name);
    Dense const A = dense(a);
    if (!(symmetric_eigenvalues(A).minCoeff() > 0)) continue;
    LevelSmoother const smoother(ctx(), AmgSmoother::fsai, Real::f64, system(a).matrix, 30);
    Dense const S = matrix_of(*smoother.S());
    double const largest = largest_eigenvalue(S, A);
    EXPECT_LT(smoother.weight() * largest, 2);
    EXPECT_EQ(smoother.weight() < 1, 1.1 * largest > 1.9) << largest;
    bounded = bounded || smoother.weight() < 1;
    for (int const degree : {1, 2, 3}) {
      SCOPED_TRACE(degree);
      Dense const M = matrix_of(
          *made(a, {.smoother = AmgSmoother::fsai, .degree = degree, .coarse_size = 20})->view());
      EXPECT_LE((M - M.transpose()).norm(), 1e-12 * M.norm());
      EXPECT_GT(symmetric_eigenvalues(0.5 * (M + M.transpose())).minCoeff(), 0);
    }
  }
  EXPECT_TRUE(bounded) << "nothing to bound";
}

TEST_P(AmgSmoothers, NewValuesAreAsASetUpOfThem) {
  for (AmgSmoother const smoother : {AmgSmoother::fsai, AmgSmoother::ilu}) {
    Csr<double> const a = smoother == AmgSmoother::fsai ? grid(12) : convection(12);
    Csr<double> other = a;
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        if (a.columns[k] == i) other.values[k] *= 1.25;
    for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16})
      expect_new_values_as_anew(a, other,
                                {.smoother = smoother, .coarse_size = 30, .values = values});
  }
}

TEST_P(AmgSmoothers, ScaledMatricesAndNarrowTypesHaveTheSameCycle) {
  for (AmgSmoother const smoother : {AmgSmoother::fsai, AmgSmoother::ilu}) {
    Csr<double> const a = smoother == AmgSmoother::fsai ? grid(9) : convection(9);
    AmgParams params{.smoother = smoother, .coarse_size = 20};
    Dense const exact = matrix_of(*made(a, params)->view());
    std::vector<double> const r = random_values(a.rows, 3);
    for (AmgValues const values : {AmgValues::f32, AmgValues::f16}) {
      params.values = values;
      auto const owner = made(a, params);
      double const off = (matrix_of(*owner->view()) - exact).norm() / exact.norm();
      EXPECT_LE(off, values == AmgValues::f32 ? 1e-5 : 5e-3);
      EXPECT_GT(off, 1e-9) << "is it in that type at all?";
      std::vector<double> const wanted = applied(*owner->view(), r);
      for (int const e : {2, 100, -100}) {
        std::vector<double> got = applied(*made(times(a, std::ldexp(1, e)), params)->view(), r);
        for (double& v : got) v = std::ldexp(v, e);
        EXPECT_EQ(got, wanted) << e;
      }
    }
  }
}

TEST_P(AmgSmoothers, BlocksOfColumnsAreTheirColumns) {
  for (AmgSmoother const smoother : {AmgSmoother::fsai, AmgSmoother::ilu}) {
    Csr<double> const a = smoother == AmgSmoother::fsai ? grid(9) : convection(9);
    expect_its_columns(*made(a, {.smoother = smoother, .coarse_size = 20})->view());
  }
}

/// Nodes on a line have no rotation about it: of six modes one is zero, and a row of each
/// aggregate.
TEST_P(AmgSmoothers, RowsOfZerosOnACoarseLevelAreLeftOut) {
  Csr<double> const solid = generate(ElasticityParams{.n = 5});
  auto points = std::make_shared<std::vector<double>>();
  for (Index i = 0; i < solid.rows / 3; ++i)
    points->insert(points->end(), {static_cast<double>(i), 0.0, 0.0});
  AmgParams params{.smoother = AmgSmoother::fsai, .coarse_size = 6, .reuse = AmgReuse::pattern};
  params.near_nullspace.points = points;
  params.max_levels = 2;
  auto const owner = made(solid, params);
  AmgHierarchy const& hierarchy = hierarchy_of(*owner);
  ASSERT_EQ(hierarchy.levels().size(), 2u);
  ASSERT_FALSE(hierarchy.inverse().has_value()) << "the level is smoothed";
  Dense const coarse = dense(to_host(ctx(), hierarchy.matrix(1)));
  EXPECT_EQ(coarse.rowwise().norm().minCoeff(), 0) << "nothing to leave out";
  Dense const M = matrix_of(*owner->view());
  EXPECT_TRUE(M.allFinite());
  EXPECT_GT(symmetric_eigenvalues(0.5 * (M + M.transpose())).minCoeff(), 0);
}

TEST_P(AmgSmoothers, EachIsForMatricesOfItsKind) {
  EXPECT_THAT(message_of<SetupError>([&] { made(convection(6), {.smoother = AmgSmoother::fsai}); }),
              HasSubstr("fsai smooths symmetric matrices, and this one is not symmetric; take"));
  EXPECT_THAT(message_of<SetupError>([&] { made(grid(6), {.smoother = AmgSmoother::ilu}); }),
              HasSubstr("ilu smooths matrices that are not symmetric"));
  EXPECT_TRUE(AmgFactory({.smoother = AmgSmoother::fsai}).needs_definite());
  EXPECT_FALSE(AmgFactory({.smoother = AmgSmoother::ilu}).needs_definite());
}

TEST_P(AmgSmoothers, TellWhatTheyHold) {
  Csr<double> const a = grid(14);
  auto const plain = made(a, {.smoother = AmgSmoother::l1_jacobi, .coarse_size = 30}),
             owner = made(a, {.smoother = AmgSmoother::fsai, .coarse_size = 30});
  HierarchyFacts const before = *hierarchy_facts(plain->view().get());
  HierarchyFacts facts = *hierarchy_facts(owner->view().get());
  EXPECT_THAT(facts.levels[0].formats, HasSubstr("; fsai"));
  double const triangle = 0.5 * double(a.entries() + a.rows);
  EXPECT_GE(facts.levels[0].bytes, before.levels[0].bytes + 24 * triangle);
  EXPECT_GT(owner->view()->cost(1).bytes, plain->view()->cost(1).bytes);
  for (LevelFacts const& l : facts.levels) EXPECT_EQ(l.product, 0) << "nobody has asked";
  EXPECT_THAT(lines_of(facts)[0], testing::Not(HasSubstr("us ")));
  facts = *timed_hierarchy_facts(ctx(), owner->view().get());
  for (LevelFacts const& l : facts.levels) EXPECT_GT(l.product, 0);
  EXPECT_THAT(lines_of(facts)[0], HasSubstr("MB      us        A, P, R"));
  EXPECT_EQ(timed_hierarchy_facts(ctx(), nullptr), std::nullopt);
}

}  // namespace
}  // namespace tcsolve::test
