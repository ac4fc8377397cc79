// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csell/operator.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits CsellOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}, .ends_in_steps = ends_in_steps<S, T>};
}

template <class T, class S>
void CsellOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  T* const parts = const_cast<T*>(parts_.data());  // scratch, not state
  CsellProduct<S, T> const product{alpha, this->matrix().view(), x, beta, y, parts, ctx.loop()};
  ctx.visit([&](auto& on) { spmm_csell(on, product); });
}

template <class T, class S>
void CsellOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                       double* sigma) const {
  CsellView<S> const& a = this->matrix().view();
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      if (a.parts == 0)
        return spmv_dot_csell(on, CsellProduct<S, T>{alpha, a, x, T(0), y, nullptr, ctx.loop()},
                              sigma);
    }
    do_apply(ctx, alpha, x, T(0), y, Op::none);
    dot<T>(ctx, x, y, sigma);
  });
}

template <class T, class S>
void CsellOperator<T, S>::do_apply_then(Context& ctx, T alpha, In<T> x, T beta, Out<T> y,
                                        SmoothingStep<T> const& step) const {
  if constexpr (ends_in_steps<S, T>)
    ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        spmv_then_csell(on,
                        CsellProduct<S, T>{alpha, this->matrix().view(), x, beta, y,
                                           const_cast<T*>(parts_.data()), ctx.loop()},
                        step);
    });
}

#define TCSOLVE_INSTANTIATE(S, T) template class CsellOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
