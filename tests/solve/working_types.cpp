// SPDX-License-Identifier: Apache-2.0
/// Every solver against a direct solution, with working vectors of double and of float around an
/// FP64 system.
#include <tests/support/dense.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

namespace {

struct Kind {
  char const* name;
  Matrix A;
  char const* methods;
  double condition;  // of the part of A that b sees
};

std::vector<Kind> kinds() {
  char const* all =
      "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";
  char const* general = "bicgstab gmres gmres_left fgmres lsmr";
  Column indefinite = graded(40, 2);
  for (Index i = 0; i < 40; i += 3) indefinite[i] *= -1;
  return {
      {"spd", random_spd(40, 2, 501), all, 1e2},
      {"laplace", laplace(60), all, 1.5e3},
      {"indefinite", with_eigenvalues(indefinite, 502), "gmres gmres_left fgmres minres lsmr", 1e2},
      {"nonsymmetric", random_matrix(40, 40, 503) + 8 * Matrix::Identity(40, 40), general, 1e2},
      {"convection", tridiagonal(50, -1.8, 2, -0.2), general, 1e4},
      {"singular_consistent", path_laplacian(25), all, 1e3},
      {"ill_conditioned", random_spd(30, 5, 504),
       "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres", 1e5},
  };
}

template <class T>
class Direct : public testing::Test {
 protected:
  void check(Backend backend) {
    TCSOLVE_SKIP_IF_ABSENT(backend);
    Context ctx(backend);
    for (Kind const& kind : kinds())
      for (std::string const& method : methods(kind.methods))
        for (Execution execution : executions(backend)) {
          SCOPED_TRACE(cat(kind.name, ", ", method, ", ", Where{backend, execution}));
          Index n = static_cast<Index>(kind.A.rows());
          Column b = kind.A * random_column(n, 505), x = Column::Zero(n);
          StoppingParams stopping{.rtol = 1e-10, .max_iters = 20000};
          auto solver = make_solver<T>(method, stopping, execution, 60);
          solver->setup_working(ctx, stored<T, T>(ctx, kind.A), nullptr, matrix(ctx, kind.A));
          SolveReport report = solve(*solver, b, x);
          EXPECT_TRUE(report.converged()) << report.message;
          EXPECT_EQ(report.cause, Cause::none);
          EXPECT_LE((b - kind.A * x).norm(), 1.001e-10 * b.norm());
          // ||x - x*|| / ||x*|| <= cond(A) ||r|| / ||b||, apart from the kernel.
          Column exact = least_squares_solution(kind.A, b);
          Column error = x - exact;
          if (std::string(kind.name) == "singular_consistent") error.array() -= error.mean();
          EXPECT_LE(error.norm(), 3 * kind.condition * 1e-10 * exact.norm());
        }
  }
};

TYPED_TEST_SUITE_P(Direct);
TYPED_TEST_P(Direct, MatchesEigenOnHost) { this->check(Backend::host); }
TYPED_TEST_P(Direct, MatchesEigenOn_cuda) { this->check(Backend::cuda); }
REGISTER_TYPED_TEST_SUITE_P(Direct, MatchesEigenOnHost, MatchesEigenOn_cuda);
INSTANTIATE_TYPED_TEST_SUITE_P(Double, Direct, double);
INSTANTIATE_TYPED_TEST_SUITE_P(Float, Direct, float);

class LeastSquares : public InEveryPlace {};

TEST_P(LeastSquares, MatchesEigenQr) {
  struct Shape {
    Index rows, cols, rank;
  };
  for (Shape s : {Shape{30, 10, 10},
                  {10, 30, 10},
                  {30, 12, 7},
                  {12, 30, 7},
                  {20, 20, 13},
                  {40, 1, 1},
                  {1, 40, 1}}) {
    SCOPED_TRACE(cat(s.rows, " x ", s.cols, ", rank ", s.rank));
    Matrix a = random_matrix(s.rows, s.rank, 511) * random_matrix(s.rank, s.cols, 512);
    Column b = random_column(s.rows, 513), x = Column::Zero(s.cols);
    auto solver = make_solver("lsmr", {.rtol = 1e-11}, execution());
    solver->setup(ctx(), matrix(ctx(), a));
    SolveReport report = solve(*solver, b, x);
    bool const solvable = s.rank == s.rows;
    EXPECT_STREQ(name(report.reason), name(solvable ? Stop::converged : Stop::least_squares))
        << report.message;
    // From x = 0 LSMR finds the solution of minimum norm, which is Eigen's.
    Column best = least_squares_solution(a, b);
    EXPECT_LE((x - best).norm(), 1e-6 * best.norm());
    EXPECT_LE((a.transpose() * (b - a * x)).norm(), 1e-9 * a.norm() * b.norm());
  }
}
TCSOLVE_IN_EVERY_PLACE(LeastSquares);

}  // namespace

}  // namespace tcsolve::test
