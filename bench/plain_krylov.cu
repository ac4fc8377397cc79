// SPDX-License-Identifier: Apache-2.0
#include "plain_krylov.hpp"

#include <cmath>

#include "plain_system.hpp"

namespace tcsolve::bench {

using cuda::check;

struct PlainKrylov::State : PlainSystem {
  explicit State(Csr<double> const& a)
      : PlainSystem(a), p(vector()), y(vector()), v_(vector()), t(vector()), shadow(vector()) {}
  void begin(std::vector<double> const& b) {
    check(cublasSetPointerMode(cuda::cublas(on), CUBLAS_POINTER_MODE_HOST));
    start(b);
    start_clock();
  }
  double dot(double* a, double* b) {
    double value;
    check(cublasDdot(cuda::cublas(on), n, a, 1, b, 1, &value));
    return value;
  }
  double norm(double* a) {
    double value;
    check(cublasDnrm2(cuda::cublas(on), n, a, 1, &value));
    return value;
  }
  void axpy(double alpha, double* from, double* to) {
    check(cublasDaxpy(cuda::cublas(on), n, &alpha, from, 1, to, 1));
  }
  void scale(double alpha, double* v) { check(cublasDscal(cuda::cublas(on), n, &alpha, v, 1)); }
  double *p, *y, *v_, *t, *shadow, *V = nullptr, *h = nullptr;
  double minus = -1;
};

PlainKrylov::PlainKrylov(Csr<double> const& a) : s_(new State(a)) {}
PlainKrylov::~PlainKrylov() { delete s_; }

std::vector<double> PlainKrylov::x() const { return s_->answer(); }

PlainResult PlainKrylov::bicgstab(std::vector<double> const& b, double rtol, int max_iters) {
  State& k = *s_;
  k.begin(b);
  double goal = rtol * k.norm(k.r), rho = 1, alpha = 1, omega = 1;
  check(cublasDcopy(cuda::cublas(k.on), k.n, k.r, 1, k.shadow, 1));
  check(cudaMemsetAsync(k.p, 0, sizeof(double) * k.n, k.on.stream));
  check(cudaMemsetAsync(k.v_, 0, sizeof(double) * k.n, k.on.stream));
  for (int iteration = 1;; ++iteration) {
    double rho_new = k.dot(k.shadow, k.r), beta = rho_new / rho * (alpha / omega);
    rho = rho_new;
    k.axpy(-omega, k.v_, k.p);  // p = r + beta (p - omega v)
    k.scale(beta, k.p);
    k.axpy(1, k.r, k.p);
    k.jacobi(k.p, k.y);
    k.product(k.y, k.v_);
    alpha = rho / k.dot(k.shadow, k.v_);
    k.axpy(-alpha, k.v_, k.r);
    k.axpy(alpha, k.y, k.x);
    k.jacobi(k.r, k.y);
    k.product(k.y, k.t);
    omega = k.dot(k.t, k.r) / k.dot(k.t, k.t);
    k.axpy(omega, k.y, k.x);
    k.axpy(-omega, k.t, k.r);
    if (k.norm(k.r) <= goal || iteration >= max_iters) return k.stop_clock(iteration);
  }
}

PlainResult PlainKrylov::gmres(std::vector<double> const& b, double rtol, int max_iters, int m) {
  State& k = *s_;
  cublasHandle_t blas = cuda::cublas(k.on);
  if (k.V == nullptr) {
    k.V = k.vector(m + 1);
    k.h = k.take<double>(2 * (m + 1));
  }
  k.begin(b);
  double beta = k.norm(k.r), goal = rtol * beta;
  std::vector<double> H((m + 1) * m), h(2 * (m + 1)), c(m), s(m), g(m + 1), w(m);
  int iteration = 0;
  while (beta > goal && iteration < max_iters) {
    check(cublasDcopy(blas, k.n, k.r, 1, k.V, 1));
    k.scale(1 / beta, k.V);
    std::fill(g.begin(), g.end(), 0.0);
    g[0] = beta;
    int j = 0;
    for (; j < m && std::abs(g[j]) > goal && iteration < max_iters; ++j, ++iteration) {
      double* next = k.V + std::size_t(k.n) * (j + 1);
      k.jacobi(k.V + std::size_t(k.n) * j, k.y);
      k.product(k.y, next);
      check(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
      for (int pass = 0; pass < 2; ++pass) {
        double* to = k.h + pass * (m + 1);
        check(
            cublasDgemv(blas, CUBLAS_OP_T, k.n, j + 1, &k.one, k.V, k.n, next, 1, &k.zero, to, 1));
        check(
            cublasDgemv(blas, CUBLAS_OP_N, k.n, j + 1, &k.minus, k.V, k.n, to, 1, &k.one, next, 1));
      }
      check(cudaMemcpyAsync(h.data(), k.h, sizeof(double) * h.size(), cudaMemcpyDeviceToHost,
                            k.on.stream));
      double below = k.norm(next);
      double* column = H.data() + std::size_t(m + 1) * j;
      for (int i = 0; i <= j; ++i) column[i] = h[i] + h[m + 1 + i];
      k.scale(1 / below, next);
      for (int i = 0; i < j; ++i) {
        double u = column[i], v = column[i + 1];
        column[i] = c[i] * u + s[i] * v;
        column[i + 1] = -s[i] * u + c[i] * v;
      }
      double radius = std::hypot(column[j], below);
      c[j] = column[j] / radius, s[j] = below / radius;
      column[j] = radius;
      g[j + 1] = -s[j] * g[j], g[j] *= c[j];
    }
    for (int i = j - 1; i >= 0; --i) {
      w[i] = g[i];
      for (int l = i + 1; l < j; ++l) w[i] -= H[std::size_t(m + 1) * l + i] * w[l];
      w[i] /= H[std::size_t(m + 1) * i + i];
    }
    check(cudaMemcpyAsync(k.h, w.data(), sizeof(double) * j, cudaMemcpyHostToDevice, k.on.stream));
    check(cublasDgemv(blas, CUBLAS_OP_N, k.n, j, &k.one, k.V, k.n, k.h, 1, &k.zero, k.t, 1));
    k.jacobi(k.t, k.y);
    k.axpy(1, k.y, k.x);
    k.product(k.y, k.t);  // r -= A y
    k.axpy(-1, k.t, k.r);
    beta = k.norm(k.r);
  }
  return k.stop_clock(iteration);
}

}  // namespace tcsolve::bench
