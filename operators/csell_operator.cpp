// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/csell_operator.hpp>

#include <tcsolve/formats/scaled.hpp>
#include <tcsolve/kernels/norm_inf.hpp>

namespace tcsolve {

template <class T, class S>
CsellOperator<T, S>::CsellOperator(Context& ctx, CsrView<S> const& a, CsellTuning const& tuning)
    : CsellOperator(ctx, CsrStorage<S>(ctx, a).view(), tuning, true) {}

template <class T, class S>
CsellOperator<T, S>::CsellOperator(Context& ctx, CsrView<S> const& here, CsellTuning const& tuning,
                                   bool)
    : LinearOperator<T>(here.rows, here.cols),
      matrix_(ctx, here, tuning),
      parts_(ctx.space(), matrix_.view().parts) {
  norm_ = norm_inf(ctx, here);
}

template <class T, class S>
void CsellOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  CsrStorage<S> const here(ctx, a);
  matrix_.update_values(ctx, here.view());
  norm_ = norm_inf(ctx, here.view());
}

template <class T, class S>
void CsellOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>)
    update_values(ctx, a);
  else
    update_values(ctx, scaled<S>(ctx, a, Scaling::refuse).matrix.view());
}

template <class T, class S>
Traits CsellOperator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}};
}

template <class T, class S>
Cost CsellOperator<T, S>::cost(Index k) const {
  double const entries = double(matrix_.view().entries);
  double const vectors = double(k) * (double(this->rows()) + this->cols()) * sizeof(T);
  return {2 * entries * k, double(matrix_.bytes()) + vectors,
          entries > 0 ? double(matrix_.stored()) / entries : 1};
}

template <class T, class S>
void CsellOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  T* const parts = const_cast<T*>(parts_.data());  // scratch, not state
  CsellProduct<S, T> const product{alpha, matrix_.view(), x, beta, y, parts};
  ctx.visit([&](cuda::Device& on) { cuda::spmm_csell(on, product); },
            [&](Host& on) { host::spmm_csell(on, product); });
}

template <class T, class S>
void CsellOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                       double* sigma) const {
  CsellView<S> const& a = matrix_.view();
  if (ctx.space() == Space::cuda && a.parts == 0)
    return cuda::spmv_dot_csell(*ctx.device(), CsellProduct<S, T>{alpha, a, x, T(0), y, nullptr},
                                sigma);
  do_apply(ctx, alpha, x, T(0), y, Op::none);
  dot<T>(ctx, x, y, sigma);
}

template class CsellOperator<double, double>;
template class CsellOperator<double, float>;
template class CsellOperator<double, half>;
template class CsellOperator<float, float>;
template class CsellOperator<float, half>;

}  // namespace tcsolve
