// SPDX-License-Identifier: Apache-2.0
/// What stays of a hierarchy for new values, and that they take no memory.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

class AmgReused : public AmgOnEachBackend {
 protected:
  std::unique_ptr<Preconditioner> made(Csr<double> const& a, AmgParams const& params) {
    return AmgFactory(params).build(ctx(), system(a));
  }
  static AmgCycle const& cycle(Preconditioner const& M) {
    return dynamic_cast<AmgCycle const&>(*M.view());
  }
  std::vector<double> values(CsrView<double> const& a) { return to_host(ctx(), a).values; }
};
TCSOLVE_ON_EACH_BACKEND(AmgReused);

/// Twice a, and more on the diagonal.
Csr<double> heavier(Csr<double> a) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] *= a.columns[k] == i ? 2.2 : 2;
  return a;
}

TEST_P(AmgReused, InterpolationStaysAndTheGalerkinProductFollows) {
  Csr<double> const a = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random}),
                    b = heavier(a);
  std::vector<double> const r = random_values(a.rows, 3);
  for (AmgCoarsening const coarsening : {AmgCoarsening::aggregation, AmgCoarsening::classical})
    for (AmgValues const type : {AmgValues::f64, AmgValues::f16}) {
      AmgParams const params{.coarsening = coarsening,
                             .coarse_size = 30,
                             .reuse = AmgReuse::interpolation,
                             .values = type};
      auto const owner = made(a, params);
      AmgHierarchy const& levels = cycle(*owner).hierarchy();
      std::vector<double> const before = applied(*owner->view(), r);
      std::size_t const count = levels.levels().size();
      ASSERT_GE(count, 2u);
      std::vector<std::vector<double>> P, R;
      for (std::size_t l = 0; l + 1 < count; ++l)
        P.push_back(values(levels.transfer(l).P())), R.push_back(values(levels.transfer(l).R()));
      owner->update(ctx(), system(b));
      CsrStorage<double> const there(ctx(), b.view());
      CsrView<double> fine = there.view();
      for (std::size_t l = 0; l + 1 < count; ++l) {
        AmgTransfer const& transfer = levels.transfer(l);
        EXPECT_EQ(values(transfer.P()), P[l]);
        EXPECT_EQ(values(transfer.R()), R[l]);
        CsrStorage<double> const coarse = sparse::triple_product(ctx(), fine, transfer.P());
        EXPECT_EQ(values(transfer.coarse()), values(coarse.view()));
        fine = transfer.coarse();
      }
      EXPECT_NE(applied(*owner->view(), r), before);
      AmgParams anew = params;
      anew.reuse = AmgReuse::pattern;
      auto const other = made(a, anew);
      other->update(ctx(), system(b));
      EXPECT_NE(applied(*owner->view(), r), applied(*other->view(), r)) << "P is that of a";
      owner->update(ctx(), system(a));
      EXPECT_EQ(applied(*owner->view(), r), before);
    }
}

TEST_P(AmgReused, NewValuesTakeNoMemory) {
  Csr<double> const grid = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random}),
                    skew = generate(ConvdiffParams{.n = 10}),
                    solid = generate(ElasticityParams{.n = 6});
  auto const count = [&](Csr<double> const& a, AmgParams params) {
    params.coarse_size = 60;
    System const first = system(a), second = system(heavier(a));
    auto const owner = AmgFactory(params).build(ctx(), first);
    auto const twice = [&] { owner->update(ctx(), second), owner->update(ctx(), first); };
    twice();
    MemoryCounters const before = memory_counters();
    twice();
    MemoryCounters const now = memory_counters();
    EXPECT_EQ(now.allocations, before.allocations);
    EXPECT_EQ(now.releases, before.releases);
  };
  for (AmgReuse const reuse : {AmgReuse::exact, AmgReuse::pattern, AmgReuse::interpolation})
    for (AmgValues const type : {AmgValues::f64, AmgValues::f32, AmgValues::f16}) {
      SCOPED_TRACE(cat(int(reuse), ", ", int(type)));
      AmgParams const params{.strength = 0, .reuse = reuse, .values = type};
      count(grid, params), count(skew, params), count(solid, params);
      if (reuse == AmgReuse::exact) continue;  // patterns of classical coarsening go by values
      AmgParams classical = params;
      classical.coarsening = AmgCoarsening::classical;
      count(grid, classical);
      classical.classical.aggressive = 1;
      count(grid, classical);
    }
}

