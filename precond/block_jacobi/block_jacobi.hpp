// SPDX-License-Identifier: Apache-2.0
/// M = B^-1, B the block diagonal of A (Saad 2003, section 4.1.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/array.hpp>
#include <tcsolve/matrix/blocks.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

enum class BlockValues { f64, f32, f16, adaptive };
constexpr auto names(BlockValues) {
  return std::array{std::pair{BlockValues::f64, "fp64"}, std::pair{BlockValues::f32, "fp32"},
                    std::pair{BlockValues::f16, "fp16"},
                    std::pair{BlockValues::adaptive, "adaptive"}};
}

struct BlockJacobiParams {
  int block = 0;
  int max_block = 32;
  BlockValues values = BlockValues::f64;
  static constexpr auto schema() {
    using P = BlockJacobiParams;
    return std::tuple{
        field(
            &P::block, "block", between(0, 512),
            "rows of a block; 0 finds them: neighbouring rows with the same pattern make a block"),
        field(&P::max_block, "max_block", between(1, 512), "largest block that is looked for"),
        field(&P::values, "values",
              "type of the stored inverses; adaptive: of each block the narrowest one that its "
              "condition and its range admit; sums are fp64")};
  }
};

/// Neighbouring rows whose columns are the same, as the unknowns of one FEM node are; where few
/// rows pair up that way, groups of neighbouring rows up to max_block.
std::vector<Index> find_blocks(Pattern const& a, Index max_block);

/// B^-1 as it lies in a Context's space.
struct InverseBlocks {
  std::vector<Index> starts;
  Array<Index> start, width;       ///< of the block that a row belongs to
  Array<std::uint8_t> bytes;       ///< of each of its values
  Array<Offset> offset, offset_t;  ///< of a row of B^-1 among the bytes, and of its transpose
  Array<std::byte> values;         ///< row by row, then once more transposed
  Index in_f64 = 0, in_f32 = 0, in_f16 = 0;  ///< blocks
  double count = 0;                          ///< values, once
  Index rows() const { return static_cast<Index>(start.size()); }
};

/// Each block is inverted once, densely, with partial pivoting, in FP64 on the host, and stored in
/// a type of its own, at most T's (precond/block_jacobi/inverse_block.hpp).
/// Memory: twice the sum of block^2 values; bytes per application: half of that and 2 n values.
template <class T = double>
class BlockJacobi final : public LinearOperator<T> {
 public:
  /// From a host matrix. Throws SetupError naming the first singular block, ConfigError.
  BlockJacobi(Context&, CsrView<double> const& a, BlockJacobiParams const& params = {});

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "block_jacobi"; }
  /// Of the same stored inverses, whatever their types: sums are FP64 anyway, so that nothing of
  /// them is lost or copied. Cost: none.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;
  /// "12 blocks in fp64, 400 in fp16".
  std::string details() const override;
  std::vector<Index> const& blocks() const { return stored_->starts; }
  /// How many blocks are stored in this type.
  Index stored_in(Real real) const;

 private:
  template <class U>
  friend class BlockJacobi;
  explicit BlockJacobi(std::shared_ptr<InverseBlocks const> blocks)
      : LinearOperator<T>(blocks->rows(), blocks->rows()), stored_(std::move(blocks)) {}
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  std::shared_ptr<InverseBlocks const> stored_;  // by the operator on FP32 vectors, too
};

/// Of several ranks no block reaches across.
class BlockJacobiFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = BlockJacobiParams;
  explicit BlockJacobiFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  double bytes(Index rows, Offset) const override {
    return 16.0 * rows * (params_.block > 0 ? params_.block : params_.max_block);
  }
  /// `adaptive` looks at 1024 blocks.
  MemoryNeed memory(Context&, System const&) const override;
  bool goes_by_blocks() const override { return true; }
  bool batches() const override { return true; }

 private:
  Params params_;
};

}  // namespace tcsolve
