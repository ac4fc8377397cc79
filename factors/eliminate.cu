// SPDX-License-Identifier: Apache-2.0
/// Eliminations on the device, a warp to a row (Saad 2003, algorithm 10.4):
///
///     w = row i of B, on the pattern of the factors
///     for k of L's pattern, ascending:      waits until row k is done
///       w_j -= w_k u_kj                     lanes over row k of U; j is looked up in the pattern
///       l_ik = w_k / d_k
///     d_i = w_i;  u_ij = w_j / d_i
///
///     w        in shared memory where the row fits, else in place
///     flag     1 / d_k is `waiting` until row k is done
///     order    by levels, taken by a ticket: what a row waits for is running or done
///     fails    rows after one whose pivot is not positive do nothing
///     bits     each w_j has one writer at a time, in ascending order of k: the same on every run
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/find.cuh>
#include <tcsolve/factors/joint_factors.hpp>
#include <tcsolve/factors/pivots.hpp>
#include <tcsolve/factors/waiting.cuh>

namespace tcsolve::cuda {
namespace {

constexpr int warps = 4, room = 512;  // entries of a row in shared memory
constexpr unsigned all = 0xffffffffu;

struct Counters {
  unsigned ticket, replaced, failed;
};

__device__ double sum_of_warp(double v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(all, v, offset);
  return v;
}
__device__ double largest_of_warp(double v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v = fmax(v, __shfl_xor_sync(all, v, offset));
  return v;
}

/// Row i of B into w, on the columns c. Returns its typical entry, as row_size() does.
__device__ double gather(CsrView<double> const& B, Index i, double shift, Index const* c, int count,
                         double* w, int lane, double& own) {
  Offset const begin = B.offsets[i], end = B.offsets[i + 1];
  double largest = 0;
  for (Offset k = begin + lane; k < end; k += 32) {
    double const v = B.values[k];
    Index const j = B.columns[k];
    if (int const at = find(c, 0, count, j); at >= 0) w[at] = j == i ? (1 + shift) * v : v;
    if (j == i) own = v;
    largest = fmax(largest, fabs(v));
  }
  own = sum_of_warp(own);
  largest = largest_of_warp(largest);
  if (!(largest > 0)) return 0;
  double squares = 0;
  for (Offset k = begin + lane; k < end; k += 32) {
    double const v = B.values[k] / largest;
    squares += v * v;
  }
  return largest * sqrt(sum_of_warp(squares) / static_cast<double>(end - begin));
}

__device__ double inverse_of(double pivot, double own, double size, PivotRule const& rule,
                             Counters* counters) {
  if (rule.definite) {
    if (pivot > least_pivot * own) return 1 / pivot;
    atomicAdd(&counters->failed, 1u);
    return 1;
  }
  double const floor = rule.floor * size;
  if (!(fabs(pivot) >= floor) || pivot == 0) {
    atomicAdd(&counters->replaced, 1u);
    pivot = copysign(floor > 0 ? floor : 1, pivot);
  }
  double const inverse = 1 / pivot;
  return isfinite(inverse) ? inverse : copysign(0x1p+1000, pivot);
}

__global__ void __launch_bounds__(warps * 32)
    eliminate_kernel(JointArrays f, double* values, double* inverse_pivots, CsrView<double> B,
                     PivotRule rule, Counters* counters) {
  __shared__ Index own_columns[warps][room];
  __shared__ double own_values[warps][room];
  int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned const p = __shfl_sync(all, lane == 0 ? atomicAdd(&counters->ticket, 1u) : 0, 0);
  Index const i = p < static_cast<unsigned>(f.places) ? f.row_of[p] : -1;
  if (i < 0) return;
  if (rule.definite && peek(&counters->failed) != 0) {  // a larger shift will follow
    if (lane == 0) post_after(inverse_pivots + i, 1);
    return;
  }
  Offset const begin = f.begin[i];
  int const count = static_cast<int>(f.begin[i + 1] - begin);
  int const diagonal = static_cast<int>(f.diagonal[i] - begin);
  bool const fits = count <= room;
  Index const* const c = fits ? own_columns[warp] : f.columns + begin;
  double* const w = fits ? own_values[warp] : values + begin;
  for (int e = lane; e < count; e += 32) {
    if (fits) own_columns[warp][e] = f.columns[begin + e];
    w[e] = 0;
  }
  __syncwarp();
  double own = 0;
  double const size = gather(B, i, rule.shift, c, count, w, lane, own);
  __syncwarp();
  for (int e = 0; e < diagonal; ++e) {
    Index const k = c[e];
    double const v = w[e];  // (L D)_ik
    Offset const first = f.diagonal[k] + 1 + lane, last = f.begin[k + 1];
    unsigned long long bits;
    do bits = peek_before(inverse_pivots + k);
    while (bits == waiting);
    __syncwarp();
    if (v != 0)
      for (Offset g = first; g < last; g += 32) {
        int const at = find(c, e + 1, count, f.columns[g]);
        if (at >= 0) w[at] -= v * __ldcg(values + g);
      }
    __syncwarp();
    if (lane == 0) w[e] = v * __longlong_as_double(static_cast<long long>(bits));
  }
  __syncwarp();
  double inverse = 0;
  if (lane == 0) inverse = inverse_of(w[diagonal], own, size, rule, counters);
  inverse = __shfl_sync(all, inverse, 0);
  for (int e = lane; e < count; e += 32) {
    double const v = e > diagonal ? w[e] * inverse : e < diagonal ? w[e] : 0;
    if (fits || e >= diagonal) values[begin + e] = v;
  }
  __threadfence();
  __syncwarp();
  if (lane == 0) post_after(inverse_pivots + i, inverse);
}

}  // namespace

PivotCounts eliminate(Device& on, JointArrays const& f, double* values, double* inverse_pivots,
                      CsrView<double> const& B, PivotRule const& rule, unsigned* counters) {
  static_assert(sizeof(Counters) == 3 * sizeof(unsigned));
  check(cudaMemsetAsync(counters, 0, sizeof(Counters), on.stream));
  prepare_scratch(on, inverse_pivots, f.rows);
  auto* const shared = reinterpret_cast<Counters*>(counters);
  eliminate_kernel<<<(f.places + warps - 1) / warps, warps * 32, 0, on.stream>>>(
      f, values, inverse_pivots, B, rule, shared);
  check(cudaGetLastError());
  Counters result{};
  copy(on, &result, counters, sizeof result);
  return {result.replaced, result.failed};
}

}  // namespace tcsolve::cuda
