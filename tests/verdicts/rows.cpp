// SPDX-License-Identifier: Apache-2.0
/// Rows of very different size: boundary conditions by a penalty, equations in other units. A
/// residual that is small in norm may leave most of the unknowns unsolved: then the verdict says
/// so, and `baseline: rows` asks for more.
#include <tcsolve/api/linear_solver.hpp>

#include <gmock/gmock.h>

#include <Eigen/Core>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/solve_backend.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

struct Rows {
  std::string name;
  Matrix a;
  Column b, solution;
  bool symmetric;
};

/// -u'' = 1 on n points, u = 1 and 2.3 at its ends by a penalty.
Rows penalty(Index n, double size) {
  Matrix a = Matrix::Zero(n, n);
  Column b = Column::Constant(n, 1.0 / (n * n));
  for (Index i = 0; i < n; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  Matrix held = a;
  Column values = b;
  for (auto const& [i, u] : {std::pair{Index(0), 1.0}, {n - 1, 2.3}}) {
    a(i, i) += size, b[i] += size * u;
    // Without the coupling the rows are of one size: what the unknowns are to some 1 / size.
    held.row(i).setZero(), held(i, i) = 1, values[i] = u;
  }
  return {cat("penalty ", size), a, b, lu_solve(held, values), true};
}

/// Dominant, its rows times 10^-decades to 10^decades in no order.
Rows scaled_rows(Index n, double decades, std::uint64_t seed) {
  Matrix a = random_matrix(n, n, seed) + 2.0 * std::sqrt(double(n)) * Matrix::Identity(n, n);
  Column const x = random_column(n, seed + 1);
  Column b = a * x;
  for (Index i = 0; i < n; ++i) {
    double const d = std::pow(10.0, decades * (2.0 * ((7 * i) % n) / (n - 1) - 1));
    a.row(i) *= d, b[i] *= d;
  }
  return {cat("rows of ", decades, " decades"), a, b, x, false};
}

std::vector<Rows> systems() {
  std::vector<Rows> all;
  for (double const size : {1e6, 1e9, 1e12, 1e16, 1e20, 1e30}) all.push_back(penalty(40, size));
  for (double const decades : {3.0, 8.0, 15.0, 30.0}) all.push_back(scaled_rows(30, decades, 91));
  return all;
}

class RowScales : public OnEachBackend {
 protected:
  SolveReport solved(Rows const& system, std::string const& method, std::string const& M,
                     std::string const& baseline, Column& x) {
    x = Column::Zero(system.b.size());
    LinearSolver solver(ctx(), csr(system.a).view(),
                        SolverOptions::from_yaml(
                            cat("solver: {type: ", method, ", max_iters: 400, baseline: ", baseline,
                                "}\npreconditioner: {type: ", M, "}\noperator: {format: csr}\n")));
    return solver.solve(std::span(system.b.data(), std::size_t(system.b.size())),
                        std::span(x.data(), std::size_t(x.size())));
  }
  static double error(Rows const& system, Column const& x) {
    return (x - system.solution).lpNorm<Eigen::Infinity>() /
           system.solution.lpNorm<Eigen::Infinity>();
  }
  /// max_i |r_i| / (|b| + |A| |x|)_i in 113 bits.
  static double rowwise(Rows const& s, Column const& x) {
    __extension__ typedef __float128 Quad;
    double worst = 0;
    for (Index i = 0; i < s.a.rows(); ++i) {
      Quad r = s.b[i], size = std::abs(s.b[i]);
      for (Index j = 0; j < s.a.cols(); ++j) {
        Quad const term = Quad(s.a(i, j)) * Quad(x[j]);
        r -= term, size += term < 0 ? -term : term;
      }
      if (r != 0) worst = std::max(worst, double((r < 0 ? -r : r) / size));
    }
    return worst;
  }
};
TCSOLVE_ON_EACH_BACKEND(RowScales);

std::vector<std::pair<std::string, std::string>> solvers(bool symmetric) {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::string const method : {"gmres", "bicgstab", "fgmres", "block_gmres", "lsmr"})
    for (std::string const M : {"none", "jacobi", "ilu"})
      if (method != "lsmr" || M != "ilu") all.push_back({method, M});
  if (symmetric)
    for (std::string const method : {"cg", "chronopoulos_gear", "pipelined_cg", "minres",
                                     "block_cg", "pseudo_block_cg", "deflated_cg"})
      for (std::string const M : {"none", "jacobi", "ic"}) all.push_back({method, M});
  return all;
}

