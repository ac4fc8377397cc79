// SPDX-License-Identifier: Apache-2.0
/// What a solve may say of a system whose matrix it stores in a narrower type: nothing that is true
/// of the rounded matrix alone. For every type of values, of vectors and of a Krylov basis.
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <tests/support/dense.hpp>
#include <tests/support/each_backend.hpp>
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

constexpr char const* more_methods =
    "chronopoulos_gear pipelined_cg deflated_cg block_cg block_gmres pseudo_block_cg "
    "pseudo_block_gmres pseudo_block_bicgstab fgmres lsmr";

struct Narrow {
  char const *values, *vectors, *basis;
};
/// FP64 values of FP32 vectors are FP32 values.
constexpr Narrow all_types[] = {{"fp32", "fp64", ""},     {"fp16", "fp64", ""},
                                {"bf16", "fp64", ""},     {"fp32", "fp32", ""},
                                {"fp16", "fp32", ""},     {"bf16", "fp32", ""},
                                {"fp32", "fp64", "fp32"}, {"fp16", "fp64", "frsz16"},
                                {"bf16", "fp32", "fp16"}, {"fp16", "fp32", "bf16"}};

class NarrowVerdicts : public OnEachBackend {
 protected:
  struct Solved {
    SolveReport report;
    Column x;
    double residual;  ///< ||b - A x||, apart from all of tcsolve's kernels ...
    double slack;     ///< ... and what 64 bits may lose of it
  };
  Solved solved(Csr<double> const& a, Column const& b, std::string const& method,
                Narrow const& types, std::string const& more = "") {
    std::string const basis = *types.basis == 0 ? "" : cat(", basis: ", types.basis);
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(),
        cat("solver: {type: ", method, ", rtol: 1e-8, max_iters: 4000",
            types.vectors == std::string("fp64") ? "" : ", vectors: fp32", basis,
            "}\npreconditioner: {type: jacobi}\noperator: {format: csr",
            std::string(types.vectors) == "fp32" && std::string(types.values) == "fp64"
                ? ""
                : cat(", values: ", types.values),
            "}\n", more));
    Solved out{{}, Column::Zero(a.rows), 0, 0};
    auto const n = static_cast<std::size_t>(a.rows);
    out.report = solver.solve(std::span(b.data(), n), std::span(out.x.data(), n));
    long double rr = 0, terms = 0;
    for (Index i = 0; i < a.rows; ++i) {
      long double r = b[i], size = std::abs(b[i]);
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        long double const term = static_cast<long double>(a.values[k]) * out.x[a.columns[k]];
        r -= term;
        size += std::abs(term);
      }
      rr += r * r, terms += size * size;
    }
    out.residual = static_cast<double>(std::sqrt(rr));
    out.slack = static_cast<double>(std::sqrt(terms) * 0x1p-58L);
    return out;
  }
  /// What holds whatever the types.
  static void expect_true(Solved const& s, Column const& b) {
    double const tolerance = 1e-8 * b.norm(), error = s.slack + 1e-6 * s.residual;
    if (s.report.converged())
      EXPECT_LE(s.residual, tolerance + error) << s.report.message;
    else
      EXPECT_GE(s.residual, tolerance - error) << s.report.message;
    EXPECT_NEAR(s.report.true_residual, s.residual, error);
    Index sum = 0;
    for (PrecisionReport const& p : s.report.precision) sum += p.iterations;
    EXPECT_EQ(sum, s.report.iterations);
    EXPECT_TRUE(s.report.precision.back().why.empty());
  }
  /// Of each method and type: with step_up as FP64 ends, without as precision_limit:values, or
  /// better.
  void expect_no_false_word(Csr<double> const& a, Column const& b, std::string const& names) {
    for (std::string const& method : methods(names)) {
      Solved const wide = solved(a, b, method, {"fp64", "fp64", ""});
      for (Narrow const& types : all_types) {
        if (*types.basis != 0 && method != "gmres" && method != "fgmres") continue;
        bool const wide_only =
            method == "block_cg" || method == "block_gmres" || method == "deflated_cg";
        if (wide_only && types.vectors != std::string("fp64")) continue;
        SCOPED_TRACE(cat(method, ", values ", types.values, ", vectors ", types.vectors, ", basis ",
                         types.basis));
        Solved const up = solved(a, b, method, types);
        expect_true(up, b);
        Stop const word = up.report.reason;
        bool const open = word == Stop::converged || word == Stop::max_iterations;
        // A restarted method may stagnate in FP64 from one x and not from another.
        if (up.report.ended_rounded() || wide.report.converged() || word != Stop::stagnated) {
          EXPECT_TRUE(open || word == wide.report.reason) << up.report.message;
        }
        EXPECT_TRUE(open || !up.report.ended_rounded()) << up.report.message;
        if (up.report.precision.size() > 1) {
          EXPECT_STREQ(name(up.report.precision.front().values), types.values);
          EXPECT_FALSE(up.report.precision.front().why.empty());
          EXPECT_THAT(up.report.message, HasSubstr(cat("before it with A in ", types.values)));
        }
        Solved const held = solved(a, b, method, types, "step_up: never\n");
        expect_true(held, b);
        EXPECT_EQ(held.report.precision.size(), 1u);
        if (held.report.converged() || held.report.reason == Stop::max_iterations) continue;
        if (wide.report.reason == Stop::indefinite_operator &&
            held.report.reason == Stop::indefinite_operator)
          continue;                                            // beyond what rounding explains
        EXPECT_THAT(held.report.message, HasSubstr("take "));  // wider values, or vectors
        if (held.report.reason == Stop::diverged || held.report.cause == Cause::rho ||
            held.report.cause == Cause::omega)
          continue;  // said of the method
        EXPECT_EQ(held.report.outcome(), "precision_limit:values") << held.report.message;
        EXPECT_THAT(held.report.message, HasSubstr("'step_up: auto'"));
      }
    }
  }
};
TCSOLVE_ON_EACH_BACKEND(NarrowVerdicts);

