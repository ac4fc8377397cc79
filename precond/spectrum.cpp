// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/spectrum.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/spectrum_ops.hpp>

namespace tcsolve {
namespace {

/// The extreme eigenvalues of the Lanczos matrix that rho and sigma of the steps make. Steps behind
/// one that ends the iteration hold nothing.
Spectrum lanczos(std::span<double const> rho, std::span<double const> sigma, char const* who,
                 Indefinite indefinite) {
  auto const positive = [](double v) { return v > 0 && std::isfinite(v); };
  auto const definite = [&](double v, char const* which) {
    if (!positive(v))
      throw SetupError(cat(who, ": the ", which, " is not positive definite (curvature ", v,
                           "); use jacobi with minres or gmres"));
  };
  bool const ignored = indefinite == Indefinite::ignore;
  // Where A is singular the rest is in its kernel, and rounding decides the sign of a curvature.
  constexpr double rounding = 1e-13;
  double alpha_prev = 0, largest = 0;
  std::vector<double> diagonal, below;
  for (std::size_t k = 0; k < rho.size(); ++k) {
    if (k > 0 && !(rho[k] > 1e-28 * rho[0])) break;  // the Krylov space is exhausted
    if (ignored && !(positive(rho[k]) && positive(sigma[k]))) break;
    definite(rho[k], "inner preconditioner");
    double const beta = k == 0 ? 0.0 : rho[k] / rho[k - 1], curvature = sigma[k] / rho[k];
    if (k > 0 && std::abs(curvature) <= rounding * largest) {
      diagonal.push_back(beta / alpha_prev);
      below.push_back(std::sqrt(beta) / alpha_prev);
      break;
    }
    largest = std::max(largest, curvature);
    definite(sigma[k], "operator");
    double const alpha = rho[k] / sigma[k];
    if (!std::isnormal(alpha) || !std::isnormal(1 / alpha))
      throw SetupError(cat(who, ": the eigenvalues of M A are beyond FP64; scale the system"));
    diagonal.push_back(1 / alpha + (k == 0 ? 0.0 : beta / alpha_prev));
    if (k > 0) below.push_back(std::sqrt(beta) / alpha_prev);
    alpha_prev = alpha;
  }
  if (diagonal.empty()) return {1, 1};
  // Squares of the entries are formed: a power of two takes them to size 1, which is exact.
  int const e = std::ilogb(diagonal.front());
  for (auto* entries : {&diagonal, &below})
    for (double& entry : *entries) entry = std::ldexp(entry, -e);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  eigen.computeFromTridiagonal(Eigen::Map<Eigen::VectorXd>(diagonal.data(), diagonal.size()),
                               Eigen::Map<Eigen::VectorXd>(below.data(), below.size()),
                               Eigen::EigenvaluesOnly);
  Eigen::VectorXd const& found = eigen.eigenvalues();  // ascending
  double const most = found.tail(1)[0];
  auto const least = std::ranges::find_if(found, [&](double v) { return v > rounding * most; });
  return {std::ldexp(least != found.end() ? *least : most, e), std::ldexp(most, e)};
}

}  // namespace

Spectrum estimate_spectrum(Context& ctx, LinearOperator<double> const& A,
                           LinearOperator<double> const& M, int steps, char const* who,
                           Indefinite indefinite, double bound) {
  Index const n = A.rows();
  auto const most =
      static_cast<int>(std::min<std::int64_t>(steps, ctx.communicator().global_size(n)));
  if (most == 0) return {1, 1};
  Context::Entry const entry(ctx);
  std::optional<Diagonal<double>> const D = M.diagonal();
  auto scope = ctx.arena().scope();
  double *const rho = scope.take<double>(2 * static_cast<std::size_t>(most)), *const sigma =
                                                                                  rho + most;
  Out<double> const r = scope.vector<double>(n), p = scope.vector<double>(n),
                    q = scope.vector<double>(n), z = D ? r : scope.vector<double>(n);
  constexpr std::uint64_t stream = 64;
  Random<double> const random{n, ctx.options().seed + stream, r.data,
                              ctx.communicator().first_row(n)};
  if (D)
    submit(ctx, SpectrumStart{n, random, *D, rho});
  else
    submit(ctx, random);
  auto const found = [&](int made) {
    std::vector<double> scalars(2 * static_cast<std::size_t>(most));
    copy_bytes(ctx, scalars.data(), Space::host, rho, ctx.space(), scalars.size() * sizeof(double));
    Spectrum const s = lanczos({scalars.data(), std::size_t(made)},
                               {scalars.data() + most, std::size_t(made)}, who, indefinite);
    return Spectrum{s.smallest, std::min(s.largest, bound / spectrum_margin)};
  };
  int const half = std::isfinite(bound) ? most / 2 : 0;
  int made = 0;
  for (; made < most; ++made) {
    if (made > 0 && made == half)
      if (Spectrum const s = found(made); s.largest == bound / spectrum_margin) return s;
    if (!D) M.apply_dot(ctx, r, z, rho + made);
    // An M that solves systems itself was interrupted after a request to stop, and is not to be
    // given what is left where the Krylov space is exhausted.
    if (!M.traits().fixed && (ctx.asked() != Stop::running || !(read(ctx, rho + made) > 0))) break;
    submit(ctx, SpectrumDirection{n, rho + made, made == 0, D.value_or(Diagonal<double>{}), z.data,
                                  p.data});
    A.apply_dot(ctx, p, q, sigma + made);
    if (made + 1 == most) continue;  // nobody asks for its residual
    SpectrumResidual const update{n, rho + made, sigma + made, q.data, r.data};
    if (D)
      submit(ctx, SpectrumResidualDot{n, update, *D, rho + made + 1});
    else
      submit(ctx, update);
  }
  return found(made);
}

}  // namespace tcsolve
