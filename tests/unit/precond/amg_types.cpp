// SPDX-License-Identifier: Apache-2.0
/// The levels of smoothed aggregation in narrow types and in all formats, and what scales them.
#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/precond/amg/level_scale.hpp>
#include <tcsolve/sparse/rows.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;

class AmgLevels : public AmgOnEachBackend {
 protected:
  std::unique_ptr<Preconditioner> made(Csr<double> const& a, AmgParams const& params) {
    return AmgFactory(params).build(ctx(), system(a));
  }
  static std::vector<Named> problems() {
    return {{"7-point", generate(Poisson7Params{.n = 7, .coefficient = Coefficient::random})},
            {"elasticity", generate(ElasticityParams{.n = 5})}};
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgLevels);

TEST_P(AmgLevels, NarrowCyclesAreNearThoseInFp64) {
  struct Case {
    AmgValues values;
    AmgVectors vectors;
    double error, symmetry;
  };
  for (auto const& [name, a] : problems()) {
    AmgParams params{.coarse_size = 20, .values = AmgValues::f64};
    Dense const exact = matrix_of(*made(a, params)->view());
    for (Case const& c : {Case{AmgValues::f64, AmgVectors::f64, 0, 1e-13},
                          Case{AmgValues::f32, AmgVectors::f64, 1e-6, 1e-13},
                          Case{AmgValues::f32, AmgVectors::f32, 1e-5, 1e-6},
                          Case{AmgValues::f16, AmgVectors::f64, 5e-3, 1e-13},
                          Case{AmgValues::f16, AmgVectors::f32, 5e-3, 1e-6},
                          Case{AmgValues::bf16, AmgVectors::f32, 5e-2, 1e-6}}) {
      SCOPED_TRACE(cat(name, ", values ", static_cast<int>(c.values), ", vectors ",
                       static_cast<int>(c.vectors)));
      params.values = c.values, params.vectors = c.vectors;
      Dense const M = matrix_of(*made(a, params)->view());
      double const off = (M - exact).norm() / exact.norm();
      EXPECT_LE(off, c.error);
      if (c.error > 0) EXPECT_GT(off, 1e-4 * c.error) << "is it in that type at all?";
      EXPECT_LE((M - M.transpose()).norm(), c.symmetry * M.norm());
      EXPECT_GT(symmetric_eigenvalues(0.5 * (M + M.transpose())).minCoeff(), 0);
    }
  }
}

TEST_P(AmgLevels, AllFormatsGiveOneCycle) {
  Csr<double> const a = generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random});
  std::vector<double> const r = random_values(a.rows, 3);
  for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16}) {
    AmgParams params{.coarse_size = 20, .format = formats().source().name, .values = values};
    params.vectors = values == AmgValues::f64 ? AmgVectors::f64 : AmgVectors::f32;
    std::vector<double> const wanted = applied(*made(a, params)->view(), r);
    double most = 0;
    for (double const v : wanted) most = std::max(most, std::abs(v));
    int others = 0;
    for (Format const& format : formats()) {
      SCOPED_TRACE(format.name);
      params.format = format.name;
      auto const owner = made(a, params);
      auto const M = owner->view();
      others += M->details().find(format.name) != std::string::npos;
      std::vector<double> const got = applied(*M, r);
      double error = 0;
      for (Index i = 0; i < a.rows; ++i) error = std::max(error, std::abs(got[i] - wanted[i]));
      EXPECT_LE(error, (values == AmgValues::f64 ? 1e-13 : 1e-5) * most);
    }
    EXPECT_GE(others, 4) << "levels are stored in the format that was named";
  }
  AmgParams const unknown{.format = "no_such_format"};
  EXPECT_THROW(made(a, unknown), Unsupported);
}

TEST_P(AmgLevels, ScaledMatricesHaveTheSameCycleInEveryType) {
  Csr<double> const a = generate(AnisotropicParams{.n = 12, .coefficient = Coefficient::random});
  std::vector<double> const r = random_values(a.rows, 3);
  for (AmgValues const values : {AmgValues::f32, AmgValues::f16, AmgValues::bf16}) {
    std::vector<double> const wanted = applied(*made(a, {.values = values})->view(), r);
    for (int const e : {1, -7, 300, -301}) {
      Csr<double> scaled = a;
      for (double& v : scaled.values) v = std::ldexp(v, e);
      std::vector<double> got = applied(*made(scaled, {.values = values})->view(), r);
      for (double& v : got) v = std::ldexp(v, e);
      EXPECT_EQ(got, wanted) << e;
    }
  }
}

