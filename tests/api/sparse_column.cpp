// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/sparse_column.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/backend.hpp"

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

}  // namespace
}  // namespace tcsolve::test