// 1e-8 of norm(b) may be met by the penalty rows alone.
TEST_P(RowScales, ASmallNormIsNoSilentSuccess) {
  int warned = 0, converged = 0;
  for (Rows const& system : systems())
    for (auto const& [method, M] : solvers(system.symmetric)) {
      SCOPED_TRACE(cat(system.name, ", ", method, ", ", M));
      Column x;
      SolveReport const report = solved(system, method, M, "rhs", x);
      SCOPED_TRACE(report.message);
      EXPECT_NEAR(report.rowwise_error, rowwise(system, x), 1e-6 * report.rowwise_error + 1e-14);
      if (!report.converged()) continue;
      ++converged;
      bool const told = report.rows_unmet > 0;
      warned += told;
      // sqrt(rtol) times the condition of what the penalty leaves, some 700.
      EXPECT_TRUE(told || error(system, x) < 0.1) << error(system, x);
      EXPECT_EQ(told, report.message.find("baseline: rows") != std::string::npos);
    }
  EXPECT_GT(warned, 20);
  EXPECT_GT(converged, 60);
}

// auto looks at each row of such systems, unless norm(b) is asked for by name.
TEST_P(RowScales, AutoKeepsTheBaselineThatIsNamed) {
  int met = 0, unmet = 0;
  for (Rows const& system : systems()) {
    SCOPED_TRACE(system.name);
    Column x;
    SolveReport const by_itself = solved(system, "auto", "jacobi", "auto", x);
    SCOPED_TRACE(by_itself.message);
    if (by_itself.converged()) EXPECT_EQ(by_itself.rows_unmet, 0);
    met += by_itself.converged();
    SolveReport const named = solved(system, "auto", "jacobi", "rhs", x);
    if (named.converged()) unmet += named.rows_unmet > 0;
  }
  EXPECT_GT(met, 0);
  EXPECT_GT(unmet, 0) << "baseline: rhs is overridden";
}

TEST_P(RowScales, BaselineRowsSolvesEachOfThem) {
  int converged = 0;
  for (Rows const& system : systems())
    for (auto const& [method, M] : solvers(system.symmetric)) {
      SCOPED_TRACE(cat(system.name, ", ", method, ", ", M));
      Column x;
      SolveReport const report = solved(system, method, M, "rows", x);
      SCOPED_TRACE(report.message);
      // What rescales the rows gets there, whatever their size. M on the right scales columns.
      bool const able =
          M == "ilu" || M == "ic" || (M == "jacobi" && system.symmetric && method != "lsmr");
      if (able) { EXPECT_TRUE(report.converged()); }
      if (!report.converged()) continue;
      ++converged;
      EXPECT_LT(error(system, x), 1e-4);
      EXPECT_EQ(report.rows_unmet, 0);
    }
  EXPECT_GT(converged, 100);
}

// Rows of one size: nothing is said, and `rows` asks for little more than `rhs`.
TEST_P(RowScales, OrdinarySystemsAreNotWarnedOf) {
  Rows const system = scaled_rows(30, 0, 92);
  for (std::string const baseline : {"rhs", "rows"}) {
    Column x;
    SolveReport const report = solved(system, "gmres", "jacobi", baseline, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(report.rows_unmet, 0);
    EXPECT_LE(report.rowwise_error, 1e-7);
  }
}

// A source at one end: x falls by decades, and far from the source b - A x is of the size of A x.
TEST_P(RowScales, AnXThatFallsByDecadesIsNotWarnedOf) {
  Index const n = 60;
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = 4;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  Rows const system{"source", a, Column::Unit(n, 0), lu_solve(a, Column::Unit(n, 0)), true};
  for (std::string const method : {"cg", "gmres"}) {
    Column x;
    SolveReport const report = solved(system, method, "jacobi", "rhs", x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_GT(report.rowwise_error, 1e-3);
    EXPECT_EQ(report.rows_unmet, 0) << report.message;
  }
}

// Of a callable nobody knows the entries.
TEST_P(RowScales, AnOperatorWithoutEntriesIsRefused) {
  Cg<double> solver({.stopping = {.baseline = Baseline::rows}});
  solver.setup(ctx(), callable(3, 3, [](Column const& x) { return Column(2 * x); }));
  Column const b = Column::Ones(3);
  Column x = Column::Zero(3);
  EXPECT_THROW(solver.solve(vector_view(b.data(), 3), vector_view(x.data(), 3)), Unsupported);
}

}  // namespace
}  // namespace tcsolve::test
