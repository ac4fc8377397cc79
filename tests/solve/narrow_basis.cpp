// SPDX-License-Identifier: Apache-2.0
/// GMRES and FGMRES with a basis in a narrower type: what converges, in how many iterations, and
/// that nothing false is said of a system that is too hard for it.
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {

namespace {

class NarrowBases : public InEveryPlace {
 protected:
  template <class T = double>
  std::unique_ptr<KrylovSolver<T>> solver(std::string const& method, std::optional<BasisType> basis,
                                          StoppingParams const& stopping, int restart) {
    // A basis of another type than the vectors' runs in no persistent loop.
    Execution const how = execution() == Execution::persistent ? Execution::automatic : execution();
    if (method == "fgmres")
      return std::make_unique<Fgmres<T>>(
          FgmresParams{.stopping = stopping, .execution = how, .restart = restart, .basis = basis});
    return std::make_unique<Gmres<T>>(
        GmresParams{.stopping = stopping,
                    .execution = how,
                    .restart = restart,
                    .side = method == "gmres_left" ? Side::left : Side::right,
                    .basis = basis});
  }
  SolveReport run(std::string const& method, std::optional<BasisType> basis, Matrix const& A,
                  int restart, double rtol = 1e-10, int max_iters = 20000) {
    auto s = solver(method, basis, {.rtol = rtol, .max_iters = max_iters}, restart);
    Column const b = A * random_column(static_cast<Index>(A.rows()), 605);
    Column x = Column::Zero(A.cols());
    s->setup(ctx(), matrix(ctx(), A));
    SolveReport const report = solve(*s, b, x);
    if (report.converged())
      EXPECT_LE((b - A * x).norm(), 1.001 * rtol * b.norm()) << report.message;
    return report;
  }
};

constexpr BasisType narrow[] = {BasisType::fp32, BasisType::fp16, BasisType::bf16,
                                BasisType::frsz16};
constexpr char const* all = "gmres gmres_left fgmres";

std::string text(BasisType basis) {
  for (auto const& [value, word] : names(basis))
    if (value == basis) return word;
  return "";
}

/// Diagonally dominant and far from symmetric: every cycle brings two or three digits.
Matrix easy(Index n) {
  return random_matrix(n, n, 601) + 0.9 * std::sqrt(n) * Matrix::Identity(n, n);
}

TEST_P(NarrowBases, ConvergeTo1e10) {
  struct Kind {
    char const* name;
    Matrix A;
  };
  for (Kind const& kind :
       {Kind{"easy", easy(70)}, Kind{"laplace", laplace(40)},
        Kind{"convection", tridiagonal(50, -1.8, 2, -0.2)}, Kind{"spd", random_spd(40, 2, 602)}})
    for (std::string const& method : methods(all))
      for (BasisType const basis : narrow) {
        SCOPED_TRACE(cat(kind.name, ", ", method, ", ", text(basis)));
        SolveReport const report = run(method, basis, kind.A, 30);
        EXPECT_TRUE(report.converged()) << report.message;
      }
}

/// Where no cycle comes near the roundoff of FP32, its basis changes nothing.
TEST_P(NarrowBases, Fp32TakesTheIterationsOfFp64) {
  for (std::string const& method : methods(all)) {
    SCOPED_TRACE(method);
    for (Matrix const& A : {easy(300), laplace(30)}) {
      Index const wide = run(method, {}, A, 20).iterations;
      Index const own = run(method, BasisType::fp64, A, 20).iterations;
      Index const fp32 = run(method, BasisType::fp32, A, 20).iterations;
      EXPECT_EQ(own, wide) << "the default";
      EXPECT_LE(std::abs(fp32 - wide), 1) << wide;
      EXPECT_GT(wide, 20) << "more than a cycle";
    }
  }
}

/// FP32 vectors over 16 bits, and with their own type by name.
TEST_P(NarrowBases, LieUnderFp32Vectors) {
  Matrix const A = easy(70);
  Column const b = A * random_column(70, 606);
  for (auto const& [basis, same] :
       {std::pair{BasisType::fp32, true}, {BasisType::fp16, false}, {BasisType::frsz16, false}}) {
    auto s = solver<float>("gmres", basis, {.rtol = 1e-10, .max_iters = 5000}, 30);
    auto own = solver<float>("gmres", {}, {.rtol = 1e-10, .max_iters = 5000}, 30);
    Column x = Column::Zero(70), y = x;
    s->setup_working(ctx(), stored<float, float>(ctx(), A), nullptr, matrix(ctx(), A));
    own->setup_working(ctx(), stored<float, float>(ctx(), A), nullptr, matrix(ctx(), A));
    SolveReport const report = solve(*s, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    solve(*own, b, y);
    EXPECT_EQ(x == y, same) << text(basis);
  }
}

/// A basis that is too narrow for a system says nothing of the system.
TEST_P(NarrowBases, SayNothingFalse) {
  Column graded = Column::Zero(60);
  for (Index i = 0; i < 60; ++i) graded[i] = std::pow(10.0, -8.0 * i / 60);
  Column indefinite = graded;
  for (Index i = 0; i < 60; i += 3) indefinite[i] *= -1;
  for (Matrix const& A :
       {Matrix(with_eigenvalues(graded, 607)), Matrix(with_eigenvalues(indefinite, 608)),
        path_laplacian(40), Matrix(1e-5 * random_matrix(60, 60, 609) + Matrix::Identity(60, 60))})
    for (std::string const& method : methods(all))
      for (BasisType const basis : narrow) {
        SolveReport const r = run(method, basis, A, 20, 1e-12, 3000);
        SCOPED_TRACE(cat(method, ", ", text(basis), ": ", r.message));
        bool const honest = r.reason == Stop::converged || r.reason == Stop::stagnated ||
                            r.reason == Stop::max_iterations || r.reason == Stop::precision_limit;
        EXPECT_TRUE(honest);
        EXPECT_LE(r.true_residual, r.initial_residual);
        if (r.reason == Stop::stagnated)
          EXPECT_NE(r.message.find("leave 'basis' out"), std::string::npos);
      }
}

/// The bytes that are counted are those of the basis.
TEST_P(NarrowBases, MoveFewerBytes) {
  auto cost = [&](std::optional<BasisType> basis) {
    return solver("gmres", basis, {}, 40)->cost();
  };
  EXPECT_EQ(cost({}).vectors, 48);
  EXPECT_EQ(cost(BasisType::fp64).vectors, 48);
  EXPECT_EQ(cost(BasisType::fp32).vectors, 28);
  EXPECT_EQ(cost(BasisType::bf16).vectors, 18);
  EXPECT_EQ(cost(BasisType::frsz16).vectors, 18.15625);
  EXPECT_LT(cost(BasisType::fp32).passes, cost({}).passes);
  EXPECT_TRUE(solver("gmres", {}, {}, 40)->batches());
  EXPECT_FALSE(solver("gmres", BasisType::fp32, {}, 40)->batches());
}

TCSOLVE_IN_EVERY_PLACE(NarrowBases);

}  // namespace

}  // namespace tcsolve::test
