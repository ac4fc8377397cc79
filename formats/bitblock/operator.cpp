// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bitblock/operator.hpp>

#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits BitblockOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, Real::f64, Real::f64}, .isolates_nonfinite = false};
}

template <class T, class S>
void BitblockOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  ctx.visit([&](auto& on) { spmm_bitblock(on, alpha, this->matrix().view(), x, beta, y); });
}

#define TCSOLVE_INSTANTIATE(S, T) template class BitblockOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve
