// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <cmath>

#include <tcsolve/core/half.hpp>
#include <tcsolve/precond/jacobi/ops.hpp>

namespace tcsolve {

template <class T>
template <class S>
Jacobi<T>::Jacobi(Context& ctx, CsrView<S> const& a)
    : LinearOperator<T>(a.rows, a.rows), inverse_(ctx.space(), a.rows) {
  if (a.rows != a.cols)
    throw ShapeError(cat("jacobi needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  update(ctx, a);
}

template <class T>
template <class S>
void Jacobi<T>::update(Context& ctx, CsrView<S> const& a) {
  if (a.rows != this->rows())
    throw ShapeError(cat("jacobi: M has ", this->rows(), " rows, the new matrix ", a.rows));
  if (ctx.communicator().global_size(a.rows) == 0) return;
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  double* counts = scope.template take<double>(3);
  submit(ctx, InverseDiagonal<S, T>{a.rows, a, inverse_.data(), counts});
  auto count = to_host(ctx, counts, ctx.space(), 3);
  if (floats_) fits_ = round(ctx);
  if (count[0] == 0 && count[2] == 0) return;
  auto inverse = to_host(ctx, inverse_);
  for (Index i = 0; i < a.rows; ++i)
    if (inverse[i] == T(0) || !std::isfinite(double(inverse[i])))
      throw SetupError(
          cat("jacobi: the diagonal entry of row ", i + 1,
              inverse[i] == T(0) ? " is zero or absent" : " has an inverse out of range", " (",
              count[0] + count[2], " such rows); use preconditioner: none or block_jacobi"));
}

template <class T>
Traits Jacobi<T>::traits() const {
  return {.precision = {real_of<T>, Real::f64, Real::f64}, .transpose = true, .operations = true};
}

template <class T>
Cost Jacobi<T>::cost(Index k) const {
  double n = this->rows();
  return {n * k, n * sizeof(T) * (1 + 2.0 * k), 1};
}

template <class T>
void Jacobi<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  submit(ctx, Multiply<T>{y.size(), alpha, inverse_.data(), x, beta, y});
}

template <class T>
void Jacobi<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  submit(ctx, MultiplyDot<T>{y.rows, alpha, inverse_.data(), x.data, y.data, sigma});
}

/// floats_ takes the entries at hand. False where one of them leaves the range of FP32.
template <class T>
bool Jacobi<T>::round(Context& ctx) const {
  if constexpr (std::is_same_v<T, double>) {
    auto scope = ctx.arena().scope();
    double* const lost = scope.template take<double>(1);
    submit(ctx, RoundDiagonal{this->rows(), inverse_.data(), floats_->inverse_.data(), lost});
    return to_host(ctx, lost, ctx.space(), 1).front() == 0;
  } else {
    return false;
  }
}

template <class T>
std::shared_ptr<LinearOperator<float> const> Jacobi<T>::on_floats(Context& ctx) const {
  if constexpr (std::is_same_v<T, double>) {
    std::lock_guard const one(mutex_);
    if (!floats_) {
      Context::Entry const entry(ctx);
      floats_.reset(new Jacobi<float>(Array<float>(ctx.space(), inverse_.size())));
      fits_ = round(ctx);
    }
    return fits_ ? floats_ : nullptr;
  } else {
    return nullptr;
  }
}

template class Jacobi<double>;
template class Jacobi<float>;
template Jacobi<double>::Jacobi(Context&, CsrView<double> const&);
template void Jacobi<double>::update(Context&, CsrView<double> const&);
template Jacobi<double>::Jacobi(Context&, CsrView<float> const&);
template void Jacobi<double>::update(Context&, CsrView<float> const&);
template Jacobi<double>::Jacobi(Context&, CsrView<half> const&);
template void Jacobi<double>::update(Context&, CsrView<half> const&);
template Jacobi<double>::Jacobi(Context&, CsrView<bfloat16> const&);
template void Jacobi<double>::update(Context&, CsrView<bfloat16> const&);
template Jacobi<float>::Jacobi(Context&, CsrView<double> const&);
template void Jacobi<float>::update(Context&, CsrView<double> const&);
template Jacobi<float>::Jacobi(Context&, CsrView<float> const&);
template void Jacobi<float>::update(Context&, CsrView<float> const&);
template Jacobi<float>::Jacobi(Context&, CsrView<half> const&);
template void Jacobi<float>::update(Context&, CsrView<half> const&);
template Jacobi<float>::Jacobi(Context&, CsrView<bfloat16> const&);
template void Jacobi<float>::update(Context&, CsrView<bfloat16> const&);

}  // namespace tcsolve
