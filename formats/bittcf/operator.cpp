// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/bittcf/operator.hpp>

#include <type_traits>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
BittcfOperator<T, S>::BittcfOperator(Context& ctx, CsrView<S> const& a, BittcfTuning const& tuning)
    : ConvertedOperator<T, S, Bittcf<S>>(ctx, a, tuning) {
  BittcfView<S> const& m = this->matrix().view();
  if (ctx.space() != Space::host)
    parts_ = Array<T>(ctx.space(), std::size_t(m.pieces) * m.side * m.columns * 4 / sizeof(T));
}

template <class T, class S>
Traits BittcfOperator<T, S>::traits() const {
  // TF32 rounds as FP16 does.
  constexpr bool tf32 = std::is_same_v<T, float>;
  return {.precision = {real_of<S>, tf32 ? Real::f16 : Real::f64, tf32 ? Real::f32 : Real::f64},
          .isolates_nonfinite = false};
}

template <class T, class S>
void BittcfOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  ctx.visit([&](auto& on) {
    spmm_bittcf(on, ctx.loop(), alpha, this->matrix().view(), parts_.data(), x, beta, y);
  });
}

template <class T, class S>
void BittcfOperator<T, S>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y,
                                         double* G) const {
  if constexpr (std::is_same_v<T, double>) {
    bool const made = ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>) {
        BittcfView<S> const& a = this->matrix().view();
        auto const doubles = static_cast<std::size_t>(gram_doubles_bittcf(on, a, X, In<T>(Y)));
        if (doubles == 0) return false;
        auto scope = ctx.arena().scope();
        double* const memory = scope.template take<double>(doubles);
        spmm_gram_bittcf(on, ctx.loop(), alpha, a, parts_.data(), X, Y, G, memory);
        return true;
      }
      return false;
    });
    if (made) return;
  }
  LinearOperator<T>::do_apply_gram(ctx, alpha, X, Y, G);
}

#define TCSOLVE_INSTANTIATE(S, T) template class BittcfOperator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