TEST_P(AmgLevels, ALevelThatLosesStrongCouplingsIsStoredInFp32) {
  // Couplings of 1e-9 of the diagonal vanish in FP16, and with strength 0 they are strong.
  Csr<double> a = generate(Poisson7Params{.n = 8});
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] - i == 1 || a.columns[k] - i == -1) a.values[k] = -1e-9;
  auto const values = [&](AmgParams const& params) {
    auto const view = made(a, params)->view();
    return dynamic_cast<AmgCycle const&>(*view).values();
  };
  EXPECT_EQ(values({.strength = 0, .values = AmgValues::f16}).front(), Real::f32);
  EXPECT_EQ(values({.strength = 0.1, .values = AmgValues::f16}).front(), Real::f16);
  EXPECT_EQ(values({.strength = 0, .values = AmgValues::bf16}).front(), Real::bf16);
}

/// Of a strong block some entries should be zero, and are what rounding has left of them.
TEST_P(AmgLevels, EntriesThatRoundingHasLeftInAStrongBlockMayVanish) {
  Csr<double> a = generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random});
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (Index const j = a.columns[k]; i != j && i / 3 == j / 3) a.values[k] = 1e-15;
  auto const types = [&](AmgParams const& params) {
    auto const view = made(a, params)->view();
    return dynamic_cast<AmgCycle const&>(*view).values();
  };
  AmgParams params{.near_nullspace = {.block = 3}, .coarse_size = 100, .values = AmgValues::f16};
  std::vector<Real> const now = types(params);
  ASSERT_GE(now.size(), 2u);
  for (std::size_t l = 0; l + 1 < now.size(); ++l) EXPECT_EQ(now[l], Real::f16) << l;
  // By strength 0 nothing says that a block is more than these.
  params.strength = 0;
  EXPECT_EQ(types(params).front(), Real::f32);
}

/// In the formats that there are; recordings of M are made anew.
TEST_P(AmgLevels, NewValuesGoIntoTheStoredLevels) {
  Csr<double> const a = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  Csr<double> b = a;
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      b.values[k] *= b.columns[k] == i ? 2.5 : 2;
  std::vector<double> const r = random_values(a.rows, 3);
  std::vector<std::string> every_format = formats().names();
  every_format.emplace_back("auto");
  for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16, AmgValues::bf16})
    for (AmgReuse const reuse : {AmgReuse::exact, AmgReuse::pattern})
      for (std::string const& format : every_format) {
        SCOPED_TRACE(cat(int(values), ", ", int(reuse), ", ", format));
        AmgParams const params{.strength = 0,  // every coupling is strong, whatever the values
                               .coarse_size = 30,
                               .reuse = reuse,
                               .format = format,
                               .values = values};
        auto const owner = made(a, params);
        std::vector<double> const before = applied(*owner->view(), r);
        owner->update(ctx(), system(a));  // by `exact` plans are made now
        auto const view = owner->view();
        EXPECT_EQ(applied(*view, r), before);
        std::uint64_t const revision = view->revision();
        owner->update(ctx(), system(b));
        EXPECT_EQ(owner->view(), view);
        EXPECT_NE(view->revision(), revision);
        EXPECT_EQ(applied(*view, r), applied(*made(b, params)->view(), r));
        owner->update(ctx(), system(a));
        EXPECT_EQ(applied(*view, r), before);
      }
}

/// What 16 bits do not hold is stored anew, and so is what they hold again.
TEST_P(AmgLevels, NewValuesMayChangeTheTypeOfALevel) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  Csr<double> weak = a;  // as below
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] - i == 1 || a.columns[k] - i == -1) weak.values[k] = -1e-9;
  AmgParams const params{.strength = 0, .values = AmgValues::f16};
  std::vector<double> const r = random_values(a.rows, 3);
  auto const owner = made(a, params);
  for (Csr<double> const& now : {weak, a}) {
    owner->update(ctx(), system(now));
    auto const view = owner->view();
    EXPECT_EQ(dynamic_cast<AmgCycle const&>(*view).values().front(),
              now.values == a.values ? Real::f16 : Real::f32);
    EXPECT_EQ(applied(*view, r), applied(*made(now, params)->view(), r));
  }
}

