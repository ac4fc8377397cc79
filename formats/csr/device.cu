// SPDX-License-Identifier: Apache-2.0
/// CSR products on the device: cuSPARSE where it has the product, a plain kernel where it has not.
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/formats/csr/product.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/range.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>
#include <utility>

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
    check(cusparse().CreateDnVec(&handle, n, const_cast<T*>(data), data_type<T>));
  }
  ~DenseVector() { cusparse().DestroyDnVec(handle); }
};

struct DenseMatrix {
  cusparseDnMatDescr_t handle = nullptr;
  template <class T>
  DenseMatrix(MultiView<T const> v) {
    check(cusparse().CreateDnMat(
        &handle, v.rows, v.cols, v.ld, const_cast<T*>(v.data), data_type<T>,
        v.layout == Layout::row_major ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  }
  ~DenseMatrix() { cusparse().DestroyDnMat(handle); }
};

constexpr int block = 256, ahead = 4;
/// A row of more entries for each of its lanes is the block's work.
constexpr Offset most_of_lane = 64;

/// Entries first, first + step, ... < end of a row times x, several on their way.
template <class S, class T>
__device__ T add_entries(CsrView<S> const& a, Offset first, Offset end, int step, T const* x,
                         std::int64_t stride) {
  T sum = T(0);
  for (Offset e = first; e < end; e += ahead * step) {
    S v[ahead];
    T xj[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) {
      Offset const at = min(e + l * step, end - 1);
      v[l] = read_only(a.values + at);
      xj[l] = read_only(x + read_only(a.columns + at) * stride);
    }
#pragma unroll
    for (int l = 0; l < ahead; ++l)
      if (e + l * step < end) sum += T(v[l]) * xj[l];
  }
  return sum;
}

/// `lanes` threads a row, and one column of x; a long row is the block's. Sums are fixed trees: the
/// same bits on every run.
template <int lanes, class S, class T>
__global__ void __launch_bounds__(block)
    row_kernel(CsrView<S> a, T const* x, std::int64_t stride, Range<T> y) {
  __shared__ Index listed[block / lanes];
  __shared__ int count;
  __shared__ T part[block / 32];
  int const lane = threadIdx.x % lanes;
  std::int64_t const step = std::int64_t{gridDim.x} * (block / lanes);
  for (std::int64_t i0 = std::int64_t{blockIdx.x} * (block / lanes); i0 < a.rows; i0 += step) {
    std::int64_t const i = i0 + threadIdx.x / lanes;
    Offset const begin = i < a.rows ? a.offsets[i] : 0, end = i < a.rows ? a.offsets[i + 1] : 0;
    bool const is_long = end - begin > lanes * most_of_lane;
    T sum = is_long ? T(0) : add_entries(a, begin + lane, end, lanes, x, stride);
    __syncwarp();
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(all, sum, offset);
    if (lane == 0 && i < a.rows && !is_long) y.write(static_cast<Index>(i), sum);
    if (!__syncthreads_or(is_long)) continue;

    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (is_long && lane == 0) listed[atomicAdd(&count, 1)] = static_cast<Index>(i);
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      Index const row = listed[k];
      T const mine = warp_sum(
          add_entries(a, a.offsets[row] + threadIdx.x, a.offsets[row + 1], block, x, stride));
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
      __syncthreads();
      if (threadIdx.x == 0) {
        T total = part[0];
        for (int w = 1; w < block / 32; ++w) total += part[w];
        y.write(row, total);
      }
      __syncthreads();
    }
  }
}

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

/// A warp a row of row-major blocks: neighbouring lanes take neighbouring columns, K at a time, and
/// 32 / K entries at once, some of which are on their way before one is multiplied. The sum of a
/// row is a fixed tree: the same bits on every run.
template <int K, class S, class T>
__global__ void __launch_bounds__(256)
    block_rows_kernel(T alpha, CsrView<S> a, T const* x, std::int64_t ldx, T beta, T* y,
                      std::int64_t ldy, Index k) {
  constexpr int at_once = 32 / K, ahead = 4;
  int const lane = threadIdx.x % 32, c = lane % K, first = lane / K;
  std::int64_t const warps = std::int64_t{gridDim.x} * (blockDim.x / 32);
  for (std::int64_t i = std::int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32; i < a.rows;
       i += warps) {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    for (Index j0 = 0; j0 < k; j0 += K) {
      bool const here = j0 + c < k;
      T sum = 0;
      for (Offset e = begin + first; e < end; e += ahead * at_once) {
        T value[ahead], xj[ahead];
#pragma unroll
        for (int l = 0; l < ahead; ++l) {
          // Past the end of the row an entry that exists is loaded and not used.
          bool const there = e + l * at_once < end;
          Offset const at = there ? e + l * at_once : e;
          value[l] = there ? T(a.values[at]) : T(0);
          xj[l] = here ? x[a.columns[at] * ldx + j0 + c] : T(0);
        }
#pragma unroll
        for (int l = 0; l < ahead; ++l)
          if (l == 0 || e + l * at_once < end) sum += value[l] * xj[l];
      }
#pragma unroll
      for (int offset = 16; offset >= K; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      if (!here || first != 0) continue;
      T& out = y[i * ldy + j0 + c];
      out = beta == T(0) ? alpha * sum : alpha * sum + beta * out;
    }
  }
}

}  // namespace

class CsrPlan {
 public:
  template <class T>
  CsrPlan(Device& on, CsrView<T> const& a, bool deterministic)
      : algorithm(deterministic ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1) {
    check(cusparse().CreateCsr(
        &matrix, a.rows, a.cols, a.entries, const_cast<void*>(a.offsets.data),
        const_cast<std::int32_t*>(a.columns), const_cast<T*>(a.values), CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type<T>));
    try {
      prepare<T>(on, a);
    } catch (...) {
      cusparse().DestroySpMat(matrix);
      throw;
    }
  }
  ~CsrPlan() { cusparse().DestroySpMat(matrix); }
  CsrPlan(CsrPlan const&) = delete;

