// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bsell/operator.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits BsellOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}, .ends_in_steps = ends_in_steps<S, T>};
}

template <class T, class S>
void BsellOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  BsellProduct<S, T> const product{alpha, this->matrix().view(), x, beta, y, ctx.loop()};
  ctx.visit([&](auto& on) { spmm_bsell(on, product); });
}

template <class T, class S>
void BsellOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                       double* sigma) const {
  BsellProduct<S, T> const product{alpha, this->matrix().view(), x, T(0), y, ctx.loop()};
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      spmv_dot_bsell(on, product, sigma);
    } else {
      spmm_bsell(on, product);
      dot<T>(ctx, x, y, sigma);
    }
  });
}

template <class T, class S>
void BsellOperator<T, S>::do_apply_then(Context& ctx, T alpha, In<T> x, T beta, Out<T> y,
                                        SmoothingStep<T> const& step) const {
  if constexpr (ends_in_steps<S, T>)
    ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        spmv_then_bsell(
            on, BsellProduct<S, T>{alpha, this->matrix().view(), x, beta, y, ctx.loop()}, step);
    });
}

#define TCSOLVE_INSTANTIATE(S, T) template class BsellOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