TEST_P(AmgLevels, WideningMakesTheSameHierarchyInFp32) {
  Csr<double> const a = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  std::vector<double> const r = random_values(a.rows, 3);
  auto const owner = made(a, {.values = AmgValues::f16});
  auto const narrow = owner->view();
  System const of = system(a);
  EXPECT_TRUE(owner->widen(ctx(), of));
  EXPECT_NE(owner->view(), narrow);
  EXPECT_EQ(applied(*owner->view(), r), applied(*made(a, {.values = AmgValues::f32})->view(), r));
  EXPECT_TRUE(owner->widen(ctx(), of)) << "to FP64";
  auto const wide = owner->view();
  EXPECT_TRUE(owner->widen(ctx(), of)) << "by norms";
  EXPECT_NE(owner->view(), wide);
  EXPECT_FALSE(owner->widen(ctx(), of)) << "there is nothing safer";
  owner->update(ctx(), system(a));
  EXPECT_EQ(applied(*owner->view(), r), applied(*made(a, {.values = AmgValues::f64})->view(), r))
      << "new values are estimated anew";
}

/// A bound of the spectrum that is none is replaced by one that is.
TEST_P(AmgLevels, NormsBoundWhatWasTakenForTheLargestEigenvalue) {
  Csr<double> const a = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  System const of = system(a);
  for (AmgSmoother const smoother : {AmgSmoother::chebyshev, AmgSmoother::l1_jacobi}) {
    auto const owner = made(a, {.smoother = smoother,
                                .coarse_size = 30,
                                .reuse = AmgReuse::pattern,  // so that all stays
                                .values = AmgValues::f64});
    bool const raised = owner->widen(ctx(), of);
    EXPECT_EQ(raised, smoother == AmgSmoother::chebyshev) << "that of l1_jacobi is 1 at the most";
    AmgHierarchy const& levels = dynamic_cast<AmgCycle const&>(*owner->view()).hierarchy();
    for (std::size_t l = 0; raised && !levels.is_coarsest(l); ++l) {
      Csr<double> const A = to_host(ctx(), levels.matrix(l));
      std::vector<double> const w = to_host(ctx(), levels.levels()[l].weights);
      auto const W = Eigen::Map<Eigen::VectorXd const>(w.data(), A.rows);
      Eigen::VectorXd const half = W.cwiseSqrt();
      Dense const WA = W.asDiagonal() * dense(A),
                  similar = half.asDiagonal() * dense(A) * half.asDiagonal();
      double const bound = levels.levels()[l].lambda_max;
      EXPECT_GE(bound, symmetric_eigenvalues(similar).maxCoeff()) << l;
      EXPECT_NEAR(bound, WA.cwiseAbs().rowwise().sum().maxCoeff(), 1e-12);
    }
  }
}

TEST_P(AmgLevels, TwentySetUpsHaveTheSameBits) {
  AmgParams const classical{.coarsening = AmgCoarsening::classical, .coarse_size = 30},
      learning{.near_nullspace = {.learn = 2}, .coarse_size = 30};
  Csr<double> const grid = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random}),
                    solid = generate(ElasticityParams{.n = 7, .coefficient = Coefficient::random}),
                    skew = generate(ConvdiffParams{.n = 12});
  struct Case {
    std::string name;
    Csr<double> const& a;
    AmgParams params;
  };
  for (Case c : {Case{"grid", grid, {.coarse_size = 30}}, Case{"classical", grid, classical},
                 Case{"solid", solid, learning}, Case{"convection", skew, {.coarse_size = 30}}})
    for (AmgValues const values : {AmgValues::f64, AmgValues::f16}) {
      SCOPED_TRACE(cat(c.name, ", ", int(values)));
      c.params.values = values;
      std::vector<double> const r = random_values(c.a.rows, 3);
      std::vector<double> const wanted = applied(*made(c.a, c.params)->view(), r);
      for (int again = 1; again < 20; ++again)
        ASSERT_EQ(applied(*made(c.a, c.params)->view(), r), wanted) << again;
    }
}

