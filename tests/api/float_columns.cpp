// SPDX-License-Identifier: Apache-2.0
/// `vectors: fp32` of the methods that take several right-hand sides side by side: each column has
/// an FP64 answer, and goes on with its direction where r is made anew.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include <tcsolve/io/generate/generators.hpp>

#include "tests/api/systems.hpp"
#include "tests/support/dense.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

class FloatColumns : public OnEachBackend {
 protected:
  struct Solved {
    std::vector<SolveReport> reports;
    Matrix X;
  };
  Solved solved(LinearSolver& solver, Matrix const& B, Matrix X) {
    auto const n = static_cast<Index>(B.rows()), k = static_cast<Index>(B.cols());
    Solved out{{}, std::move(X)};
    out.reports = solver.solve_columns({B.data(), n, k, n, Layout::col_major, Space::host},
                                       {out.X.data(), n, k, n, Layout::col_major, Space::host});
    return out;
  }
  Solved solved(Csr<double> const& A, Matrix const& B, std::string const& yaml) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), A.view(), yaml);
    return solved(solver, B, Matrix::Zero(B.rows(), B.cols()));
  }
  static std::string yaml(std::string const& method, std::string const& keys,
                          std::string const& rest) {
    return cat("solver: {type: ", method, ", rtol: 1e-10", keys, "}\n", rest);
  }
  static Index updates(SolveReport const& r) {
    return static_cast<Index>(std::ranges::count(r.history, Mark::update, &Record::mark));
  }

  Csr<double> const definite_ =
      generate(Poisson7Params{.n = 10, .coefficient = Coefficient::random});
  Csr<double> const general_ =
      generate(ConvdiffParams{.n = 10, .coefficient = Coefficient::random});
};
TCSOLVE_ON_EACH_BACKEND(FloatColumns);

constexpr char const* all[] = {"pseudo_block_cg", "pseudo_block_bicgstab", "pseudo_block_gmres"};
/// Makes r anew where it goes on; gmres begins its cycles with it.
bool goes_on(std::string const& method) { return method != "pseudo_block_gmres"; }

TEST_P(FloatColumns, HaveFp64Answers) {
  for (std::string const method : all)
    for (std::string const rest :
         {"preconditioner: {type: none}\n", "preconditioner: {type: jacobi}\n",
          "preconditioner: {type: block_jacobi, block: 4}\noperator: {format: csr, values: fp16}\n",
          "preconditioner: {type: ilu}\noperator: {format: auto, reorder: rcm}\n"}) {
      SCOPED_TRACE(method + ": " + rest);
      Csr<double> const& A = method == all[0] ? definite_ : general_;
      // Of sizes that FP32 does not hold; one that is zero, one that its guess solves.
      Matrix B = random_matrix(A.rows, 6, 3), X = Matrix::Zero(A.rows, 6);
      B.col(1) *= 1e60;
      B.col(2) *= 1e-60;
      B.col(3).setZero();
      X.col(4) = 1e25 * random_column(A.rows, 5);
      X.col(5) = random_column(A.rows, 6);
      for (Index i = 0; i < A.rows; ++i) {
        B(i, 5) = 0;
        for (Offset k = A.offsets[i]; k < A.offsets[i + 1]; ++k)
          B(i, 5) += A.values[k] * X(A.columns[k], 5);
      }
      LinearSolver solver =
          LinearSolver::from_yaml(ctx(), A.view(), yaml(method, ", vectors: fp32", rest));
      EXPECT_NE(solver.A()->on_floats(ctx()), nullptr);
      Solved const s = solved(solver, B, X);
      Index renewed = 0;
      for (Index j = 0; j < 6; ++j) {
        SCOPED_TRACE(j);
        SolveReport const& r = s.reports[static_cast<std::size_t>(j)];
        EXPECT_TRUE(r.converged()) << r.message;
        EXPECT_LE(residual_norm(A, B.col(j), s.X.col(j)), 1.001e-10 * B.col(j).norm());
        if (r.iterations == 0) continue;
        EXPECT_EQ(r.precision.back().vectors, Real::f32);
        renewed += updates(r);
        EXPECT_GE(updates(r) + r.restarts, 1) << "FP32 has seven digits";
      }
      if (goes_on(method)) EXPECT_GE(renewed, 4) << "columns go on with their directions";
      EXPECT_EQ(s.reports[3].cause, Cause::zero_rhs);
      EXPECT_EQ(s.reports[5].iterations, 0);
    }
}

