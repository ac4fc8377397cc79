// SPDX-License-Identifier: Apache-2.0
/// Systems solved with amg: how iterations grow with the mesh, and what singular, decoupled and
/// indefinite matrices end in.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/amg.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

class AmgSolves : public OnEachBackend {
 protected:
  SolveReport solved(Csr<double> const& a, std::string const& options,
                     std::vector<double> const* given = nullptr) {
    LinearSolver solver = LinearSolver::from_yaml(ctx(), a.view(), options);
    std::vector<double> const b = given ? *given : std::vector<double>(a.rows, 1.0);
    x.assign(a.rows, 0.0);
    return solver.solve(b, x);
  }
  /// Iterations of a solve that converges.
  Index iterations(Csr<double> const& a, std::string const& amg = "") {
    SolveReport const report =
        solved(a, "solver: {type: cg}\npreconditioner: {type: amg" + amg + "}\n");
    EXPECT_EQ(report.reason, Stop::converged) << report.message;
    return report.iterations;
  }
  std::vector<double> x;
};
TCSOLVE_ON_EACH_BACKEND(AmgSolves);

TEST_P(AmgSolves, IterationsHardlyGrowWithTheMesh) {
  // Bounds: counts seen in emulation with b = 1, by the largest mesh, and one more.
  struct Case {
    std::string name;
    std::function<Csr<double>(Index)> make;
    Index small, large, most;
  };
  for (Case const& c :
       {Case{"7-point", [](Index n) { return generate(Poisson7Params{.n = n}); }, 16, 40, 11},
        Case{"27-point, random",
             [](Index n) {
               return generate(Poisson27Params{.n = n, .coefficient = Coefficient::random});
             },
             16, 40, 9},
        Case{"anisotropy 1e-3", [](Index n) { return generate(AnisotropicParams{.n = n}); }, 16, 40,
             12}}) {
    SCOPED_TRACE(c.name);
    Index const small = iterations(c.make(c.small)), large = iterations(c.make(c.large));
    EXPECT_LE(large, c.most);
    EXPECT_LE(large, 1.6 * small + 1);
  }
}

TEST_P(AmgSolves, SixteenBitsTakeAtMostOneIterationMore) {
  for (auto const& [name, a] :
       {Named{"7-point", generate(Poisson7Params{.n = 24, .coefficient = Coefficient::random})},
        Named{"27-point", generate(Poisson27Params{.n = 20, .coefficient = Coefficient::random})},
        Named{"anisotropic", generate(AnisotropicParams{.n = 24})},
        Named{"elasticity",
              generate(ElasticityParams{.n = 10, .coefficient = Coefficient::random})}}) {
    SCOPED_TRACE(name);
    Index const exact = iterations(a, ", values: fp64"), single = iterations(a, ", values: fp32"),
                half = iterations(a, ", values: fp16"), brain = iterations(a, ", values: bf16");
    EXPECT_LE(single, exact + 1);
    EXPECT_LE(half, exact + 1);
    EXPECT_LE(brain, exact + 2);
  }
}

/// Cells whose coefficients jump by 1e4, in blocks of four.
Csr<double> jumps(Index n) {
  Csr<double> a = generate(Poisson7Params{.n = n});
  auto const size = [&](Index i) {
    return (i % n / 4 + i / n % n / 4 + i / n / n / 4) % 2 == 0 ? 1e4 : 1.0;
  };
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    Offset own = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (a.columns[k] == i) {
        own = k;
        continue;
      }
      a.values[k] = -2 / (1 / size(i) + 1 / size(a.columns[k]));
      sum -= a.values[k];
    }
    a.values[own] = sum + (a.offsets[i + 1] - a.offsets[i] < 7 ? size(i) : 0.0);
  }
  return a;
}

TEST_P(AmgSolves, ClassicalCoarseningForCoefficientsThatJump) {
  Csr<double> const a = jumps(32);
  Index const classical = iterations(a, ", coarsening: classical"),
              aggregation = iterations(a, ", coarsening: aggregation");
  EXPECT_LE(classical, 12);
  EXPECT_LT(classical, aggregation);
  EXPECT_EQ(iterations(a, ", coarsening: auto"), classical);
  EXPECT_LE(iterations(a, ", coarsening: classical, values: fp16"), classical + 2);
  EXPECT_LE(iterations(generate(Poisson7Params{.n = 32}), ", coarsening: classical"), 12);
}

TEST_P(AmgSolves, AggressiveLevelsTakeAFewIterationsMore) {
  for (Csr<double> const& a : {generate(Poisson7Params{.n = 32}), jumps(32)}) {
    Index const all = iterations(a, ", coarsening: classical"),
                few = iterations(a, ", coarsening: classical, classical: {aggressive: 1}");
    EXPECT_LE(few, 1.5 * all + 1);
    EXPECT_LE(iterations(a, ", coarsening: classical, classical: {aggressive: 1}, values: fp16"),
              few + 3);
  }
}

/// Nodes of the elasticity generator, x fastest.
std::shared_ptr<std::vector<double>> nodes(Index n) {
  auto points = std::make_shared<std::vector<double>>();
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index const at : {i, j, k}) points->push_back(at);
  return points;
}

TEST_P(AmgSolves, RotationsOfASolidNeedTheirCoordinates) {
  auto const with = [&](Index n, std::shared_ptr<std::vector<double>> const& points) {
    Csr<double> const a = generate(ElasticityParams{.n = n, .coefficient = Coefficient::random});
    auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
    auto const owner =
        AmgFactory({.near_nullspace = {.block = 3, .points = points}}).build(ctx(), {A->view(), A});
    LinearSolver solver(ctx(), A, SolverOptions::from_yaml("solver: {type: cg}"), owner->view());
    std::vector<double> const b(a.rows, 1.0);
    x.assign(a.rows, 0.0);
    SolveReport const report = solver.solve(b, x);
    EXPECT_EQ(report.reason, Stop::converged) << report.message;
    return report.iterations;
  };
  Index const coarse = with(8, nodes(8)), fine = with(16, nodes(16));
  EXPECT_LE(fine, 18);
  EXPECT_LE(fine, 1.4 * coarse + 1);
  EXPECT_LT(fine, with(16, nullptr)) << "translations alone";
}

