// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/sparse_column.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"

namespace tcsolve::test {
namespace {

TEST(SparseColumn, IsSummedAndChecked) {
  std::vector<Index> const rows{3, 0, 3};
  std::vector<double> const values{2, -1, 5};
  EXPECT_EQ(dense_column({rows, values}, 5), (std::vector<double>{-1, 0, 0, 7, 0}));
  EXPECT_EQ(dense_column({}, 2), (std::vector<double>{0, 0}));
  EXPECT_NE(message_of<MatrixError>([&] {
              dense_column({rows, values}, 3);
            }).find("entry 0 is in row 3, outside [0, 3)"),
            std::string::npos);
  std::vector<Index> const negative{-1};
  std::vector<double> const one{1};
  EXPECT_NE(message_of<MatrixError>([&] {
              dense_column({negative, one}, 3);
            }).find("row -1"),
            std::string::npos);
  EXPECT_NE(message_of<ShapeError>([&] {
              dense_column({rows, one}, 5);
            }).find("3 rows and 1 values"),
            std::string::npos);
}

TEST(SparseColumn, HasTheSolutionOfItsDenseColumn) {
  Csr<double> const a = generate(ConvdiffParams{.n = 8});
  for (bool const transpose : {false, true})
    for (char const* const preconditioner : {"ilu", "direct"}) {
      LinearSolver solver(
          a.view(),
          {.solver = "gmres", .preconditioner = preconditioner, .backend = Backend::host});
      auto const n = static_cast<std::size_t>(a.rows);
      std::vector<Index> const rows{100, 3};
      std::vector<double> const values{1, -2};
      std::vector<double> b(n, 0.0), x(n, 0.0), y(n, 0.0);
      b[100] = 1, b[3] = -2;
      for (int round = 0; round < 8; ++round) {  // the later ones by reaches, where they are small
        std::ranges::fill(x, 0.0);
        std::ranges::fill(y, 0.0);
        EXPECT_TRUE(solve(solver, {rows, values}, x, {.transpose = transpose}).converged());
        EXPECT_TRUE(solver.solve(b, y, {.transpose = transpose}).converged());
        EXPECT_EQ(x, y);
      }
    }
  LinearSolver nothing({.solver = "cg", .backend = Backend::host});
  std::vector<double> x(3);
  EXPECT_THROW(solve(nothing, {}, x), ShapeError);
}

class SparseColumns : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(SparseColumns);

/// Of factors with many levels; on a device the recorded loop holds the search for reaches.
TEST_P(SparseColumns, AreSolvedByFactorsWithManyLevels) {
  constexpr Index blocks = 60, size = 100, n = blocks * size;
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    if (i % size > 0) a.columns.push_back(i - 1), a.values.push_back(-1);
    a.columns.push_back(i), a.values.push_back(2.5);
    if (i % size < size - 1) a.columns.push_back(i + 1), a.values.push_back(-1);
    a.offsets.push_back(a.entries());
  }
  for (char const* const preconditioner : {"ic", "ilu", "direct"}) {
    LinearSolver solver(ctx(), a.view(), {.solver = "gmres", .preconditioner = preconditioner});
    for (Index const row : {Index{17}, Index{2512}, n - 1}) {
      std::vector<Index> const rows{row};
      std::vector<double> const values{3.0};
      std::vector<double> x(n, 0.0);
      SolveReport const report = solve(solver, {.rows = rows, .values = values}, x);
      EXPECT_TRUE(report.converged()) << preconditioner << ": " << report.message;
      for (Index i = 0; i < n; ++i) {
        double sum = i == row ? -3.0 : 0.0;
        for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
          sum += a.values[k] * x[a.columns[k]];
        ASSERT_LT(std::abs(sum), 1e-6) << preconditioner << ", row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
