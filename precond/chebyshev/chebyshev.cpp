// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/chebyshev/chebyshev.hpp>

#include <tcsolve/configs/schema/checked.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

Spectrum estimate_spectrum(Context& ctx, LinearOperator<double> const& A,
                           LinearOperator<double> const& M, int steps) {
  Index n = A.rows();
  auto scope = ctx.arena().scope();
  double* value = scope.take<double>(1);
  Out<double> r = scope.vector<double>(n), z = scope.vector<double>(n), p = scope.vector<double>(n),
              q = scope.vector<double>(n);
  auto definite = [](double v, char const* which) {
    if (!(v > 0) || !std::isfinite(v))
      throw SetupError(cat("chebyshev: the ", which, " is not positive definite (curvature ", v,
                           "); use jacobi with minres or gmres"));
    return v;
  };
  submit(ctx, Random<double>{n, ctx.options().seed + 64, r.data});
  double rho_first = 0, rho_prev = 0, beta = 0, alpha_prev = 0;
  std::vector<double> diagonal, below;
  for (int k = 0; k < std::min<Index>(steps, n); ++k) {
    M.apply_dot(ctx, r, z, value);
    // After a request to stop, an inner solver was interrupted; a fixed M was applied in full.
    if (!M.traits().fixed && ctx.asked() != Stop::running) break;
    double rho = read(ctx, value);
    if (k == 0) rho_first = rho;
    if (k > 0 && !(rho > 1e-28 * rho_first)) break;  // the Krylov space is exhausted
    definite(rho, "inner preconditioner");
    beta = k == 0 ? 0.0 : rho / rho_prev;
    axpby<double, double>(ctx, 1.0, z, beta, p);  // p = z + beta p
    A.apply_dot(ctx, p, q, value);
    double alpha = rho / definite(read(ctx, value), "operator");
    if (!std::isnormal(alpha) || !std::isnormal(1 / alpha))
      throw SetupError("chebyshev: the eigenvalues of M A are beyond FP64; scale the system");
    axpby<double, double>(ctx, -alpha, q, 1.0, r);
    diagonal.push_back(1 / alpha + (k == 0 ? 0.0 : beta / alpha_prev));
    if (k > 0) below.push_back(std::sqrt(beta) / alpha_prev);
    rho_prev = rho;
    alpha_prev = alpha;
  }
  if (diagonal.empty()) return {1, 1};
  // Squares of the entries are formed: a power of two takes them to size 1, which is exact.
  int const e = std::ilogb(diagonal.front());
  for (auto* entries : {&diagonal, &below})
    for (double& entry : *entries) entry = std::ldexp(entry, -e);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> lanczos;
  lanczos.computeFromTridiagonal(Eigen::Map<Eigen::VectorXd>(diagonal.data(), diagonal.size()),
                                 Eigen::Map<Eigen::VectorXd>(below.data(), below.size()),
                                 Eigen::EigenvaluesOnly);
  return {std::ldexp(lanczos.eigenvalues().minCoeff(), e),
          std::ldexp(lanczos.eigenvalues().maxCoeff(), e)};
}

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
  high_ =
      A_->rows() == 0 ? 1.0 : 1.1 * estimate_spectrum(ctx, *A_, *M_, params.lanczos_steps).largest;
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
