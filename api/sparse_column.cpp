// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/sparse_column.hpp>

namespace tcsolve {

std::vector<double> dense_column(SparseColumn const& b, Index length) {
  if (b.rows.size() != b.values.size())
    throw ShapeError(cat("sparse column: ", b.rows.size(), " rows and ", b.values.size(),
                         " values; needed are as many"));
  std::vector<double> dense(static_cast<std::size_t>(length), 0.0);
  for (std::size_t k = 0; k < b.rows.size(); ++k) {
    Index const i = b.rows[k];
    if (i < 0 || i >= length)
      throw MatrixError(
          cat("sparse column: entry ", k, " is in row ", i, ", outside [0, ", length, ")"));
    dense[i] += b.values[k];
  }
  return dense;
}

SolveReport solve(LinearSolver& solver, SparseColumn const& b, std::span<double> x,
                  SolveCall const& call) {
  OperatorPtr<double> const A = solver.A();
  if (!A) throw ShapeError("solve: the solver has no matrix");
  std::vector<double> const dense = dense_column(b, call.transpose ? A->cols() : A->rows());
  return solver.solve(dense, x, call);
}

}  // namespace tcsolve
