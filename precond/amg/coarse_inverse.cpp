// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/coarse_inverse.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <cmath>
#include <numeric>
#include <utility>

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

/// The same of any matrix.
Dense general_inverse_of(Dense const& m) {
  Eigen::PartialPivLU<Dense> const lu(m);
  auto const pivots = lu.matrixLU().diagonal().cwiseAbs();
  bool const regular = pivots.minCoeff() > zero_eigenvalue * pivots.maxCoeff();
  if (regular && lu.rcond() > zero_eigenvalue) return lu.inverse();
  Eigen::CompleteOrthogonalDecomposition<Dense> orthogonal;
  orthogonal.setThreshold(zero_eigenvalue);
  return orthogonal.compute(m).pseudoInverse();
}

Dense dense_of(Csr<double> const& a) {
  Dense m = Dense::Zero(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) m(i, a.columns[k]) = a.values[k];
  if (!m.allFinite()) throw SetupError("amg: the coarsest level has a value that is not finite");
  return m;
}

Csr<double> full_rows(Dense const& m) {
  auto const n = static_cast<Index>(m.rows());
  Csr<double> G;
  G.rows = G.cols = n;
  G.offsets.resize(static_cast<std::size_t>(n) + 1);
  G.columns.resize(static_cast<std::size_t>(n) * n);
  G.values.resize(G.columns.size());
  for (Index i = 0; i <= n; ++i) G.offsets[i] = Offset{i} * n;
  for (Index i = 0; i < n; ++i)
    std::iota(G.columns.begin() + Offset{i} * n, G.columns.begin() + Offset{i + 1} * n, 0);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows>(G.values.data(), n, n) = m;
  return G;
}

/// G = S f(S m S) S, S by the diagonal of m; of a row without a positive entry there `other`.
template <class F>
Dense scaled_inverse(Dense m, double other, CancelFlag cancel, F const& f) {
  auto const n = static_cast<Index>(m.rows());
  if (n == 0) return m;  // which has no least pivot
  // One power of two for the whole matrix first, so that a matrix times one has the same S A S.
  double const most = m.diagonal().maxCoeff();
  int const shift = most > 0 ? std::ilogb(most) : 0;
  m *= std::ldexp(1.0, -shift);
  Eigen::VectorXd scale(n);
  for (Index i = 0; i < n; ++i)
    scale(i) = m(i, i) > 0 ? std::ldexp(1.0, -std::ilogb(m(i, i)) / 2) : other;
  m = (scale.asDiagonal() * m * scale.asDiagonal()).eval();
  constexpr Index quick = 64;
  Dense const inverse = n <= quick ? f(m) : leaving_behind(cancel, [own = m, f] { return f(own); });
  return std::ldexp(1.0, -shift) * (scale.asDiagonal() * inverse * scale.asDiagonal());
}

}  // namespace

Csr<double> coarse_inverse(Csr<double> const& a, CancelFlag cancel) {
  Dense m = dense_of(a);
  if (a.rows > 0 && m.diagonal().minCoeff() < 0) refuse_indefinite();
  m = (0.5 * (m + m.transpose())).eval();
  Dense const G = scaled_inverse(std::move(m), 0, cancel, inverse_of);
  return full_rows(0.5 * (G + G.transpose()));
}

Csr<double> general_inverse(Csr<double> const& a, CancelFlag cancel) {
  return full_rows(scaled_inverse(dense_of(a), 1, cancel, general_inverse_of));
}

DenseInverse dense_inverse(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  DenseInverse made;
  made.values = Array<double>(ctx.space(), std::size_t(a.rows) * a.rows);
  ctx.visit([&](auto& on) {
    made.definite = dense_inverse(on, ctx.arena(), a, made.values.data());
    made.pattern = full_pattern(on, ctx.arena(), a.rows);
  });
  return made;
}

void renew_coarse_inverse(Context& ctx, CsrView<double> const& a, bool symmetric,
                          CsrStorage<double>& G) {
  if (symmetric && ctx.device() != nullptr && a.rows > 0 &&
      ctx.visit([&](auto& on) { return dense_inverse(on, ctx.arena(), a, G.own_values()); }))
    return;
  Csr<double> const here = to_host(ctx, a);
  Csr<double> const made = symmetric ? coarse_inverse(here, ctx.cancel_flag())
                                     : general_inverse(here, ctx.cancel_flag());
  G.update_values(ctx, made.view());
}

CsrStorage<double> coarse_inverse(Context& ctx, CsrView<double> const& a, bool symmetric) {
  if (!symmetric)
    return CsrStorage<double>(ctx, general_inverse(to_host(ctx, a), ctx.cancel_flag()));
  if (ctx.device() != nullptr && a.rows > 0) {
    DenseInverse made = dense_inverse(ctx, a);
    if (made.definite) return sparse::stored(ctx, std::move(made.pattern), std::move(made.values));
  }
  return CsrStorage<double>(ctx, coarse_inverse(to_host(ctx, a), ctx.cancel_flag()));
}

}  // namespace tcsolve
