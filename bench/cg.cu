// SPDX-License-Identifier: Apache-2.0
#include "plain_cg.hpp"

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::bench {

using cuda::check;

namespace {

/// The scalar steps between the cuBLAS calls of the graph: s = {rho, sigma, rho_new, alpha, -alpha,
/// beta}.
__global__ void alpha_kernel(double* s) { s[3] = s[0] / s[1], s[4] = -s[3]; }
__global__ void beta_kernel(double* s) { s[5] = s[2] / s[0], s[0] = s[2]; }

}  // namespace

struct PlainCg::State {
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
    for (double** v : {&x, &r, &z, &p, &q}) check(cudaMalloc(v, sizeof(double) * n));
    check(cudaMalloc(&s, 8 * sizeof(double)));
    check(cusparseCreateCsr(&A, n, n, a.entries(), offsets, columns, values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseCreateDnVec(&P, n, p, CUDA_R_64F));
    check(cusparseCreateDnVec(&Q, n, q, CUDA_R_64F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, P, &zero,
                                  Q, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    check(cudaMalloc(&buffer, bytes + 16));
    check(cusparseSpMV_preprocess(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, P, &zero,
                                  Q, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
  }
  ~State() {
    cusparseDestroyDnVec(P);
    cusparseDestroyDnVec(Q);
    cusparseDestroySpMat(A);
    for (void* v : {(void*)offsets, (void*)columns, (void*)values, (void*)d, (void*)x, (void*)r,
                    (void*)z, (void*)p, (void*)q, (void*)s, buffer})
      cudaFree(v);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  template <class T>
  void upload(T*& to, std::vector<T> const& from) {
    check(cudaMalloc(&to, sizeof(T) * from.size()));
    check(cudaMemcpy(to, from.data(), sizeof(T) * from.size(), cudaMemcpyHostToDevice));
  }
  /// q = A p.
  void product(double const* alpha, double const* beta) {
    check(cusparseSpMV(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A, P, beta, Q,
                       CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  }
  /// x = 0, r = b, z = D^-1 r, p = z; returns <b, b>.
  double start(std::vector<double> const& b) {
    check(cudaMemsetAsync(x, 0, sizeof(double) * n, on.stream));
    check(cudaMemcpyAsync(r, b.data(), sizeof(double) * n, cudaMemcpyHostToDevice, on.stream));
    check(cublasDdgmm(on.cublas, CUBLAS_SIDE_LEFT, n, 1, r, n, d, 1, z, n));
    check(cublasDcopy(on.cublas, n, z, 1, p, 1));
    double bb = 0;
    check(cublasDdot(on.cublas, n, r, 1, r, 1, &bb));
    return bb;
  }

  cuda::Device on;
  Index n;
  int *offsets, *columns;
  double *values, *d, *x, *r, *z, *p, *q, *s;
  double one = 1, zero = 0;
  void* buffer;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t P, Q;
  cudaEvent_t begin, end;
};

PlainCg::PlainCg(Csr<double> const& a) : s_(new State(a)) {}
PlainCg::~PlainCg() { delete s_; }

std::vector<double> PlainCg::x() const {
  std::vector<double> here(s_->n);
  check(cudaMemcpy(here.data(), s_->x, sizeof(double) * s_->n, cudaMemcpyDeviceToHost));
  return here;
}

namespace {
double elapsed(cudaEvent_t begin, cudaEvent_t end) {
  check(cudaEventSynchronize(end));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end));
  return ms * 1e-3;
}
}  // namespace

PlainResult PlainCg::host_scalars(std::vector<double> const& b, double rtol, int max_iters) {
  State& k = *s_;
  cublasHandle_t h = k.on.cublas;
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  double goal = rtol * rtol * k.start(b), rho = 0, rr = 0;
  check(cublasDdot(h, k.n, k.r, 1, k.z, 1, &rho));
  check(cudaEventRecord(k.begin, k.on.stream));
  int iteration = 0;
  while (iteration < max_iters) {
    double sigma, rho_new;
    k.product(&k.one, &k.zero);
    check(cublasDdot(h, k.n, k.p, 1, k.q, 1, &sigma));
    double alpha = rho / sigma, minus = -alpha;
    check(cublasDaxpy(h, k.n, &alpha, k.p, 1, k.x, 1));
    check(cublasDaxpy(h, k.n, &minus, k.q, 1, k.r, 1));
    check(cublasDdot(h, k.n, k.r, 1, k.r, 1, &rr));
    ++iteration;
    if (rr <= goal) break;
    check(cublasDdgmm(h, CUBLAS_SIDE_LEFT, k.n, 1, k.r, k.n, k.d, 1, k.z, k.n));
    check(cublasDdot(h, k.n, k.r, 1, k.z, 1, &rho_new));
    double beta = rho_new / rho;
    rho = rho_new;
    check(cublasDscal(h, k.n, &beta, k.p, 1));
    check(cublasDaxpy(h, k.n, &k.one, k.z, 1, k.p, 1));
  }
  check(cudaEventRecord(k.end, k.on.stream));
  return {iteration, elapsed(k.begin, k.end)};
}

PlainResult PlainCg::graph(std::vector<double> const& b, double rtol, int max_iters, int block) {
  State& k = *s_;
  cublasHandle_t h = k.on.cublas;
  cudaStream_t stream = k.on.stream;
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  double goal = rtol * rtol * k.start(b), rr = 0;
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
  check(cusparseSetPointerMode(k.on.cusparse, CUSPARSE_POINTER_MODE_HOST));
  check(cublasDdot(h, k.n, k.r, 1, k.z, 1, k.s));
  double constants[2] = {1.0, 0.0};
  double* one = k.s + 6;
  check(cudaMemcpyAsync(one, constants, sizeof(double), cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < block; ++i) {
    k.product(&k.one, &k.zero);
    check(cublasDdot(h, k.n, k.p, 1, k.q, 1, k.s + 1));
    alpha_kernel<<<1, 1, 0, stream>>>(k.s);
    check(cublasDaxpy(h, k.n, k.s + 3, k.p, 1, k.x, 1));
    check(cublasDaxpy(h, k.n, k.s + 4, k.q, 1, k.r, 1));
    check(cublasDdgmm(h, CUBLAS_SIDE_LEFT, k.n, 1, k.r, k.n, k.d, 1, k.z, k.n));
    check(cublasDdot(h, k.n, k.r, 1, k.z, 1, k.s + 2));
    beta_kernel<<<1, 1, 0, stream>>>(k.s);
    check(cublasDscal(h, k.n, k.s + 5, k.p, 1));
    check(cublasDaxpy(h, k.n, one, k.z, 1, k.p, 1));
  }
  check(cublasDdot(h, k.n, k.r, 1, k.r, 1, k.s + 7));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaEventRecord(k.begin, stream));
  int iteration = 0;
  while (iteration < max_iters) {
    check(cudaGraphLaunch(executable, stream));
    iteration += block;
    check(cudaMemcpyAsync(&rr, k.s + 7, sizeof rr, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    if (rr <= goal) break;
  }
  check(cudaEventRecord(k.end, stream));
  double seconds = elapsed(k.begin, k.end);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return {iteration, seconds};
}

}  // namespace tcsolve::bench
