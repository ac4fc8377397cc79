// SPDX-License-Identifier: Apache-2.0
/// W of joint factors on the device, a warp to a row of W_L or W_U:
///
///     w = e_i, on the pattern of the row
///     for k of the pattern, from i outwards:   w_j -= w_k t_kj, lanes over row k of T; j is looked
///                                              up in the pattern
///
///     w        in shared memory where the row fits, else in place
///     bytes    each row of T once for every entry of its column, from the second-level cache
///     bits     each w_j has one writer at a time, in the order of k
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/find.cuh>
#include <tcsolve/factors/joint_inverse.hpp>

namespace tcsolve::cuda {
namespace {

constexpr int warps = 4, room = 512;  // entries of a row in shared memory

__global__ void __launch_bounds__(warps * 32)
    invert_kernel(JointArrays f, double const* __restrict__ values, double* W, bool both) {
  __shared__ Index own_columns[warps][room];
  __shared__ double own_values[warps][room];
  int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::int64_t const task = std::int64_t{blockIdx.x} * warps + warp;
  if (task >= (both ? 2 : 1) * std::int64_t{f.rows}) return;
  bool const lower = task < f.rows;
  auto const i = static_cast<Index>(lower ? task : task - f.rows);
  Offset const begin = lower ? f.begin[i] : f.diagonal[i] + 1;
  int const count = static_cast<int>((lower ? f.diagonal[i] : f.begin[i + 1]) - begin);
  bool const fits = count <= room;
  Index const* const c = fits ? own_columns[warp] : f.columns + begin;
  double* const w = fits ? own_values[warp] : W + begin;
  for (int e = lane; e < count; e += 32) {
    if (fits) own_columns[warp][e] = f.columns[begin + e];
    w[e] = -values[begin + e];  // after the step of k = i
  }
  __syncwarp();
  for (int step = 0; step < count; ++step) {
    int const e = lower ? count - 1 - step : step;
    double const v = w[e];
    Index const k = c[e];
    Offset const last = lower ? f.diagonal[k] : f.begin[k + 1];
    int const from = lower ? 0 : e + 1, to = lower ? e : count;
    if (v != 0)
      for (Offset g = (lower ? f.begin[k] : f.diagonal[k] + 1) + lane; g < last; g += 32)
        if (int const at = find(c, from, to, f.columns[g]); at >= 0) w[at] -= v * values[g];
    __syncwarp();
  }
  if (fits)
    for (int e = lane; e < count; e += 32) W[begin + e] = w[e];
  if (lower && lane == 0) W[f.diagonal[i]] = 1;
}

/// W_U = W_L^T.
__global__ void __launch_bounds__(warps * 32) transpose_kernel(JointArrays f, double* W) {
  Index const i = blockIdx.x * warps + threadIdx.x / 32;
  if (i >= f.rows) return;
  Offset const last = f.begin[i + 1];
  for (Offset e = f.diagonal[i] + 1 + threadIdx.x % 32; e < last; e += 32) {
    Index const j = f.columns[e];
    Offset const begin = f.begin[j];
    W[e] = W[begin + find(f.columns + begin, 0, static_cast<int>(f.diagonal[j] - begin), i)];
  }
}

__global__ void __launch_bounds__(warps * 32)
    take_kernel(JointArrays f, double const* values, JointPart part, OffsetsView offsets,
                double* to) {
  Index const i = blockIdx.x * warps + threadIdx.x / 32;
  if (i >= f.rows) return;
  Offset first, last;
  range_of(f, part, i, first, last);
  double* const out = to + (offsets[i] - first);
  for (Offset e = first + threadIdx.x % 32; e < last; e += 32) out[e] = values[e];
}

unsigned blocks(std::int64_t tasks) { return static_cast<unsigned>((tasks + warps - 1) / warps); }

}  // namespace

void invert_triangles(Device& on, JointArrays const& f, double const* values, bool symmetric,
                      double* W) {
  if (f.rows == 0) return;
  invert_kernel<<<blocks((symmetric ? 1 : 2) * std::int64_t{f.rows}), warps * 32, 0, on.stream>>>(
      f, values, W, !symmetric);
  check(cudaGetLastError());
  if (!symmetric) return;
  transpose_kernel<<<blocks(f.rows), warps * 32, 0, on.stream>>>(f, W);
  check(cudaGetLastError());
}

void take_part(Device& on, JointArrays const& f, double const* values, JointPart part,
               OffsetsView offsets, double* to) {
  if (f.rows == 0) return;
  take_kernel<<<blocks(f.rows), warps * 32, 0, on.stream>>>(f, values, part, offsets, to);
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
