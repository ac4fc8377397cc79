// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/sell/operator.hpp>

#include <tcsolve/formats/sell/columns.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits SellOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>},
          .operations = true,
          .ends_in_steps = ends_in_steps<S, T>};
}

template <class T, class S>
void SellOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  submit(ctx, SellMultiply<S, T>{y.size(), alpha, this->matrix().view(), x, beta, y});
}

template <class T, class S>
void SellOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                      double* sigma) const {
  submit(ctx, SellMultiplyDot<S, T>{y.rows, alpha, this->matrix().view(), x.data, y.data, sigma});
}

template <class T, class S>
void SellOperator<T, S>::do_apply_then(Context& ctx, T alpha, In<T> x, T beta, Out<T> y,
                                       SmoothingStep<T> const& step) const {
  if constexpr (ends_in_steps<S, T>)
    ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        multiply_then(on, ctx.loop(),
                      SellMultiply<S, T>{y.size(), alpha, this->matrix().view(), x, beta, y}, step);
    });
}

#define TCSOLVE_INSTANTIATE(S, T) template class SellOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
