// SPDX-License-Identifier: Apache-2.0
/// A coarsest level too large to be inverted is solved by complete factors (coarse: direct).
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <cmath>

#include <tcsolve/precond/amg/joined_pattern.hpp>
#include <tcsolve/sparse/product.hpp>
#include "tests/support/amg_fixture.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
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

class AmgJoined : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(AmgJoined);

/// Rows in `count` aggregates, by a hash of their number; every seventh in none.
Csr<double> tentative(Index rows, Index count) {
  Csr<double> t{rows, count, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    if (i % 7 != 3) t.columns.push_back((i / 5 * 31) % count), t.values.push_back(0.1 + i % 11);
    t.offsets.push_back(t.entries());
  }
  return t;
}

TEST_P(AmgJoined, IsTheProductLessItsPart) {
  for (auto const& [a, count] :
       {std::pair{generate(Poisson7Params{.n = 11, .coefficient = Coefficient::random}), 200},
        std::pair{generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random}), 60},
        std::pair{random_matrix(400, 400, 20, 5), 30}}) {
    SCOPED_TRACE(cat(a.rows, " rows, ", count, " aggregates"));
    Csr<double> const t = tentative(a.rows, count);
    CsrStorage<double> const A(ctx(), a.view()), T(ctx(), t.view());
    std::vector<double> const d = random_values(a.rows, 8);
    There<double> there(ctx(), d);
    auto const pattern = joined_pattern(ctx(), A.view(), T.view());
    ASSERT_TRUE(pattern);
    double const omega = 0.5;  // of which products are exact
    There<double> p(ctx(), std::vector<double>(pattern->entries));
    smooth_joined(ctx(), A.view(), T.view(), there.data(), omega, *pattern, p.data());
    Csr<double> const P = to_host(ctx(), pattern->with(static_cast<double const*>(p.data())));
    Csr<double> const product = to_host(ctx(), sparse::product(ctx(), A.view(), T.view()).view());
    ASSERT_EQ(P.offsets, product.offsets);
    ASSERT_EQ(P.columns, product.columns);
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = P.offsets[i]; k < P.offsets[i + 1]; ++k) {
        bool const own = t.offsets[i] < t.offsets[i + 1] && t.columns[t.offsets[i]] == P.columns[k];
        double const v = own ? t.values[t.offsets[i]] : 0.0, part = omega * d[i];
        if (own)
          EXPECT_NEAR(P.values[k], v - part * product.values[k],
                      1e-15 * (std::abs(v) + std::abs(part * product.values[k])))
              << i;
        else
          EXPECT_EQ(P.values[k], 0 - part * product.values[k]) << i;
      }
  }
}

TEST_P(AmgJoined, RowsOfManyAggregatesAreForAProduct) {
  for (Index const count : {most_joined, most_joined + 1}) {
    Csr<double> a{3, 200, {0}, {}, {}};  // full rows
    for (Index k = 0; k < 600; ++k) {
      a.columns.push_back(k % 200), a.values.push_back(1);
      if (k % 200 == 199) a.offsets.push_back(a.entries());
    }
    Csr<double> t{200, count, {0}, {}, {}};
    for (Index i = 0; i < 200; ++i) {
      t.columns.push_back(i % count), t.values.push_back(1);
      t.offsets.push_back(t.entries());
    }
    CsrStorage<double> const A(ctx(), a.view()), T(ctx(), t.view());
    EXPECT_EQ(joined_pattern(ctx(), A.view(), T.view()).has_value(), count == most_joined);
  }
}

}  // namespace
}  // namespace tcsolve::test
