// SPDX-License-Identifier: Apache-2.0
/// Real matrices from the folder named by TCSOLVE_MATRICES, to a true residual of 1e-8; and as far
/// as the forms of conjugate gradients get.
#include <cstdlib>
#include <filesystem>
#include <map>

#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

struct Real {
  char const *name, *method, *preconditioner;
};
constexpr Real table[] = {
    {"bcsstk03", "cg", "block_jacobi"},   {"1138_bus", "cg", "jacobi"},
    {"bcsstk10", "cg", "jacobi"},         {"bcsstk13", "cg", "block_jacobi"},
    {"bcsstk16", "cg", "jacobi"},         {"s1rmt3m1", "cg", "jacobi"},
    {"ani5_crop", "cg", "jacobi"},        {"maxwell_S", "cg", "jacobi"},
    {"mdual_lap", "cg", "jacobi"},        {"xenon1", "cg", "jacobi"},
    {"cage10", "bicgstab", "jacobi"},     {"sherman5", "bicgstab", "jacobi"},
    {"orsreg_1", "bicgstab", "jacobi"},   {"add20", "bicgstab", "jacobi"},
    {"memplus", "gmres", "block_jacobi"},
};

class RealMatrices : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(RealMatrices);

TEST_P(RealMatrices, AreSolved) {
  char const* folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is not set";
  int solved = 0;
  for (Real const& real : table) {
    SCOPED_TRACE(real.name);
    auto path = std::filesystem::path(folder) / cat(real.name, ".mtx.xz");
    if (!std::filesystem::exists(path)) continue;
    Csr<double> a = read_matrix_market(path);
    auto A = std::make_shared<CsrOperator<double>>(ctx(), a.view());
    OperatorPtr<double> M;
    if (std::string(real.preconditioner) == "jacobi")
      M = std::make_shared<Jacobi<double>>(ctx(), A->view());
    else
      M = std::make_shared<BlockJacobi<double>>(ctx(), a.view());
    Column b = Column::Ones(a.rows), x = Column::Zero(a.rows);
    auto solver = make_solver(real.method, {.max_iters = 20000}, execution(), 100);
    solver->setup(ctx(), A, M);
    SolveReport report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    long double rr = 0;  // the residual once more, apart from all of tcsolve's kernels
    for (Index i = 0; i < a.rows; ++i) {
      long double r = b[i];
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        r -= static_cast<long double>(a.values[k]) * x[a.columns[k]];
      rr += r * r;
    }
    EXPECT_LE(std::sqrt(rr), 1.001L * 1e-8L * b.norm());
    ++solved;
  }
  if (solved == 0) GTEST_SKIP() << "none of the matrices is in " << folder;
}

/// ||b - A x|| / ||b|| where each form of conjugate gradients ends when asked for the impossible.
std::map<std::string, double> attained(Context& ctx, Execution execution, Csr<double> const& a) {
  std::map<std::string, double> out;
  auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
  Column b = Column::Ones(a.rows);
  for (std::string const& method : methods(conjugate_gradients)) {
    SCOPED_TRACE(method);
    Column x = Column::Zero(a.rows);
    auto solver = make_solver(method, {.rtol = 1e-8, .max_iters = 20000}, execution);
    solver->setup(ctx, A, M);
    SolveReport report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    // A recurrence that ends a rounding error below the tolerance may have to go on once.
    EXPECT_LE(report.restarts, 1) << "the claim came too early";
    solver = make_solver(method, {.rtol = 1e-16, .max_iters = 20000}, execution);
    solver->setup(ctx, A, M);
    x.setZero();
    report = solve(*solver, b, x);
    out[method] = report.true_residual / report.rhs_norm;
  }
  return out;
}

TEST_P(RealMatrices, OneReductionAttainsTheAccuracyOfCg) {
  std::map<std::string, Csr<double>> systems;
  systems["anisotropic"] =
      generate(AnisotropicParams{.n = 12, .epsilon_z = 1e-4, .coefficient = Coefficient::random});
  systems["elasticity"] = generate(ElasticityParams{.n = 6, .coefficient = Coefficient::random});
  if (char const* folder = std::getenv("TCSOLVE_MATRICES"))
    for (char const* name : {"bcsstk03", "1138_bus", "bcsstk10", "bcsstk16", "s1rmt3m1"}) {
      auto path = std::filesystem::path(folder) / cat(name, ".mtx.xz");
      if (std::filesystem::exists(path)) systems[name] = read_matrix_market(path);
    }
  for (auto const& [name, a] : systems) {
    SCOPED_TRACE(name);
    auto residual = attained(ctx(), execution(), a);
    for (char const* method : {"chronopoulos_gear", "pipelined_cg"})
      EXPECT_LE(residual[method], 10 * residual["cg"]) << method;
  }
}

}  // namespace
}  // namespace tcsolve::test
