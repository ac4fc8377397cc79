// SPDX-License-Identifier: Apache-2.0
/// Systems whose matrix is stored in narrow values scaled by powers of two: what is solved, judged
/// and reported is the system that was given.
#include <cmath>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/rescaled.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

/// Exponents from -furthest to furthest.
int exponent(Index i, int furthest) { return ((7 * i) % 33 - 16) * furthest / 16; }
/// D A D, whose diagonal then spans 4 furthest powers of two.
Csr<double> spread(Csr<double> a, int furthest) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] =
          std::ldexp(a.values[k], exponent(i, furthest) + exponent(a.columns[k], furthest));
  return a;
}
/// b = (D A D) D^-1 x: what a solution has in the units of its rows.
Column rhs_of(Csr<double> const& a, int furthest, std::uint64_t seed) {
  Column x = random_column(a.rows, seed), b = Column::Zero(a.rows);
  for (Index j = 0; j < a.cols; ++j) x[j] = std::ldexp(x[j], -exponent(j, furthest));
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) b[i] += a.values[k] * x[a.columns[k]];
  return b;
}
Csr<double> poisson() {
  return generate(Poisson27Params{.n = 10, .coefficient = Coefficient::random});
}
Csr<double> convection() {
  Csr<double> a = generate(ConvdiffParams{.n = 10});
  // The rows differ in size, and the columns in units: a product of 2^17 and 2^-6.
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] = std::ldexp(a.values[k], (5 * i) % 18 - (3 * a.columns[k]) % 7);
  return a;
}

class ScaledValues : public InEveryPlace {
 protected:
  struct Solved {
    SolveReport report;
    Column x;
  };
  OperatorPtr<double> stored(Csr<double> const& a, Real values, char const* format = "csr",
                             Real vectors = Real::f64) {
    Format const& f = formats().at(format);
    return f.factory.with({.values = values}, f, formats())->build(ctx(), a, {.vectors = vectors});
  }
  /// A x = b by a stored A.
  Solved solved(OperatorPtr<double> const& A, Csr<double> const& a, Column const& b,
                char const* method, bool jacobi = true, double rtol = 1e-10) {
    auto truth = std::make_shared<CsrOperator<double>>(ctx(), a.view());
    std::shared_ptr<Jacobi<double>> M;
    if (jacobi) M = std::make_shared<Jacobi<double>>(ctx(), truth->view());
    auto solver = make_solver(method, {.rtol = rtol, .max_iters = 20000}, execution(), 60);
    solver->setup(ctx(), A, M, truth);
    Solved out{{}, Column::Zero(a.rows)};
    out.report = solve(*solver, b, out.x);
    return out;
  }
};
TCSOLVE_IN_EVERY_PLACE(ScaledValues);

/// Diagonals over ten decades, and entries from 1e-12 to 1e12: the norm that a method watches is
/// another, the verdict is not. A solution in the units of its rows is found; what is asked for
/// where b knows nothing of these units may be beyond the rounding of A, and is then said to be.
TEST_P(ScaledValues, TheVerdictIsOnTheSystemThatWasGiven) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  auto const check = [&](Csr<double> const& a, Column const& b, char const* method, Real values,
                         bool suits) {
    SCOPED_TRACE(cat(method, ", ", name(values), suits ? "" : ", any b"));
    Solved const s = solved(stored(a, values), a, b, method);
    double const r = residual_norm(a, b, s.x);
    if (suits) EXPECT_TRUE(s.report.converged()) << s.report.message;
    if (s.report.converged()) {
      EXPECT_LE(r, 1.001e-10 * b.norm());
    } else {
      EXPECT_EQ(s.report.reason, Stop::precision_limit) << s.report.message;
      EXPECT_EQ(s.report.cause, Cause::values);
    }
    EXPECT_NEAR(s.report.true_residual, r, 1e-6 * r + 1e-18 * b.norm());
    EXPECT_EQ(s.report.tolerance, 1e-10 * s.report.rhs_norm);
  };
  Csr<double> const uneven = convection();
  for (Real const values : {Real::f32, Real::f16, Real::bf16}) {
    for (int const furthest : {8, 20}) {
      Csr<double> const a = spread(poisson(), furthest);
      Column const b = rhs_of(a, furthest, 3);
      for (char const* method : {"cg", "minres", "gmres", "bicgstab"})
        check(a, b, method, values, true);
      for (char const* method : {"cg", "minres"})
        check(a, random_column(a.rows, 3), method, values, false);
    }
    for (char const* method : {"gmres", "bicgstab", "fgmres"})
      check(uneven, rhs_of(uneven, 0, 4), method, values, true);
  }
}