/// Within a fifth of those on FP64 vectors; a narrow A costs what it costs a single column.
TEST_P(FloatColumns, TakeFewIterationsMore) {
  for (std::string const method : all)
    for (std::string const values : {"", "operator: {format: csr, values: fp16}\n"}) {
      SCOPED_TRACE(method + ": " + values);
      Csr<double> const& A = method == all[0] ? definite_ : general_;
      Matrix const B = random_matrix(A.rows, 5, 8);
      std::string const jacobi = "preconditioner: {type: jacobi}\n";
      Solved const wide = solved(A, B, yaml(method, "", jacobi));
      for (std::string const vectors : {"fp32", "fp64"}) {
        if (values.empty() && vectors == "fp64") continue;
        SCOPED_TRACE(vectors);
        Solved const s = solved(A, B, yaml(method, ", vectors: " + vectors, jacobi + values));
        for (std::size_t j = 0; j < 5; ++j) {
          EXPECT_TRUE(s.reports[j].converged()) << s.reports[j].message;
          EXPECT_LE(s.reports[j].iterations,
                    (values.empty() ? 1.2 : 1.4) * wide.reports[j].iterations + 1)
              << "column " << j;
        }
      }
    }
}

/// A column that is there early keeps its place, and nothing is done to it.
TEST_P(FloatColumns, EndByThemselves) {
  Csr<double> const& A = definite_;
  Matrix B = random_matrix(A.rows, 3, 9);
  Column const x = Column::Ones(A.rows);
  std::string const config =
      yaml("pseudo_block_cg", ", vectors: fp32", "preconditioner: {type: jacobi}\n");
  LinearSolver solver = LinearSolver::from_yaml(ctx(), A.view(), config);
  Solved const before = solved(solver, B, Matrix::Zero(A.rows, 3));
  Matrix X = Matrix::Zero(A.rows, 3);
  X.col(1) = before.X.col(1) + 1e-9 * x;
  Solved const s = solved(solver, B, X);
  for (SolveReport const& r : s.reports) EXPECT_TRUE(r.converged()) << r.message;
  EXPECT_LT(s.reports[1].iterations, s.reports[0].iterations / 2);
  Solved const alone = solved(A, B.col(1), config);
  EXPECT_TRUE(alone.reports[0].converged());
  EXPECT_NEAR(alone.reports[0].iterations, before.reports[1].iterations,
              0.1 * alone.reports[0].iterations + 1)
      << "what the others do is not its affair";
}

TEST_P(FloatColumns, TakeLittleMoreThanHalfTheBytes) {
  for (std::string const method : all) {
    Csr<double> const& A = method == all[0] ? definite_ : general_;
    Matrix const B = random_matrix(A.rows, 4, 2);
    double bytes[2];
    for (int floats = 0; floats < 2; ++floats)
      bytes[floats] = solved(A, B,
                             yaml(method, floats == 1 ? ", vectors: fp32" : "",
                                  "preconditioner: {type: jacobi}\noperator: {format: csr}\n"))
                          .reports[0]
                          .bytes_per_iteration;
    EXPECT_LE(bytes[1], 0.56 * bytes[0]) << method;
  }
}

TEST_P(FloatColumns, FollowNewValues) {
  for (std::string const method : all) {
    SCOPED_TRACE(method);
    Csr<double> A = method == all[0] ? definite_ : general_;
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), A.view(),
        yaml(method, ", vectors: fp32", "preconditioner: {type: block_jacobi, block: 4}\n"));
    Matrix const B = random_matrix(A.rows, 3, 4);
    for (double const factor : {1.0, 1e-4, 3e7}) {
      for (double& v : A.values) v *= factor;
      solver.update_values(A.view());
      Solved const s = solved(solver, B, Matrix::Zero(A.rows, 3));
      for (Index j = 0; j < 3; ++j) {
        EXPECT_TRUE(s.reports[static_cast<std::size_t>(j)].converged());
        EXPECT_LE(residual_norm(A, B.col(j), s.X.col(j)), 1.001e-10 * B.col(j).norm());
      }
    }
  }
}

TEST_P(FloatColumns, HaveANullspace) {
  Matrix const A = path_laplacian(60);
  Matrix const B = A * random_matrix(60, 3, 4);
  Solved const s = solved(csr(A), B,
                          "solver: {type: pseudo_block_cg, vectors: fp32}\npreconditioner: {type: "
                          "jacobi}\nnullspace: {constant: true}\n");
  for (Index j = 0; j < 3; ++j) {
    EXPECT_TRUE(s.reports[static_cast<std::size_t>(j)].converged());
    EXPECT_LE((B.col(j) - A * s.X.col(j)).norm(), 1.01e-8 * B.col(j).norm());
    EXPECT_NEAR(s.X.col(j).mean(), 0, 1e-14 * s.X.col(j).norm());
  }
}

TEST_P(FloatColumns, RefuseAWiderMatrix) {
  for (std::string const method : all) {
    try {
      LinearSolver::from_yaml(
          ctx(), definite_.view(),
          cat("solver: {type: ", method, ", vectors: fp32}\noperator: {values: fp64}\n"));
      FAIL() << method;
    } catch (ConfigError const& e) {
      EXPECT_THAT(e.what(), HasSubstr("'values: fp64' with 'vectors: fp32'"));
    }
    EXPECT_THROW(LinearSolver::from_yaml(ctx(), definite_.view(),
                                         cat("solver: {type: ", method, ", vectors: fp16}\n")),
                 ConfigError);
  }
}

}  // namespace
}  // namespace tcsolve::test
