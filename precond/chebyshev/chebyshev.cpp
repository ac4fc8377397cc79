// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/chebyshev/chebyshev.hpp>

#include <tcsolve/configs/schema/checked.hpp>

#include <algorithm>

#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {

Chebyshev::Chebyshev(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                     ChebyshevParams const& params)
    : LinearOperator<double>(A->rows(), A->cols()),
      A_(std::move(A)),
      M_(std::move(M)),
      degree_(checked(params, "chebyshev").degree) {
  if (A_->rows() != A_->cols())
    throw ShapeError(cat("chebyshev needs a square operator, ", A_->name(), " is ", A_->rows(),
                         " x ", A_->cols()));
  // Lanczos approaches lambda_max from below; beyond it the polynomial would grow.
  high_ = ctx.communicator().global_size(A_->rows()) == 0
              ? 1.0
              : 1.1 * estimate_spectrum(ctx, *A_, *M_, params.lanczos_steps, "chebyshev").largest;
  low_ = high_ / params.eig_ratio;
}

Traits Chebyshev::traits() const {
  Traits const a = A_->traits(), m = M_->traits();
  return {.precision = a.precision,
          .fixed = a.fixed && m.fixed,
          .capturable = a.capturable && m.capturable,
          .isolates_nonfinite = false,
          .operations =
              a.operations && m.operations};  // r, d and sum then lie in the recording's workspace
}

Cost Chebyshev::cost(Index k) const {
  Cost a = A_->cost(k), m = M_->cost(k);
  double n = double(rows()) * k;
  return {(degree_ - 1) * a.flops + degree_ * m.flops + 8 * n * degree_,
          (degree_ - 1) * a.bytes + degree_ * m.bytes + 9 * 8 * n * degree_, a.stored_per_entry};
}

double Chebyshev::advance(Context& ctx, double applications) const {
  double const with_A = degree_ - 1, with_M = degree_;
  double const patience = M_->advance(ctx, with_M * applications) / with_M;
  if (with_A == 0) return patience;  // of degree 1, it never applies A
  return std::min(patience, A_->advance(ctx, with_A * applications) / with_A);
}

// Saad's symbols: theta and delta are the centre and half width of the interval, sigma = theta /
// delta.
void Chebyshev::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                         Op) const {
  auto scope = ctx.arena().scope();
  Out<double> r = scope.vectors<double>(x.rows, x.cols), d = scope.vectors<double>(x.rows, x.cols),
              sum = scope.vectors<double>(x.rows, x.cols);
  double theta = (high_ + low_) / 2, delta = (high_ - low_) / 2, sigma = theta / delta,
         rho = 1 / sigma;
  copy<double, double>(ctx, x, r);
  M_->apply(ctx, 1 / theta, r, 0, d);  // d = M r / theta
  copy<double, double>(ctx, d, sum);
  for (int k = 1; k < degree_; ++k) {
    A_->apply(ctx, -1, d, 1, r);  // r -= A d
    double next = 1 / (2 * sigma - rho);
    M_->apply(ctx, 2 * next / delta, r, next * rho, d);  // d = rho' rho d + (2 rho' / delta) M r
    axpby<double, double>(ctx, 1.0, d, 1.0, sum);
    rho = next;
  }
  axpby<double, double>(ctx, alpha, sum, beta, y);
}

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
