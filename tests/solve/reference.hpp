// SPDX-License-Identifier: Apache-2.0
/// Textbook loops in Eigen, written for comparison: each counts the iterations until its own
/// recurrence meets tol. M is dense and stands for the preconditioner.
#pragma once

#include <cmath>

#include <tests/support/dense.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test::reference {

/// Saad 2003, Algorithm 9.1.
inline Index cg(Matrix const& A, Matrix const& M, Column r, double tol, Index most) {
  Column p, z;
  double rho = 0;
  for (Index k = 0; k < most; ++k) {
    if (r.norm() <= tol) return k;
    z = M * r;
    double now = r.dot(z);
    p = k == 0 ? z : Column(z + now / rho * p);
    rho = now;
    Column q = A * p;
    r -= rho / p.dot(q) * q;
  }
  return most;
}

/// Saad 2003, Algorithm 7.7, preconditioned from the right.
inline Index bicgstab(Matrix const& A, Matrix const& M, Column r, double tol, Index most) {
  Column shadow = r, p = r;
  for (Index k = 0; k < most; ++k) {
    if (r.norm() <= tol) return k;
    double rho = shadow.dot(r);
    Column v = A * (M * p);
    double alpha = rho / shadow.dot(v);
    Column s = r - alpha * v, t = A * (M * s);
    if (s.norm() <= tol) return k + 1;
    double omega = t.dot(s) / t.squaredNorm();
    r = s - omega * t;
    p = r + shadow.dot(r) / rho * (alpha / omega) * (p - omega * v);
  }
  return most;
}

/// Saad 2003, Algorithm 6.9, restarted: modified Gram-Schmidt and a dense least-squares solve.
inline Index gmres(Matrix const& A, Matrix const& M, Column const& b, double tol, Index restart,
                   Index most, bool left = false) {
  Column x = Column::Zero(b.size());
  Index k = 0;
  Matrix B = left ? Matrix(M * A) : Matrix(A * M);
  while (k < most) {
    Column r = left ? Column(M * (b - A * x)) : Column(b - A * x);
    double beta = r.norm();
    if (beta <= tol) return k;
    Matrix V = Matrix::Zero(b.size(), restart + 1), H = Matrix::Zero(restart + 1, restart);
    V.col(0) = r / beta;
    Column y;
    Index j = 0;
    bool enough = false;
    for (; j < restart && !enough && k < most; ++j, ++k) {
      Column w = B * V.col(j);
      for (int pass = 0; pass < 2; ++pass)
        for (Index i = 0; i <= j; ++i) {
          double h = V.col(i).dot(w);
          H(i, j) += h;
          w -= h * V.col(i);
        }
      H(j + 1, j) = w.norm();
      if (H(j + 1, j) > 0) V.col(j + 1) = w / H(j + 1, j);
      Matrix top = H.topLeftCorner(j + 2, j + 1);
      Column e = beta * Column::Unit(j + 2, 0);
      y = least_squares_solution(top, e);
      enough = (e - top * y).norm() <= tol;
    }
    Column u = V.leftCols(j) * y;
    x += left ? u : Column(M * u);
    if (enough) return k;
  }
  return most;
}

/// The minimum of ||b - A x|| over the k-th Krylov space, the dense way: what MINRES computes.
inline Index minres(Matrix const& A, Column const& b, double tol, Index most) {
  return gmres(A, Matrix::Identity(A.rows(), A.cols()), b, tol, most, most);
}

/// LSMR minimises ||A^T r|| over the Krylov space of A^T A and A^T b: MINRES on the normal
/// equations.
inline Index lsmr(Matrix const& A, Column const& b, double tol, Index most) {
  Index n = static_cast<Index>(A.cols());
  Matrix V(n, 0), N = A.transpose() * A;
  Column v = A.transpose() * b, rhs = v;
  for (Index k = 1; k <= std::min(most, n); ++k) {
    for (int pass = 0; pass < 2; ++pass) v -= V * (V.transpose() * v);
    V.conservativeResize(n, k);
    V.col(k - 1) = v.normalized();
    Column y = least_squares_solution(N * V, rhs);
    if ((b - A * (V * y)).norm() <= tol) return k;
    v = N * V.col(k - 1);
  }
  return most;
}

}  // namespace tcsolve::test::reference
