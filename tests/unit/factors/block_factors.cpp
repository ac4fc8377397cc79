// SPDX-License-Identifier: Apache-2.0
/// ILU and IC that take the blocks of nodes as entries: against dense inverses where nothing falls
/// away, against the factors by entries, and what they say of sizes that do not fit.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/factors/make/block_factors.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/blocks.hpp>

#include <Eigen/Core>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Dense dense(Csr<double> const& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

Csr<double> sparse(Dense const& d) {
  Csr<double> a;
  a.rows = a.cols = static_cast<Index>(d.rows());
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j)
      if (d(i, j) != 0) {
        a.columns.push_back(j);
        a.values.push_back(d(i, j));
      }
    a.offsets.push_back(a.entries());
  }
  return a;
}

enum class Kind { hollow, definite };

/// Block tridiagonal: a factorisation by blocks fills in nothing. `hollow`: without symmetry, some
/// entries within the blocks missing, those on the diagonal too.
Dense chain(std::vector<Index> const& nodes, Kind kind) {
  Index const n = nodes.back();
  auto const noise = random_values(static_cast<std::size_t>(n) * n, 3);
  Dense d = Dense::Zero(n, n);
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)
    for (std::size_t J = I > 0 ? I - 1 : 0; J < std::min(nodes.size() - 1, I + 2); ++J)
      for (Index i = nodes[I]; i < nodes[I + 1]; ++i)
        for (Index j = nodes[J]; j < nodes[J + 1]; ++j)
          if ((i + 2 * j) % 5 != 0) d(i, j) = noise[static_cast<std::size_t>(i) * n + j];
  if (kind == Kind::definite) {
    d = Dense(d + d.transpose());
    for (Index i = 0; i < n; ++i) d(i, i) = d.row(i).cwiseAbs().sum() + 1;
    return d;
  }
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I) {  // the large entries lie beside the diagonal
    Index const first = nodes[I], b = nodes[I + 1] - first;
    for (Index r = 0; r < b; ++r) {
      if (b > 1) d(first + r, first + r) = 0;
      d(first + r, first + (r + 1) % b) = 9;
    }
  }
  return d;
}

class BlockFactors : public OnEachBackend {
 protected:
  Dense entries(LinearOperator<double> const& M, Op op = Op::none) {
    Dense d(M.rows(), M.cols());
    for (Index j = 0; j < M.cols(); ++j) {
      std::vector<double> e(static_cast<std::size_t>(M.cols()), 0.0);
      e[static_cast<std::size_t>(j)] = 1;
      Guarded<double> x(ctx(), e), y(ctx(), std::vector<double>(e.size(), nan));
      M.apply(ctx(), 1, x.in(), 0, y.view(), op);
      auto const got = y.get();
      for (Index i = 0; i < M.rows(); ++i) d(i, j) = got[static_cast<std::size_t>(i)];
    }
    return d;
  }
  FactorRecipe recipe(int block, bool symmetric, FactorOrder order,
                      TriangularSolves solves = TriangularSolves::exact) {
    return {.name = "test",
            .symmetric = symmetric,
            .block = block,
            .arrangement = {UseMatching::off, FactorScaling::largest, order},
            .solves = solves};
  }
};
TCSOLVE_ON_EACH_BACKEND(BlockFactors);

TEST_P(BlockFactors, OfAChainOfNodesAreItsInverse) {
  for (Index b : {1, 2, 3, 5})
    for (FactorOrder order : {FactorOrder::none, FactorOrder::rcm, FactorOrder::amd})
      for (Kind kind : {Kind::hollow, Kind::definite}) {
        if (b == 1 && kind == Kind::hollow) continue;
        SCOPED_TRACE(cat("nodes of ", b, ", order ", int(order), ", kind ", int(kind)));
        std::vector<Index> const nodes = uniform_blocks(12 * b, b);
        Dense const d = chain(nodes, kind), inverse = inverse_of(d);
        Csr<double> const a = sparse(d);
        Factorisation const M(ctx(), a.view(), recipe(b, kind == Kind::definite, order));
        EXPECT_LE((entries(M) - inverse).norm(), 1e-11 * inverse.norm());
        EXPECT_LE((entries(M, Op::transpose) - inverse.transpose()).norm(), 1e-11 * inverse.norm());
        EXPECT_LE((entries(M) - inverse).norm(), 1e-11 * inverse.norm()) << "once more";
      }
}