/// D L D with d from 1 to 1e-6 and 1e6: entries from 1e-12 to 1e12.
Matrix graded_laplacian(Index n, double decades) {
  Matrix d = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) d(i, i) = std::pow(10.0, decades * (double(i) / (n - 1) - 0.5));
  return d * laplace(n) * d;
}

TEST_P(NarrowVerdicts, OfEntriesOverTwentyFourDecades) {
  Matrix const a = graded_laplacian(60, 12);
  Column const x = Column::Ones(60);
  expect_no_false_word(csr(a), a * x, cat("cg minres gmres bicgstab ", more_methods));
}

TEST_P(NarrowVerdicts, OfDiagonalsOverTenDecades) {
  Matrix a = graded_laplacian(80, 5);
  for (Index i = 0; i < 80; ++i) a(i, i) *= 1.3;
  expect_no_false_word(csr(a), random_column(80, 7),
                       cat("cg minres gmres bicgstab ", more_methods));
}

TEST_P(NarrowVerdicts, OfAConditionAboveTenDecades) {
  expect_no_false_word(csr(random_spd(40, 11, 31)), random_column(40, 8),
                       cat("cg minres gmres bicgstab ", more_methods));
}

/// The Laplacian of a path with random weights, and 1e-5 of its size on the diagonal.
Matrix nearly_singular_path(Index n, std::uint64_t seed) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i + 1 < n; ++i) {
    double const w = 1.5 + uniform(seed, i);
    a(i, i + 1) = a(i + 1, i) = -w;
    a(i, i) += w;
    a(i + 1, i + 1) += w;
  }
  a.diagonal().array() += 1e-5;
  return a;
}
double smallest_eigenvalue(Matrix const& a) { return symmetric_eigenvalues(a)[0]; }

TEST_P(NarrowVerdicts, OfAMatrixThatRoundingMakesIndefinite) {
  Index const n = 90;
  Matrix a, rounded;
  std::uint64_t seed = 41;
  do {
    a = nearly_singular_path(n, seed++);
    rounded = a.unaryExpr([](double v) { return double(float(half(float(v)))); });
  } while (smallest_eigenvalue(rounded) > -1e-6 && seed < 80);
  ASSERT_LT(smallest_eigenvalue(rounded), 0);
  ASSERT_GT(smallest_eigenvalue(a), 0);
  expect_no_false_word(csr(a), random_column(n, 9), cat("cg minres gmres ", more_methods));
  // It is this that the conjugate gradients meet.
  for (std::string const& method :
       methods("cg chronopoulos_gear pipelined_cg deflated_cg block_cg pseudo_block_cg")) {
    SCOPED_TRACE(method);
    Solved const held =
        solved(csr(a), random_column(n, 9), method, {"fp16", "fp64", ""}, "step_up: never\n");
    EXPECT_EQ(held.report.outcome(), "precision_limit:values") << held.report.message;
    EXPECT_THAT(held.report.message, HasSubstr("take wider 'values'"));
  }
  Solved const s = solved(csr(a), random_column(n, 9), "cg", {"fp16", "fp32", ""});
  EXPECT_TRUE(s.report.converged()) << s.report.message;
  ASSERT_GE(s.report.precision.size(), 2u);
  EXPECT_EQ(s.report.precision[0].values, Real::f16);
  EXPECT_EQ(s.report.precision[0].vectors, Real::f32);
  EXPECT_EQ(s.report.precision[1].values, Real::f32);
}

