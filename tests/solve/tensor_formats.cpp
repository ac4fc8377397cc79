// SPDX-License-Identifier: Apache-2.0
/// Systems solved with the matrix in every format: real matrices in FP64 (from the folder named by
/// TCSOLVE_MATRICES), and values of 16 bits around an FP64 system.
#include <cstdlib>
#include <filesystem>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class TensorFormats : public InEveryPlace {
 protected:
  /// Solves A x = 1 by `method` and checks the residual apart from all of tcsolve's kernels.
  void check(OperatorPtr<double> const& A, Csr<double> const& a, char const* method,
             double rtol = 1e-8) {
    auto truth = std::make_shared<CsrOperator<double>>(ctx(), a.view());
    auto M = std::make_shared<Jacobi<double>>(ctx(), truth->view());
    Column b = Column::Ones(a.rows), x = Column::Zero(a.rows);
    auto solver = make_solver(method, {.rtol = rtol, .max_iters = 20000}, execution(), 100);
    solver->setup(ctx(), A, M, truth);
    SolveReport report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE(residual_norm(a, b, x), 1.001 * rtol * b.norm());
  }
};
TCSOLVE_IN_EVERY_PLACE(TensorFormats);

TEST_P(TensorFormats, SolveRealMatrices) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  char const* folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is not set";
  int solved = 0;
  for (auto [name, method] :
       {std::pair{"bcsstk10", "cg"}, std::pair{"bcsstk16", "cg"}, std::pair{"maxwell_S", "cg"},
        std::pair{"cage10", "bicgstab"}, std::pair{"orsreg_1", "bicgstab"}}) {
    SCOPED_TRACE(name);
    auto path = std::filesystem::path(folder) / cat(name, ".mtx.xz");
    if (!std::filesystem::exists(path)) continue;
    Csr<double> a = read_matrix_market(path);
    CsrStorage<double> const there(ctx(), a.view());
    for (auto const& A : in_every_format<double>(ctx(), there.view())) {
      SCOPED_TRACE(A->name());
      check(A, a, method);
    }
    ++solved;
  }
  if (solved == 0) GTEST_SKIP() << "none of the matrices is in " << folder;
}

TEST_P(TensorFormats, ValuesOf16BitsReachTheFp64Residual) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  for (Format const* format : formats_that([](Format const&) { return true; }))
    for (auto [values, beyond] : {std::pair{Real::f16, 0x1p40}, {Real::bf16, 0x1p140}})
      for (double scale : {1.0, beyond}) {
        SCOPED_TRACE(cat(format->name, ", ", name(values), ", ", scale));
        Csr<double> a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
        for (double& v : a.values) v *= scale;
        auto const factory = format->factory.with({.values = values}, *format, formats());
        check(factory->build(ctx(), a), a, "cg");
      }
}

/// In every format, by iterative refinement: no method sees more than 8 bits of a value. They are
/// no operations of a persistent loop, which is then a graph.
TEST_P(TensorFormats, Bf16ValuesAreRefinedTo1e10) {
  Csr<double> const a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  CsrStorage<bfloat16> const b(ctx(), converted<bfloat16>(a));
  auto const all = in_every_format<double, bfloat16>(ctx(), b.view());
  EXPECT_EQ(all.size(), tested_formats().size());
  char const* const methods[] = {"cg", "gmres", "bicgstab"};
  for (std::size_t k = 0; k < all.size(); ++k) {
    SCOPED_TRACE(all[k]->name());
    check(all[k], a, methods[k % 3], 1e-10);
  }
}

}  // namespace
}  // namespace tcsolve::test