TEST_P(AmgLevels, ScalesBringDiagonalsNearOne) {
  Csr<double> a = generate(Poisson7Params{.n = 5, .coefficient = Coefficient::random});
  // d A d with d over twenty decades, and a row of zeros.
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      a.values[k] *= std::pow(10.0, (i + a.columns[k]) % 2 == 0 ? i % 21 - 10 : 0);
      if (i == 7 || a.columns[k] == 7) a.values[k] = 0;
    }
  System const of = system(a);
  Array<double> s(ctx().space(), a.rows), scaled(ctx().space(), a.entries());
  sparse::diagonal<double>(ctx(), of.matrix, s.view());
  int const h = largest_exponent(ctx(), s.view());
  level_scale(ctx(), h, s.view());
  scale_entries(ctx(), of.matrix, {-h, s.data(), s.data()}, scaled.data());
  std::vector<double> const scale = to_host(ctx(), s), values = to_host(ctx(), scaled);
  double most = 0;
  for (Index i = 0; i < a.rows; ++i) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale[i], &exponent), 0.5) << "a power of two";
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      EXPECT_EQ(values[k], std::ldexp(a.values[k], -h) * scale[i] * scale[a.columns[k]]);
      if (a.columns[k] != i) continue;
      most = std::max(most, a.values[k]);
      if (i == 7) continue;
      EXPECT_GE(values[k], 1) << i;
      EXPECT_LT(values[k], 4) << i;
    }
  }
  EXPECT_EQ(scale[7], 1);
  EXPECT_EQ(h, std::ilogb(most));
}

TEST_P(AmgLevels, GaussJordanIsTheInverse) {
  Csr<double> const a = generate(Poisson27Params{.n = 4, .coefficient = Coefficient::random});
  System const s = system(a);
  DenseInverse const made = dense_inverse(ctx(), s.matrix);
  EXPECT_TRUE(made.definite);
  Dense const G = dense(to_host(ctx(), made.pattern.with<double>(made.values.data())));
  EXPECT_EQ(G, Dense(G.transpose()));
  EXPECT_LE((G * dense(a) - Dense::Identity(a.rows, a.rows)).norm(), 1e-12);
  Csr<double> singular = a;  // natural boundaries: row sums are 0
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    Offset own = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.columns[k] == i ? void(own = k) : void(sum += a.values[k]);
    singular.values[own] = -sum;
  }
  EXPECT_FALSE(dense_inverse(ctx(), system(singular).matrix).definite);
  Csr<double> indefinite = a;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) indefinite.values[k] *= 0.3;
  EXPECT_FALSE(dense_inverse(ctx(), system(indefinite).matrix).definite);
}

/// L D L^T of a random L near I: its pivots are those of D.
Csr<double> with_pivots(std::vector<double> const& pivots) {
  auto const n = static_cast<Index>(pivots.size());
  std::vector<double> const random = random_values(std::size_t(n) * n, 11);
  Dense L = Dense::Identity(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) L(i, j) = random[std::size_t(i) * n + j] / n;
  Dense const A =
      L * Eigen::Map<Eigen::VectorXd const>(pivots.data(), n).asDiagonal() * L.transpose();
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a.columns.push_back(j), a.values.push_back(A(i, j));
    a.offsets.push_back(a.entries());
  }
  return a;
}

TEST_P(AmgLevels, GaussJordanTakesAnyNumberOfRows) {
  Context host(Backend::host);
  for (Index const n : {1, 2, 7, 8, 9, 16, 31, 150, 257}) {
    SCOPED_TRACE(n);
    std::vector<double> pivots(n);
    for (Index k = 0; k < n; ++k) pivots[k] = 1 + k % 5;
    Csr<double> const a = with_pivots(pivots);
    CsrStorage<double> const there(ctx(), a.view());
    DenseInverse const made = dense_inverse(ctx(), there.view());
    EXPECT_TRUE(made.definite);
    Dense const G = dense(to_host(ctx(), made.pattern.with<double>(made.values.data())));
    EXPECT_LE((G * dense(a) - Dense::Identity(n, n)).norm(), 1e-12);
    EXPECT_EQ(to_host(ctx(), made.values), to_host(host, dense_inverse(host, a.view()).values));
  }
}

TEST_P(AmgLevels, GaussJordanSeesEveryPivot) {
  constexpr Index n = 21;
  for (Index k = 0; k < n; ++k)
    for (double const pivot : {-1.0, 0.0, 1e-7}) {
      SCOPED_TRACE(cat(k, ", ", pivot));
      std::vector<double> pivots(n, 1.0);
      pivots[k] = pivot;
      Csr<double> const a = with_pivots(pivots);
      CsrStorage<double> const there(ctx(), a.view());
      EXPECT_EQ(dense_inverse(ctx(), there.view()).definite, pivot > 0);
    }
}

}  // namespace
}  // namespace tcsolve::test
