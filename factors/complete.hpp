// SPDX-License-Identifier: Apache-2.0
/// Complete factorisations, by Eigen, in the form of incomplete ones: what is applied is the same.
#pragma once

#include <tcsolve/factors/arrangement.hpp>
#include <tcsolve/factors/incomplete.hpp>
#include <tcsolve/matrix/reorder/permutation.hpp>

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
Permutation complete_order(Csr<double> const& B, bool symmetric);

/// P B Q^T = L D U with partial pivoting, supernodes and columns ordered by COLAMD (Li and Demmel's
/// SuperLU, in Eigen). Throws SingularColumn, by B's number, where B is singular. Serial.
CompleteFactors complete_lu(Csr<double> const& B);

/// P B P^T = L D L^T without pivoting, ordered by AMD, for a symmetric B of which the lower
/// triangle is read. Throws MatrixError where a pivot is zero. Serial.
CompleteFactors complete_cholesky(Csr<double> const& B);

}  // namespace tcsolve
