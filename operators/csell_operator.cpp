// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/csell_operator.hpp>

#include <tcsolve/formats/scaled.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/verbs/csell.hpp>

namespace tcsolve {

namespace {

template <class T>
MultiView<T> column(MultiView<T> const& v, Index j) {
  T* const data =
      v.data + (v.layout == Layout::row_major ? std::int64_t{j} : std::int64_t{j} * v.ld);
  return {data, v.rows, 1, v.ld, v.layout, v.space};
}

}  // namespace

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
  CsellView<S> const& a = matrix_.view();
  if (a.parts == 0) return sweep(ctx, CsellMultiply<S, T>{y.size(), alpha, a, x, beta, y, nullptr});
  T* const parts = const_cast<T*>(parts_.data());  // scratch, not state
  // Column by column: parts_ holds those of one.
  for (Index j = 0; j < y.cols; ++j) {
    In<T> const xj = column(x, j);
    Out<T> const yj = column(y, j);
    sweep(ctx, CsellMultiply<S, T>{a.lines, alpha, a, xj, beta, yj, parts});
    sweep(ctx, CsellAddParts<S, T>{a.long_rows, alpha, a, parts, beta, yj});
  }
}

template <class T, class S>
void CsellOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                       double* sigma) const {
  CsellView<S> const& a = matrix_.view();
  if (a.parts > 0) {
    do_apply(ctx, alpha, x, T(0), y, Op::none);
    return dot<T>(ctx, x, y, sigma);
  }
  sweep(ctx, CsellMultiplyDot<S, T>{y.rows, alpha, a, x.data, y.data, sigma});
}

template class CsellOperator<double, double>;
template class CsellOperator<double, float>;
template class CsellOperator<double, half>;
template class CsellOperator<float, float>;
template class CsellOperator<float, half>;

}  // namespace tcsolve
