// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>

#include <tcsolve/configs/schema/checked.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/block_jacobi/ops.hpp>

namespace tcsolve {

std::vector<Index> find_blocks(Pattern const& a, Index max_block) {
  std::vector<Index> starts = natural_blocks(a, max_block);
  // No natural blocks: grouping neighbours gains more than single rows.
  return starts.empty() ? uniform_blocks(a.rows, std::min<Index>(max_block, 8)) : starts;
}

namespace {

std::vector<Index> blocks_of(Pattern const& a, BlockJacobiParams const& params) {
  return params.block > 0 ? uniform_blocks(a.rows, params.block) : find_blocks(a, params.max_block);
}

/// B^-1, and the smallest pivot of B once its largest entry of each row and column is about 1:
/// unknowns of different units make a block badly scaled, not singular.
std::pair<Eigen::MatrixXd, double> inverse_of(Eigen::MatrixXd block) {
  auto power_of_two = [](double largest) {
    return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
  };
  Eigen::VectorXd row(block.rows()), column(block.cols());
  for (Index i = 0; i < block.rows(); ++i) {
    row(i) = power_of_two(block.row(i).cwiseAbs().maxCoeff());
    block.row(i) *= row(i);
  }
  for (Index j = 0; j < block.cols(); ++j) {
    column(j) = power_of_two(block.col(j).cwiseAbs().maxCoeff());
    block.col(j) *= column(j);
  }
  Eigen::PartialPivLU<Eigen::MatrixXd> lu(block);
  double pivot = lu.matrixLU().diagonal().cwiseAbs().minCoeff();
  return {column.asDiagonal() * lu.inverse() * row.asDiagonal(), pivot};
}

}  // namespace

template <class T>
BlockJacobi<T>::BlockJacobi(Context& ctx, CsrView<double> const& a, BlockJacobiParams const& params)
    : LinearOperator<T>(a.rows, a.rows) {
  if (a.rows != a.cols)
    throw ShapeError(cat("block_jacobi needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  checked(params, "block_jacobi");
  blocks_ = blocks_of(a, params);
  std::vector<Index> start(a.rows), width(a.rows);
  std::vector<Offset> offset(a.rows), offset_t(a.rows);
  Offset total = 0;
  for (std::size_t k = 0; k + 1 < blocks_.size(); ++k)
    total += Offset{blocks_[k + 1] - blocks_[k]} * (blocks_[k + 1] - blocks_[k]);
  std::vector<T> values(2 * total);
  Offset at = 0;
  for (std::size_t k = 0; k + 1 < blocks_.size(); ++k) {
    Index first = blocks_[k], b = blocks_[k + 1] - first;
    Eigen::MatrixXd block = Eigen::MatrixXd::Zero(b, b);
    for (Index i = 0; i < b; ++i)
      for (Offset e = a.offsets[first + i]; e < a.offsets[first + i + 1]; ++e)
        if (Index j = a.columns[e] - first; j >= 0 && j < b) block(i, j) = a.values[e];
    auto [inverse, pivot] = inverse_of(std::move(block));
    if (!(pivot > 1e-15) || !inverse.template cast<T>().allFinite())
      throw SetupError(cat("block_jacobi: the block of rows ", first + 1, " to ", first + b,
                           " is singular (smallest pivot ", pivot, " after scaling",
                           "); use another block size or preconditioner: none"));
    for (Index i = 0; i < b; ++i) {
      start[first + i] = first;
      width[first + i] = b;
      offset[first + i] = at + Offset{i} * b;
      offset_t[first + i] = total + at + Offset{i} * b;
      for (Index j = 0; j < b; ++j) {
        values[offset[first + i] + j] = T(inverse(i, j));
        values[offset_t[first + i] + j] = T(inverse(j, i));
      }
    }
    at += Offset{b} * b;
  }
  start_ = to_space(ctx, start.data(), start.size());
  width_ = to_space(ctx, width.data(), width.size());
  offset_ = to_space(ctx, offset.data(), offset.size());
  offset_t_ = to_space(ctx, offset_t.data(), offset_t.size());
  values_ = to_space(ctx, values.data(), values.size());
}

template <class T>
Traits BlockJacobi<T>::traits() const {
  return {.precision = {real_of<T>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false,
          .operations = true};
}

template <class T>
Cost BlockJacobi<T>::cost(Index k) const {
  double stored = static_cast<double>(values_.size()) / 2, n = this->rows();
  return {2 * stored * k, stored * sizeof(T) + n * (16 + 2.0 * k * sizeof(T)), 1};
}

template <class T>
void BlockJacobi<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  Offset const* offset = op == Op::none ? offset_.data() : offset_t_.data();
  submit(ctx, BlockMultiply<T>{y.size(), alpha, start_.data(), width_.data(), offset,
                               values_.data(), x, beta, y});
}

template class BlockJacobi<double>;
template class BlockJacobi<float>;

Index BlockJacobiFactory::reaches_across(LinearOperator<double> const& M,
                                         std::vector<Index> const& starts) const {
  auto const& blocks = dynamic_cast<BlockJacobi<double> const&>(M).blocks();
  for (Index const start : starts)
    if (!std::binary_search(blocks.begin(), blocks.end(), start)) return start;
  return -1;
}

MemoryNeed BlockJacobiFactory::memory(Context& ctx, System const& system) const {
  return with_pattern(ctx, system.matrix, [&](Pattern const& pattern) {
    std::vector<Index> const starts = blocks_of(pattern, params_);
    MemoryNeed need;
    need.host = 4.0 * static_cast<double>(starts.size());
    need.space = 24.0 * pattern.rows;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
      double const b = starts[k + 1] - starts[k];
      need.space += 2 * 8 * b * b;
    }
    need.passing = need.space;  // as it is made, before it goes to its space
    return need;
  });
}

OperatorPtr<double> BlockJacobiFactory::build(Context& ctx, System const& system) const {
  if (system.matrix.space == Space::host)
    return std::make_shared<BlockJacobi<double>>(ctx, system.matrix, params_);
  Csr<double> here = to_host(ctx, system.matrix);
  return std::make_shared<BlockJacobi<double>>(ctx, here.view(), params_);
}

}  // namespace tcsolve
