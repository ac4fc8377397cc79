// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/rescaled.hpp>

#include <cmath>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/rescaled_ops.hpp>

namespace tcsolve {

template struct host::Executes<RescaledOps<double>>;
template struct host::Executes<RescaledOps<float>>;

template <class T>
void times_powers(Context& ctx, double alpha, Exponents const& e, int sign, In<T> x, double beta,
                  Out<T> y) {
  if (!e) return axpby<T, T>(ctx, alpha, x, beta, y);
  submit(ctx, TimesPowers<T>{y.size(), alpha, e->data(), sign, x, beta, y});
}

template <class T>
Rescaled<T>::Rescaled(Context& ctx, OperatorPtr<T> B, int shift, Exponents rows, Exponents columns,
                      double norm)
    : LinearOperator<T>(B->rows(), B->cols()), B_(std::move(B)) {
  rescale(ctx, shift, std::move(rows), std::move(columns), norm);
}

template <class T>
void Rescaled<T>::rescale(Context& ctx, int shift, Exponents rows, Exponents columns, double norm) {
  auto const suits = [](Exponents const& e, Index n) {
    return !e || e->size() == static_cast<std::size_t>(n);
  };
  if (!suits(rows, this->rows()) || !suits(columns, this->cols()))
    throw ShapeError(cat(name(), ": exponents of another length than its rows or columns"));
  shift_ = shift, norm_ = norm;
  rows_ = std::move(rows), columns_ = std::move(columns);
  ++revision_;
  auto const of_B = B_->diagonal();
  if (!of_B || plain()) return;
  Index const n = this->rows();
  diagonal_ = Array<T>(ctx.space(), static_cast<std::size_t>(n));
  Out<T> const d = vector_view(diagonal_.data(), n, ctx.space());
  if (of_B->d != nullptr)
    copy<T, T>(ctx, vector_view(of_B->d, n, ctx.space()), d);
  else
    fill<T>(ctx, d, 1);
  times_powers<T>(ctx, 1, rows_, -1, d, 0, d);
  times_powers<T>(ctx, 1, columns_, -1, d, 0, d);
}

template <class T>
std::optional<Diagonal<T>> Rescaled<T>::diagonal() const {
  auto D = B_->diagonal();
  if (!D) return D;
  if (!plain()) D->d = diagonal_.data();
  D->alpha = std::ldexp(D->alpha, -shift_);
  return D;
}

template <class T>
Cost Rescaled<T>::cost(Index k) const {
  Cost cost = B_->cost(k);
  if (B_->diagonal()) return cost;
  double const each = 2.0 * sizeof(T) * k;
  if (columns_) cost.bytes += each * this->cols();
  if (rows_) cost.bytes += each * this->rows();
  return cost;
}

/// y = alpha 2^-shift R^-1 (B (C^-1 x)) + beta y; of A^T with R and C in each other's place.
template <class T>
void Rescaled<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  double const factor = std::ldexp(double(alpha), -shift_);
  if (plain()) return B_->apply(ctx, T(factor), x, beta, y, op);
  if (auto const D = diagonal())
    return submit(ctx, Multiply<T>{y.size(), double(alpha) * D->alpha, D->d, x, double(beta), y});
  bool const forward = op == Op::none;
  Exponents const &before = forward ? columns_ : rows_, &after = forward ? rows_ : columns_;
  auto scope = ctx.arena().scope();
  if (before) {
    Out<T> const u = scope.template vectors<T>(x.rows, x.cols);
    times_powers<T>(ctx, 1, before, -1, x, 0, u);
    x = u;
  }
  if (!after) return B_->apply(ctx, T(factor), x, beta, y, op);
  Out<T> const w = scope.template vectors<T>(y.rows, y.cols);
  B_->apply(ctx, T(1), x, T(0), w, op);
  times_powers<T>(ctx, factor, after, -1, w, beta, y);
}

template <class T>
void Rescaled<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  if (plain()) return B_->apply_dot(ctx, T(std::ldexp(double(alpha), -shift_)), x, y, sigma);
  if (auto const D = diagonal())
    return submit(ctx,
                  MultiplyDot<T>{y.rows, double(alpha) * D->alpha, D->d, x.data, y.data, sigma});
  do_apply(ctx, alpha, x, T(0), y, Op::none);
  dot<T>(ctx, x, y, sigma);
}

template <class T>
void Rescaled<T>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  if (plain()) return B_->apply_gram(ctx, T(std::ldexp(double(alpha), -shift_)), X, Y, G);
  LinearOperator<T>::do_apply_gram(ctx, alpha, X, Y, G);
}

std::optional<NarrowFigures> rounding_of(Context& ctx, LinearOperator<double> const& A) {
  if (auto const* const stored = dynamic_cast<Rescaled<double> const*>(&A))
    return stored->figures();
  auto const floats = A.on_floats(ctx);
  auto const* const stored = dynamic_cast<Rescaled<float> const*>(floats.get());
  return stored != nullptr ? stored->figures() : std::nullopt;
}

#define TCSOLVE_INSTANTIATE(T) \
  template class Rescaled<T>;  \
  template void times_powers(Context&, double, Exponents const&, int, In<T>, double, Out<T>);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
