// SPDX-License-Identifier: Apache-2.0
/// Runs whose vectors or whose A are narrower than FP64, and whose r is made anew on the way
/// (KrylovSolver::renew): about the iterations of FP64, in one Krylov space.
#include <algorithm>
#include <string>
#include <vector>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class Renewed : public InEveryPlace {
 protected:
  struct Result {
    SolveReport report;
    Column x;
  };
  /// Vectors of T, entries of S, M of T.
  template <class T, class S>
  Result run(Csr<double> const& a, std::string const& method, Index max_iters = 3000) {
    auto const A_true = std::make_shared<CsrOperator<double>>(ctx(), a.view());
    auto const M = std::make_shared<Jacobi<T>>(ctx(), A_true->view());
    auto const A = std::make_shared<CsrOperator<T, S>>(ctx(), converted<S>(a));
    auto solver = make_solver<T>(method, {.rtol = 1e-10, .max_iters = max_iters}, execution());
    solver->setup_working(ctx(), A, M, A_true);
    Column const b = right_hand_side(a.rows);
    Column x = Column::Zero(a.rows);
    return {tcsolve::test::solve(*solver, b, x), x};
  }
  static Column right_hand_side(Index n) { return random_column(n, 31); }
  static double true_residual(Csr<double> const& a, Column const& x) {
    Column r = right_hand_side(a.rows);
    double const length = r.norm();
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        r[i] -= a.values[k] * x[a.columns[k]];
    return r.norm() / length;
  }
  static auto updates(SolveReport const& report) {
    return std::ranges::count(report.history, Mark::update, &Record::mark);
  }
  /// Converged, in one Krylov space, within `most` times the iterations of FP64.
  void expect_about(Csr<double> const& a, Result const& narrow, Index in_fp64, double most) {
    EXPECT_TRUE(narrow.report.converged()) << narrow.report.message;
    EXPECT_LE(true_residual(a, narrow.x), 1.001e-10);
    EXPECT_EQ(narrow.report.restarts, 0);
    EXPECT_GE(updates(narrow.report), 1);
    EXPECT_LE(narrow.report.iterations, most * in_fp64) << in_fp64;
    RecordProperty("updates", static_cast<int>(updates(narrow.report)));
  }
};

TEST_P(Renewed, CgTakesAboutTheIterationsOfFp64) {
  auto const a = generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random});
  Result const exact = run<double, double>(a, "cg");
  EXPECT_EQ(updates(exact.report), 0);
  Index const steps = exact.report.iterations;
  expect_about(a, run<float, float>(a, "cg"), steps, 1.2);
  expect_about(a, run<double, float>(a, "cg"), steps, 1.2);
  expect_about(a, run<double, half>(a, "cg"), steps, 1.3);
  expect_about(a, run<float, half>(a, "cg"), steps, 1.3);
}

TEST_P(Renewed, CgOnElasticity) {
  auto const a = generate(ElasticityParams{.n = 12, .coefficient = Coefficient::random});
  Index const steps = run<double, double>(a, "cg").report.iterations;
  expect_about(a, run<float, float>(a, "cg"), steps, 1.3);
  expect_about(a, run<float, half>(a, "cg"), steps, 1.7);
}

TEST_P(Renewed, BicgstabTakesAboutTheIterationsOfFp64) {
  auto const a = generate(ConvdiffParams{.n = 20, .coefficient = Coefficient::random});
  Index const steps = run<double, double>(a, "bicgstab").report.iterations;
  expect_about(a, run<float, float>(a, "bicgstab"), steps, 1.4);
  expect_about(a, run<float, half>(a, "bicgstab"), steps, 1.8);
}

/// Of an A so ill-conditioned that only the rounding of its entries is solved for: an end by name,
/// and the x of the smallest residual.
TEST_P(Renewed, AnUpdateThatDoesNotHelpEndsTheRun) {
  Csr<double> a = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random});
  for (Index i = 0; i < a.rows; ++i)  // a singular matrix, up to its entries of BF16
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) {
        double sum = 0;
        for (Offset l = a.offsets[i]; l < a.offsets[i + 1]; ++l)
          if (l != k) sum -= a.values[l];
        a.values[k] = sum * (1 + 1e-9);
      }
  Result const narrow = run<double, bfloat16>(a, "cg");
  EXPECT_FALSE(narrow.report.converged());
  EXPECT_STREQ(name(narrow.report.reason), name(Stop::precision_limit)) << narrow.report.message;
  EXPECT_EQ(narrow.report.cause, Cause::values);
  EXPECT_LE(true_residual(a, narrow.x), 1.0);
  EXPECT_NEAR(narrow.report.true_residual / narrow.report.rhs_norm, true_residual(a, narrow.x),
              1e-9);
}

TEST_P(Renewed, TheSameBitsOnEveryRunAndUnderPowersOfTwo) {
  auto a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  Result const first = run<float, float>(a, "cg"), second = run<float, float>(a, "cg");
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.report.iterations, second.report.iterations);
  for (double& v : a.values) v *= 0x1p12;
  Result const scaled = run<float, float>(a, "cg");
  EXPECT_EQ(first.x, 0x1p12 * scaled.x);
  EXPECT_EQ(first.report.iterations, scaled.report.iterations);
}

TCSOLVE_IN_EVERY_PLACE(Renewed);

}  // namespace
}  // namespace tcsolve::test
