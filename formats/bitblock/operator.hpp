// SPDX-License-Identifier: Apache-2.0
/// The product with bitmap blocks (formats/bitblock/bitblock.hpp).
#pragma once

#include <tcsolve/formats/bitblock/ops.hpp>
#include <tcsolve/formats/converted_operator.hpp>

namespace tcsolve {

/// y = alpha A x + beta y with values stored as S, vectors of T and sums of FP64. No transpose.
/// Bytes, bits and errors: formats/bitblock/bitblock.hpp.
template <class T, class S = T>
class BitblockOperator final : public ConvertedOperator<T, S, Bitblock<S>> {
 public:
  BitblockOperator(Context& ctx, CsrView<S> const& a, BitblockTuning const& tuning = {})
      : ConvertedOperator<T, S, Bitblock<S>>(ctx, a, tuning) {}

  Traits traits() const override;
  std::string name() const override { return "bitblock"; }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
};

}  // namespace tcsolve
