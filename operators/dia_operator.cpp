// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/dia_operator.hpp>

#include <tcsolve/formats/scaled.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>

namespace tcsolve {

template <class T, class S>
DiaOperator<T, S>::DiaOperator(Context& ctx, CsrView<S> const& a, DiaTuning const& tuning)
    : DiaOperator(ctx, CsrStorage<S>(ctx, a).view(), tuning, true) {}

template <class T, class S>
DiaOperator<T, S>::DiaOperator(Context& ctx, CsrView<S> const& here, DiaTuning const& tuning, bool)
    : LinearOperator<T>(here.rows, here.cols), matrix_(ctx, here, tuning) {
  norm_ = norm_inf(ctx, here);
}

template <class T, class S>
void DiaOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  CsrStorage<S> here(ctx, a);
  matrix_.update_values(ctx, here.view());
  norm_ = norm_inf(ctx, here.view());
}

template <class T, class S>
void DiaOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>)
    update_values(ctx, a);
  else
    update_values(ctx, scaled<S>(ctx, a, Scaling::refuse).matrix.view());
}

template <class T, class S>
Traits DiaOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}, .verbs = true};
}

template <class T, class S>
Cost DiaOperator<T, S>::cost(Index k) const {
  double entries = static_cast<double>(matrix_.view().entries);
  double vectors = static_cast<double>(k) * (double(this->rows()) + this->cols()) * sizeof(T);
  return {2 * entries * k, double(matrix_.bytes()) + vectors,
          entries > 0 ? double(matrix_.stored()) / entries : 1};
}

template <class T, class S>
void DiaOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  sweep(ctx, DiaMultiply<S, T>{y.size(), alpha, matrix_.view(), x, beta, y});
}

template <class T, class S>
void DiaOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                     double* sigma) const {
  sweep(ctx, DiaMultiplyDot<S, T>{y.rows, alpha, matrix_.view(), x.data, y.data, sigma});
}

template class DiaOperator<double, double>;
template class DiaOperator<double, float>;
template class DiaOperator<double, half>;
template class DiaOperator<float, float>;
template class DiaOperator<float, half>;

}  // namespace tcsolve
