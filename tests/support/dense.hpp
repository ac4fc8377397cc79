// SPDX-License-Identifier: Apache-2.0
/// What tests take from Eigen's decompositions. Each is compiled once, in dense.cpp: in every file
/// that names one, a decomposition takes a compiler two to ten seconds.
#pragma once

#include <Eigen/Core>

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve::test {

/// The entries of a sparse matrix, by rows.
Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> dense_rows(
    Csr<double> const& a);

/// X of A X = B, A square and regular: LU with full pivoting.
Eigen::MatrixXd lu_solve(Eigen::MatrixXd const& a, Eigen::MatrixXd const& b);

/// A^-1, by the same.
Eigen::MatrixXd inverse_of(Eigen::MatrixXd const& a);

/// The X of least norm among those that minimise ||B - A X||: a complete orthogonal decomposition.
/// Pivots at most `threshold` times the largest count as 0 (0: Eigen's choice, for rounding).
Eigen::MatrixXd least_squares_solution(Eigen::MatrixXd const& a, Eigen::MatrixXd const& b,
                                       double threshold = 0);

/// Q of A = Q R, rows x min(rows, columns), by Householder reflections.
Eigen::MatrixXd orthogonal(Eigen::MatrixXd const& a);

/// A = vectors diag(values) vectors^T of a symmetric A, values ascending.
struct Modes {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
Modes symmetric_modes(Eigen::MatrixXd const& a);
Eigen::VectorXd symmetric_eigenvalues(Eigen::MatrixXd const& a);

/// Singular values, descending.
Eigen::VectorXd singular_values(Eigen::MatrixXd const& a);

/// The left singular vectors of A that belong to them, rows x rows.
Eigen::MatrixXd left_singular_vectors(Eigen::MatrixXd const& a);

}  // namespace tcsolve::test
