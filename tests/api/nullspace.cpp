// SPDX-License-Identifier: Apache-2.0
/// Singular systems whose nullspace is known: a consistent one converges to the shortest of its
/// solutions, an inconsistent one is told from it, and a wrong vector is refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/api/systems.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

/// The Laplacian of a connected graph with random weights: ones are its nullspace. From `from` on,
/// `size` rows of a larger matrix.
void add_graph(Matrix& a, Index from, Index size, std::uint64_t seed) {
  auto const edge = [&](Index i, Index j, double w) {
    a(from + i, from + j) -= w;
    a(from + j, from + i) -= w;
    a(from + i, from + i) += w;
    a(from + j, from + j) += w;
  };
  for (Index i = 0; i + 1 < size; ++i) edge(i, i + 1, 1.5 + uniform(seed, i));
  for (Index i = 0; i + 7 < size; ++i) edge(i, i + 7, 1.5 + uniform(seed + 1, i));
}

Matrix graph(Index n) {
  Matrix a = Matrix::Zero(n, n);
  add_graph(a, 0, n, 3);
  return a;
}

constexpr Index n = 150;

class Nullspace : public OnEachBackend {
 protected:
  /// The shortest solution of least squares, by Eigen.
  static Column shortest(Matrix const& a, Column const& b) { return least_squares_solution(a, b); }
  SolveReport solved(Matrix const& a, SolverOptions const& options, Column const& b, Column& x) {
    LinearSolver solver(ctx(), csr(a).view(), options);
    return solve(solver, b, x);
  }
};
TCSOLVE_ON_EACH_BACKEND(Nullspace);

