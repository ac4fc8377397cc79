// SPDX-License-Identifier: Apache-2.0
/// The product with a BitTCF matrix (formats/bittcf/bittcf.hpp).
#pragma once

#include <tcsolve/formats/bittcf/ops.hpp>
#include <tcsolve/formats/converted_operator.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S and vectors of T. No transpose. T = double: all
/// in FP64. T = float: multiplied in TF32, whose significand is that of FP16 and whose range that
/// of FP32, summed in FP32. Bytes, bits and errors: formats/bittcf/bittcf.hpp.
///
///   memory  besides the matrix: what its pieces come to. One product runs at a time
///   gram    apply_gram() of 8 columns of FP64 is one pass on a device, for a workspace of two
///           doubles a row
template <class T, class S = T>
class BittcfOperator final : public ConvertedOperator<T, S, Bittcf<S>> {
 public:
  BittcfOperator(Context& ctx, CsrView<S> const& a, BittcfTuning const& tuning = {});

  Traits traits() const override;
  std::string name() const override { return "bittcf"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const override;
  mutable Array<T> parts_;  // of the pieces, on a device
};

}  // namespace tcsolve