TEST_P(NarrowVerdicts, OfAMatrixThatIsIndefinite) {
  Column values = graded(50, 2);
  for (Index i = 0; i < 50; i += 3) values[i] *= -1;
  Matrix a = with_eigenvalues(values, 52);
  a += 3 * Matrix(a.diagonal().cwiseAbs().asDiagonal());  // jacobi needs a positive diagonal
  if (smallest_eigenvalue(a) > 0) a(0, 1) = a(1, 0) = 5 * (a(0, 0) + a(1, 1));
  expect_no_false_word(csr(a), random_column(50, 10), cat("cg minres gmres ", more_methods));
  // Beyond what rounding explains, the stored matrix says it of A.
  for (std::string const& method :
       methods("cg chronopoulos_gear pipelined_cg deflated_cg block_cg pseudo_block_cg"))
    for (std::string const more : {"", "step_up: never\n"}) {
      SCOPED_TRACE(cat(method, more));
      Solved const s = solved(csr(a), random_column(50, 10), method, {"fp16", "fp64", ""}, more);
      EXPECT_EQ(s.report.reason, Stop::indefinite_operator) << s.report.message;
    }
}

TEST_P(NarrowVerdicts, OfGeneratedSystems) {
  Csr<double> const p = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  expect_no_false_word(p, random_column(p.rows, 1), "cg");
  Csr<double> const e = generate(ElasticityParams{.n = 5, .coefficient = Coefficient::random});
  expect_no_false_word(e, random_column(e.rows, 2), "cg");
}

TEST_P(NarrowVerdicts, OfRealSystems) {
  char const* folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is not set";
  int seen = 0;
  for (char const* real : {"xenon1", "bcsstk17", "bunny_thermal_r1"}) {
    SCOPED_TRACE(real);
    auto const path = std::filesystem::path(folder) / cat(real, ".mtx.xz");
    if (!std::filesystem::exists(path)) continue;
    Csr<double> const a = read_matrix_market(path);
    Column const b = Column::Ones(a.rows);
    for (Narrow const& types : {Narrow{"fp16", "fp64", ""}, Narrow{"fp16", "fp32", ""},
                                Narrow{"fp32", "fp32", ""}, Narrow{"bf16", "fp64", ""}}) {
      SCOPED_TRACE(cat(types.values, ", ", types.vectors));
      Solved const s = solved(a, b, "cg", types);
      expect_true(s, b);
      EXPECT_TRUE(s.report.converged() || s.report.reason == Stop::max_iterations)
          << s.report.message;
      if (s.report.reason == Stop::max_iterations && s.report.ended_rounded()) {
        EXPECT_THAT(s.report.message, HasSubstr("take "));
      }
    }
    ++seen;
  }
  if (seen == 0) GTEST_SKIP() << "none of the matrices is in " << folder;
}

TEST_P(NarrowVerdicts, AValueThatFitsNoNarrowTypeIsStoredWider) {
  Matrix a = laplace(30);
  a(0, 29) = 1e-30;  // not symmetric: rows and columns are scaled, and this row has entries of 1
  a(29, 0) = 1e30;
  a(29, 29) = 1e32;
  Column const b = a * Column::Ones(30);
  for (Narrow const& types : all_types) {
    if (*types.basis != 0) continue;
    SCOPED_TRACE(cat(types.values, ", ", types.vectors));
    Solved const s = solved(csr(a), b, "bicgstab", types);
    expect_true(s, b);
  }
}

/// Rows and columns that FP16 holds when they are scaled by 2^70, which FP32 vectors do not.
TEST_P(NarrowVerdicts, WhatTheVectorsCannotBeScaledByIsStoredWider) {
  Column d = Column::Ones(30);
  d[3] = 0x1p70, d[17] = 0x1p-70;
  Matrix const a = d.asDiagonal() * laplace(30) * d.asDiagonal();
  Column const b = a * Column::Ones(30);
  Narrow const types{"fp16", "fp32", ""};
  Solved const s = solved(csr(a), b, "cg", types);
  expect_true(s, b);
  ASSERT_GE(s.report.precision.size(), 2u) << s.report.message;
  EXPECT_EQ(s.report.precision.front().values, Real::f16);
  EXPECT_EQ(s.report.precision.front().iterations, 0);
  EXPECT_THAT(s.report.precision.front().why, HasSubstr("wider vectors"));
  EXPECT_EQ(s.report.precision.back().values, Real::f64);
  EXPECT_EQ(s.report.precision.back().vectors, Real::f64);
  try {
    solved(csr(a), b, "cg", types, "step_up: never\n");
    ADD_FAILURE() << "it was stored";
  } catch (SetupError const& e) { EXPECT_THAT(e.what(), HasSubstr("wider vectors")); }
}

}  // namespace
}  // namespace tcsolve::test
