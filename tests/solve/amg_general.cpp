// SPDX-License-Identifier: Apache-2.0
/// Systems solved with amg whose matrix is not symmetric, with smoothers by a diagonal and with K
/// cycles.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/heard_warnings.hpp"

namespace tcsolve::test {
namespace {

class AmgSolvesGeneral : public OnEachBackend {
 protected:
  SolveReport solved(Csr<double> const& a, std::string const& solver, std::string const& amg) {
    LinearSolver method = LinearSolver::from_yaml(
        ctx(), a.view(),
        cat("solver: {type: ", solver, "}\npreconditioner: {type: amg", amg, "}\n"));
    std::vector<double> const b(a.rows, 1.0);
    std::vector<double> x(a.rows, 0.0);
    return method.solve(b, x);
  }
  /// Iterations of a solve that converges.
  Index iterations(Csr<double> const& a, std::string const& solver, std::string const& amg) {
    SolveReport const report = solved(a, solver, amg);
    EXPECT_EQ(report.reason, Stop::converged) << report.message;
    return report.iterations;
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgSolvesGeneral);

Csr<double> convection(Index n, double velocity = 1) {
  return generate(ConvdiffParams{.n = n, .velocity = velocity});
}

/// cg and minres would go on with recurrences that hold for symmetric A alone.
TEST_P(AmgSolvesGeneral, AMethodForSymmetricMatricesIsRefusedByRowAndKey) {
  Csr<double> const a = convection(12);
  for (std::string const method : {"cg", "minres"})
    for (std::string const order : {"none", "rcm"}) {
      SCOPED_TRACE(method + ", " + order);
      std::string const text = message_of<SetupError>([&] {
        LinearSolver::from_yaml(ctx(), a.view(),
                                cat("operator: {reorder: ", order, "}\nsolver: {type: ", method,
                                    "}\npreconditioner: {type: amg}\n"));
      });
      int row = 0, column = 0, again = 0;
      double upper = 0, lower = 0;
      std::size_t const at = text.find("row ");
      EXPECT_THAT(text, testing::HasSubstr("'solver.type' is " + method));
      ASSERT_NE(at, std::string::npos) << text;
      ASSERT_EQ(std::sscanf(text.c_str() + at, "row %d has %lf in column %d where row %d has %lf",
                            &row, &upper, &column, &again, &lower),
                5)
          << text;
      EXPECT_EQ(column, again);
      auto const entry = [&](int i, int j) {
        for (Offset k = a.offsets[i - 1]; k < a.offsets[i]; ++k)
          if (a.columns[k] == j - 1) return a.values[k];
        return 0.0;
      };
      EXPECT_NEAR(entry(row, column), upper, 1e-4 * std::abs(upper));
      EXPECT_NEAR(entry(column, row), lower, 1e-4 * std::abs(lower));
    }
  // Halves that single precision has rounded apart.
  Csr<double> rounded = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random});
  for (Index i = 0; i < rounded.rows; ++i)
    for (Offset k = rounded.offsets[i]; k < rounded.offsets[i + 1]; ++k)
      if (rounded.columns[k] > i) rounded.values[k] = float(rounded.values[k]);
  EXPECT_GT(iterations(rounded, "cg", ""), 0);
}

TEST_P(AmgSolvesGeneral, ConvectionAndDiffusion) {
  Csr<double> const coarse = convection(16), fine = convection(32);
  for (std::string const amg : {"", ", smoother: spai0", ", values: fp16"}) {
    SCOPED_TRACE(amg);
    Index const few = iterations(coarse, "bicgstab", amg), more = iterations(fine, "bicgstab", amg);
    EXPECT_LE(more, 12);
    EXPECT_LE(more, 1.6 * few + 1);
    EXPECT_LE(iterations(fine, "gmres", amg), 20);
  }
  EXPECT_LE(iterations(convection(32, 10), "bicgstab", ""), 25) << "convection is what is left";
  EXPECT_LE(iterations(coarse, "bicgstab", ", coarsening: classical"), 12);
}

TEST_P(AmgSolvesGeneral, Spai0OfASymmetricMatrix) {
  Csr<double> const solid = generate(ElasticityParams{.n = 10, .coefficient = Coefficient::random});
  // Unbounded, M is indefinite, and cg says so after a few steps.
  EXPECT_LE(iterations(solid, "cg", ", smoother: spai0, degree: 1"), 60);
  Csr<double> const grid = generate(Poisson7Params{.n = 24});
  EXPECT_LE(iterations(grid, "cg", ", smoother: spai0, degree: 1"), 18);
}

TEST_P(AmgSolvesGeneral, FsaiSmoothsWhereDiagonalsDo) {
  Csr<double> const coarse = generate(Poisson7Params{.n = 16}),
                    fine = generate(Poisson7Params{.n = 32});
  std::string const fsai = ", smoother: fsai, degree: 1", l1 = ", smoother: l1_jacobi, degree: 1";
  Index const few = iterations(coarse, "cg", fsai), more = iterations(fine, "cg", fsai);
  EXPECT_LE(more, 1.6 * few + 1);
  EXPECT_LT(more, iterations(fine, "cg", l1));
  Csr<double> const solid = generate(ElasticityParams{.n = 10, .coefficient = Coefficient::random});
  EXPECT_LT(iterations(solid, "cg", fsai), iterations(solid, "cg", l1));
  EXPECT_LE(iterations(solid, "cg", fsai + ", values: fp16"),
            iterations(solid, "cg", fsai + ", values: fp64") + 1);
}

TEST_P(AmgSolvesGeneral, IluSmoothsWhatIsNotSymmetric) {
  std::string const ilu = ", smoother: ilu, degree: 1", l1 = ", smoother: l1_jacobi, degree: 1";
  Index const few = iterations(convection(16), "bicgstab", ilu);
  EXPECT_LE(iterations(convection(32), "bicgstab", ilu), 1.6 * few + 1);
  Csr<double> const windy = convection(32, 10);
  EXPECT_LT(iterations(windy, "bicgstab", ilu), iterations(windy, "bicgstab", l1));
}

TEST_P(AmgSolvesGeneral, KCyclesOfPlainAggregationTakeFewerIterations) {
  Csr<double> const a = generate(Poisson7Params{.n = 32});
  auto const with = [&](std::string const& cycle, std::string const& solver = "cg") {
    return iterations(a, solver, cat(", smoothing: false, coarse_size: 20, cycle: ", cycle));
  };
  Index const v = with("v"), w = with("w"), k = with("k");
  EXPECT_LT(w, v);
  EXPECT_LE(k, w);
  EXPECT_EQ(with("k", "cg, beta: flexible"), k) << "cg finds that M varies";
  EXPECT_LE(with("k", "fgmres"), k + 2);
  Csr<double> const skew = convection(24);
  std::string const plain = ", smoothing: false, coarse_size: 20, cycle: ";
  EXPECT_LT(iterations(skew, "fgmres", plain + "k"), iterations(skew, "fgmres", plain + "v"));
}

/// Of a level that is not smoothed the next one has few entries, and a correction that is too
/// short.
TEST_P(AmgSolvesGeneral, UnsmoothedLevelsAreCheaperAndOvercorrected) {
  Csr<double> const a = generate(Poisson7Params{.n = 32});
  auto const with = [&](std::string const& keys) {
    return iterations(a, "cg", ", coarse_size: 20" + keys);
  };
  Index const smoothed = with(""), first = with(", unsmoothed: 1"),
              all = with(", smoothing: false");
  EXPECT_LE(first, 2 * smoothed);
  EXPECT_LT(first, all);
  EXPECT_EQ(with(", unsmoothed: 100"), all);
  EXPECT_LT(all, with(", smoothing: false, overcorrection: 1"));
  EXPECT_LE(with(", unsmoothed: 1, values: fp16"), first + 1);
}

/// Of M that varies those are told, once, who need one that does not, at whatever door.
TEST_P(AmgSolvesGeneral, AKCycleIsToldToMethodsThatNeedAFixedM) {
  HeardWarnings heard;
  ctx().attach(&heard);
  Csr<double> const a = generate(Poisson7Params{.n = 10});
  std::vector<double> const b(a.rows, 1.0);
  for (std::string const method : {"gmres", "bicgstab", "minres", "pipelined_cg", "block_cg",
                                   "{type: cg, beta: fixed}", "cg", "fgmres"}) {
    SCOPED_TRACE(method);
    heard.texts.clear();
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(),
        cat("solver: ", method, "\npreconditioner: {type: amg, cycle: k, coarse_size: 20}\n"));
    std::vector<double> x(a.rows, 0.0);
    solver.solve(b, x);
    solver.update_values(a.view());
    solver.solve(b, x);
    bool const takes_any = method == "cg" || method == "fgmres";
    ASSERT_EQ(heard.texts.size(), takes_any ? 0u : 1u);
    if (!takes_any) EXPECT_NE(heard.texts[0].find("K cycle"), std::string::npos);
  }
  ctx().detach(&heard);
}

}  // namespace
}  // namespace tcsolve::test
