// SPDX-License-Identifier: Apache-2.0
/// Passages of a recording as one kernel each: cycles of hierarchies compute what their operations
/// compute one by one.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/solvers/loop/passage.hpp>

#include <algorithm>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class Passages : public AmgOnEachBackend {
 protected:
  /// z = M r of a, to be run.
  Recording cycle_of(Csr<double> const& a, AmgParams const& params) {
    system_ = system(a);
    M_ = AmgFactory(params).build(ctx(), system_);
    r_ = std::make_unique<Guarded<double>>(ctx(), random_values(a.rows, 7));
    z_ = std::make_unique<Guarded<double>>(ctx(), std::vector<double>(a.rows));
    return ctx().record([&](Context& c) { M_->view()->apply(c, 1, r_->in(), 0, z_->view()); });
  }
  std::vector<double> result_of(Recording const& what) {
    fill<double>(ctx(), z_->view(), -1.0);
    what.run(ctx());
    return z_->get();
  }
  System system_;
  std::unique_ptr<Preconditioner> M_;

 private:
  std::unique_ptr<Guarded<double>> r_, z_;
};
TCSOLVE_ON_EACH_BACKEND(Passages);

AmgParams const fp64{.coarse_size = 20, .values = AmgValues::f64};

std::vector<Named> problems() {
  return {{"7-point", generate(Poisson7Params{.n = 14, .coefficient = Coefficient::random})},
          {"27-point", generate(Poisson27Params{.n = 11, .coefficient = Coefficient::random})},
          {"elasticity", generate(ElasticityParams{.n = 7})},
          {"convection", generate(ConvdiffParams{.n = 11})}};
}

TEST_P(Passages, CyclesAreThoseOfTheirOperations) {
  bool const host = GetParam() == Backend::host;
  for (Named const& m : problems())
    for (AmgCycleKind const kind : {AmgCycleKind::v, AmgCycleKind::w})
      for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16})
        for (Format const* format :
             formats_that([](Format const& f) { return f.can.persistent; })) {
          SCOPED_TRACE(cat(m.name, kind == AmgCycleKind::v ? ", V, " : ", W, ", format->name, ", ",
                           int(values)));
          bool const wide = values == AmgValues::f64;
          AmgParams params{.cycle = kind, .coarse_size = 20};
          params.values = values;
          params.format = format->name;
          Recording const apart = cycle_of(m.matrix, params),
                          together = with_passages(ctx(), apart);
          // FP32 vectors are made of those in FP64, and back.
          EXPECT_LE(together.commands.size(), wide ? 1u : 3u);
          EXPECT_GT(apart.commands.size(), 20u);
          std::vector<double> const expected = result_of(apart), found = result_of(together);
          // The host adds rows of other formats up in FP64, whatever the vectors.
          bool const same = !host || !format->converted;
          double const unit = same ? 0 : wide ? 1e-14 : 1e-6;
          double const size = *std::ranges::max_element(expected);
          for (std::size_t i = 0; i < found.size(); ++i)
            ASSERT_NEAR(found[i], expected[i], 100 * unit * size) << "row " << i;
          for (int again = 0; again < 20; ++again) ASSERT_EQ(result_of(together), found);
        }
}

/// Longer operations, few of them and foreign ones stay what they are.
TEST_P(Passages, AreOfManySmallOperations) {
  Recording const whole = cycle_of(problems()[0].matrix, fp64);
  std::size_t const all = whole.commands.size();
  auto const extents = [&](std::int64_t elements, std::size_t least) {
    std::vector<std::size_t> found;
    for (Stretch const& s : passages(whole, elements, least))
      found.insert(found.end(), {s.begin, s.end});
    return found;
  };
  EXPECT_EQ(extents(1 << 16, 6), (std::vector<std::size_t>{0, all}));
  EXPECT_TRUE(extents(1 << 16, all + 1).empty());
  std::vector<std::size_t> const inner = extents(1000, 6);
  ASSERT_EQ(inner.size(), 2u) << "the coarser levels";
  EXPECT_GT(inner[0], 3u);
  EXPECT_LT(inner[1], all - 3);
  std::vector<double> const expected = result_of(whole);
  Recording foreign;
  foreign.workspace = whole.workspace;
  for (Command const& c : whole.commands) {
    foreign.commands.push_back(c);
    if (foreign.commands.size() == 10)
      foreign.commands.push_back({"user", [](Context&) {}, true, false, typeid(void), {}});
  }
  Recording const split = with_passages(ctx(), foreign);
  EXPECT_EQ(split.commands.size(), 3u);
  EXPECT_EQ(split.commands[1].name, "user");
  EXPECT_EQ(result_of(split), expected);
}

TEST_P(Passages, CgWithAHierarchyIsAProgramOfOneKernel) {
  cycle_of(problems()[0].matrix, fp64);
  auto const solver = make_solver("cg", {}, Execution::automatic);
  solver->setup(ctx(), system_.A, M_->view());
  EXPECT_TRUE(solver->one_kernel());
}

}  // namespace
}  // namespace tcsolve::test
