// SPDX-License-Identifier: Apache-2.0
#include "tests/support/dense.hpp"

#include <Eigen/Dense>

namespace tcsolve::test {

using Matrix = Eigen::MatrixXd;

Matrix lu_solve(Matrix const& a, Matrix const& b) { return a.fullPivLu().solve(b); }

Matrix inverse_of(Matrix const& a) { return a.fullPivLu().inverse(); }

Matrix least_squares_solution(Matrix const& a, Matrix const& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<Matrix> factors(a.rows(), a.cols());
  if (threshold > 0) factors.setThreshold(threshold);
  return factors.compute(a).solve(b);
}

Matrix orthogonal(Matrix const& a) {
  Eigen::HouseholderQR<Matrix> const factors(a);
  if (a.rows() <= a.cols()) return factors.householderQ();
  return factors.householderQ() * Matrix::Identity(a.rows(), a.cols());
}

Modes symmetric_modes(Matrix const& a) {
  Eigen::SelfAdjointEigenSolver<Matrix> const modes(a);
  return {modes.eigenvalues(), modes.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(Matrix const& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXd singular_values(Matrix const& a) {
  return Eigen::JacobiSVD<Matrix>(a).singularValues();
}

Matrix left_singular_vectors(Matrix const& a) {
  return Eigen::JacobiSVD<Matrix>(a, Eigen::ComputeFullU).matrixU();
}

Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> dense_rows(
    Csr<double> const& a) {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> d =
      Eigen::MatrixXd::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

}  // namespace tcsolve::test
