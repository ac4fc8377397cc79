// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/coarse_inverse.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numeric>

#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {
namespace {

using Dense = Eigen::MatrixXd;

[[noreturn]] void refuse_indefinite() {
  throw SetupError(
      "amg: the coarsest level is not positive semidefinite, so A is not; use another "
      "preconditioner with minres or gmres");
}

/// The generalised inverse of a symmetric matrix whose diagonal is near 1 or 0.
Dense inverse_of(Dense const& m) {
  Eigen::LLT<Dense> const cholesky(m);
  if (cholesky.info() == Eigen::Success) {
    double const least = cholesky.matrixLLT().diagonal().array().square().minCoeff();
    if (least > zero_eigenvalue) return cholesky.solve(Dense::Identity(m.rows(), m.cols()));
  }
  Eigen::SelfAdjointEigenSolver<Dense> const eigen(m);
  Eigen::VectorXd const& lambda = eigen.eigenvalues();
  double const largest = lambda.cwiseAbs().maxCoeff(), least = zero_eigenvalue * largest;
  if (eigen.info() != Eigen::Success || lambda.minCoeff() < -1e3 * least) refuse_indefinite();
  Eigen::VectorXd const inverse =
      (lambda.array() > least).select(lambda.array().max(least).inverse(), 0.0);
  return eigen.eigenvectors() * inverse.asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace

Csr<double> coarse_inverse(Csr<double> const& a, CancelFlag cancel) {
  Index const n = a.rows;
  Dense m = Dense::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) m(i, a.columns[k]) = a.values[k];
  if (!m.allFinite()) throw SetupError("amg: the coarsest level has a value that is not finite");
  if (n > 0 && m.diagonal().minCoeff() < 0) refuse_indefinite();
  // One power of two for the whole matrix first, so that a matrix times one has the same S A S.
  double const most = n > 0 ? m.diagonal().maxCoeff() : 0.0;
  int const shift = most > 0 ? std::ilogb(most) : 0;
  m *= std::ldexp(1.0, -shift);
  Eigen::VectorXd scale(n);
  for (Index i = 0; i < n; ++i)
    scale(i) = m(i, i) > 0 ? std::ldexp(1.0, -std::ilogb(m(i, i)) / 2) : 0.0;
  m = (scale.asDiagonal() * (0.5 * (m + m.transpose())) * scale.asDiagonal()).eval();
  constexpr Index quick = 64;
  Dense inverse =
      n <= quick ? inverse_of(m) : leaving_behind(cancel, [own = m] { return inverse_of(own); });
  inverse =
      (scale.asDiagonal() * (0.5 * (inverse + inverse.transpose())) * scale.asDiagonal()).eval();
  inverse *= std::ldexp(1.0, -shift);
  Csr<double> G;
  G.rows = G.cols = n;
  G.columns.resize(static_cast<std::size_t>(n) * n);
  G.values.assign(inverse.data(), inverse.data() + inverse.size());  // symmetric: rows are columns
  G.offsets.resize(static_cast<std::size_t>(n) + 1);
  for (Index i = 0; i <= n; ++i) G.offsets[i] = Offset{i} * n;
  for (Index i = 0; i < n; ++i)
    std::iota(G.columns.begin() + Offset{i} * n, G.columns.begin() + Offset{i + 1} * n, 0);
  return G;
}

DenseInverse dense_inverse(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return dense_inverse(on, ctx.arena(), a); });
}

CsrStorage<double> coarse_inverse(Context& ctx, CsrView<double> const& a) {
  if (ctx.device() != nullptr && a.rows > 0) {
    DenseInverse made = dense_inverse(ctx, a);
    if (made.definite) return sparse::stored(ctx, std::move(made.pattern), std::move(made.values));
  }
  return CsrStorage<double>(ctx, coarse_inverse(to_host(ctx, a), ctx.cancel_flag()));
}

}  // namespace tcsolve
