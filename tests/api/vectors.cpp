// SPDX-License-Identifier: Apache-2.0
/// `vectors: fp32`: methods on FP32 vectors, of a matrix stored no wider, solve the FP64 system.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include <tcsolve/io/generate/generators.hpp>

#include "tests/api/systems.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/formats.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

class FloatVectors : public OnEachBackend {
 protected:
  static constexpr Index n = 200;
  /// Its entries are no FP32 numbers.
  static Matrix system(bool symmetric) {
    Matrix A = laplace(n);
    for (Index i = 0; i < n; ++i) A(i, i) += 1.1 + uniform(3, i) * uniform(3, i);
    for (Index i = 0; i + 9 < n; ++i) {
      A(i, i + 9) -= 0.3 + 0.1 * uniform(4, i);
      A(i + 9, i) = A(i, i + 9) + (symmetric ? 0.0 : 0.37);
    }
    return A;
  }
  static std::string yaml(std::string const& method, std::string const& more) {
    return cat("solver: {type: ", method, ", vectors: fp32, rtol: 1e-12, max_iters: 5000}\n", more);
  }
};
TCSOLVE_ON_EACH_BACKEND(FloatVectors);

TEST_P(FloatVectors, EveryMethodThatHasThemReachesAnFp64Answer) {
  struct Case {
    std::string method;
    bool symmetric, transposes = false;
  };
  for (auto const& [method, symmetric, transposes] :
       {Case{"cg", true}, Case{"chronopoulos_gear", true}, Case{"pipelined_cg", true},
        Case{"minres", true}, Case{"bicgstab", false}, Case{"gmres", false}, Case{"fgmres", false},
        Case{"lsmr", false, true}}) {
    Matrix const A = system(symmetric);
    Column const b = random_column(n, 1), exact = lu_solve(A, b);
    for (std::string const& rest :
         {std::string("preconditioner: {type: none}\noperator: {format: csr}\n"),
          std::string("preconditioner: {type: jacobi}\n"),
          std::string("preconditioner: {type: jacobi}\noperator: {format: auto, reorder: rcm}\n"),
          cat("preconditioner: {type: ilu}\noperator: {format: ", converted_format().name,
              ", values: fp16}\n"),
          cat("preconditioner: {type: none}\noperator: {format: ", converted_format().name,
              "}\n")}) {
      if (transposes && rest.find("csr") == std::string::npos) continue;
      SCOPED_TRACE(cat(method, ": ", rest));
      LinearSolver solver = LinearSolver::from_yaml(ctx(), csr(A).view(), yaml(method, rest));
      EXPECT_NE(solver.A()->on_floats(ctx()), nullptr);
      EXPECT_NE(solver.A()->traits().precision.storage, Real::f64);
      Column x = Column::Zero(n);
      SolveReport const report = solve(solver, b, x);
      ASSERT_TRUE(report.converged()) << report.message;
      EXPECT_LE((b - A * x).norm(), 1.01e-12 * b.norm());
      EXPECT_NEAR(report.true_residual, (b - A * x).norm(), 1e-14 * b.norm());
      EXPECT_LE((x - exact).norm(), 1e-9 * exact.norm());
      auto const updates = std::ranges::count(report.history, Mark::update, &Record::mark);
      EXPECT_GE(report.restarts + updates, 1) << "FP32 has seven digits";
    }
  }
}

TEST_P(FloatVectors, TakeHalfTheBytes) {
  Matrix const A = system(true);
  Column const b = random_column(n, 2);
  double bytes[2];
  for (int floats = 0; floats < 2; ++floats) {
    LinearSolver solver(
        ctx(), csr(A).view(),
        {.solver = {"cg", CgParams{.vectors = floats == 1 ? VectorType::fp32 : VectorType::fp64}},
         .preconditioner = "jacobi",
         .matrix_operator = converted_format().name.c_str()});
    Column x = Column::Zero(n);
    bytes[floats] = solve(solver, b, x).bytes_per_iteration;
  }
  EXPECT_LE(bytes[1], 0.55 * bytes[0]);
}

TEST_P(FloatVectors, RunInOneKernel) {
  if (GetParam() == Backend::host) GTEST_SKIP() << "loops of the host are eager";
  for (std::string const method : {"cg", "bicgstab", "gmres", "pipelined_cg"})
    for (Format const& format : formats()) {
      if (!format.can.persistent) continue;
      SCOPED_TRACE(cat(method, ", ", format.name));
      Matrix const A = system(true);
      Column const b = random_column(n, 7);
      Column x[2];
      for (int one_kernel = 0; one_kernel < 2; ++one_kernel) {
        x[one_kernel] = Column::Zero(n);
        LinearSolver solver = LinearSolver::from_yaml(
            ctx(), csr(A).view(),
            cat("solver: {type: ", method, ", vectors: fp32, rtol: 1e-12, max_iters: 5000, ",
                "execution: ", one_kernel == 1 ? "persistent" : "eager", "}\n",
                "preconditioner: {type: jacobi}\noperator: {format: ", format.name, "}\n"));
        SolveReport const report = solve(solver, b, x[one_kernel]);
        ASSERT_TRUE(report.converged()) << report.message;
        EXPECT_LE((b - A * x[one_kernel]).norm(), 1.01e-12 * b.norm());
        EXPECT_EQ(report.execution, one_kernel == 1 ? Execution::persistent : Execution::eager);
      }
      EXPECT_LE((x[0] - x[1]).norm(), 1e-9 * x[0].norm());
    }
}