/// `exact` keeps what a cycle reads until new values come; what it has let go is made again, with
/// the same bits.
TEST_P(AmgReused, WhatNewValuesAreMadeByComesWithThem) {
  Csr<double> const grid = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random}),
                    skew = generate(ConvdiffParams{.n = 14}),
                    solid = generate(ElasticityParams{.n = 8});
  std::vector<std::pair<Csr<double> const*, AmgCoarsening>> const cases = {
      {&grid, AmgCoarsening::aggregation},
      {&grid, AmgCoarsening::classical},
      {&skew, AmgCoarsening::aggregation},
      {&solid, AmgCoarsening::aggregation}};
  for (auto const& [of, coarsening] : cases)
    for (AmgValues const type : {AmgValues::f64, AmgValues::f16}) {
      SCOPED_TRACE(cat(of->rows, " rows, ", int(coarsening), ", ", int(type)));
      Csr<double> const &a = *of, b = heavier(a);
      std::vector<double> const r = random_values(a.rows, 3);
      AmgParams params{.coarsening = coarsening, .coarse_size = 30, .values = type};
      auto const owner = made(a, params);
      params.reuse = AmgReuse::pattern;
      auto const all = made(a, params);
      double const lean = cycle(*owner).hierarchy().bytes(),
                   whole = cycle(*all).hierarchy().bytes();
      EXPECT_FALSE(cycle(*owner).hierarchy().renewable());
      EXPECT_EQ(applied(*owner->view(), r), applied(*all->view(), r));
      EXPECT_EQ(cycle(*owner).hierarchy_facts().levels.size(),
                cycle(*all).hierarchy_facts().levels.size());
      if (type == AmgValues::f16)
        EXPECT_EQ(lean, 0) << "the levels are stored by themselves";
      else
        EXPECT_LT(lean, 0.6 * whole) << "P, P^T and coarser matrices in csr";
      // A cycle that a solve refutes is made of a set-up more.
      EXPECT_EQ(owner->widen(ctx(), system(a)), all->widen(ctx(), system(a)));
      EXPECT_EQ(applied(*owner->view(), r), applied(*all->view(), r));
      for (Csr<double> const& now : {b, a}) {
        owner->update(ctx(), system(now));
        params.reuse = AmgReuse::exact;
        if (type == AmgValues::f64)
          EXPECT_EQ(applied(*owner->view(), r), applied(*made(now, params)->view(), r));
      }
      bool const by_values = coarsening == AmgCoarsening::classical;
      EXPECT_EQ(cycle(*owner).hierarchy().renewable(), !by_values);
      EXPECT_GE(cycle(*owner).hierarchy().bytes(), by_values ? 0 : 0.9 * whole);
    }
}

/// A file is read once: it may be gone when new values come.
TEST_P(AmgReused, CoordinatesOfAFileStay) {
  Csr<double> const a = generate(ElasticityParams{.n = 7}), b = heavier(a);
  std::unique_ptr<Preconditioner> owner, wanted;
  {
    TemporaryFolder const folder;
    std::ofstream file(folder / "nodes.txt");
    for (int k = 0; k < 7; ++k)
      for (int j = 0; j < 7; ++j)
        for (int i = 0; i < 7; ++i) file << i << ' ' << j << ' ' << k << '\n';
    file.close();
    AmgParams params{.coarse_size = 60};
    params.near_nullspace.coordinates = (folder / "nodes.txt").string();
    owner = made(a, params), wanted = made(b, params);
  }
  std::vector<double> const r = random_values(a.rows, 3);
  owner->update(ctx(), system(b));
  EXPECT_EQ(applied(*owner->view(), r), applied(*wanted->view(), r));
}

TEST_P(AmgReused, TheFirstLevelsMayStayInFp64) {
  Csr<double> const a = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random}),
                    b = heavier(a);
  AmgParams params{.coarse_size = 30, .values = AmgValues::f16, .fp64_levels = 1};
  std::vector<double> const r = random_values(a.rows, 3);
  auto const error = [&](AmgParams const& p) {
    std::vector<double> const exact =
        applied(*made(a, {.coarse_size = 30, .values = AmgValues::f64})->view(), r);
    std::vector<double> const is = applied(*made(a, p)->view(), r);
    double off = 0, all = 0;
    for (std::size_t i = 0; i < is.size(); ++i)
      off += (is[i] - exact[i]) * (is[i] - exact[i]), all += exact[i] * exact[i];
    return std::sqrt(off / all);
  };
  auto const owner = made(a, params);
  std::vector<Real> const types = cycle(*owner).values();
  ASSERT_GE(types.size(), 3u);
  EXPECT_EQ(types[0], Real::f64);
  EXPECT_EQ(types[1], Real::f16);
  AmgParams narrow = params, wide = params;
  narrow.fp64_levels = 0, wide.fp64_levels = 20;
  EXPECT_LT(error(params), error(narrow));
  EXPECT_GT(error(params), 1e-7) << "coarse levels are narrow";
  EXPECT_LE(error(wide), 1e-13);
  owner->update(ctx(), system(b));
  EXPECT_EQ(applied(*owner->view(), r), applied(*made(b, params)->view(), r));
  params.vectors = AmgVectors::f32;
  EXPECT_THAT(message_of<SetupError>([&] { made(a, params); }), HasSubstr("fp64_levels"));
}

}  // namespace
}  // namespace tcsolve::test