TEST_P(BlockFactors, FindNodesOfSeveralSizes) {
  std::vector<Index> const nodes = {0, 3, 4, 8, 10, 13, 16};
  Dense d = chain(nodes, Kind::definite);
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)  // whole blocks, or no node is found
    for (std::size_t J = I > 0 ? I - 1 : 0; J < std::min(nodes.size() - 1, I + 2); ++J)
      for (Index i = nodes[I]; i < nodes[I + 1]; ++i)
        for (Index j = nodes[J]; j < nodes[J + 1]; ++j)
          if (d(i, j) == 0) d(i, j) = 0.25;
  Csr<double> const a = sparse(d);
  EXPECT_EQ(natural_blocks(a, 16), nodes);
  EXPECT_TRUE(natural_blocks(generate(Poisson7Params{.n = 4}), 16).empty());
  Dense const inverse = inverse_of(d);
  for (bool symmetric : {false, true}) {
    Factorisation const M(ctx(), a.view(), recipe(0, symmetric, FactorOrder::colours));
    EXPECT_THAT(M.details(), HasSubstr("6 nodes"));
    // By colours the chain fills in: level 0 is no inverse, but near.
    EXPECT_LE((entries(M) - inverse).norm(), 0.3 * inverse.norm());
    Factorisation const exact(ctx(), a.view(), recipe(0, symmetric, FactorOrder::none));
    EXPECT_LE((entries(exact) - inverse).norm(), 1e-12 * inverse.norm());
  }
  EXPECT_THAT(Factorisation(ctx(), generate(Poisson7Params{.n = 4}).view(),
                            recipe(0, true, FactorOrder::none))
                  .details(),
              testing::Not(HasSubstr("nodes")));
}

/// (L T^-1) (T D V) (V^-1 U) is L D U, with fewer levels, and so is what is applied.
TEST_P(BlockFactors, AreTheFactorsByEntriesWithFewerLevels) {
  Csr<double> const a = generate(ElasticityParams{.n = 5, .coefficient = Coefficient::random});
  std::vector<Index> const nodes = uniform_blocks(a.rows, 3);
  for (bool symmetric : {false, true}) {
    Factorisation const M(ctx(), a.view(), recipe(3, symmetric, FactorOrder::none));
    TriangularFactors const f = *M.factors(ctx()), g = by_blocks(f, nodes);
    Dense const one = Dense::Identity(a.rows, a.rows);
    Eigen::Map<Eigen::VectorXd const> const inverse(f.inverse_pivots.data(), a.rows);
    Dense const by_entries =
        (dense(f.lower) + one) * inverse.cwiseInverse().asDiagonal() * (dense(f.upper) + one);
    Dense const D = inverse_of(dense(g.pivot_blocks));
    Dense const L = dense(g.lower) + one, U = dense(g.upper) + one;
    EXPECT_LE((L * D * U - by_entries).norm(), 1e-12 * by_entries.norm());
    for (Index i = 0; i < a.rows; ++i)
      for (Index j = i / 3 * 3; j < i / 3 * 3 + 3; ++j) {
        EXPECT_EQ(L(i, j), i == j);
        EXPECT_EQ(U(i, j), i == j);
      }
    EXPECT_LE(2 * level_order(g.lower, true).levels(), level_order(f.lower, true).levels());
    for (TriangularSolves solves : {TriangularSolves::isai, TriangularSolves::sweeps})
      EXPECT_NO_THROW(
          entries(Factorisation(ctx(), a.view(), recipe(3, symmetric, FactorOrder::none, solves))));
  }
}

