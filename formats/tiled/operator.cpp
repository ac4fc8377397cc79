// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/tiled/operator.hpp>

#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits TiledOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}};
}

template <class T, class S>
void TiledOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  ctx.visit([&](auto& on) {
    spmm_tiled(on, ctx.arena(), ctx.loop(), alpha, this->matrix().view(), x, beta, y);
  });
}

#define TCSOLVE_INSTANTIATE(S, T) template class TiledOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
