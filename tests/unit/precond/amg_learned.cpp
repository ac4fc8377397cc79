// SPDX-License-Identifier: Apache-2.0
/// Learned vectors, and memory told before it is taken.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/learn.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class AmgLearned : public AmgOnEachBackend {
 protected:
  /// With so many vectors of its own: the columns as a dense matrix.
  Dense vectors_of(NearNullspace const& B) {
    std::vector<double> const v = to_host(ctx(), B.vectors);
    return Eigen::Map<Rows const>(v.data(), static_cast<Index>(v.size()) / B.count, B.count);
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgLearned);

TEST_P(AmgLearned, VectorsAreWhatCyclesLeave) {
  Csr<double> const a = generate(ElasticityParams{.n = 7});
  System const s = system(a);
  AmgParams params{.near_nullspace = {.block = 3, .learn = 4}, .values = AmgValues::f64};
  NearNullspace const B =
      learned(ctx(), s, params, near_nullspace(ctx(), s, params.near_nullspace));
  ASSERT_EQ(B.count, 7);
  ASSERT_EQ(B.ratios.size(), 7u);
  Dense const all = vectors_of(B), X = all.rightCols(4);
  for (Index c = 0; c < 3; ++c)  // translations come first
    for (Index i = 0; i < a.rows; ++i) EXPECT_EQ(all(i, c), i % 3 == c ? 1 : 0);
  EXPECT_LE((X.transpose() * X - Dense::Identity(4, 4)).norm(), 1e-10);
  // The invariant subspace of the slowest modes of I - M A, of the cycle with translations alone.
  params.near_nullspace.learn = 0;
  Dense const E = Dense::Identity(a.rows, a.rows) - matrix_of(*made(a, params)->view()) * dense(a);
  double const left = (E * X).norm() / X.norm();
  Dense const random = Dense::Random(a.rows, 4);
  EXPECT_GT(left, 3 * (E * random).norm() / random.norm());
  EXPECT_LE((E * X - X * (X.transpose() * E * X)).norm(), 0.35 * (E * X).norm());
}

TEST_P(AmgLearned, LevelsRepresentThem) {
  Csr<double> const a = generate(ElasticityParams{.n = 8});
  AmgParams const given{.near_nullspace = {.block = 3}},
      more{.near_nullspace = {.block = 3, .learn = 5}};
  auto const with = made(a, more), without = made(a, given);
  EXPECT_EQ(rows_of(*with)[1] / 8, rows_of(*without)[1] / 3) << "as many aggregates";
  EXPECT_EQ(hierarchy_of(*with).facts().near_nullspace.size(), 8u);
  std::vector<double> const r = random_values(a.rows, 3);
  EXPECT_EQ(applied(*with->view(), r), applied(*made(a, more)->view(), r)) << "the same each time";
  // New values are learned from anew, unless the pattern is to stay.
  Csr<double> const other = generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random});
  with->update(ctx(), system(other));
  EXPECT_EQ(applied(*with->view(), r), applied(*made(other, more)->view(), r));
}

TEST_P(AmgLearned, ClassicalCoarseningHasNoUseForThem) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  EXPECT_THAT(message_of<SetupError>([&] {
                made(a, {.coarsening = AmgCoarsening::classical, .near_nullspace = {.learn = 2}});
              }),
              HasSubstr("learn is of aggregation"));
}

TEST(AmgMemory, IsToldWithinAQuarter) {
  Context ctx(Backend::host, {.threads = 1});
  struct Case {
    std::string name;
    Csr<double> a;
    AmgParams params;
  };
  Csr<double> const grid = generate(Poisson7Params{.n = 40}),
                    random = generate(Poisson7Params{.n = 36, .coefficient = Coefficient::random}),
                    box = generate(Poisson27Params{.n = 24, .coefficient = Coefficient::random}),
                    solid = generate(ElasticityParams{.n = 14}),
                    strip = generate(AnisotropicParams{.n = 32}),
                    skew = generate(ConvdiffParams{.n = 30});
  for (Case const& c :
       {Case{"7-point", grid, {}}, Case{"7-point, random", random, {}}, Case{"27-point", box, {}},
        Case{"anisotropic", strip, {}}, Case{"elasticity", solid, {}},
        Case{"elasticity, learned", solid, {.near_nullspace = {.learn = 3}}},
        Case{"convection", skew, {}}, Case{"fp64", random, {.values = AmgValues::f64}},
        Case{"fp16", random, {.values = AmgValues::f16}}, Case{"plain", grid, {.smoothing = false}},
        Case{"small coarsest level", random, {.coarse_size = 10}},
        Case{"classical", random, {.coarsening = AmgCoarsening::classical}}}) {
    SCOPED_TRACE(c.name);
    auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(c.a));
    System const system{A->view(), A};
    AmgFactory const factory(c.params);
    factory.build(ctx, system);  // what stays in the Context
    double const told = factory.memory(ctx, system).held(), before = settled_heap_bytes();
    auto const M = factory.build(ctx, system);
    double const taken = settled_heap_bytes() - before;
    EXPECT_LE(std::abs(told - taken), 0.25 * taken) << "told " << told << ", taken " << taken;
  }
}

TEST_P(AmgLearned, WhatMemoryHasMadeIsGoneOnWith) {
  for (Csr<double> const& a : {generate(Poisson7Params{.n = 24}), generate(Poisson7Params{.n = 6}),
                               generate(ConvdiffParams{.n = 20})}) {
    AmgParams const params{.coarse_size = 20, .values = AmgValues::f64};
    AmgFactory const factory(params);
    System s = system(a);
    s.notes = std::make_shared<SetupNotes>();
    factory.memory(ctx(), s);
    auto const owner = factory.build(ctx(), s);
    EXPECT_EQ(rows_of(*owner), rows_of(*made(a, params)));
    std::vector<double> const r = random_values(a.rows, 3);
    EXPECT_EQ(applied(*owner->view(), r), applied(*made(a, params)->view(), r));
  }
}

}  // namespace
}  // namespace tcsolve::test
