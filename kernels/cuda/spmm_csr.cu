// SPDX-License-Identifier: Apache-2.0
/// CSR products on the device: cuSPARSE where it has the product, a plain kernel where it has not.
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/spmm_csr.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

template <class T>
constexpr cudaDataType data_type = CUDA_R_64F;
template <>
constexpr cudaDataType data_type<float> = CUDA_R_32F;

/// cuSPARSE descriptors are freed on every path out of a scope.
struct DenseVector {
  cusparseDnVecDescr_t handle = nullptr;
  template <class T>
  DenseVector(T const* data, std::int64_t n) {
    check(cusparseCreateDnVec(&handle, n, const_cast<T*>(data), data_type<T>));
  }
  ~DenseVector() { cusparseDestroyDnVec(handle); }
};

struct DenseMatrix {
  cusparseDnMatDescr_t handle = nullptr;
  template <class T>
  DenseMatrix(MultiView<T const> v) {
    check(cusparseCreateDnMat(
        &handle, v.rows, v.cols, v.ld, const_cast<T*>(v.data), data_type<T>,
        v.layout == Layout::row_major ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  }
  ~DenseMatrix() { cusparseDestroyDnMat(handle); }
};

/// One warp a row and up to 8 columns of x; lanes stride over the entries, each of which is read
/// once for the 8 columns. The sum of a row is a fixed tree: the same bits on every run.
template <class S, class T>
__global__ void __launch_bounds__(256)
    rows_kernel(T alpha, CsrView<S> a, T const* x, std::int64_t x_row, std::int64_t x_col, T beta,
                T* y, std::int64_t y_row, std::int64_t y_col, Index k) {
  constexpr int group = 8;
  int lane = threadIdx.x % 32;
  std::int64_t warps = std::int64_t{gridDim.x} * (blockDim.x / 32);
  for (std::int64_t i = std::int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32; i < a.rows;
       i += warps) {
    Offset begin = a.offsets[i], end = a.offsets[i + 1];
    for (Index j0 = 0; j0 < k; j0 += group) {
      int here = k - j0 < group ? k - j0 : group;
      T sum[group] = {};
      for (Offset e = begin + lane; e < end; e += 32) {
        T value = T(a.values[e]);
        T const* xj = x + a.columns[e] * x_row + j0 * x_col;
#pragma unroll
        for (int j = 0; j < group; ++j)
          if (j < here) sum[j] += value * xj[j * x_col];
      }
#pragma unroll
      for (int j = 0; j < group; ++j) {
        if (j >= here) break;
        for (int offset = 16; offset > 0; offset /= 2)
          sum[j] += __shfl_down_sync(0xffffffffu, sum[j], offset);
        if (lane == 0) {
          T& out = y[i * y_row + (j0 + j) * y_col];
          out = beta == T(0) ? alpha * sum[j] : alpha * sum[j] + beta * out;
        }
      }
    }
  }
}

}  // namespace

class CsrPlan {
 public:
  template <class T>
  CsrPlan(Device& on, CsrView<T> const& a, bool deterministic)
      : algorithm(deterministic ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1) {
    check(cusparseCreateCsr(&matrix, a.rows, a.cols, a.entries, const_cast<void*>(a.offsets.data),
                            const_cast<std::int32_t*>(a.columns), const_cast<T*>(a.values),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            data_type<T>));
    try {
      prepare<T>(on, a);
    } catch (...) {
      cusparseDestroySpMat(matrix);
      throw;
    }
  }
  ~CsrPlan() { cusparseDestroySpMat(matrix); }
  CsrPlan(CsrPlan const&) = delete;

  cusparseSpMatDescr_t matrix = nullptr;
  Array<std::byte> spmv_buffer, spmm_buffer;
  cusparseSpMVAlg_t algorithm;  // ALG2 gives the same bits on every run, ALG1 is often quicker

 private:
  template <class T>
  void prepare(Device& on, CsrView<T> const& a) {
    // cuSPARSE analyses the matrix alone here; the vectors only have to have the right extents.
    Array<T> x(Space::cuda, a.cols), y(Space::cuda, a.rows);
    DenseVector dx(x.data(), a.cols), dy(y.data(), a.rows);
    T one = 1, zero = 0;
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix,
                                  dx.handle, &zero, dy.handle, data_type<T>, algorithm, &bytes));
    spmv_buffer = Array<std::byte>(Space::cuda, std::max<std::size_t>(bytes, 16));
    check(cusparseSpMV_preprocess(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix,
                                  dx.handle, &zero, dy.handle, data_type<T>, algorithm,
                                  spmv_buffer.data()));
    check(cudaStreamSynchronize(on.stream));
  }
};

template <class T>
std::shared_ptr<CsrPlan> plan_csr(Device& on, CsrView<T> const& a, bool deterministic) {
  if (a.offsets.wide || a.rows == 0 || a.cols == 0 || a.entries == 0) return nullptr;
  return std::make_shared<CsrPlan>(on, a, deterministic);
}

template <class T>
void spmm_csr(Device& on, CsrPlan& plan, T alpha, In<T> x, T beta, Out<T> y) {
  constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (x.is_vector() && y.is_vector()) {
    DenseVector dx(x.data, x.rows), dy(y.data, y.rows);
    check(cusparseSpMV(on.cusparse, op, &alpha, plan.matrix, dx.handle, &beta, dy.handle,
                       data_type<T>, plan.algorithm, plan.spmv_buffer.data()));
    return;
  }
  constexpr auto algorithm = CUSPARSE_SPMM_CSR_ALG2;
  In<T> target = y;
  DenseMatrix dx(x), dy(target);
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(on.cusparse, op, op, &alpha, plan.matrix, dx.handle, &beta,
                                dy.handle, data_type<T>, algorithm, &bytes));
  if (bytes > plan.spmm_buffer.size()) {
    check(cudaStreamSynchronize(on.stream));  // the old buffer may be in use
    plan.spmm_buffer = Array<std::byte>(Space::cuda, bytes);
  }
  check(cusparseSpMM(on.cusparse, op, op, &alpha, plan.matrix, dx.handle, &beta, dy.handle,
                     data_type<T>, algorithm, plan.spmm_buffer.data()));
}

template <class S, class T>
void spmm_csr(Device& on, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y) {
  if (a.rows == 0 || y.cols == 0) return;
  auto row_stride = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  auto col_stride = [](auto v) { return v.layout == Layout::row_major ? std::int64_t{1} : v.ld; };
  int blocks = std::min<std::int64_t>((std::int64_t{a.rows} + 7) / 8, 16 * on.max_blocks);
  rows_kernel<S, T><<<blocks, 256, 0, on.stream>>>(alpha, a, x.data, row_stride(x), col_stride(x),
                                                   beta, y.data, row_stride(y), col_stride(y),
                                                   y.cols);
  check(cudaGetLastError());
}

template std::shared_ptr<CsrPlan> plan_csr<double>(Device&, CsrView<double> const&, bool);
template std::shared_ptr<CsrPlan> plan_csr<float>(Device&, CsrView<float> const&, bool);
template void spmm_csr<double>(Device&, CsrPlan&, double, In<double>, double, Out<double>);
template void spmm_csr<float>(Device&, CsrPlan&, float, In<float>, float, Out<float>);
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_csr<S, T>(Device&, T, CsrView<S> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve::cuda