TEST_P(Nullspace, AConsistentSystemConvergesToTheShortestSolution) {
  Matrix const a = graph(n);
  Column b = random_column(n, 1);
  b.array() -= b.mean();
  Column const solution = shortest(a, b);
  for (std::string const method : {"cg", "minres", "gmres", "bicgstab", "auto"})
    for (std::string const preconditioner : {"none", "jacobi", "ic", "auto"})
      for (std::string const order : {"none", "rcm"}) {
        SCOPED_TRACE(cat(method, ", ", preconditioner, ", ", order));
        Column x = random_column(n, 2);  // with a part in the nullspace
        SolveReport const report =
            solved(a,
                   SolverOptions::from_yaml(
                       cat("solver: {type: ", method,
                           ", rtol: 1e-10}\npreconditioner: {type: ", preconditioner,
                           "}\noperator: {reorder: ", order, "}\nnullspace: {constant: true}\n")),
                   b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_LE((b - a * x).norm(), 1.01e-10 * b.norm());
        EXPECT_NEAR(report.true_residual, (b - a * x).norm(), 1e-12 * b.norm());
        EXPECT_LE((x - solution).norm(), 1e-7 * solution.norm());
        EXPECT_NEAR(x.mean(), 0, 1e-14 * x.norm());
      }
}

/// A vector spans the same line at any scale; its squares may vanish or overflow.
TEST_P(Nullspace, TheScaleOfAVectorChangesNoBit) {
  Matrix const a = graph(n);
  Column b = random_column(n, 1);
  b.array() -= b.mean();
  std::vector<Column> solutions;
  for (int const power : {0, -1074, -560, 600, 1023}) {
    SolverOptions options = SolverOptions::from_yaml("solver: {type: cg, rtol: 1e-10}\n");
    options.nullspace.vectors = {std::vector<double>(n, std::ldexp(1.0, power))};
    Column x = Column::Zero(n);
    SolveReport const report = solved(a, options, b, x);
    EXPECT_TRUE(report.converged()) << power << ": " << report.message;
    solutions.push_back(x);
  }
  for (Column const& x : solutions) EXPECT_EQ(x, solutions[0]);
}

TEST_P(Nullspace, AnInconsistentSystemSaysSo) {
  Matrix const a = graph(n);
  Column b = random_column(n, 1);
  b.array() += 0.01 - b.mean();
  Column const solution = shortest(a, b);
  double const outside = 0.01 * std::sqrt(double(n));
  for (std::string const method : {"cg", "minres", "gmres", "auto"}) {
    SCOPED_TRACE(method);
    Column x = Column::Zero(n);
    SolveReport const report =
        solved(a,
               SolverOptions::from_yaml(cat("solver: {type: ", method,
                                            "}\npreconditioner: {type: jacobi}\nnullspace: "
                                            "{constant: true}\n")),
               b, x);
    EXPECT_EQ(report.reason, Stop::least_squares) << report.message;
    EXPECT_EQ(report.cause, Cause::inconsistent);
    EXPECT_THAT(report.message, HasSubstr("outside the range of A"));
    EXPECT_FALSE(report.converged());
    EXPECT_NEAR(report.rhs_norm, b.norm(), 1e-12 * b.norm());
    EXPECT_NEAR(report.true_residual, (b - a * x).norm(), 1e-10 * b.norm());
    EXPECT_NEAR(report.true_residual, outside, 1e-6 * b.norm());
    EXPECT_LE((x - solution).norm(), 1e-5 * solution.norm());
  }
}

// A part outside the range below the tolerance hinders nobody.
TEST_P(Nullspace, WhatTheToleranceAllowsConverges) {
  Matrix const a = graph(n);
  Column b = random_column(n, 1);
  b.array() += 1e-11 - b.mean();
  Column x = Column::Zero(n);
  SolveReport const report = solved(a,
                                    SolverOptions::from_yaml("solver: {type: cg}\npreconditioner: "
                                                             "{type: jacobi}\nnullspace: "
                                                             "{constant: true}\n"),
                                    b, x);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE((b - a * x).norm(), 1.01e-8 * b.norm());
}

/// Two graphs that do not meet: a nullspace of two dimensions, in vectors that are not orthogonal.
TEST_P(Nullspace, OfSeveralVectorsThatAreGivenOrInFiles) {
  Matrix a = Matrix::Zero(n, n);
  add_graph(a, 0, 60, 3);
  add_graph(a, 60, n - 60, 5);
  std::vector<double> z(n, 2.0);
  std::fill(z.begin() + 60, z.end(), 0.5);
  Column b = random_column(n, 1);
  b.head(60).array() -= b.head(60).mean();
  b.tail(n - 60).array() -= b.tail(n - 60).mean();
  TemporaryFolder const folder;
  std::ofstream file(folder.path() / "z.txt");
  for (double const v : z) file << v << "\n";
  file.close();
  std::ofstream(folder.path() / "options.yaml")
      << "solver: {type: cg}\npreconditioner: {type: jacobi}\nnullspace: {constant: true, files: "
         "[z.txt]}\n";
  SolverOptions given =
      SolverOptions::from_yaml("solver: {type: cg}\npreconditioner: {type: jacobi}\n");
  given.nullspace.vectors = {std::vector<double>(n, 1.0), z};
  for (SolverOptions const& options :
       {given, SolverOptions::from_file((folder.path() / "options.yaml").string())}) {
    Column x = random_column(n, 2);
    SolveReport const report = solved(a, options, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE((b - a * x).norm(), 1.01e-8 * b.norm());
    EXPECT_NEAR(x.head(60).mean(), 0, 1e-13);
    EXPECT_NEAR(x.tail(n - 60).mean(), 0, 1e-13);
  }
}

/// A Z = 0 and A^T Z is not: the rows of a graph's Laplacian, scaled.
TEST_P(Nullspace, OfANonsymmetricMatrix) {
  Matrix a = graph(n);
  for (Index i = 0; i < n; ++i) a.row(i) *= 1 + 0.5 * uniform(9, i);
  Column const b = a * random_column(n, 4);
  for (std::string const preconditioner : {"none", "jacobi", "ilu"}) {
    SCOPED_TRACE(preconditioner);
    Column x = random_column(n, 2);
    SolveReport const report = solved(
        a,
        SolverOptions::from_yaml(cat("solver: {type: gmres, restart: 150}\npreconditioner: {type: ",
                                     preconditioner, "}\nnullspace: {constant: true}\n")),
        b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE((b - a * x).norm(), 1.01e-8 * b.norm());
    EXPECT_NEAR(x.mean(), 0, 1e-13);
  }
}

TEST_P(Nullspace, FollowsNewValues) {
  Matrix a = graph(n);
  Column b = random_column(n, 1);
  b.array() -= b.mean();
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), csr(a).view(),
      "solver: {type: cg}\npreconditioner: {type: ic}\nnullspace: {constant: true}\n");
  for (int step = 0; step < 3; ++step) {
    Column x = Column::Zero(n);
    SolveReport const report = solve(solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE((b - a * x).norm(), 1.01e-8 * b.norm());
    a = Matrix::Zero(n, n);
    add_graph(a, 0, n, 11 + step);
    solver.update_values(csr(a).view());
  }
  a(3, 3) += 0.1;  // regular now
  EXPECT_THROW(solver.update_values(csr(a).view()), SetupError);
  EXPECT_FALSE(solver.ready());
}

TEST_P(Nullspace, RefusesVectorsThatAreNotInIt) {
  auto const refuses = [&](Matrix const& a, std::vector<std::vector<double>> vectors,
                           std::string const& text) {
    SolverOptions options = SolverOptions::from_yaml("solver: {type: cg}\n");
    options.nullspace.vectors = std::move(vectors);
    Column const b = Column::Ones(a.rows());
    Column x = Column::Zero(a.rows());
    try {
      solved(a, options, b, x);
      FAIL() << "expected: " << text;
    } catch (Error const& e) { EXPECT_THAT(e.what(), HasSubstr(text)); }
  };
  std::vector<double> const ones(n, 1.0);
  refuses(laplace(n), {ones}, "not in the nullspace");
  refuses(graph(n), {std::vector<double>(n - 1, 1.0)}, "149 entries");
  refuses(graph(n), {ones, ones}, "depends on those before");
  refuses(graph(n), {std::vector<double>(n, 0.0)}, "is zero");
}

/// What is said is true of the x that is handed out, in the system as it was given.
void expect_true(SolveReport const& report, Matrix const& a, Column const& b, Column const& x) {
  SCOPED_TRACE(report.message);
  auto const exact = static_cast<double>(exact_norm(exact_residual(a, b, x)));
  EXPECT_NEAR(report.true_residual, exact, 1e-12 * exact + residual_error(a, b, x) * 1e-3);
  EXPECT_EQ(report.converged(), exact <= report.tolerance) << exact;
  EXPECT_THAT(report.message, HasSubstr(report.outcome()));
}

// A z is 1e-9, of an A whose smallest singular value is no larger: z is no null vector of it.
TEST_P(Nullspace, AVectorThatIsNullToSomeDigitsAloneIsNotBelieved) {
  Matrix const a{{1, 0}, {1, 1e-9}};
  Column const b{{1, 2}};
  SolverOptions options =
      SolverOptions::from_yaml("solver: {type: gmres}\npreconditioner: {type: none}\n");
  options.nullspace.vectors = {{0, 1}};
  Column x = Column::Zero(2);
  SolveReport const report = solved(a, options, b, x);
  expect_true(report, a, b, x);
  EXPECT_EQ(report.outcome(), "false_convergence:nullspace");
  EXPECT_EQ(report.exit_code(), 4);
}

// Block methods iterate their columns together inside the frame, and each column is judged as it is
// handed out: one of them has a part outside the range of A.
TEST_P(Nullspace, BlockMethodsKeepTheirBlocks) {
  constexpr Index k = 8;
  Matrix const a = graph(n);
  Matrix B(n, k), X(n, k);
  for (Index j = 0; j < k; ++j) {
    B.col(j) = random_column(n, 20 + j);
    B.col(j).array() -= B.col(j).mean();
    X.col(j) = random_column(n, 40 + j);  // with a part in the nullspace
  }
  B.col(3).array() += 0.01;
  Matrix const guess = X;
  for (std::string const method :
       {"block_cg", "pseudo_block_cg", "block_gmres", "pseudo_block_gmres"})
    for (std::string const order : {"none", "rcm"}) {
      SCOPED_TRACE(cat(method, ", ", order));
      LinearSolver solver(
          ctx(), csr(a).view(),
          SolverOptions::from_yaml(cat("solver: {type: ", method,
                                       ", rtol: 1e-10}\npreconditioner: {type: jacobi}\noperator: "
                                       "{reorder: ",
                                       order, "}\nnullspace: {constant: true}\n")));
      X = guess;
      auto const reports = solver.solve_columns({B.data(), n, k, n, Layout::col_major},
                                                {X.data(), n, k, n, Layout::col_major});
      ASSERT_EQ(reports.size(), static_cast<std::size_t>(k));
      Index most = 0;
      for (Index j = 0; j < k; ++j) {
        SCOPED_TRACE(j);
        SolveReport const& report = reports[static_cast<std::size_t>(j)];
        Column const r = B.col(j) - a * X.col(j);
        EXPECT_NEAR(report.true_residual, r.norm(), 1e-12 * B.col(j).norm());
        EXPECT_NEAR(X.col(j).mean(), 0, 1e-14 * X.col(j).norm());
        EXPECT_LE((X.col(j) - shortest(a, B.col(j))).norm(), 1e-7 * X.col(j).norm());
        EXPECT_EQ(report.outcome(), j == 3 ? "least_squares:inconsistent" : "converged")
            << report.message;
        most = std::max(most, report.iterations);
      }
      if (method != "block_cg") continue;
      Column x = guess.col(0);
      SolveReport const alone =
          solved(a,
                 SolverOptions::from_yaml("solver: {type: cg, rtol: 1e-10}\npreconditioner: {type: "
                                          "jacobi}\nnullspace: {constant: true}\n"),
                 B.col(0), x);
      EXPECT_LT(2 * most, alone.iterations) << "a block searches a larger space";
    }
}

// However much of the nullspace x0 holds, it costs no digits.
TEST_P(Nullspace, TheGuessIsProjected) {
  Matrix const a = graph(20);
  Column const wanted = random_column(20, 5), b = a * wanted;
  for (double const part : {0.0, 0x1p26, 0x1p30, 0x1p40, 0x1p50}) {
    SCOPED_TRACE(part);
    Column x = (wanted.array() + part).matrix();
    SolveReport const report = solved(
        a, SolverOptions::from_yaml("solver: {type: cg}\nnullspace: {constant: true}\n"), b, x);
    expect_true(report, a, b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_NEAR(x.mean(), 0, 1e-14 * x.norm());
  }
}

TEST_P(Nullspace, ARightHandSideInTheNullspaceIsNotZero) {
  Matrix const a = path_laplacian(4);
  Column const b = Column::Ones(4);
  for (std::string const method : {"cg", "gmres", "minres", "block_cg", "pseudo_block_cg", "auto"})
    for (std::string const baseline : {"rhs", "initial"}) {
      if (method == "auto" && baseline == "initial") continue;  // refused
      SCOPED_TRACE(cat(method, ", ", baseline));
      Column x = Column::Zero(4);
      SolveReport const report = solved(
          a,
          SolverOptions::from_yaml(cat("solver: {type: ", method, ", baseline: ", baseline,
                                       "}\npreconditioner: {type: none}\nnullspace: {constant: "
                                       "true}\n")),
          b, x);
      EXPECT_EQ(report.reason, Stop::least_squares) << report.message;
      EXPECT_EQ(report.cause, Cause::inconsistent);
      EXPECT_NEAR(report.true_residual, 2, 1e-14);
      EXPECT_EQ(x, Column::Zero(4));
    }
}

// Squares of 1e-170 and 1e160 are no FP64 numbers.
TEST_P(Nullspace, ScaleDoesNotMatter) {
  Matrix const a = path_laplacian(12);
  Column const consistent = a * random_column(12, 6);
  Column inconsistent = consistent;
  inconsistent.array() += 3;
  SolverOptions const options =
      SolverOptions::from_yaml("solver: {type: cg}\nnullspace: {constant: true}\n");
  for (double const scale : {1e-290, 1e-170, 1.0, 1e160, 1e290}) {
    SCOPED_TRACE(scale);
    Column x = Column::Zero(12);
    SolveReport const good = solved(a, options, scale * consistent, x);
    EXPECT_TRUE(good.converged()) << good.message;
    x.setZero();
    SolveReport const bad = solved(a, options, scale * inconsistent, x);
    EXPECT_EQ(bad.reason, Stop::least_squares) << bad.message;
    EXPECT_NEAR(bad.true_residual / scale, 3 * std::sqrt(12.0), 1e-6);
  }
  for (double const scale : {1e-290, 1e-170, 1.0, 1e160, 1e290}) {
    SCOPED_TRACE(scale);
    Column x = Column::Zero(12);
    EXPECT_THROW(solved(scale * laplace(12), options, consistent, x), SetupError);
    SolveReport const report = solved(scale * a, options, consistent, x);
    EXPECT_TRUE(report.converged()) << report.message;
  }
}

}  // namespace
}  // namespace tcsolve::test
