// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/corrected.hpp>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/operators/corrected_ops.hpp>

namespace tcsolve {

template struct host::Executes<CorrectedOps<double>>;
template struct host::Executes<CorrectedOps<float>>;

template <class T>
void Corrected<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  A_->apply(ctx, alpha, x, beta, y, op);
  if (corrects()) submit(ctx, AddDiagonal<T>{y.size(), double(alpha), {D_.data(), block_}, x, y});
}

template <class T>
void Corrected<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  if (!corrects()) return A_->apply_dot(ctx, alpha, x, y, sigma);
  A_->apply(ctx, alpha, x, T(0), y);
  submit(ctx, AddDiagonalDot<T>{y.rows, double(alpha), {D_.data(), block_}, x.data, y.data, sigma});
}

template <class T>
void Corrected<T>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  if (!corrects()) return A_->apply_gram(ctx, alpha, X, Y, G);
  LinearOperator<T>::do_apply_gram(ctx, alpha, X, Y, G);
}

template class Corrected<double>;
template class Corrected<float>;

}  // namespace tcsolve
