// SPDX-License-Identifier: Apache-2.0
/// Eliminations on the device, a warp to a row (Saad 2003, algorithm 10.4):
///
///     w = row i of B, on the pattern of the factors
///     for k of L's pattern, ascending:      w_j -= w_k u_kj
///     d_i = w_i;  u_ij = w_j / d_i;  l_ik = w_k / d_k
///
///     w        in shared memory where the row finds room, else in JointScratch::long_rows
///     flag     u_kj and 1 / d_k are `waiting` until they are known, so that a row waits for the
///              numbers that it needs and for nothing else
///     order    by levels, taken by a ticket: what a row waits for is running or done
///     fails    rows after one whose pivot is not positive do nothing
///     bits     each w_j has one writer at a time, in ascending order of k: the same on every run
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/factors/make/pivots.hpp>
#include <tcsolve/factors/make/subtract_rows.cuh>
#include <tcsolve/factors/waiting.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

namespace tcsolve::cuda {
namespace {

struct Counters {
  unsigned long long taken;  // of long_rows
  unsigned ticket, replaced, failed;
};

/// The rows of U that a row is eliminated by.
struct RowsOfU {
  JointArrays const& f;
  double const* values;
  RowPlaces const& places;
  int steps;

  __device__ int entry(int step) const { return step; }
  __device__ void range(int entry, Offset& first, int& entries) const {
    Index const k = places.column(entry);
    first = f.diagonal[k] + 1;
    entries = static_cast<int>(f.begin[k + 1] - first);
  }
  __device__ Index column(Offset at) const { return f.columns[at]; }
  __device__ unsigned long long load(Offset at) const { return peek(values + at); }
  __device__ double number(unsigned long long bits, Offset at) const {
    while (bits == waiting) bits = peek(values + at);
    return __longlong_as_double(static_cast<long long>(bits));
  }
};

__device__ double largest_of_warp(double v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v = fmax(v, __shfl_xor_sync(all, v, offset));
  return v;
}

/// Row i of B into w. Returns its typical entry, as row_size() does.
__device__ double gather(CsrView<double> const& B, Index i, double shift, RowPlaces const& places,
                         double* w, int lane, double& own) {
  Offset const begin = B.offsets[i], end = B.offsets[i + 1];
  double largest = 0;
  for (Offset k = begin + lane; k < end; k += 32) {
    double const v = B.values[k];
    Index const j = B.columns[k];
    if (int const at = places.of(j); at >= 0) w[at] = j == i ? (1 + shift) * v : v;
    if (j == i) own = v;
    largest = fmax(largest, fabs(v));
  }
  own = warp_sum(own);
  largest = largest_of_warp(largest);
  if (!(largest > 0)) return 0;
  double squares = 0;
  for (Offset k = begin + lane; k < end; k += 32) {
    double const v = B.values[k] / largest;
    squares += v * v;
  }
  return largest * sqrt(warp_sum(squares) / static_cast<double>(end - begin));
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

__global__ void __launch_bounds__(SharedRows::warps * 32)
    eliminate_kernel(JointArrays f, double* values, double* inverse_pivots, CsrView<double> B,
                     PivotRule rule, SharedRows shared, double* long_rows, Counters* counters) {
  shared.open();
  int const lane = threadIdx.x % 32;
  unsigned const p = __shfl_sync(all, lane == 0 ? atomicAdd(&counters->ticket, 1u) : 0, 0);
  Index const i = p < static_cast<unsigned>(f.places) ? f.row_of[p] : -1;
  if (i < 0) return;
  Offset const begin = f.begin[i];
  int const count = static_cast<int>(f.begin[i + 1] - begin);
  int const diagonal = static_cast<int>(f.diagonal[i] - begin);
  if (rule.definite && peek(&counters->failed) != 0) {  // a larger shift will follow
    for (int e = diagonal + 1 + lane; e < count; e += 32) post(values + begin + e, 0);
    if (lane == 0) post(inverse_pivots + i, 1);
    return;
  }
  RowPlaces const places(shared.take(count, lane), lane, f.columns + begin, count);
  double* w = places.numbers();
  if (!places.in_shared()) {
    unsigned long long const first =
        lane == 0 ? atomicAdd(&counters->taken, static_cast<unsigned long long>(count)) : 0;
    w = long_rows + __shfl_sync(all, first, 0);
  }
  for (int e = lane; e < count; e += 32) w[e] = 0;
  __syncwarp();
  double own = 0;
  double const size = gather(B, i, rule.shift, places, w, lane, own);
  __syncwarp();
  subtract_rows(RowsOfU{f, values, places, diagonal}, places, w, lane);
  double inverse = 0;
  if (lane == 0) inverse = inverse_of(w[diagonal], own, size, rule, counters);
  inverse = __shfl_sync(all, inverse, 0);
  for (int e = diagonal + 1 + lane; e < count; e += 32) post(values + begin + e, w[e] * inverse);
  if (lane == 0) {
    post(inverse_pivots + i, inverse);
    values[begin + diagonal] = 0;
  }
  for (int e = lane; e < diagonal; e += 32) {
    unsigned long long bits;
    do bits = peek(inverse_pivots + places.column(e));
    while (bits == waiting);
    values[begin + e] = w[e] * __longlong_as_double(static_cast<long long>(bits));
  }
}

}  // namespace

PivotCounts eliminate(Device& on, JointArrays const& f, double* values, double* inverse_pivots,
                      CsrView<double> const& B, PivotRule const& rule,
                      JointScratch const& scratch) {
  static_assert(sizeof(Counters) <= JointScratch::counter_bytes);
  auto* const counters = static_cast<Counters*>(scratch.counters);
  check(cudaMemsetAsync(counters, 0, sizeof(Counters), on.stream));
  prepare_scratch(on, values, f.entries);
  prepare_scratch(on, inverse_pivots, f.rows);
  SharedRows const shared(f);
  eliminate_kernel<<<(f.places + SharedRows::warps - 1) / SharedRows::warps, SharedRows::warps * 32,
                     shared.bytes(on, eliminate_kernel), on.stream>>>(
      f, values, inverse_pivots, B, rule, shared, scratch.long_rows, counters);
  check(cudaGetLastError());
  Counters result{};
  copy(on, &result, counters, sizeof result);
  return {result.replaced, result.failed};
}

}  // namespace tcsolve::cuda