/// Conjugate gradients and MINRES make the iterates of the matrix that is stored, with M or
/// without: 20 steps with it unscaled in FP64 and scaled in FP16 differ by no bit of x. D A D is
/// exact, and so is every inner product but ||r||.
TEST_P(ScaledValues, TheIteratesAreThoseOfTheMatrixAsStored) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  Csr<double> exact = generate(Poisson27Params{.n = 10});  // values that FP16 holds
  Csr<double> const a = spread(std::move(exact), 16);
  Column const b = random_column(a.rows, 3);
  OperatorPtr<double> const narrow = stored(a, Real::f16), wide = stored(a, Real::f64);
  auto const rescaled = std::dynamic_pointer_cast<Rescaled<double> const>(narrow);
  ASSERT_TRUE(rescaled && rescaled->congruent() && rescaled->row_exponents());
  auto const truth = std::make_shared<CsrOperator<double>>(ctx(), a.view());
  for (char const* method : {"cg", "minres"})
    for (bool const jacobi : {true, false}) {
      SCOPED_TRACE(cat(method, jacobi ? ", jacobi" : ""));
      std::shared_ptr<Jacobi<double>> M;
      if (jacobi) M = std::make_shared<Jacobi<double>>(ctx(), truth->view());
      auto const after = [&](OperatorPtr<double> const& A) {
        auto solver =
            make_solver(method, {.rtol = 1e-30, .max_iters = 20, .divtol = 1e200}, execution(), 60);
        solver->setup(ctx(), A, M, truth);
        Vector<double> r(ctx().space(), a.rows), x(ctx().space(), a.rows);
        copy_bytes(ctx(), r.view().data, ctx().space(), b.data(), Space::host, 8 * a.rows);
        solver->approximate(r.view(), x.view());
        Column out(a.rows);
        copy_bytes(ctx(), out.data(), Space::host, x.view().data, ctx().space(), 8 * a.rows);
        return out;
      };
      Column const x = after(wide), y = after(narrow);
      EXPECT_LE((x - y).norm(), 1e-12 * x.norm());
    }
}

/// 2^s A and 2^t b give 2^(t - s) x, with the same steps and norms, in every precision.
TEST_P(ScaledValues, APowerOfTwoChangesNoBit) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  for (int const furthest : {0, 16})
    for (Real const values : {Real::f32, Real::f16, Real::bf16})
      for (char const* method :
           {"cg", "gmres", "bicgstab", "minres", "chronopoulos_gear", "lsmr"}) {
        // Least squares weigh rows as they are: where these span ten decades, Jacobi, which scales
        // columns for lsmr, makes no system that 20,000 steps solve.
        if (furthest != 0 && method == std::string("lsmr")) continue;
        Csr<double> const a = spread(poisson(), furthest);
        Column const b = rhs_of(a, furthest, 5);
        Solved const first = solved(stored(a, values), a, b, method);
        EXPECT_TRUE(first.report.converged()) << first.report.message;
        for (auto const& [s, t] : {std::pair{1, 0}, {17, -40}, {-33, 9}, {200, 100}}) {
          SCOPED_TRACE(cat(method, ", ", name(values), ", ", furthest, ", A 2^", s, ", b 2^", t));
          Csr<double> as = a;
          for (double& v : as.values) v = std::ldexp(v, s);
          Solved const now = solved(stored(as, values), as, b * std::ldexp(1.0, t), method);
          ASSERT_EQ(now.report.iterations, first.report.iterations);
          EXPECT_TRUE(now.x == first.x * std::ldexp(1.0, t - s));
          for (std::size_t i = 0; i < now.report.history.size(); ++i)
            ASSERT_EQ(now.report.history[i].norm, std::ldexp(first.report.history[i].norm, t)) << i;
        }
      }
}

/// Every format, and FP32 vectors.
TEST_P(ScaledValues, InEveryFormatAndForBothVectors) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  Csr<double> const a = spread(poisson(), 10);
  Column const b = rhs_of(a, 10, 7);
  for (Format const& format : formats())
    for (Real const vectors : {Real::f64, Real::f32}) {
      SCOPED_TRACE(cat(format.name, ", ", name(vectors)));
      auto const truth = std::make_shared<CsrOperator<double>>(ctx(), a.view());
      auto const M = std::make_shared<Jacobi<double>>(ctx(), truth->view());
      auto const run = [&]<class T>(T) {
        auto solver = make_solver<T>("cg", {.rtol = 1e-8, .max_iters = 20000}, execution(), 60);
        solver->setup(ctx(), stored(a, Real::f16, format.name.c_str(), vectors), M, truth);
        Column x = Column::Zero(a.rows);
        SolveReport const report = solve(*solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE(residual_norm(a, b, x), 1.001e-8 * b.norm());
      };
      if (vectors == Real::f64)
        run(0.0);
      else
        run(0.0f);
    }
}

/// Row sums that are kept leave an error of size u relative to A itself: fewer steps to the same
/// tolerance, with the diagonal of a Laplacian and with the blocks of elasticity.
TEST_P(ScaledValues, RowSumsThatAreKeptSaveSteps) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  for (Csr<double> const& a :
       {generate(Poisson27Params{.n = 16, .coefficient = Coefficient::random}),
        generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random})}) {
    Column const b = Column::Ones(a.rows);
    auto const steps = [&](KeptDiagonal kept) {
      Format const& csr = formats().source();
      auto const A = csr.factory.with({.values = Real::bf16, .diagonal = kept}, csr, formats())
                         ->build(ctx(), a);
      Solved const s = solved(A, a, b, "cg");
      EXPECT_TRUE(s.report.converged()) << s.report.message;
      EXPECT_LE(residual_norm(a, b, s.x), 1.001e-10 * b.norm());
      return s.report.iterations;
    };
    Index const kept = steps(KeptDiagonal::row_sums);
    EXPECT_LT(kept, 0.95 * steps(KeptDiagonal::stored));
    EXPECT_EQ(kept, steps(KeptDiagonal::automatic));
  }
}

}  // namespace
}  // namespace tcsolve::test
