// SPDX-License-Identifier: Apache-2.0
/// Every solver against Eigen's direct answer, in every place.
#include <algorithm>

#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/dense.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

struct System {
  char const* name;
  Matrix A;
  char const* methods;  // that a careful user would choose from
};

std::vector<System> systems() {
  Matrix indefinite = with_eigenvalues(
      [] {
        Column d(40);
        for (Index i = 0; i < 40; ++i) d[i] = i < 13 ? -1.0 - 0.1 * i : 1.0 + 0.2 * i;
        return d;
      }(),
      5);
  Matrix nonsymmetric = random_matrix(60, 60, 7) + 12 * Matrix::Identity(60, 60);
  return {{"laplace", laplace(50),
           "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr"},
          {"spd of condition 1e6", random_spd(40, 6, 3),
           "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres"},
          {"indefinite", indefinite, "gmres gmres_left fgmres minres lsmr"},
          {"nonsymmetric", nonsymmetric, "bicgstab gmres gmres_left fgmres lsmr"}};
}

class Solve : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(Solve);

/// ||x - x*|| <= cond(A) (rtol + n eps) ||x*||: what a residual of rtol ||b|| says of the error.
void expect_near_eigen(Matrix const& a, Column const& b, Column const& x, double rtol) {
  Column exact = lu_solve(a, b);
  Column const values = singular_values(a);
  double condition = values(0) / values(a.rows() - 1);
  EXPECT_LE((x - exact).norm(), condition * (rtol + 1e-14) * exact.norm());
}

TEST_P(Solve, AgreesWithEigen) {
  for (System const& s : systems())
    for (std::string const& method : methods(s.methods)) {
      SCOPED_TRACE(cat(s.name, ", ", method));
      Index n = static_cast<Index>(s.A.rows());
      Column b = random_column(n, 11), x = Column::Zero(n);
      auto solver = make_solver(method, {.rtol = 1e-10, .max_iters = 4000}, execution(), 60);
      solver->setup(ctx(), matrix(ctx(), s.A));
      SolveReport report = solve(*solver, b, x);
      ASSERT_TRUE(report.converged()) << report.message;
      EXPECT_LE(exact_norm(exact_residual(s.A, b, x)), 1.0001L * 1e-10L * exact_norm(b));
      expect_near_eigen(s.A, b, x, 1e-10);
    }
}

TEST_P(Solve, EveryPreconditionerKeepsTheAnswer) {
  Matrix a = laplace(60);
  for (Index i = 0; i < 60; ++i) a(i, i) = 2 + 10.0 * ((i * 7) % 5);
  Csr<double> c = csr(a);
  auto A = std::make_shared<CsrOperator<double>>(ctx(), c);
  auto jacobi = std::make_shared<Jacobi<double>>(ctx(), A->view());
  std::vector<OperatorPtr<double>> preconditioners{
      jacobi, std::make_shared<BlockJacobi<double>>(ctx(), c.view(), BlockJacobiParams{.block = 4}),
      std::make_shared<Chebyshev>(ctx(), A, jacobi, ChebyshevParams{.degree = 3})};
  Column b = random_column(60, 13);
  for (auto const& M : preconditioners)
    for (std::string const& method :
         methods("cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres")) {
      SCOPED_TRACE(cat(M->name(), ", ", method));
      Column x = Column::Zero(60);
      auto solver = make_solver(method, {.rtol = 1e-11}, execution());
      solver->setup(ctx(), A, M);
      SolveReport report = solve(*solver, b, x);
      ASSERT_TRUE(report.converged()) << report.message;
      expect_near_eigen(a, b, x, 1e-11);
    }
}

TEST_P(Solve, SingleVectorsUnderTheDriverReachDoubleResiduals) {
  Matrix a = random_spd(50, 3, 17);
  Column b = random_column(50, 19);
  for (std::string const& method :
       methods("cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres")) {
    SCOPED_TRACE(method);
    Column x = Column::Zero(50);
    auto solver = make_solver<float>(method, {.rtol = 1e-12, .max_iters = 2000}, execution(), 50);
    solver->setup_working(ctx(), stored<float>(ctx(), a), nullptr, matrix(ctx(), a));
    SolveReport report = solve(*solver, b, x);
    ASSERT_TRUE(report.converged()) << report.message;
    // FP32 alone cannot get there: this is iterative refinement, or r was made anew.
    EXPECT_GT(report.restarts + std::ranges::count(report.history, Mark::update, &Record::mark), 0);
    expect_near_eigen(a, b, x, 1e-12);
  }
}

TEST_P(Solve, LeastSquaresAgreesWithQr) {
  for (auto [rows, cols] : {std::pair<Index, Index>{60, 25}, {25, 60}, {40, 40}}) {
    SCOPED_TRACE(cat(rows, " x ", cols));
    Matrix a = random_matrix(rows, cols, 23);
    Column b = random_column(rows, 29), x = Column::Zero(cols);
    auto solver = make_solver("lsmr", {.rtol = 1e-11, .max_iters = 2000}, execution());
    solver->setup(ctx(), matrix(ctx(), a));
    SolveReport report = solve(*solver, b, x);
    ASSERT_EQ(report.reason, rows > cols ? Stop::least_squares : Stop::converged) << report.message;
    EXPECT_TRUE(report.solved());
    Column exact = least_squares_solution(a, b);  // the one of least norm
    EXPECT_LE((a.transpose() * (b - a * x)).norm(), 1e-9 * a.norm() * b.norm());
    EXPECT_LE((x - exact).norm(), 1e-6 * exact.norm());
  }
}

}  // namespace
}  // namespace tcsolve::test
