// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/composite.hpp>

#include <algorithm>
#include <cmath>

namespace tcsolve {

namespace {

Traits both(Traits const& a, Traits const& b) {
  return {.precision = {std::max(a.precision.storage, b.precision.storage),
                        std::max(a.precision.multiply, b.precision.multiply),
                        std::max(a.precision.accumulate, b.precision.accumulate)},  // the coarser
          .transpose = a.transpose && b.transpose,
          .fixed = a.fixed && b.fixed,
          .capturable = a.capturable && b.capturable,
          .isolates_nonfinite = a.isolates_nonfinite && b.isolates_nonfinite};
}

/// y = alpha op(A) x + beta y, and nothing in a stopped loop, whatever A does there: what is added
/// to y, and what a part makes of another part's vector, is added and made once.
template <class T>
void apply_part(Context& ctx, LinearOperator<T> const& A, T alpha, In<T> x, T beta, Out<T> y,
                Op op) {
  if (A.traits().stops) return A.apply(ctx, alpha, x, beta, y, op);
  auto scope = ctx.arena().scope();
  Out<T> const made = scope.template vectors<T>(y.rows, y.cols);
  A.apply(ctx, T(1), x, T(0), made, op);
  axpby<T, T>(ctx, alpha, made, beta, y);
}

template <class T>
std::string extents(LinearOperator<T> const& a) {
  return cat(a.name(), " is ", a.rows(), " x ", a.cols());
}

}  // namespace

template <class T>
Traits Identity<T>::traits() const {
  return {.precision = {real_of<T>, real_of<T>, real_of<T>}, .transpose = true, .operations = true};
}
template <class T>
Cost Identity<T>::cost(Index k) const {
  return {0, 2.0 * k * this->rows() * sizeof(T), 1};
}
template <class T>
void Identity<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  axpby<T, T>(ctx, alpha, x, beta, y);
}

template <class T>
void Identity<T>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  submit(ctx, ShiftResidual{this->rows(), 1.0, v});
}

template <class T>
Scaled<T>::Scaled(double alpha, OperatorPtr<T> A)
    : LinearOperator<T>(A->rows(), A->cols()), alpha_(alpha), A_(std::move(A)) {}
template <class T>
void Scaled<T>::prepare(Context& ctx, Op op) const {
  A_->prepare(ctx, op);
}
template <class T>
double Scaled<T>::norm_estimate() const {
  return std::abs(alpha_) * A_->norm_estimate();
}
template <class T>
void Scaled<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  A_->apply(ctx, T(alpha_ * alpha), x, beta, y, op);
}

template <class T>
void Scaled<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  A_->apply_dot(ctx, T(alpha_ * alpha), x, y, sigma);
}

template <class T>
void Scaled<T>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  A_->apply_gram(ctx, T(alpha_ * alpha), X, Y, G);
}

template <class T>
bool Scaled<T>::sums_exactly() const {
  int exponent = 0;
  return std::abs(std::frexp(alpha_, &exponent)) == 0.5 && A_->sums_exactly();
}

/// alpha (b / alpha - A x).
template <class T>
void Scaled<T>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  Index const n = this->rows();
  auto scope = ctx.arena().scope();
  double* const b = scope.template take<double>(n);
  double* const b_low = v.b_low != nullptr ? scope.template take<double>(n) : nullptr;
  auto scale = [&](double factor, double const* from, double* to) {
    axpby<double, double>(ctx, factor, vector_view(from, n, ctx.space()), 0.0,
                          vector_view(to, n, ctx.space()));
  };
  scale(1 / alpha_, v.b, b);
  if (b_low != nullptr) scale(1 / alpha_, v.b_low, b_low);
  // The sizes of the steps before are those of b.
  double const factor = std::abs(alpha_);
  for (double* const sizes : {v.size, v.weight})
    if (sizes != nullptr && v.more) scale(1 / factor, sizes, sizes);
  A_->exact_residual(ctx, {b, v.x, v.r, b_low, v.r_low, v.size, v.weight, v.more});
  scale(alpha_, v.r, v.r);
  if (v.r_low != nullptr) scale(alpha_, v.r_low, v.r_low);
  for (double* const sizes : {v.size, v.weight})
    if (sizes != nullptr) scale(factor, sizes, sizes);
}