TEST_P(BlockFactors, FollowNewValues) {
  Csr<double> const a = generate(ElasticityParams{.n = 4, .coefficient = Coefficient::random});
  Csr<double> b = a;
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      b.values[k] *= i == b.columns[k] ? 1.5 : 1;
  for (bool symmetric : {false, true}) {
    Factorisation M(ctx(), a.view(), recipe(3, symmetric, FactorOrder::rcm));
    Dense const before = entries(M);
    entries(M, Op::transpose);  // made, and to follow
    M.update(ctx(), b.view());
    Dense const exact =
        entries(Factorisation(ctx(), b.view(), recipe(3, symmetric, FactorOrder::rcm)));
    EXPECT_GT((before - exact).norm(), 1e-2 * exact.norm());
    EXPECT_LE((entries(M) - exact).norm(), 1e-13 * exact.norm());
    EXPECT_LE((entries(M, Op::transpose) - exact.transpose()).norm(), 1e-13 * exact.norm());
    M.update(ctx(), a.view());
    EXPECT_EQ(entries(M), before) << "the same values, the same bits";
  }
}

/// Of an indefinite matrix the diagonal is shifted, as by entries.
TEST_P(BlockFactors, ShiftWherePivotsAreNotPositive) {
  Dense d = chain(uniform_blocks(12, 2), Kind::definite);
  for (Index i = 0; i < 12; ++i) d(i, i) = 0.5;
  Factorisation const M(ctx(), sparse(d).view(), recipe(2, true, FactorOrder::none));
  EXPECT_GT(M.factors(ctx())->shift, 0);
  EXPECT_GT(symmetric_eigenvalues(entries(M)).minCoeff(), 0);
}

TEST_P(BlockFactors, TakeNoMoreIterationsThanByEntries) {
  Csr<double> const a = generate(ElasticityParams{.n = 9, .coefficient = Coefficient::random});
  auto const iterations = [&](std::string const& method, std::string const& preconditioner) {
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), "solver: {type: " + method + "}\npreconditioner: " + preconditioner);
    std::vector<double> const b(static_cast<std::size_t>(a.rows), 1.0);
    std::vector<double> x(b.size(), 0.0);
    SolveReport const report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    return report.iterations;
  };
  for (std::string const more : {"", ", level: 1"}) {
    EXPECT_LE(iterations("cg", "{type: ic, order: none, block: 3" + more + "}"),
              iterations("cg", "{type: ic, order: none" + more + "}"));
    EXPECT_LE(iterations("gmres", "{type: ilu, order: none, block: 0" + more + "}"),
              iterations("gmres", "{type: ilu, order: none" + more + "}"));
  }
}

TEST(BlockFactorKeys, RefuseWhatDoesNotGoTogether) {
  Csr<double> const a = dominant(20, 4, 1);
  auto const make = [&](std::string const& block) {
    Context ctx(Backend::host);
    LinearSolver::from_yaml(ctx, a.view(), "solver: {type: gmres}\npreconditioner: " + block);
  };
  EXPECT_THAT(message_of<SetupError>([&] { make("{type: ilu, block: 3}"); }),
              HasSubstr("'block' = 3 does not divide 20 rows"));
  EXPECT_THAT(message_of<ConfigError>([&] { make("{type: ilu, block: 2, drop_tolerance: 0.1}"); }),
              HasSubstr("exclude each other"));
  EXPECT_THAT(message_of<ConfigError>([&] { make("{type: ilu, block: 0, matching: on}"); }),
              HasSubstr("exclude each other"));
  EXPECT_THAT(message_of<ConfigError>([&] { make("{type: ic, block: 2, drop_tolerance: 0.1}"); }),
              HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace tcsolve::test
