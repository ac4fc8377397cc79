// SPDX-License-Identifier: Apache-2.0
/// Sparse approximate inverses of triangular factors, so that a product takes the place of a
/// triangular solve.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/incomplete.hpp>

namespace tcsolve {

/// ISAI of a unit triangular T whose diagonal is not stored (Anzt, Huckle, Braeckle and Dongarra
/// 2018): W has the pattern of T with its diagonal, and W T = I on that pattern, row by row. W =
/// T^-1 where T^-1 has no other entries. Canonical. Cost: for each row a triangular solve of its
/// own length; rows are shared between the host's threads.
Csr<double> triangular_inverse(Context&, Csr<double> const& triangle, bool lower);

/// W of both factors. Of symmetric factors, U = L^T, that of U is the transpose of that of L.
struct ApproximateTriangles {
  Csr<double> lower, upper;
};
ApproximateTriangles triangular_inverses(Context&, TriangularFactors const&, bool symmetric);

/// The two factors of M = (C Q^T W_U) (D^-1 W_L P R): W_U's rows and W_L's columns are in A's
/// numbers.
struct InverseFactors {
  Csr<double> first;   ///< D^-1 W_L P R
  Csr<double> second;  ///< C Q^T W_U
};
/// Of symmetric factors, U = L^T, W_U is W_L^T, so that M is symmetric too.
InverseFactors inverse_factors(Context&, TriangularFactors const&, TwoSided const&, bool symmetric);

}  // namespace tcsolve
