// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/spectrum.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

Spectrum estimate_spectrum(Context& ctx, LinearOperator<double> const& A,
                           LinearOperator<double> const& M, int steps, char const* who,
                           Indefinite indefinite) {
  Index n = A.rows();
  auto scope = ctx.arena().scope();
  double* value = scope.take<double>(1);
  Out<double> r = scope.vector<double>(n), z = scope.vector<double>(n), p = scope.vector<double>(n),
              q = scope.vector<double>(n);
  auto const positive = [](double v) { return v > 0 && std::isfinite(v); };
  auto definite = [&](double v, char const* which) {
    if (!positive(v))
      throw SetupError(cat(who, ": the ", which, " is not positive definite (curvature ", v,
                           "); use jacobi with minres or gmres"));
    return v;
  };
  std::int64_t const all = ctx.communicator().global_size(n);
  random_vector<double>(ctx, 64, r);
  double rho_first = 0, rho_prev = 0, beta = 0, alpha_prev = 0;
  std::vector<double> diagonal, below;
  for (int k = 0; k < std::min<std::int64_t>(steps, all); ++k) {
    M.apply_dot(ctx, r, z, value);
    // After a request to stop, an inner solver was interrupted; a fixed M was applied in full.
    if (!M.traits().fixed && ctx.asked() != Stop::running) break;
    double rho = read(ctx, value);
    if (k == 0) rho_first = rho;
    if (k > 0 && !(rho > 1e-28 * rho_first)) break;  // the Krylov space is exhausted
    bool const ignored = indefinite == Indefinite::ignore;
    if (ignored && !positive(rho)) break;
    definite(rho, "inner preconditioner");
    beta = k == 0 ? 0.0 : rho / rho_prev;
    axpby<double, double>(ctx, 1.0, z, beta, p);  // p = z + beta p
    A.apply_dot(ctx, p, q, value);
    double const curvature = read(ctx, value);
    if (ignored && !positive(curvature)) break;
    double alpha = rho / definite(curvature, "operator");
    if (!std::isnormal(alpha) || !std::isnormal(1 / alpha))
      throw SetupError(cat(who, ": the eigenvalues of M A are beyond FP64; scale the system"));
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

}  // namespace tcsolve
