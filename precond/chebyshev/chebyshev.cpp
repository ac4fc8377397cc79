// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/chebyshev/chebyshev.hpp>

#include <tcsolve/configs/schema/checked.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <tcsolve/operators/cast.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {

namespace {

/// Beyond the interval the polynomial would grow.
Chebyshev::Interval interval(Context& ctx, LinearOperator<double> const& A,
                             LinearOperator<double> const& M, ChebyshevParams const& params) {
  checked(params, "chebyshev");
  if (A.rows() != A.cols())
    throw ShapeError(
        cat("chebyshev needs a square operator, ", A.name(), " is ", A.rows(), " x ", A.cols()));
  double high = 1;
  if (ctx.communicator().global_size(A.rows()) > 0)
    high =
        spectrum_margin * estimate_spectrum(ctx, A, M, params.lanczos_steps, "chebyshev").largest;
  return {high / params.eig_ratio, high};
}

}  // namespace

Chebyshev::Chebyshev(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                     ChebyshevParams const& params)
    : ChebyshevIteration(A, M, params.degree, interval(ctx, *A, *M, params)) {}

template <class T>
std::shared_ptr<LinearOperator<float> const> ChebyshevIteration<T>::on_floats(Context& ctx) const {
  if constexpr (std::is_same_v<T, double>) {
    constexpr int far = 60;
    double const size = ctx.communicator().agree(A_->norm_estimate());
    if (!std::isfinite(size) || size == 0 || std::abs(std::ilogb(size)) > far) return nullptr;
    OperatorPtr<float> A = A_->on_floats(ctx);
    if (!A) return nullptr;
    return std::make_shared<ChebyshevIteration<float>>(
        std::move(A), on_vectors_of<float>(ctx, M_), degree_,
        ChebyshevIteration<float>::Interval{low_, high_});
  } else {
    return nullptr;
  }
}

template <class T>
Traits ChebyshevIteration<T>::traits() const {
  Traits const a = A_->traits(), m = M_->traits();
  return {.precision = a.precision,
          .fixed = a.fixed && m.fixed,
          .capturable = a.capturable && m.capturable,
          .isolates_nonfinite = false,
          .operations =
              a.operations && m.operations};  // r, d and sum then lie in the recording's workspace
}

template <class T>
Cost ChebyshevIteration<T>::cost(Index k) const {
  Cost a = A_->cost(k), m = M_->cost(k);
  double n = double(this->rows()) * k;
  return {(degree_ - 1) * a.flops + degree_ * m.flops + 8 * n * degree_,
          (degree_ - 1) * a.bytes + degree_ * m.bytes + 9 * sizeof(T) * n * degree_,
          a.stored_per_entry};
}

template <class T>
double ChebyshevIteration<T>::advance(Context& ctx, double applications) const {
  double const with_A = degree_ - 1, with_M = degree_;
  double const patience = M_->advance(ctx, with_M * applications) / with_M;
  if (with_A == 0) return patience;  // of degree 1, it never applies A
  return std::min(patience, A_->advance(ctx, with_A * applications) / with_A);
}

// Saad's symbols: theta and delta are the centre and half width of the interval, sigma = theta /
// delta.
template <class T>
void ChebyshevIteration<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  auto scope = ctx.arena().scope();
  Out<T> r = scope.template vectors<T>(x.rows, x.cols),
         d = scope.template vectors<T>(x.rows, x.cols),
         sum = scope.template vectors<T>(x.rows, x.cols);
  double theta = (high_ + low_) / 2, delta = (high_ - low_) / 2, sigma = theta / delta,
         rho = 1 / sigma;
  copy<T, T>(ctx, x, r);
  M_->apply(ctx, T(1 / theta), r, T(0), d);  // d = M r / theta
  copy<T, T>(ctx, d, sum);
  for (int k = 1; k < degree_; ++k) {
    A_->apply(ctx, T(-1), d, T(1), r);  // r -= A d
    double next = 1 / (2 * sigma - rho);
    // d = rho' rho d + (2 rho' / delta) M r
    M_->apply(ctx, T(2 * next / delta), r, T(next * rho), d);
    axpby<T, T>(ctx, 1.0, d, 1.0, sum);
    rho = next;
  }
  axpby<T, T>(ctx, alpha, sum, beta, y);
}

template class ChebyshevIteration<double>;
template class ChebyshevIteration<float>;

namespace {

/// The inner M takes new values, and the polynomial is made anew of its new spectrum.
class OwnedChebyshev final : public Preconditioner {
 public:
  OwnedChebyshev(Context& ctx, System const& system, std::unique_ptr<Preconditioner> inner,
                 ChebyshevParams const& params)
      : params_(params), inner_(std::move(inner)) {
    make(ctx, system);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    inner_->update(ctx, system);
    make(ctx, system);
  }

 private:
  void make(Context& ctx, System const& system) {
    M_ = std::make_shared<Chebyshev>(ctx, system.A, inner_->view(), params_);
  }
  ChebyshevParams params_;
  std::unique_ptr<Preconditioner> inner_;
  OperatorPtr<double> M_;
};

}  // namespace

std::unique_ptr<Preconditioner> ChebyshevFactory::build(Context& ctx, System const& system) const {
  return std::make_unique<OwnedChebyshev>(ctx, system, inner()->build(ctx, system), params_);
}

}  // namespace tcsolve
