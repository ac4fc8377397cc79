// SPDX-License-Identifier: Apache-2.0
#include "plain_krylov.hpp"

#include <cmath>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::bench {

using cuda::check;

struct PlainKrylov::State {
  explicit State(Csr<double> const& a) : on(0), n(a.rows) {
    std::vector<int> narrow(a.offsets.begin(), a.offsets.end());
    std::vector<double> inverse(n);
    for (Index i = 0; i < n; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        if (a.columns[k] == i) inverse[i] = 1 / a.values[k];
    upload(offsets, narrow);
    upload(columns, a.columns);
    upload(values, a.values);
    upload(d, inverse);
    for (double** v : {&x, &r, &p, &y, &v_, &t, &shadow}) *v = vector(1);
    check(cusparseCreateCsr(&A, n, n, a.entries(), offsets, columns, values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseCreateDnVec(&X, n, x, CUDA_R_64F));
    check(cusparseCreateDnVec(&Y, n, y, CUDA_R_64F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero,
                                  Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    check(cudaMalloc(&buffer, bytes + 16));
    check(cusparseSpMV_preprocess(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero,
                                  Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
  }
  ~State() {
    cusparseDestroyDnVec(X);
    cusparseDestroyDnVec(Y);
    cusparseDestroySpMat(A);
    for (void* q :
         {(void*)offsets, (void*)columns, (void*)values, (void*)d, (void*)x, (void*)r, (void*)p,
          (void*)y, (void*)v_, (void*)t, (void*)shadow, (void*)V, (void*)h, buffer})
      cudaFree(q);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  template <class T>
  void upload(T*& to, std::vector<T> const& from) {
    check(cudaMalloc(&to, sizeof(T) * from.size()));
    check(cudaMemcpy(to, from.data(), sizeof(T) * from.size(), cudaMemcpyHostToDevice));
  }
  double* vector(std::size_t columns) {
    double* v = nullptr;
    check(cudaMalloc(&v, sizeof(double) * n * columns));
    return v;
  }
  /// to = A from.
  void product(double* from, double* to) {
    check(cusparseDnVecSetValues(X, from));
    check(cusparseDnVecSetValues(Y, to));
    check(cusparseSpMV(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y,
                       CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  }
  void jacobi(double* from, double* to) {
    check(cublasDdgmm(on.cublas, CUBLAS_SIDE_LEFT, n, 1, from, n, d, 1, to, n));
  }
  double dot(double* a, double* b) {
    double value;
    check(cublasDdot(on.cublas, n, a, 1, b, 1, &value));
    return value;
  }
  double norm(double* a) {
    double value;
    check(cublasDnrm2(on.cublas, n, a, 1, &value));
    return value;
  }
  void axpy(double alpha, double* from, double* to) {
    check(cublasDaxpy(on.cublas, n, &alpha, from, 1, to, 1));
  }
  void scale(double alpha, double* v) { check(cublasDscal(on.cublas, n, &alpha, v, 1)); }
  void start(std::vector<double> const& b) {
    check(cublasSetPointerMode(on.cublas, CUBLAS_POINTER_MODE_HOST));
    check(cudaMemsetAsync(x, 0, sizeof(double) * n, on.stream));
    check(cudaMemcpyAsync(r, b.data(), sizeof(double) * n, cudaMemcpyHostToDevice, on.stream));
    check(cudaStreamSynchronize(on.stream));
    check(cudaEventRecord(begin, on.stream));
  }
  PlainResult stop(int iterations) {
    check(cudaEventRecord(end, on.stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    return {iterations, ms * 1e-3};
  }

  cuda::Device on;
  Index n;
  int *offsets, *columns;
  double *values, *d, *x, *r, *p, *y, *v_, *t, *shadow, *V = nullptr, *h = nullptr;
  double one = 1, zero = 0, minus = -1;
  void* buffer;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t X, Y;
  cudaEvent_t begin, end;
};

PlainKrylov::PlainKrylov(Csr<double> const& a) : s_(new State(a)) {}
PlainKrylov::~PlainKrylov() { delete s_; }

std::vector<double> PlainKrylov::x() const {
  std::vector<double> here(s_->n);
  check(cudaMemcpy(here.data(), s_->x, sizeof(double) * s_->n, cudaMemcpyDeviceToHost));
  return here;
}

PlainResult PlainKrylov::bicgstab(std::vector<double> const& b, double rtol, int max_iters) {
  State& k = *s_;
  k.start(b);
  double goal = rtol * k.norm(k.r), rho = 1, alpha = 1, omega = 1;
  check(cublasDcopy(k.on.cublas, k.n, k.r, 1, k.shadow, 1));
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
    if (k.norm(k.r) <= goal || iteration >= max_iters) return k.stop(iteration);
  }
}

PlainResult PlainKrylov::gmres(std::vector<double> const& b, double rtol, int max_iters, int m) {
  State& k = *s_;
  cublasHandle_t blas = k.on.cublas;
  if (k.V == nullptr) {
    k.V = k.vector(m + 1);
    check(cudaMalloc(&k.h, sizeof(double) * 2 * (m + 1)));
  }
  k.start(b);
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
  return k.stop(iteration);
}

}  // namespace tcsolve::bench
