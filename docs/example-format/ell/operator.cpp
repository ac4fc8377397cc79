// SPDX-License-Identifier: Apache-2.0
#include "ell/operator.hpp"

#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Ell<S>::Ell(Context& ctx, CsrView<S> const& a) {
  arrays_ = ctx.visit([&](auto& on) { return build_ell(on, ctx.arena(), a); });
}

template <class S>
void Ell<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("ell", view(), a);
  ctx.visit([&](auto& on) { refill_ell(on, ctx.arena(), a, arrays_); });
}

template <class T, class S>
Traits EllOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}, .operations = true};
}

template <class T, class S>
void EllOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  submit(ctx, EllMultiply<S, T>{y.size(), alpha, this->matrix().view(), x, beta, y});
}

template <class T, class S>
void EllOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                     double* sigma) const {
  submit(ctx, EllMultiplyDot<S, T>{y.rows, alpha, this->matrix().view(), x.data, y.data, sigma});
}

#define TCSOLVE_INSTANTIATE(S) template class Ell<S>;
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) template class EllOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve
