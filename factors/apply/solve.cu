// SPDX-License-Identifier: Apache-2.0
/// Triangular solves on the device: all rows at once, each waiting for the unknowns it needs.
///
///     y         unknowns by row; `waiting`, a NaN that no arithmetic makes, until it is known
///     order     blocks take rows by a ticket, so that what a row waits for is running or done
///     lanes     4 to 32 to a row; rows of a warp belong to one level, none needs another
///     sums      a fixed tree: the same bits on every run
///     launches  two for M x; each resets what the other waits on
///     mask      where a reach is known, blocks take its groups of places instead of all places, and
///               unknowns that are not reached are zero without a look; a block without a group ends
///
/// Of several right-hand sides the unknowns of a row lie side by side: a row has a lane for each
/// of them and two or four entries at a time, so that a level costs all of them one wait.
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/factors/waiting.cuh>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tcsolve::cuda {
namespace {

constexpr int block = 128, ahead = 4;

__global__ void fill_kernel(double* y, std::int64_t rows) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows;
       i += std::int64_t{gridDim.x} * blockDim.x)
    reset(y + i);
}

/// sum_e a_e y_j over the entries e = first, first + step, .. < end, j the column of e and place(j)
/// where its unknown is posted; `partial`: null where it is zero and nobody posts it. `ahead`
/// unknowns are in flight at once, so that a row waits for the last of them, not for each in turn.
template <int step, bool partial = false, class S, class Place>
__device__ double sum_known(TriangleView<S> const& t, Offset first, Offset end,
                            Place const& place) {
  double sum = 0;
  for (Offset e = first; e < end; e += ahead * step) {
    double const* from[ahead];
    double value[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) {
      bool const there = e + l * step < end;
      Offset const k = there ? e + l * step : e;
      from[l] = place(t.columns[k]);
      value[l] = there ? double(t.values[k]) : 0.0;
    }
    unsigned long long bits[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) bits[l] = !partial || from[l] != nullptr ? peek(from[l]) : 0;
    bool all_known;
    do {
      all_known = true;
#pragma unroll
      for (int l = 0; l < ahead; ++l)
        if (bits[l] == waiting) {
          bits[l] = peek(from[l]);
          all_known = false;
        }
    } while (!all_known);
#pragma unroll
    for (int l = 0; l < ahead; ++l)
      if (l == 0 || e + l * step < end)
        sum += value[l] * __longlong_as_double(static_cast<long long>(bits[l]));
  }
  return sum;
}

__device__ bool has(std::uint64_t const* bits, Index i) {
  return (bits[i / 64] >> (i % 64) & 1) != 0;
}

template <int lanes, bool masked, class S>
__global__ void __launch_bounds__(block)
    solve_kernel(TriangleView<S> t, TriangleSolve s, TriangleScratch at, TriangleMask mask) {
  if (Frame{s.loop}.stopped()) return;
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(at.ticket, 1u);
  // Reset what the other solve waits on: it is not read while this one runs.
  std::int64_t const thread = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (thread == 0) *at.other_ticket = 0;
  if (!at.consume)
    for (std::int64_t i = thread; i < at.other_rows; i += std::int64_t{gridDim.x} * block)
      reset(at.other + i);
  // Of a mask: the reach of this triangle, and of the one that the source is of.
  bool const known = masked && mask.state->known != 0;
  bool const source_known = masked && mask.source_state != nullptr && mask.source_state->known != 0;
  if (known && s.to != nullptr)
    for (std::int64_t i = thread; i < t.rows; i += std::int64_t{gridDim.x} * block)
      if (!has(mask.seen, static_cast<Index>(i))) {
        double& out = s.out[s.to[i] * s.out_stride];
        out = s.beta == 0 ? 0 : s.beta * out;
      }
  __syncthreads();
  constexpr int rows = block / lanes;
  std::int64_t p = std::int64_t{tile} * rows + threadIdx.x / lanes;
  int const lane = threadIdx.x % lanes;
  Index const places = known ? mask.state->groups * rows_of_warp : t.places;
  bool const there = p < places;
  if (known && there)
    p = std::int64_t{mask.groups[p / rows_of_warp]} * rows_of_warp + p % rows_of_warp;
  Index i = there ? t.row_of[p] : -1;
  if (known && i >= 0 && !has(mask.seen, i)) i = -1;
  double sum = 0;
  if (i >= 0)
    sum = sum_known<lanes, masked>(t, t.begin[i] + lane, t.end[i], [&](Index j) {
      return known && !has(mask.seen, j) ? nullptr : at.y + j;
    });
  __syncwarp();
#pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane != 0 || i < 0) return;
  Index const from = s.from == nullptr ? i : s.from[i];
  double const source =
      source_known && !has(mask.source_seen, from) ? 0.0 : s.source[from * s.stride];
  double const y = s.scale[i] * source - sum;
  post(at.y + i, y);
  if (at.consume) reset(at.other + from);
  if (s.to == nullptr) return;
  double& out = s.out[s.to[i] * s.out_stride];
  double const value = s.alpha * (s.factor[i] * y);
  out = s.beta == 0 ? value : value + s.beta * out;
}

/// `at_once` entries of a row and K right-hand sides at a time.
template <int at_once, int K, class S>
__global__ void __launch_bounds__(block)
    solve_columns_kernel(TriangleView<S> t, TriangleSolve s, double* y, unsigned* ticket) {
  if (Frame{s.loop}.stopped()) return;
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  constexpr int lanes = at_once * K, rows = block / lanes;
  Index const p = static_cast<Index>(tile * rows + threadIdx.x / lanes);
  int const lane = threadIdx.x % lanes, c = lane % K, first = lane / K;
  Index const i = p < t.places ? t.row_of[p] : -1;
  bool const here = i >= 0 && c < s.columns;
  double sum = 0;
  if (here)
    sum = sum_known<at_once>(t, t.begin[i] + first, t.end[i],
                             [=](Index j) { return y + std::int64_t{j} * K + c; });
  __syncwarp();
#pragma unroll
  for (int offset = lanes / 2; offset >= K; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (!here || first != 0) return;
  Index const from = s.from == nullptr ? i : s.from[i];
  double const unknown = s.scale[i] * s.source[from * s.stride + c * s.source_column] - sum;
  post(y + std::int64_t{i} * K + c, unknown);
  if (s.to == nullptr) return;
  double& out = s.out[s.to[i] * s.out_stride + c * s.out_column];
  double const value = s.alpha * (s.factor[i] * unknown);
  out = s.beta == 0 ? value : value + s.beta * out;
}

}  // namespace

void prepare_scratch(Device& on, double* y, std::int64_t rows) {
  if (rows == 0) return;
  auto const blocks = static_cast<unsigned>(std::min<std::int64_t>((rows + 255) / 256, 4096));
  fill_kernel<<<blocks, 256, 0, on.stream>>>(y, rows);
  check(cudaGetLastError());
}

void reset_tickets(Device& on, unsigned* tickets) {
  check(cudaMemsetAsync(tickets, 0, 2 * sizeof(unsigned), on.stream));
}

template <class S>
void solve_triangle(Device& on, TriangleView<S> const& t, TriangleSolve const& s,
                    TriangleScratch const& at, TriangleMask const& mask) {
  if (t.places == 0) return;
  int const lanes = t.mean_row <= 4 ? 4 : t.mean_row <= 12 ? 8 : t.mean_row <= 48 ? 16 : 32;
  int const rows = block / lanes;
  auto const blocks = static_cast<unsigned>((std::int64_t{t.places} + rows - 1) / rows);
  auto const launch = [&](auto kernel) { kernel<<<blocks, block, 0, on.stream>>>(t, s, at, mask); };
  auto const launch_for = [&]<bool masked>(std::bool_constant<masked>) {
    switch (lanes) {
      case 4: launch(solve_kernel<4, masked, S>); break;
      case 8: launch(solve_kernel<8, masked, S>); break;
      case 16: launch(solve_kernel<16, masked, S>); break;
      default: launch(solve_kernel<32, masked, S>);
    }
  };
  if (mask.state != nullptr)
    launch_for(std::true_type{});
  else
    launch_for(std::false_type{});
  check(cudaGetLastError());
}

template <class S>
void solve_triangles(Device& on, TriangleView<S> const& t, TriangleSolve const& s, double* y,
                     unsigned* ticket) {
  if (t.places == 0) return;
  auto const launch = [&]<int at_once, int K>(std::integer_sequence<int, at_once, K>) {
    constexpr int rows = block / (at_once * K);
    auto const blocks = static_cast<unsigned>((std::int64_t{t.places} + rows - 1) / rows);
    solve_columns_kernel<at_once, K><<<blocks, block, 0, on.stream>>>(t, s, y, ticket);
  };
  switch (s.width) {
    case 2: launch(std::integer_sequence<int, 4, 2>{}); break;
    case 4: launch(std::integer_sequence<int, 4, 4>{}); break;
    case 8: launch(std::integer_sequence<int, 4, 8>{}); break;
    default: launch(std::integer_sequence<int, 2, 16>{});
  }
  check(cudaGetLastError());
}

#define TCSOLVE_INSTANTIATE(S)                                                                     \
  template void solve_triangle<S>(Device&, TriangleView<S> const&, TriangleSolve const&,           \
                                  TriangleScratch const&, TriangleMask const&);                    \
  template void solve_triangles<S>(Device&, TriangleView<S> const&, TriangleSolve const&, double*, \
                                   unsigned*);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
