// SPDX-License-Identifier: Apache-2.0
/// The solvers take the steps of their textbooks: iteration counts and residual histories beside
/// plain Eigen loops written from the papers.
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/dense.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

using History = std::vector<double>;

/// Saad 2003, Algorithm 9.1, M = diagonal.
History textbook_cg(Matrix const& A, Column const& d, Column const& b, double rtol) {
  Column x = Column::Zero(b.size()), r = b, z = d.cwiseProduct(r), p = z;
  History norms;
  while (norms.size() < 1000) {
    Column q = A * p;
    double rho = r.dot(z), alpha = rho / p.dot(q);
    x += alpha * p;
    r -= alpha * q;
    norms.push_back(r.norm());
    if (norms.back() <= rtol * b.norm()) break;
    z = d.cwiseProduct(r);
    p = z + r.dot(z) / rho * p;
  }
  return norms;
}

/// Saad 2003, Algorithm 7.7.
History textbook_bicgstab(Matrix const& A, Column const& b, double rtol) {
  Column x = Column::Zero(b.size()), r = b, shadow = b, p = r;
  History norms;
  while (norms.size() < 1000) {
    Column v = A * p;
    double rho = r.dot(shadow), alpha = rho / v.dot(shadow);
    Column s = r - alpha * v, t = A * s;
    double omega = t.dot(s) / t.dot(t);
    x += alpha * p + omega * s;
    r = s - omega * t;
    norms.push_back(r.norm());
    if (norms.back() <= rtol * b.norm()) break;
    double beta = r.dot(shadow) / rho * alpha / omega;
    p = r + beta * (p - omega * v);
  }
  return norms;
}

/// min ||b - A x|| over the Krylov space of each dimension, by a dense QR: what full GMRES and, for
/// a symmetric A, MINRES are in exact arithmetic.
History smallest_residuals(Matrix const& A, Column const& b, int steps) {
  Matrix V(b.size(), steps);
  Column v = b.normalized();
  History norms;
  for (int j = 0; j < steps; ++j) {
    V.col(j) = v;
    Matrix AV = A * V.leftCols(j + 1);
    Column y = least_squares_solution(AV, b);
    norms.push_back((b - AV * y).norm());
    v = A * v;
    for (int pass = 0; pass < 2; ++pass)
      v -= V.leftCols(j + 1) * (V.leftCols(j + 1).transpose() * v);
    v.normalize();
  }
  return norms;
}

class Textbook : public InEveryPlace {
 protected:
  SolveReport run(std::string const& method, Matrix const& A, Column const& b, double rtol,
                  OperatorPtr<double> M = nullptr, int restart = 30) {
    Column x = Column::Zero(b.size());
    auto solver = make_solver(method, {.rtol = rtol}, execution(), restart);
    solver->setup(ctx(), matrix(ctx(), A), M);
    return solve(*solver, b, x);
  }
  /// The first `count` norms agree to a relative `tolerance`.
  static void expect_history(SolveReport const& report, History const& expected, std::size_t count,
                             double tolerance) {
    ASSERT_GE(report.history.size(), count);
    ASSERT_GE(expected.size(), count);
    for (std::size_t k = 0; k < count; ++k)
      EXPECT_NEAR(report.history[k].norm, expected[k], tolerance * expected[k])
          << "iteration " << k + 1;
  }
};
TCSOLVE_IN_EVERY_PLACE(Textbook);

TEST_P(Textbook, ConjugateGradients) {
  Matrix A = laplace(80);
  for (Index i = 0; i < 80; ++i) A(i, i) += 0.1 + i % 3;
  Column d = A.diagonal().cwiseInverse(), b = random_column(80, 1);
  auto M = std::make_shared<Jacobi<double>>(
      ctx(), std::dynamic_pointer_cast<CsrOperator<double> const>(matrix(ctx(), A))->view());
  for (bool preconditioned : {false, true}) {
    History expected = textbook_cg(A, preconditioned ? d : Column::Ones(80), b, 1e-9);
    for (std::string const& method : methods(conjugate_gradients)) {
      SCOPED_TRACE(method);
      SolveReport report = run(method, A, b, 1e-9, preconditioned ? M : nullptr);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_NEAR(report.iterations, static_cast<double>(expected.size()), 1);
      expect_history(report, expected, 15, 1e-9);
    }
  }
}

TEST_P(Textbook, BiCgStab) {
  Matrix A = tridiagonal(70, -1.4, 3, -0.6);
  Column b = random_column(70, 2);
  History expected = textbook_bicgstab(A, b, 1e-9);
  SolveReport report = run("bicgstab", A, b, 1e-9);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.iterations, static_cast<double>(expected.size()), 1);
  expect_history(report, expected, 8, 1e-8);
}

TEST_P(Textbook, GmresIsOptimalUntilItRestarts) {
  Matrix A = random_matrix(50, 50, 3) + 6 * Matrix::Identity(50, 50);
  Column b = random_column(50, 4);
  History expected = smallest_residuals(A, b, 25);
  for (char const* method : {"gmres", "fgmres", "gmres_left"}) {
    SCOPED_TRACE(method);
    expect_history(run(method, A, b, 1e-10, nullptr, 30), expected, 20, 1e-8);
  }
}

TEST_P(Textbook, MinresIsOptimalOnAnIndefiniteOperator) {
  Column d(40);
  for (Index i = 0; i < 40; ++i) d[i] = i % 3 == 0 ? -1.0 - 0.05 * i : 2.0 + 0.05 * i;
  Matrix A = with_eigenvalues(d, 6);
  Column b = random_column(40, 7);
  expect_history(run("minres", A, b, 1e-10), smallest_residuals(A, b, 20), 15, 1e-7);
}

TEST_P(Textbook, ResidualsOfGmresAndMinresNeverGrow) {
  Matrix A = random_spd(60, 4, 9);
  Column b = random_column(60, 10);
  for (char const* method : {"gmres", "fgmres", "minres"}) {
    SolveReport report = run(method, A, b, 1e-8, nullptr, 10);
    for (std::size_t k = 1; k < report.history.size(); ++k)
      EXPECT_LE(report.history[k].norm, report.history[k - 1].norm * (1 + 1e-6))
          << method << " " << k;
  }
}

}  // namespace
}  // namespace tcsolve::test
