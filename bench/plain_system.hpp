// SPDX-License-Identifier: Apache-2.0
/// A system on the device as the plain loops hold it: raw CUDA arrays, a cuSPARSE CSR product,
/// Jacobi by cuBLAS, and a clock.
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/matrix/csr.hpp>

#include "cublas.hpp"
#include "cusparse.hpp"
#include "plain_cg.hpp"

namespace tcsolve::bench {

struct PlainSystem {
  explicit PlainSystem(Csr<double> const& a) : n(a.rows) {
    using cuda::check;
    std::vector<int> narrow(a.offsets.begin(), a.offsets.end());
    std::vector<double> inverse(n);
    for (Index i = 0; i < n; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        if (a.columns[k] == i) inverse[i] = 1 / a.values[k];
    offsets = upload(narrow);
    columns = upload(a.columns);
    values = upload(a.values);
    d = upload(inverse);
    x = vector();
    r = vector();
    check(cusparseCreateCsr(&A, n, n, a.entries(), offsets, columns, values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseCreateDnVec(&X, n, x, CUDA_R_64F));
    check(cusparseCreateDnVec(&Y, n, r, CUDA_R_64F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(bench::cusparse(on), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X,
                                  &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    check(cudaMalloc(&buffer, bytes + 16));
    check(cusparseSpMV_preprocess(bench::cusparse(on), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X,
                                  &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
  }
  ~PlainSystem() {
    cusparseDestroyDnVec(X);
    cusparseDestroyDnVec(Y);
    cusparseDestroySpMat(A);
    for (void* p : taken) cudaFree(p);
    cudaFree(buffer);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  PlainSystem(PlainSystem const&) = delete;

  /// k columns of n values, until the system goes.
  double* vector(std::size_t k = 1) { return take<double>(k * n); }
  template <class T>
  T* take(std::size_t count) {
    void* p = nullptr;
    cuda::check(cudaMalloc(&p, sizeof(T) * count));
    taken.push_back(p);
    return static_cast<T*>(p);
  }
  template <class T>
  T* upload(std::vector<T> const& from) {
    T* to = take<T>(from.size());
    cuda::check(cudaMemcpy(to, from.data(), sizeof(T) * from.size(), cudaMemcpyHostToDevice));
    return to;
  }
  /// to = A from.
  void product(double* from, double* to) {
    cuda::check(cusparseDnVecSetValues(X, from));
    cuda::check(cusparseDnVecSetValues(Y, to));
    cuda::check(cusparseSpMV(bench::cusparse(on), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X,
                             &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  }
  /// to = D^-1 from.
  void jacobi(double* from, double* to) {
    cuda::check(cublasDdgmm(cuda::cublas(on), CUBLAS_SIDE_LEFT, n, 1, from, n, d, 1, to, n));
  }
  /// x = 0, r = b.
  void start(std::vector<double> const& b) {
    cuda::check(cudaMemsetAsync(x, 0, sizeof(double) * n, on.stream));
    cuda::check(
        cudaMemcpyAsync(r, b.data(), sizeof(double) * n, cudaMemcpyHostToDevice, on.stream));
    cuda::check(cudaStreamSynchronize(on.stream));
  }
  void start_clock() { cuda::check(cudaEventRecord(begin, on.stream)); }
  PlainResult stop_clock(int iterations) {
    cuda::check(cudaEventRecord(end, on.stream));
    cuda::check(cudaEventSynchronize(end));
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin, end));
    return {iterations, ms * 1e-3};
  }
  std::vector<double> answer() const {
    std::vector<double> here(n);
    cuda::check(cudaMemcpy(here.data(), x, sizeof(double) * n, cudaMemcpyDeviceToHost));
    return here;
  }

  std::shared_ptr<cuda::Device> const opened = cuda::open(0);
  cuda::Device& on = *opened;
  Index n;
  int *offsets, *columns;
  double *values, *d, *x, *r;
  double one = 1, zero = 0;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t X, Y;

 private:
  std::vector<void*> taken;
  void* buffer = nullptr;
  cudaEvent_t begin, end;
};

}  // namespace tcsolve::bench
