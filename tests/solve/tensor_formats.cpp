// SPDX-License-Identifier: Apache-2.0
/// Systems solved with the matrix in DASP, bitBSR and compressed SELL: real matrices in FP64 (from
/// the folder named by TCSOLVE_MATRICES), and values of 16 bits around an FP64 system.
#include <cstdlib>
#include <filesystem>

#include <tcsolve/formats/bsell/operator.hpp>
#include <tcsolve/formats/csell/operator.hpp>
#include <tcsolve/formats/dasp/operator.hpp>
#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/formats/sell/operator.hpp>
#include <tcsolve/formats/spaden/operator.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/matrix_market.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

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
    long double rr = 0;
    for (Index i = 0; i < a.rows; ++i) {
      long double r = b[i];
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        r -= static_cast<long double>(a.values[k]) * x[a.columns[k]];
      rr += r * r;
    }
    EXPECT_LE(std::sqrt(rr), 1.001L * rtol * b.norm());
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
    check(std::make_shared<DaspOperator<double>>(ctx(), a.view()), a, method);
    check(std::make_shared<SpadenOperator<double>>(ctx(), a.view()), a, method);
    check(std::make_shared<CsellOperator<double>>(ctx(), a.view()), a, method);
    check(std::make_shared<BsellOperator<double>>(ctx(), a.view()), a, method);
    ++solved;
  }
  if (solved == 0) GTEST_SKIP() << "none of the matrices is in " << folder;
}

TEST_P(TensorFormats, ValuesOf16BitsReachTheFp64Residual) {
  if (execution() == Execution::persistent) GTEST_SKIP() << "not a list of ops";
  auto const solve_as = [&]<class S>(S, double beyond) {
    for (double scale : {1.0, beyond}) {
      Csr<double> a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
      for (double& v : a.values) v *= scale;
      ScaledCsr<S> s = scaled<S>(a, Scaling::powers_of_two);
      EXPECT_EQ(s.rows.empty(), scale == 1);
      check(std::make_shared<DaspOperator<double, S>>(ctx(), s), a, "cg");
      check(std::make_shared<SpadenOperator<double, S>>(ctx(), s), a, "cg");
    }
  };
  solve_as(half{}, 0x1p40);
  solve_as(bfloat16{}, 0x1p140);
}

/// In every format, by iterative refinement: no method sees more than 8 bits of a value. They are
/// no operations of a persistent loop, which is then a graph.
TEST_P(TensorFormats, Bf16ValuesAreRefinedTo1e10) {
  Csr<double> const a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  Csr<bfloat16> const b = converted<bfloat16>(a);
  using S = bfloat16;
  check(std::make_shared<CsrOperator<double, S>>(ctx(), b.view()), a, "cg", 1e-10);
  check(std::make_shared<SellOperator<double, S>>(ctx(), b.view()), a, "gmres", 1e-10);
  check(std::make_shared<CsellOperator<double, S>>(ctx(), b.view()), a, "bicgstab", 1e-10);
  check(std::make_shared<BsellOperator<double, S>>(ctx(), b.view()), a, "cg", 1e-10);
  check(std::make_shared<DiaOperator<double, S>>(ctx(), b.view()), a, "cg", 1e-10);
  check(std::make_shared<DaspOperator<double, S>>(ctx(), b.view()), a, "cg", 1e-10);
  check(std::make_shared<SpadenOperator<double, S>>(ctx(), b.view()), a, "cg", 1e-10);
}

}  // namespace
}  // namespace tcsolve::test
