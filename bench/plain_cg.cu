// SPDX-License-Identifier: Apache-2.0
#include "plain_cg.hpp"

#include "plain_system.hpp"

namespace tcsolve::bench {

using cuda::check;

namespace {

/// The scalar steps between the cuBLAS calls of the graph: s = {rho, sigma, rho_new, alpha, -alpha,
/// beta}.
__global__ void alpha_kernel(double* s) { s[3] = s[0] / s[1], s[4] = -s[3]; }
__global__ void beta_kernel(double* s) { s[5] = s[2] / s[0], s[0] = s[2]; }

}  // namespace

struct PlainCg::State : PlainSystem {
  explicit State(Csr<double> const& a)
      : PlainSystem(a), z(vector()), p(vector()), q(vector()), s(take<double>(8)) {}
  /// x = 0, r = b, z = D^-1 r, p = z; returns <b, b>.
  double begin(std::vector<double> const& b) {
    start(b);
    jacobi(r, z);
    check(cublasDcopy(cuda::cublas(on), n, z, 1, p, 1));
    double bb = 0;
    check(cublasDdot(cuda::cublas(on), n, r, 1, r, 1, &bb));
    return bb;
  }
  double *z, *p, *q, *s;
};

PlainCg::PlainCg(Csr<double> const& a) : s_(new State(a)) {}
PlainCg::~PlainCg() { delete s_; }

std::vector<double> PlainCg::x() const { return s_->answer(); }

PlainResult PlainCg::host_scalars(std::vector<double> const& b, double rtol, int max_iters) {
  State& k = *s_;
  cublasHandle_t h = cuda::cublas(k.on);
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  double goal = rtol * rtol * k.begin(b), rho = 0, rr = 0;
  check(cublasDdot(h, k.n, k.r, 1, k.z, 1, &rho));
  k.start_clock();
  int iteration = 0;
  while (iteration < max_iters) {
    double sigma, rho_new;
    k.product(k.p, k.q);
    check(cublasDdot(h, k.n, k.p, 1, k.q, 1, &sigma));
    double alpha = rho / sigma, minus = -alpha;
    check(cublasDaxpy(h, k.n, &alpha, k.p, 1, k.x, 1));
    check(cublasDaxpy(h, k.n, &minus, k.q, 1, k.r, 1));
    check(cublasDdot(h, k.n, k.r, 1, k.r, 1, &rr));
    ++iteration;
    if (rr <= goal) break;
    k.jacobi(k.r, k.z);
    check(cublasDdot(h, k.n, k.r, 1, k.z, 1, &rho_new));
    double beta = rho_new / rho;
    rho = rho_new;
    check(cublasDscal(h, k.n, &beta, k.p, 1));
    check(cublasDaxpy(h, k.n, &k.one, k.z, 1, k.p, 1));
  }
  return k.stop_clock(iteration);
}

PlainResult PlainCg::graph(std::vector<double> const& b, double rtol, int max_iters, int block) {
  State& k = *s_;
  cublasHandle_t h = cuda::cublas(k.on);
  cudaStream_t stream = k.on.stream;
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  double goal = rtol * rtol * k.begin(b), rr = 0;
  check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
  check(cusparseSetPointerMode(bench::cusparse(k.on), CUSPARSE_POINTER_MODE_HOST));
  check(cublasDdot(h, k.n, k.r, 1, k.z, 1, k.s));
  double constants[2] = {1.0, 0.0};
  double* one = k.s + 6;
  check(cudaMemcpyAsync(one, constants, sizeof(double), cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < block; ++i) {
    k.product(k.p, k.q);
    check(cublasDdot(h, k.n, k.p, 1, k.q, 1, k.s + 1));
    alpha_kernel<<<1, 1, 0, stream>>>(k.s);
    check(cublasDaxpy(h, k.n, k.s + 3, k.p, 1, k.x, 1));
    check(cublasDaxpy(h, k.n, k.s + 4, k.q, 1, k.r, 1));
    k.jacobi(k.r, k.z);
    check(cublasDdot(h, k.n, k.r, 1, k.z, 1, k.s + 2));
    beta_kernel<<<1, 1, 0, stream>>>(k.s);
    check(cublasDscal(h, k.n, k.s + 5, k.p, 1));
    check(cublasDaxpy(h, k.n, one, k.z, 1, k.p, 1));
  }
  check(cublasDdot(h, k.n, k.r, 1, k.r, 1, k.s + 7));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  k.start_clock();
  int iteration = 0;
  while (iteration < max_iters) {
    check(cudaGraphLaunch(executable, stream));
    iteration += block;
    check(cudaMemcpyAsync(&rr, k.s + 7, sizeof rr, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    if (rr <= goal) break;
  }
  PlainResult result = k.stop_clock(iteration);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return result;
}

}  // namespace tcsolve::bench
