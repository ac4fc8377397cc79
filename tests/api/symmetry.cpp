// SPDX-License-Identifier: Apache-2.0
/// What counts as symmetric: all that rounding explains, and nothing more. And that `auto` takes cg
/// for the matrices of finite elements.
#include <tcsolve/matrix/symmetry.hpp>

#include <tcsolve/api/recipes.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <array>
#include <map>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Stiffness = std::array<std::array<double, 24>, 24>;

/// Of a cube with eight corners, trilinear, two Gauss points in each direction. Entries between
/// different directions of different corners are sums that may cancel. The order of the sums is not
/// that of the mirrored entry: b goes from the last point to the first.
Stiffness cube(double lambda, double mu) {
  double const point = 0.577350269189625764;
  Stiffness K{};
  auto const corner = [](int a, int d) { return (a >> d & 1) != 0 ? 1.0 : -1.0; };
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double sum = 0;
          for (int q = 0; q < 8; ++q) {
            int const at = 3 * a + i < 3 * b + j ? q : 7 - q;
            auto const gradient = [&](int c, int d) {
              double g = corner(c, d) / 8;
              for (int e = 0; e < 3; ++e)
                if (e != d) g *= 1 + corner(c, e) * corner(at, e) * point;
              return g;
            };
            double trace = 0;
            for (int e = 0; e < 3; ++e) trace += gradient(a, e) * gradient(b, e);
            sum += lambda * gradient(a, i) * gradient(b, j) + mu * gradient(a, j) * gradient(b, i) +
                   (i == j ? mu * trace : 0);
          }
          K[3 * a + i][3 * b + j] = sum;
        }
  return K;
}

/// Elasticity on n^3 cubes, the nodes at x = 0 fixed.
Csr<double> elasticity(Index n) {
  Stiffness const K = cube(1.1538, 0.7692);
  std::map<std::pair<Index, Index>, double> sum;
  Index const side = n + 1;
  auto const node = [&](Index x, Index y, Index z) { return (z * side + y) * n + x - 1; };
  for (Index z = 0; z < n; ++z)
    for (Index y = 0; y < n; ++y)
      for (Index x = 0; x < n; ++x)
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) {
            if (x + (a & 1) == 0 || x + (b & 1) == 0) continue;
            Index const I = node(x + (a & 1), y + (a >> 1 & 1), z + (a >> 2));
            Index const J = node(x + (b & 1), y + (b >> 1 & 1), z + (b >> 2));
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 3; ++j) sum[{3 * I + i, 3 * J + j}] += K[3 * a + i][3 * b + j];
          }
  Csr<double> m;
  m.rows = m.cols = 3 * n * side * side;
  m.offsets.assign(static_cast<std::size_t>(m.rows) + 1, 0);
  for (auto const& [at, value] : sum) {
    m.columns.push_back(at.second);
    m.values.push_back(value);
    m.offsets[at.first + 1] = m.entries();
  }
  return m;
}

TEST(Symmetry, EntriesThatCancelAreRounding) {
  Csr<double> const a = elasticity(4);
  Csr<double> const t = transpose(a.view());
  int apart = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    double const x = a.values[k], y = t.values[k];
    apart += std::abs(x - y) > 1e-12 * std::max(std::abs(x), std::abs(y));
  }
  ASSERT_GT(apart, 0) << "else the matrix shows nothing";
  EXPECT_TRUE(is_symmetric(a.view()));
  // The same, scaled by D A D.
  Csr<double> scaled = a;
  auto const d = [](Index i) { return std::ldexp(1.0, 7 * (i % 31) - 100); };
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      scaled.values[k] *= d(i) * d(a.columns[k]);
  EXPECT_TRUE(is_symmetric(scaled.view()));
  // One entry that is no rounding.
  for (Index const row : {Index{0}, a.rows / 2, a.rows - 1}) {
    Csr<double> other = a;
    Offset k = a.offsets[row];
    while (a.columns[k] == row) ++k;
    other.values[k] += 1e-12;
    EXPECT_FALSE(is_symmetric(other.view())) << row;
  }
}

