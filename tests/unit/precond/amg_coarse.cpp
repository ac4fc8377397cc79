// SPDX-License-Identifier: Apache-2.0
/// A coarsest level too large to be inverted is solved by complete factors (coarse: direct).
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

struct Heard : Observer {
  std::string text;
  void on(LogEvent const& e) override { text += e.text + "\n"; }
};

class AmgCoarseFactors : public AmgOnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(AmgCoarseFactors);

AmgParams two_levels(AmgValues values, bool factors) {
  AmgParams params{.max_levels = 2, .coarse_size = factors ? 1 : 1000};
  params.coarse = factors ? AmgCoarse::direct : AmgCoarse::smooth;
  params.values = values;
  return params;
}

/// The cycle with factors is that with the inverse, whatever the coarse level is stored in.
TEST_P(AmgCoarseFactors, SolveAsTheInverseDoes) {
  for (auto const& [name, a] :
       {Named{"7-point", generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random})},
        Named{"elasticity", generate(ElasticityParams{.n = 7})},
        Named{"convection", generate(ConvdiffParams{.n = 11})}})
    for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16}) {
      SCOPED_TRACE(cat(name, ", ", int(values)));
      auto const factored = made(a, two_levels(values, true)),
                 inverted = made(a, two_levels(values, false));
      EXPECT_THAT(factored->view()->details(), HasSubstr("the coarsest is factored"));
      EXPECT_THAT(inverted->view()->details(), HasSubstr("the coarsest is inverted"));
      std::vector<double> const r = random_values(a.rows, 3);
      EXPECT_LE(off(applied(*factored->view(), r), applied(*inverted->view(), r)),
                values == AmgValues::f64 ? 1e-11 : 1e-4);
    }
}

TEST_P(AmgCoarseFactors, NewValuesAreAsASetUpOfThem) {
  Csr<double> const a = generate(Poisson7Params{.n = 11});
  Csr<double> other = a;
  for (double& v : other.values) v *= 1.5;
  for (AmgValues const values : {AmgValues::f64, AmgValues::f32})
    expect_new_values_as_anew(a, other, two_levels(values, true));
}

/// Factors of a singular level are rounding: it is smoothed, and that is told.
TEST_P(AmgCoarseFactors, ASingularLevelIsSmoothed) {
  Csr<double> a = generate(Poisson7Params{.n = 10});
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    Offset diagonal = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i)
        diagonal = k;
      else
        sum += a.values[k];
    a.values[diagonal] = -sum;
  }
  Heard logs;
  ctx().attach(&logs);
  auto const owner = made(a, two_levels(AmgValues::f64, true));
  ctx().detach(&logs);
  EXPECT_THAT(owner->view()->details(), HasSubstr("the coarsest is smoothed"));
  EXPECT_THAT(logs.text, HasSubstr("amg: coarse: direct: "));
  EXPECT_THAT(logs.text, HasSubstr("; the coarsest level is smoothed"));
  for (double const v : applied(*owner->view(), random_values(a.rows, 2)))
    ASSERT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace tcsolve::test
