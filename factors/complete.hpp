// SPDX-License-Identifier: Apache-2.0
/// Complete factorisations, by Eigen, in the form of incomplete ones: what is applied is the same.
#pragma once

#include <tcsolve/factors/arrangement.hpp>
#include <tcsolve/factors/incomplete.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>

namespace tcsolve {

/// L D U of B, whose rows and columns are those of the arranged matrix in another order.
struct CompleteFactors {
  TriangularFactors factors;
  std::vector<Index> row, column;  ///< of B, for each row and column of the factors
};

/// A column without a pivot: but for rounding it is a sum of multiples of other columns.
struct SingularColumn : MatrixError {
  explicit SingularColumn(Index number)
      : MatrixError(cat("the matrix is singular: column ", number + 1,
                        " is, but for rounding, a sum of multiples of others")),
        column(number) {}
  Index column;
};

/// The order that complete_cholesky(B), or complete_lu(B), factorises in, but for its pivoting.
/// Throws Cancelled at once, and leaves Eigen behind (core/left_behind.hpp).
Permutation complete_order(Csr<double> const& B, bool symmetric, CancelFlag cancel = {});

/// P B Q^T = L D U with partial pivoting, supernodes and columns in the order given (Li and
/// Demmel's SuperLU, in Eigen), which is COLAMD's. Throws SingularColumn, by B's number, where B is
/// singular, Cancelled at once: Eigen is then left behind with a copy of B. Serial.
CompleteFactors complete_lu(Csr<double> const& B, Permutation const& order, CancelFlag cancel = {});
CompleteFactors complete_lu(Csr<double> const& B);

/// P B P^T = L D L^T without pivoting, in the order given, which is AMD's, for a symmetric B of
/// which the lower triangle is read. Throws MatrixError where a pivot is zero, Cancelled as
/// complete_lu(). Serial.
CompleteFactors complete_cholesky(Csr<double> const& B, Permutation const& order,
                                  CancelFlag cancel = {});
CompleteFactors complete_cholesky(Csr<double> const& B);

}  // namespace tcsolve