TEST(Symmetry, IsJudgedByTheRowsOfThePair) {
  auto const judged = [](double above, double below, double first, double second) {
    Matrix m = Matrix::Identity(3, 3);
    m(0, 0) = first, m(2, 2) = second;
    m(0, 2) = above, m(2, 0) = below;
    return is_symmetric(csr(m).view());
  };
  EXPECT_TRUE(judged(1e-16, 0, 1, 1)) << "not stored on the other side";
  EXPECT_TRUE(judged(0, -1e-16, 1, 1));
  EXPECT_TRUE(judged(1e-17, -1e-16, 1, 1));
  EXPECT_FALSE(judged(1e-10, 0, 1, 1)) << "small, and no rounding";
  EXPECT_FALSE(judged(0, 1e-10, 1, 1));
  EXPECT_FALSE(judged(1e-10, -1e-10, 1, 1));
  EXPECT_FALSE(judged(1e-16, 0, 1e-4, 1e-4)) << "beside smaller diagonals";
  EXPECT_FALSE(judged(1e-12, 0, 1, 1));
  EXPECT_TRUE(judged(1e-12, 0, 1e4, 1e4)) << "beside larger ones";
  EXPECT_TRUE(judged(1, 1 + 1e-13, 1, 1));
  EXPECT_FALSE(judged(1, 1 + 1e-11, 1, 1));
  EXPECT_TRUE(judged(1, 1, 0, 0)) << "a saddle point";
  EXPECT_FALSE(judged(1, 1.001, 0, 0));
  EXPECT_FALSE(judged(1, -1, 0, 0)) << "skew";
  double const nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(judged(nan, nan, 1, 1));
  EXPECT_FALSE(judged(nan, 0, 1, 1));
  EXPECT_TRUE(judged(1e300, 1e300, 1e300, 1e300));
}

TEST(Symmetry, OfRandomPatternsIsThatOfTheTranspose) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Csr<double> const a = random_matrix(9, 9, 1 + seed % 4, seed);
    EXPECT_EQ(is_symmetric(a.view()), a == transpose(a.view())) << seed;
  }
}

class AutoOnElements : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(AutoOnElements);

TEST_P(AutoOnElements, TakesCg) {
  Csr<double> const a = elasticity(4);
  LinearSolver solver = LinearSolver::from_yaml(
      ctx(), a.view(), "solver: {type: auto}\npreconditioner: {type: auto}\n");
  Column b = random_column(a.rows, 2), x = Column::Zero(a.rows);
  SolveReport const report = solve(solver, b, x);
  EXPECT_TRUE(report.converged()) << report.message;
  for (ChoiceReport const& c : report.choices) EXPECT_EQ(c.solver, "cg");
}

/// A format may store half of a matrix only where the other half has the same bits.
TEST_P(AutoOnElements, FormatsKeepBothHalvesWhereBitsDiffer) {
  constexpr Index n = 80;
  Matrix m = laplace(n);
  m(40, 41) = std::nextafter(m(40, 41), 0);
  ASSERT_TRUE(is_symmetric(csr(m).view()));
  for (std::string const& format : formats().names()) {
    SCOPED_TRACE(format);
    std::optional<LinearSolver> solver;
    try {
      solver.emplace(LinearSolver::from_yaml(
          ctx(), csr(m).view(), cat("operator: {format: ", format, "}\nsolver: {type: cg}\n")));
    } catch (Error const&) { continue; }  // for narrower values, for blocks of columns
    for (Index const j : {40, 41}) {
      Column e = Column::Zero(n), y = Column::Zero(n);
      e[j] = 1;
      Vector<double> in(ctx().space(), n), out(ctx().space(), n);
      copy_bytes(ctx(), in.view().data, ctx().space(), e.data(), Space::host, sizeof(double) * n);
      solver->A()->apply(ctx(), in, out.view());
      copy_bytes(ctx(), y.data(), Space::host, out.view().data, ctx().space(), sizeof(double) * n);
      EXPECT_EQ(y, Column(m.col(j)));
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