/// The grid of poisson7 with natural boundaries: row sums are 0.
Csr<double> neumann(Index n) {
  Csr<double> a = generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    Offset own = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.columns[k] == i ? void(own = k) : void(sum += a.values[k]);
    a.values[own] = -sum;
  }
  return a;
}

TEST_P(AmgSolves, NeumannProblems) {
  std::string const options =
      "solver: {type: cg}\npreconditioner: {type: amg}\nnullspace: {constant: true}\n";
  std::vector<double> b;
  for (Index const n : {5, 24}) {  // the whole is inverted; three levels
    Csr<double> const a = neumann(n);
    b = random_values(a.rows, 5);
    double mean = 0;
    for (double v : b) mean += v / a.rows;
    for (double& v : b) v -= mean;
    SolveReport const report = solved(a, options, &b);
    EXPECT_EQ(report.reason, Stop::converged) << report.message;
    EXPECT_LE(report.iterations, 14);
  }
}

TEST_P(AmgSolves, DecoupledPiecesEmptyAndSingleRows) {
  // Two Neumann problems, rows of the unit matrix between them; b is what A reaches.
  Csr<double> const piece = neumann(9);
  Csr<double> a;
  a.rows = a.cols = 2 * piece.rows + 50;
  auto const add = [&](Index first) {
    for (Index i = 0; i < piece.rows; ++i) {
      for (Offset k = piece.offsets[i]; k < piece.offsets[i + 1]; ++k) {
        a.columns.push_back(first + piece.columns[k]);
        a.values.push_back(piece.values[k]);
      }
      a.offsets.push_back(a.entries());
    }
  };
  add(0);
  for (Index i = 0; i < 50; ++i) {
    if (i % 2 == 0) a.columns.push_back(piece.rows + i), a.values.push_back(3);
    a.offsets.push_back(a.entries());
  }
  add(piece.rows + 50);
  std::vector<double> const wanted = random_values(a.rows, 7);
  std::vector<double> b(a.rows, 0.0);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      b[i] += a.values[k] * wanted[a.columns[k]];
  SolveReport const report = solved(a, "solver: {type: cg}\npreconditioner: {type: amg}\n", &b);
  EXPECT_EQ(report.reason, Stop::converged) << report.message;
  EXPECT_LE(report.iterations, 25);
}

TEST_P(AmgSolves, SmallAndDiagonalMatrices) {
  Csr<double> one;
  one.rows = one.cols = 1;
  one.columns = {0}, one.values = {4}, one.offsets = {0, 1};
  EXPECT_LE(iterations(one), 1);
  EXPECT_EQ(x, std::vector<double>{0.25});
  EXPECT_LE(iterations(generate(Poisson7Params{.n = 5})), 2);
  Csr<double> diagonal;
  diagonal.rows = diagonal.cols = 3000;
  for (Index i = 0; i < 3000; ++i) {
    diagonal.columns.push_back(i), diagonal.values.push_back(1 + i % 17);
    diagonal.offsets.push_back(i + 1);
  }
  EXPECT_LE(iterations(diagonal), 2);
}

TEST_P(AmgSolves, IndefiniteMatricesEndInATrueVerdict) {
  Csr<double> a = generate(Poisson7Params{.n = 12});
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) a.values[k] -= 1;  // some eigenvalues below 0
  // Lanczos steps of the set-up meet a direction of negative curvature, or else the method does.
  try {
    SolveReport const report = solved(a, "solver: {type: cg}\npreconditioner: {type: amg}\n");
    EXPECT_TRUE(report.reason == Stop::indefinite_operator ||
                report.reason == Stop::indefinite_preconditioner)
        << report.message;
  } catch (SetupError const& e) { EXPECT_THAT(e.what(), HasSubstr("not positive definite")); }
}

TEST_P(AmgSolves, ScaledSystemsTakeTheSameIterations) {
  Csr<double> const a = generate(Poisson27Params{.n = 14, .coefficient = Coefficient::random});
  std::vector<double> first;
  for (int const e : {0, 301, -300}) {
    Csr<double> scaled = a;
    for (double& v : scaled.values) v = std::ldexp(v, e);
    iterations(scaled);
    std::vector<double> y = x;
    for (double& v : y) v = std::ldexp(v, e);
    if (first.empty()) first = y;
    EXPECT_EQ(y, first) << e;
  }
}

TEST_P(AmgSolves, BlocksOfRightHandSides) {
  Csr<double> const a = generate(Poisson7Params{.n = 16, .coefficient = Coefficient::random});
  for (char const* method : {"block_cg", "pseudo_block_cg"}) {
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), cat("solver: {type: ", method, "}\npreconditioner: {type: amg}\n"));
    Index const k = 4;
    std::vector<double> const B = random_values(std::size_t(a.rows) * k, 3);
    std::vector<double> X(B.size(), 0.0);
    auto const reports =
        solver.solve_columns(In<double>{B.data(), a.rows, k, k, Layout::row_major, Space::host},
                             Out<double>{X.data(), a.rows, k, k, Layout::row_major, Space::host});
    for (auto const& report : reports) EXPECT_EQ(report.reason, Stop::converged) << method;
  }
}

}  // namespace
}  // namespace tcsolve::test
