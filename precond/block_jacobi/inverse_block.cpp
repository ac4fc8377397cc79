// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/block_jacobi/inverse_block.hpp>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include <tcsolve/core/half.hpp>

namespace tcsolve {
namespace {

double norm_1(Eigen::MatrixXd const& m) {
  return m.size() == 0 ? 0 : m.cwiseAbs().colwise().sum().maxCoeff();
}

double power_of_two(double largest) {
  return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
}

/// Whether S holds the entries to its roundoff of the largest one.
template <class S>
bool holds(Eigen::MatrixXd const& inverse) {
  double const largest = inverse.size() == 0 ? 0 : inverse.cwiseAbs().maxCoeff();
  double const allowed = roundoff(real_of<S>) * largest;
  return std::all_of(inverse.data(), inverse.data() + inverse.size(), [&](double v) {
    double const there = double(S(v));
    return std::isfinite(there) && std::abs(there - v) <= allowed;
  });
}

/// The smallest pivot of B once its largest entry of each row and column is about 1 says whether B
/// is singular: unknowns of different units make a block badly scaled only.
constexpr double smallest_pivot = 1e-15;

}  // namespace

InverseBlock inverse_block(CsrView<double> const& a, Index first, Index b) {
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(b, b);
  for (Index i = 0; i < b; ++i)
    for (Offset e = a.offsets[first + i]; e < a.offsets[first + i + 1]; ++e)
      if (Index const j = a.columns[e] - first; j >= 0 && j < b) block(i, j) = a.values[e];
  InverseBlock result;
  double const norm = norm_1(block);
  Eigen::VectorXd row(b), column(b);
  for (Index i = 0; i < b; ++i) {
    row(i) = power_of_two(block.row(i).cwiseAbs().maxCoeff());
    block.row(i) *= row(i);
  }
  for (Index j = 0; j < b; ++j) {
    column(j) = power_of_two(block.col(j).cwiseAbs().maxCoeff());
    block.col(j) *= column(j);
  }
  Eigen::PartialPivLU<Eigen::MatrixXd> const lu(block);
  double const pivot = lu.matrixLU().diagonal().cwiseAbs().minCoeff();
  result.inverse = column.asDiagonal() * lu.inverse() * row.asDiagonal();
  if (!(pivot > smallest_pivot) || !result.inverse.allFinite())
    throw SetupError(cat("block_jacobi: the block of rows ", first + 1, " to ", first + b,
                         " is singular (smallest pivot ", pivot, " after scaling",
                         "); use another block size or preconditioner: none"));
  result.condition = norm * norm_1(result.inverse);
  return result;
}

Real stored_type(InverseBlock const& block, BlockValues values, Real widest) {
  auto const at_most = [&](Real real) { return size_of(real) < size_of(widest) ? real : widest; };
  switch (values) {
    case BlockValues::f64: return at_most(Real::f64);
    case BlockValues::f32: return at_most(Real::f32);
    case BlockValues::f16: return Real::f16;
    default: break;
  }
  constexpr double error = 0.01;
  if (block.condition * roundoff(Real::f16) <= error && holds<half>(block.inverse))
    return Real::f16;
  if (block.condition * roundoff(Real::f32) <= error && holds<float>(block.inverse))
    return Real::f32;
  return at_most(Real::f64);
}

}  // namespace tcsolve
