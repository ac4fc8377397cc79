// SPDX-License-Identifier: Apache-2.0
/// A rounded matrix and what is kept beside it: A + D, D a diagonal or of diagonal blocks, in FP32
/// (matrix/diagonal_build.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// y = alpha (A x + D x) + beta y: a pass after that of A, which makes <x, y> as well. D is (rows,
/// block), row i that of its block. No transpose.
///
///   bytes  4 block rows, and three vectors; nothing where D is empty
template <class T>
class Corrected final : public LinearOperator<T> {
 public:
  Corrected(OperatorPtr<T> A, Array<float> D, int block)
      : LinearOperator<T>(A->rows(), A->cols()), A_(std::move(A)) {
    correct_by(std::move(D), block);
  }
  /// Another D. Recordings of the operator are to be made anew.
  void correct_by(Array<float> D, int block) { D_ = std::move(D), block_ = block, ++revision_; }
  bool corrects() const { return D_.size() > 0; }
  int block() const { return block_; }

  Traits traits() const override {
    Traits traits = A_->traits();
    traits.transpose = traits.transpose && !corrects();
    return traits;
  }
  Cost cost(Index k) const override {
    Cost cost = A_->cost(k);
    if (!corrects()) return cost;
    cost.flops += 2.0 * double(D_.size()) * k;
    cost.bytes += 4.0 * double(D_.size()) + 3.0 * sizeof(T) * k * this->rows();
    return cost;
  }
  std::string name() const override { return A_->name(); }
  std::string details() const override { return A_->details(); }
  double norm_estimate() const override { return A_->norm_estimate(); }
  double advance(Context& ctx, double n) const override { return A_->advance(ctx, n); }
  std::uint64_t revision() const override { return A_->revision() + revision_; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const override;

  OperatorPtr<T> A_;
  Array<float> D_;
  int block_ = 1;
  std::uint64_t revision_ = 0;
};

}  // namespace tcsolve
