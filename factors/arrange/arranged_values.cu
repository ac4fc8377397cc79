// SPDX-License-Identifier: Apache-2.0
/// Numbers of an arranged matrix on the device, a warp to a row. Bytes: the entries of B, and a
/// gather of those of A, once for the scales and once for the numbers.
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/arrange/arranged_view.hpp>
#include <tcsolve/factors/power_scale.hpp>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

namespace tcsolve::cuda {
namespace {

constexpr int warps = 8;

__device__ Index row_of_warp() { return blockIdx.x * warps + threadIdx.x / 32; }

__global__ void __launch_bounds__(warps * 32) diagonal_kernel(ArrangedView B, double const* a) {
  Index const i = row_of_warp();
  if (i >= B.rows) return;
  bool found = false;
  for (Offset k = B.offsets[i] + threadIdx.x % 32; k < B.offsets[i + 1]; k += 32)
    if (B.columns[k] == i) {
      B.row_scale[i] = B.column_scale[i] = inverse_power(sqrt(fabs(a[B.from(k)])));
      found = true;
    }
  if (!__any_sync(all, found) && threadIdx.x % 32 == 0) B.row_scale[i] = B.column_scale[i] = 1;
}

/// The largest of each row, and of each column of what that leaves; a maximum does not depend on
/// the order, and the bits of positive numbers ascend with them.
__global__ void __launch_bounds__(warps * 32) largest_kernel(ArrangedView B, double const* a) {
  Index const i = row_of_warp();
  if (i >= B.rows) return;
  Offset const begin = B.offsets[i] + threadIdx.x % 32, end = B.offsets[i + 1];
  double row = 0;
  for (Offset k = begin; k < end; k += 32) row = fmax(row, fabs(a[B.from(k)]));
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) row = fmax(row, __shfl_xor_sync(all, row, offset));
  double const scale = inverse_power(row);
  if (threadIdx.x % 32 == 0) B.row_scale[i] = scale;
  for (Offset k = begin; k < end; k += 32) {
    double const v = scale * fabs(a[B.from(k)]);
    if (v == v)
      atomicMax(reinterpret_cast<unsigned long long*>(B.column_scale + B.columns[k]),
                static_cast<unsigned long long>(__double_as_longlong(v)));
  }
}

__global__ void __launch_bounds__(warps * 32) invert_kernel(double* scale, Index n) {
  Index const j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n) scale[j] = inverse_power(scale[j]);
}

__global__ void __launch_bounds__(warps * 32) values_kernel(ArrangedView B, double const* a) {
  Index const i = row_of_warp();
  if (i >= B.rows) return;
  double const r = B.row_scale[i];
  for (Offset k = B.offsets[i] + threadIdx.x % 32; k < B.offsets[i + 1]; k += 32)
    B.values[k] = r * a[B.from(k)] * B.column_scale[B.columns[k]];
}

}  // namespace

void arrange_values(Device& on, ArrangedView const& B, double const* a) {
  if (B.rows == 0) return;
  auto const blocks = static_cast<unsigned>((B.rows + warps - 1) / warps);
  if (B.scaling == ScaledBy::diagonal) {
    diagonal_kernel<<<blocks, warps * 32, 0, on.stream>>>(B, a);
    check(cudaGetLastError());
  }
  if (B.scaling == ScaledBy::largest) {
    check(cudaMemsetAsync(B.column_scale, 0, sizeof(double) * static_cast<std::size_t>(B.rows),
                          on.stream));
    largest_kernel<<<blocks, warps * 32, 0, on.stream>>>(B, a);
    check(cudaGetLastError());
    invert_kernel<<<static_cast<unsigned>((B.rows + warps * 32 - 1) / (warps * 32)), warps * 32, 0,
                    on.stream>>>(B.column_scale, B.rows);
    check(cudaGetLastError());
  }
  values_kernel<<<blocks, warps * 32, 0, on.stream>>>(B, a);
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
