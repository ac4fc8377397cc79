// SPDX-License-Identifier: Apache-2.0
/// W of joint factors on the device, a warp to a row of W_L or W_U:
///
///     w = e_i, on the pattern of the row
///     for k of the pattern, from i outwards:   w_j -= w_k t_kj
///
///     w        in shared memory where the row finds room, else in place
///     bytes    each row of T once for every entry of its column, from the second-level cache
///     bits     each w_j has one writer at a time, in the order of k
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/apply/joint_inverse.hpp>
#include <tcsolve/factors/make/find.cuh>
#include <tcsolve/factors/make/subtract_rows.cuh>

namespace tcsolve::cuda {
namespace {

/// The rows of T, from the diagonal outwards.
struct RowsOutwards {
  JointArrays const& f;
  double const* values;
  bool lower;
  RowPlaces const& places;
  int steps;

  __device__ int entry(int step) const { return lower ? steps - 1 - step : step; }
  __device__ void range(int entry, Offset& first, int& entries) const {
    Index const k = places.column(entry);
    first = lower ? f.begin[k] : f.diagonal[k] + 1;
    entries = static_cast<int>((lower ? f.diagonal[k] : f.begin[k + 1]) - first);
  }
  __device__ Index column(Offset at) const { return f.columns[at]; }
  __device__ unsigned long long load(Offset at) const {
    return static_cast<unsigned long long>(__double_as_longlong(values[at]));
  }
  __device__ double number(unsigned long long bits, Offset) const {
    return __longlong_as_double(static_cast<long long>(bits));
  }
};

__global__ void __launch_bounds__(SharedRows::warps * 32)
    invert_kernel(JointArrays f, double const* __restrict__ values, double* W, bool both,
                  SharedRows shared) {
  shared.open();
  int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::int64_t const task = std::int64_t{blockIdx.x} * SharedRows::warps + warp;
  if (task >= (both ? 2 : 1) * std::int64_t{f.rows}) return;
  bool const lower = task < f.rows;
  auto const i = static_cast<Index>(lower ? task : task - f.rows);
  Offset const begin = lower ? f.begin[i] : f.diagonal[i] + 1;
  int const count = static_cast<int>((lower ? f.diagonal[i] : f.begin[i + 1]) - begin);
  RowPlaces const places(shared.take(count, lane), lane, f.columns + begin, count);
  double* const w = places.in_shared() ? places.numbers() : W + begin;
  for (int e = lane; e < count; e += 32) w[e] = -values[begin + e];  // after the step of k = i
  __syncwarp();
  subtract_rows(RowsOutwards{f, values, lower, places, count}, places, w, lane);
  if (places.in_shared())
    for (int e = lane; e < count; e += 32) W[begin + e] = w[e];
  if (lower && lane == 0) W[f.diagonal[i]] = 1;
}

/// W_U = W_L^T.
__global__ void __launch_bounds__(SharedRows::warps * 32)
    transpose_kernel(JointArrays f, double* W) {
  Index const i = blockIdx.x * SharedRows::warps + threadIdx.x / 32;
  if (i >= f.rows) return;
  Offset const last = f.begin[i + 1];
  for (Offset e = f.diagonal[i] + 1 + threadIdx.x % 32; e < last; e += 32) {
    Index const j = f.columns[e];
    Offset const begin = f.begin[j];
    W[e] = W[begin + find(f.columns + begin, 0, static_cast<int>(f.diagonal[j] - begin), i)];
  }
}

__global__ void __launch_bounds__(SharedRows::warps * 32)
    take_kernel(JointArrays f, double const* values, JointPart part, OffsetsView offsets,
                double* to) {
  Index const i = blockIdx.x * SharedRows::warps + threadIdx.x / 32;
  if (i >= f.rows) return;
  Offset first, last;
  range_of(f, part, i, first, last);
  double* const out = to + (offsets[i] - first);
  for (Offset e = first + threadIdx.x % 32; e < last; e += 32) out[e] = values[e];
}

unsigned blocks(std::int64_t tasks) {
  return static_cast<unsigned>((tasks + SharedRows::warps - 1) / SharedRows::warps);
}

}  // namespace

void invert_triangles(Device& on, JointArrays const& f, double const* values, bool symmetric,
                      double* W) {
  if (f.rows == 0) return;
  SharedRows const shared(f);
  invert_kernel<<<blocks((symmetric ? 1 : 2) * std::int64_t{f.rows}), SharedRows::warps * 32,
                  shared.bytes(on, invert_kernel), on.stream>>>(f, values, W, !symmetric, shared);
  check(cudaGetLastError());
  if (!symmetric) return;
  transpose_kernel<<<blocks(f.rows), SharedRows::warps * 32, 0, on.stream>>>(f, W);
  check(cudaGetLastError());
}

void take_part(Device& on, JointArrays const& f, double const* values, JointPart part,
               OffsetsView offsets, double* to) {
  if (f.rows == 0) return;
  take_kernel<<<blocks(f.rows), SharedRows::warps * 32, 0, on.stream>>>(f, values, part, offsets,
                                                                        to);
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