TEST_P(FloatVectors, FollowNewValues) {
  Matrix A = system(true);
  Column const b = random_column(n, 3);
  for (std::string const& format :
       {std::string("csr"), converted_format().name, std::string("auto")}) {
    SCOPED_TRACE(format);
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), csr(A).view(),
        yaml("cg", cat("preconditioner: {type: ic}\noperator: {format: ", format, "}\n")));
    for (double const factor : {1.0, 3.7, 1e-4}) {
      Matrix const scaled = factor * A;
      solver.update_values(csr(scaled).view());
      Column x = Column::Zero(n);
      SolveReport const report = solve(solver, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE((b - scaled * x).norm(), 1.01e-12 * b.norm());
    }
  }
}

/// M on FP32 vectors costs few iterations: within a fifth, and the last step of a short solve, of
/// those on FP64 vectors.
TEST_P(FloatVectors, PreconditionersJoinThem) {
  Csr<double> const s = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random}),
                    a = generate(ConvdiffParams{.n = 12, .coefficient = Coefficient::random});
  struct Case {
    std::string method, preconditioner;
  };
  std::vector<Case> cases;
  for (std::string const values : {"fp64", "fp32", "fp16"}) {
    std::string const stored = ", values: " + values + "}";
    for (std::string const method : {"cg", "bicgstab"})
      cases.push_back({method, "{type: block_jacobi, block: 4" + stored});
    cases.push_back({"bicgstab", "{type: spai" + stored});
    cases.push_back({"bicgstab", "{type: ilu, triangular: isai" + stored});
    cases.push_back({"cg", "{type: fsai" + stored});
    cases.push_back({"cg", "{type: ic, triangular: isai" + stored});
  }
  cases.push_back({"cg", "{type: chebyshev}"});
  cases.push_back({"cg", "{type: chebyshev, preconditioner: {type: block_jacobi, block: 2}}"});
  for (auto const& [method, preconditioner] : cases) {
    SCOPED_TRACE(cat(method, ", ", preconditioner));
    Csr<double> const& A = method == "cg" ? s : a;
    Column const b = random_column(A.rows, 21);
    Index iterations[2];
    for (int floats = 0; floats < 2; ++floats) {
      LinearSolver solver = LinearSolver::from_yaml(
          ctx(), A.view(),
          cat("solver: {type: ", method, ", vectors: ", floats == 1 ? "fp32" : "fp64",
              ", rtol: 1e-10}\npreconditioner: ", preconditioner, "\n"));
      Column x = Column::Zero(A.rows);
      SolveReport const report = solve(solver, b, x);
      ASSERT_TRUE(report.converged()) << report.message;
      EXPECT_LE(report.true_residual, 1e-10 * b.norm());
      EXPECT_EQ(report.precision.back().vectors, floats == 1 ? Real::f32 : Real::f64);
      iterations[floats] = report.iterations;
      if (floats == 1) EXPECT_NE(solver.M()->on_floats(ctx()), nullptr);
    }
    EXPECT_LE(iterations[1], 1.2 * iterations[0] + 1);
  }
}

/// Where what M stores for FP32 vectors would leave their range, it is applied through FP64 ones.
TEST_P(FloatVectors, SystemsOfAnySizeHavePreconditioners) {
  Csr<double> const s = generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random});
  Column const b = random_column(s.rows, 22);
  for (std::string const preconditioner :
       {"{type: block_jacobi, block: 4}", "{type: fsai}", "{type: ic, triangular: isai}",
        "{type: chebyshev}", "{type: jacobi}"})
    for (int const exponent : {-100, -70, -25, 25, 70, 100}) {
      SCOPED_TRACE(cat(preconditioner, ", 2^", exponent));
      Csr<double> a = s;
      for (double& v : a.values) v = std::ldexp(v, exponent);
      LinearSolver solver = LinearSolver::from_yaml(
          ctx(), a.view(),
          cat("solver: {type: cg, vectors: fp32, rtol: 1e-10}\npreconditioner: ", preconditioner,
              "\n"));
      Column x = Column::Zero(a.rows);
      SolveReport const report = solve(solver, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(report.iterations, 80);
    }
}

TEST_P(FloatVectors, HaveANullspace) {
  Matrix const A = path_laplacian(60);
  Column const b = A * random_column(60, 4);
  for (std::string const method : {"cg", "minres", "gmres"})
    for (std::string const preconditioner : {"none", "jacobi"}) {
      SCOPED_TRACE(cat(method, ", ", preconditioner));
      LinearSolver solver =
          LinearSolver::from_yaml(ctx(), csr(A).view(),
                                  cat("solver: {type: ", method,
                                      ", vectors: fp32}\npreconditioner: {type: ", preconditioner,
                                      "}\nnullspace: {constant: true}\n"));
      Column x = random_column(60, 5);
      SolveReport const report = solve(solver, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE((b - A * x).norm(), 1.01e-8 * b.norm());
      EXPECT_NEAR(x.mean(), 0, 1e-14 * x.norm());
    }
}

TEST_P(FloatVectors, AreRefusedByNameWhereAMethodHasNone) {
  Matrix const A = system(true);
  for (std::string const method : {"block_cg", "block_gmres", "deflated_cg"}) {
    try {
      LinearSolver::from_yaml(ctx(), csr(A).view(),
                              cat("solver: {type: ", method, ", vectors: fp32}\n"));
      FAIL() << method;
    } catch (ConfigError const& e) { EXPECT_THAT(e.what(), HasSubstr("unknown key 'vectors'")); }
  }
  EXPECT_THROW(LinearSolver::from_yaml(ctx(), csr(A).view(), "solver: {type: cg, vectors: fp16}\n"),
               ConfigError);
}

}  // namespace
}  // namespace tcsolve::test
