// SPDX-License-Identifier: Apache-2.0
/// A right-hand side by its entries.
///
///     SolveReport const report = solve(solver, {.rows = rows, .values = values}, x);
///
/// Exact triangular solves of `ic`, `ilu` and `direct` find by themselves that b has few entries
/// and visit what these reach alone (factors/apply/sparse_solves.hpp, and on a device
/// factors/apply/reach_search.hpp).
#pragma once

#include <span>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve {

/// Entries in any order; those of the same row are summed, as in matrices.
struct SparseColumn {
  std::span<Index const> rows;     ///< from 0
  std::span<double const> values;  ///< as many
};

/// The column of `length` rows, 0 where there is no entry. Throws ShapeError where there are not as
/// many values as rows, MatrixError naming an entry outside [0, length).
std::vector<double> dense_column(SparseColumn const& b, Index length);

/// x <- an approximation of A^-1 b, or of A^-T b, as LinearSolver::solve(). Throws what that
/// throws, and dense_column(). Cost: 8 bytes a row beside the solve.
SolveReport solve(LinearSolver& solver, SparseColumn const& b, std::span<double> x,
                  SolveCall const& call = {});

}  // namespace tcsolve