template <class T>
Sum<T>::Sum(OperatorPtr<T> A, OperatorPtr<T> B)
    : LinearOperator<T>(A->rows(), A->cols()), A_(std::move(A)), B_(std::move(B)) {
  if (A_->rows() != B_->rows() || A_->cols() != B_->cols())
    throw ShapeError(cat("sum: ", extents(*A_), ", ", extents(*B_)));
}
template <class T>
void Sum<T>::prepare(Context& ctx, Op op) const {
  A_->prepare(ctx, op);
  B_->prepare(ctx, op);
}
template <class T>
Traits Sum<T>::traits() const {
  return both(A_->traits(), B_->traits());
}
template <class T>
Cost Sum<T>::cost(Index k) const {
  Cost a = A_->cost(k), b = B_->cost(k);
  return {a.flops + b.flops, a.bytes + b.bytes, std::max(a.stored_per_entry, b.stored_per_entry)};
}
template <class T>
double Sum<T>::advance(Context& ctx, double n) const {
  return std::min(A_->advance(ctx, n), B_->advance(ctx, n));
}
template <class T>
void Sum<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  apply_part<T>(ctx, *A_, alpha, x, beta, y, op);
  apply_part<T>(ctx, *B_, alpha, x, T(1), y, op);
}

template <class T>
void Sum<T>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  auto scope = ctx.arena().scope();
  double* const low = scope.template take<double>(this->rows());
  A_->exact_residual(ctx, {v.b, v.x, v.r, v.b_low, low, v.size, v.weight, v.more});
  B_->exact_residual(ctx, {v.r, v.x, v.r, low, v.r_low, v.size, v.weight, true});
}

template <class T>
Product<T>::Product(OperatorPtr<T> A, OperatorPtr<T> B)
    : LinearOperator<T>(A->rows(), B->cols()), A_(std::move(A)), B_(std::move(B)) {
  if (A_->cols() != B_->rows())
    throw ShapeError(cat("product: ", extents(*A_), ", ", extents(*B_)));
}
template <class T>
void Product<T>::prepare(Context& ctx, Op op) const {
  A_->prepare(ctx, op);
  B_->prepare(ctx, op);
}
template <class T>
Traits Product<T>::traits() const {
  return both(A_->traits(), B_->traits());
}
template <class T>
Cost Product<T>::cost(Index k) const {
  Cost a = A_->cost(k), b = B_->cost(k);
  return {a.flops + b.flops, a.bytes + b.bytes, std::max(a.stored_per_entry, b.stored_per_entry)};
}
template <class T>
double Product<T>::advance(Context& ctx, double n) const {
  return std::min(A_->advance(ctx, n), B_->advance(ctx, n));
}
template <class T>
void Product<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  auto scope = ctx.arena().scope();
  Out<T> between = scope.template vectors<T>(A_->cols(), x.cols);
  LinearOperator<T> const& first = op == Op::none ? *B_ : *A_;
  LinearOperator<T> const& second = op == Op::none ? *A_ : *B_;
  first.apply(ctx, T(1), x, T(0), between, op);
  apply_part<T>(ctx, second, alpha, between, beta, y, op);
}

template <class T>
Transposed<T>::Transposed(OperatorPtr<T> A)
    : LinearOperator<T>(A->cols(), A->rows()), A_(std::move(A)) {
  if (!A_->traits().transpose) throw Unsupported(cat(A_->name(), ": transpose"));
}
template <class T>
void Transposed<T>::prepare(Context& ctx, Op op) const {
  A_->prepare(ctx, op == Op::none ? Op::transpose : Op::none);
}
template <class T>
void Transposed<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  A_->apply(ctx, alpha, x, beta, y, op == Op::none ? Op::transpose : Op::none);
}

template <class T>
Shifted<T>::Shifted(OperatorPtr<T> A, double sigma)
    : LinearOperator<T>(A->rows(), A->cols()), A_(std::move(A)), sigma_(sigma) {
  if (A_->rows() != A_->cols()) throw ShapeError(cat("shifted: ", extents(*A_), ", not square"));
}
template <class T>
Traits Shifted<T>::traits() const {
  Traits traits = A_->traits();
  traits.stops = true;
  return traits;
}
template <class T>
void Shifted<T>::prepare(Context& ctx, Op op) const {
  A_->prepare(ctx, op);
}
template <class T>
double Shifted<T>::norm_estimate() const {
  return A_->norm_estimate() + std::abs(sigma_);
}
template <class T>
void Shifted<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  apply_part<T>(ctx, *A_, alpha, x, beta, y, op);
  axpby<T, T>(ctx, double(alpha) * sigma_, x, 1.0, y);
}

template <class T>
void Shifted<T>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  auto scope = ctx.arena().scope();
  double* const low = scope.template take<double>(this->rows());
  A_->exact_residual(ctx, {v.b, v.x, v.r, v.b_low, low, v.size, v.weight, v.more});
  submit(ctx, ShiftResidual{
                  this->rows(), sigma_, {v.r, v.x, v.r, low, v.r_low, v.size, v.weight, true}});
}

#define TCSOLVE_INSTANTIATE(C) \
  template class C<double>;    \
  template class C<float>;
TCSOLVE_INSTANTIATE(Identity)
TCSOLVE_INSTANTIATE(Scaled)
TCSOLVE_INSTANTIATE(Sum)
TCSOLVE_INSTANTIATE(Product)
TCSOLVE_INSTANTIATE(Transposed)
TCSOLVE_INSTANTIATE(Shifted)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
