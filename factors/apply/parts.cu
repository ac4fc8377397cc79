// SPDX-License-Identifier: Apache-2.0
/// Triangular solves part by part on the device, a thread block to each part and column:
///
///     y       in shared memory
///     levels  one after the other, a barrier between them; eight lanes to a row, whose products
///             are added in a fixed order
///     bits    the same on every run
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/factors/apply/parts_view.hpp>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

#include <algorithm>

namespace tcsolve::cuda {
namespace {

constexpr int threads = 256, lanes = 8, rows_at_once = threads / lanes;

template <class S>
__device__ void solve(PartTriangle<S> const& t, Index part, double* y) {
  int const lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  Index const end = t.level_begin[part + 1];
  for (Index l = t.level_begin[part]; l < end; ++l) {
    Index const first = t.level[l], last = t.level[l + 1];
    for (Index p0 = first; p0 < last; p0 += rows_at_once) {
      Index const p = p0 + group;
      double sum = 0;
      if (p < last)
        for (Offset k = t.begin[p] + lane; k < t.begin[p + 1]; k += lanes)
          sum = fma(double(t.values[k]), y[t.column[k]], sum);
#pragma unroll
      for (int offset = lanes / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(all, sum, offset);
      if (p < last && lane == 0) y[t.row[p]] -= sum;  // nobody reads it in this level
    }
    __syncthreads();
  }
}

template <class S>
__global__ void __launch_bounds__(threads)
    parts_kernel(PartsView<S> m, double alpha, double const* x, std::int64_t x_step,
                 std::int64_t x_column, double beta, double* y, std::int64_t y_step,
                 std::int64_t y_column) {
  if (Frame{m.loop}.stopped()) return;
  extern __shared__ double unknowns[];
  x += blockIdx.y * x_column, y += blockIdx.y * y_column;
  Index const part = blockIdx.x, first = part * m.part;
  Index const count = min(m.rows - first, m.part);
  for (Index i = threadIdx.x; i < count; i += threads)
    unknowns[i] = m.row_scale[first + i] * x[m.from[first + i] * x_step];
  __syncthreads();
  solve(m.lower, part, unknowns);
  for (Index i = threadIdx.x; i < count; i += threads) unknowns[i] *= m.inverse_pivots[first + i];
  __syncthreads();
  solve(m.upper, part, unknowns);
  for (Index i = threadIdx.x; i < count; i += threads) {
    double& out = y[m.to[first + i] * y_step];
    double const value = alpha * (m.column_scale[first + i] * unknowns[i]);
    out = beta == 0 ? value : value + beta * out;
  }
}

}  // namespace

template <class S>
void solve_parts(Device& on, PartsView<S> const& m, double alpha, In<double> x, double beta,
                 Out<double> y) {
  if (m.rows == 0 || x.cols == 0) return;
  auto const step = [](auto const& v) {
    return v.layout == Layout::row_major ? v.ld : std::int64_t{1};
  };
  auto const column = [](auto const& v) {
    return v.layout == Layout::row_major ? std::int64_t{1} : v.ld;
  };
  std::size_t const bytes = static_cast<std::size_t>(m.part) * sizeof(double);
  dim3 const grid(static_cast<unsigned>(m.parts), static_cast<unsigned>(x.cols));
  parts_kernel<S><<<grid, threads, bytes, on.stream>>>(m, alpha, x.data, step(x), column(x), beta,
                                                       y.data, step(y), column(y));
  check(cudaGetLastError());
}

template void solve_parts(Device&, PartsView<double> const&, double, In<double>, double,
                          Out<double>);
template void solve_parts(Device&, PartsView<float> const&, double, In<double>, double,
                          Out<double>);
template void solve_parts(Device&, PartsView<tcsolve::half> const&, double, In<double>, double,
                          Out<double>);

}  // namespace tcsolve::cuda