  cusparseSpMatDescr_t matrix = nullptr;
  Array<std::byte> spmv_buffer, spmm_buffer;
  cusparseSpMVAlg_t algorithm;  // ALG2 gives the same bits on every run, ALG1 is often quicker

 private:
  template <class T>
  void prepare(Device& on, CsrView<T> const& a) {
    // cuSPARSE analyses the matrix alone here; the vectors only have to have the right extents.
    Array<T> x(on.space(), a.cols), y(on.space(), a.rows);
    DenseVector dx(x.data(), a.cols), dy(y.data(), a.rows);
    T one = 1, zero = 0;
    std::size_t bytes = 0;
    check(cusparse().SpMV_bufferSize(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix,
                                     dx.handle, &zero, dy.handle, data_type<T>, algorithm, &bytes));
    spmv_buffer = Array<std::byte>(on.space(), std::max<std::size_t>(bytes, 16));
    check(cusparse().SpMV_preprocess(on.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix,
                                     dx.handle, &zero, dy.handle, data_type<T>, algorithm,
                                     spmv_buffer.data()));
    check(cudaStreamSynchronize(on.stream));
  }
};

template <class T>
std::shared_ptr<CsrPlan> plan_csr(Device& on, CsrView<T> const& a, bool deterministic) {
  if (on.cusparse == nullptr) return nullptr;  // the plain kernels then
  if (a.offsets.wide || a.rows == 0 || a.cols == 0 || a.entries == 0) return nullptr;
  return std::make_shared<CsrPlan>(on, a, deterministic);
}

template <class T>
void spmm_csr(Device& on, CsrPlan& plan, T alpha, In<T> x, T beta, Out<T> y) {
  constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (x.is_vector() && y.is_vector()) {
    DenseVector dx(x.data, x.rows), dy(y.data, y.rows);
    check(cusparse().SpMV(on.cusparse, op, &alpha, plan.matrix, dx.handle, &beta, dy.handle,
                          data_type<T>, plan.algorithm, plan.spmv_buffer.data()));
    return;
  }
  constexpr auto algorithm = CUSPARSE_SPMM_CSR_ALG2;
  In<T> target = y;
  DenseMatrix dx(x), dy(target);
  std::size_t bytes = 0;
  check(cusparse().SpMM_bufferSize(on.cusparse, op, op, &alpha, plan.matrix, dx.handle, &beta,
                                   dy.handle, data_type<T>, algorithm, &bytes));
  if (bytes > plan.spmm_buffer.size()) {
    check(cudaStreamSynchronize(on.stream));  // the old buffer may be in use
    plan.spmm_buffer = Array<std::byte>(on.space(), bytes);
  }
  check(cusparse().SpMM(on.cusparse, op, op, &alpha, plan.matrix, dx.handle, &beta, dy.handle,
                        data_type<T>, algorithm, plan.spmm_buffer.data()));
}

template <class S, class T>
void spmm_csr(Device& on, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y) {
  if (a.rows == 0 || y.cols == 0) return;
  auto row_stride = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  auto col_stride = [](auto v) { return v.layout == Layout::row_major ? std::int64_t{1} : v.ld; };
  if (y.cols == 1) {
    Range<T> const to{alpha, beta, y.data, row_stride(y)};
    Offset const mean = a.entries / a.rows;  // half of it, or a quarter, on their way in a lane
    int const of_row = mean <= 8 ? 2 : mean <= 16 ? 4 : mean <= 128 ? 8 : 32;
    auto const launch = [&]<int... lanes>(std::integer_sequence<int, lanes...>) {
      std::int64_t const tiles = (std::int64_t{a.rows} * of_row + block - 1) / block;
      auto const blocks =
          static_cast<unsigned int>(std::min<std::int64_t>(tiles, 16 * on.max_blocks));
      ((lanes == of_row
            ? row_kernel<lanes><<<blocks, block, 0, on.stream>>>(a, x.data, row_stride(x), to)
            : void()),
       ...);
    };
    launch(std::integer_sequence<int, 2, 4, 8, 32>{});
    return check(cudaGetLastError());
  }
  int blocks = std::min<std::int64_t>((std::int64_t{a.rows} + 7) / 8, 16 * on.max_blocks);
  if (x.layout == Layout::row_major && y.layout == Layout::row_major) {
    auto const launch = [&](auto kernel) {
      kernel<<<blocks, 256, 0, on.stream>>>(alpha, a, x.data, x.ld, beta, y.data, y.ld, y.cols);
    };
    if (y.cols <= 4)
      launch(block_rows_kernel<4, S, T>);
    else if (y.cols <= 8)
      launch(block_rows_kernel<8, S, T>);
    else
      launch(block_rows_kernel<16, S, T>);
    return check(cudaGetLastError());
  }
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

template struct Executes<CsrOps>;

}  // namespace tcsolve::cuda
