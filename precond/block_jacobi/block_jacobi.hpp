// SPDX-License-Identifier: Apache-2.0
/// M = B^-1, B the block diagonal of A (Saad 2003, section 4.1.1).
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/array.hpp>
#include <tcsolve/matrix/blocks.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

struct BlockJacobiParams {
  int block = 0;
  int max_block = 32;
  static constexpr auto schema() {
    using P = BlockJacobiParams;
    return std::tuple{
        field(
            &P::block, "block", between(0, 512),
            "rows of a block; 0 finds them: neighbouring rows with the same pattern make a block"),
        field(&P::max_block, "max_block", between(1, 512), "largest block that is looked for")};
  }
};

/// Neighbouring rows whose columns are the same, as the unknowns of one FEM node are; where few
/// rows pair up that way, groups of neighbouring rows up to max_block.
std::vector<Index> find_blocks(Pattern const& a, Index max_block);

/// Each block is inverted once, densely, with partial pivoting, in FP64 on the host.
/// Memory: sum of block^2 values; bytes per application: that and 2 n values.
template <class T = double>
class BlockJacobi final : public LinearOperator<T> {
 public:
  /// From a host matrix. Throws SetupError naming the first singular block, ConfigError.
  BlockJacobi(Context&, CsrView<double> const& a, BlockJacobiParams const& params = {});

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "block_jacobi"; }
  std::vector<Index> const& blocks() const { return blocks_; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  std::vector<Index> blocks_;
  Array<Index> start_, width_;       // of the block that a row belongs to
  Array<Offset> offset_, offset_t_;  // of a row of B^-1, and of its transpose
  Array<T> values_;                  // row by row, then once more transposed
};

class BlockJacobiFactory final : public PreconditionerFactory {
 public:
  using Params = BlockJacobiParams;
  explicit BlockJacobiFactory(Params const& params = {}) : params_(params) {}
  OperatorPtr<double> build(Context&, System const&) const override;
  double bytes(Index rows, Offset) const override {
    return 16.0 * rows * (params_.block > 0 ? params_.block : params_.max_block);
  }
  MemoryNeed memory(Context&, System const&) const override;
  bool goes_by_blocks() const override { return true; }
  Index reaches_across(LinearOperator<double> const& M,
                       std::vector<Index> const& starts) const override;

 private:
  Params params_;
};

}  // namespace tcsolve
