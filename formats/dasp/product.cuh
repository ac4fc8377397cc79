// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in DASP (Lu and Liu 2023, Algorithms 2 to 5). One kernel for all
/// categories, long rows first; a warp takes one long or short unit, LOOP medium units, or 32
/// single or empty rows.
///
///   lane   slot k = lane % 4 of line r = lane / 4 of a block
///   loads  the slots of two blocks at once; those of up to eight blocks are in flight before the
///          first x is asked for, and the x of all of them before the first product
///   long   units go by their first column, not by their row: what is multiplied side by side finds
///          its x in the cache
///   sum    in registers, blocks in order; a long row's units leave their parts in memory, and
///          the last warp adds them in the order of the row: the same bits on every run
///   y      written to the caller's row, nothing else leaves the kernel
///   tuning LOOP, groups of a warp: swept by bench/spmv (docs/formats/dasp.md)
///
/// Sixty kernels: the files product_*.cu instantiate those of one type of values, or of some ways
/// to add up (line.cuh) with it, nine at most, since each takes seconds to compile. product.cu
/// chooses among them.
#pragma once

#include <tcsolve/formats/dasp/products.cuh>
#include <tcsolve/formats/dasp/slots.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>

#include <algorithm>
#include <type_traits>

namespace tcsolve::cuda {

namespace {

constexpr int block_threads = 128;

template <class Sum, class S, class T, class X>
__device__ void long_unit(DaspView<S> const& a, DaspWork<T> const& work, X const& x,
                          Range<T> const& y, Index u, int lane) {
  DaspUnit unit = load_unit(a.units + u), next = load_unit(a.units + u + 1);
  Sum sum;
  multiply(a, unit, 0, next.blocks - unit.blocks, x, lane, sum);
  T line = sum.sum(lane), part = warp_sum(writes_line(lane) ? line : T(0));
  Index i = static_cast<Index>(unit.irregular);
  Index first = __ldg(a.long_start + i), last = __ldg(a.long_start + i + 1);
  unsigned int ticket = 0;
  if (lane == 0) {
    __stcg(work.parts + u, part);
    __threadfence();  // the part is visible before its ticket is
    ticket = atomicAdd(work.tickets + i, 1u);
  }
  ticket = __shfl_sync(all, ticket, 0);
  if (ticket + 1 != static_cast<unsigned int>(last - first)) return;
  __threadfence();
  T total = 0;
  for (Index p = first + lane; p < last; p += 32) total += __ldcg(work.parts + p);
  total = warp_sum(total);
  if (lane == 0) {
    y.write(a.order[i], total);
    work.tickets[i] = 0;
  }
}

/// The caller's row of this lane's line of medium unit m, in lanes that write one; else -1.
template <class S>
__device__ Index row_of(DaspView<S> const& a, Index m, int lane) {
  Index i = m * 8 + line_of(lane);
  return i < a.medium_rows && writes_line(lane) ? __ldg(a.order + a.first_medium() + i) : -1;
}

template <class Sum, class S, class T, class X>
__device__ void medium_unit(DaspView<S> const& a, X const& x, Range<T> const& y, Index m,
                            DaspUnit const& unit, DaspUnit const& next, Index row, int lane) {
  Sum sum;
  int blocks = next.blocks - unit.blocks;
  if (unit.irregular == next.irregular) {
    multiply(a, unit, 0, blocks, x, lane, sum);
  } else {
    Irregular<S> irregular(a, m, lane);
    multiply(a, unit, 0, blocks, x, lane, sum);
    irregular.multiply(a, x, sum);
  }
  auto line = sum.sum(lane);
  if (row >= 0) y.write(row, line);
}

/// N units of the same few blocks, 16-bit columns and no irregular entries, side by side.
template <int N, int two, int one, class Sum, class S, class T, class X>
__device__ void alike(DaspView<S> const& a, X const& x, Range<T> const& y, int first_block,
                      int first_index, int base, Index const (&row)[N], int lane) {
  constexpr int n = two + one, slots = two * 64 + one * 32;
  S const* values = a.values + Offset{first_block} * 32;
  std::uint16_t const* words = a.indices + Offset{first_index} * 32;
  Slots<S> v[N][n];
  int2 column[N][n];
#pragma unroll
  for (int j = 0; j < N; ++j) {
#pragma unroll
    for (int u = 0; u < two; ++u) {
      v[j][u] = load_two(values + j * slots + u * 64 + 2 * lane);
      column[j][u] = two_columns<false>(words, j * slots + u * 64 + 2 * lane);
    }
    if (one) {
      v[j][n - 1].a = load_one(values + j * slots + two * 64 + lane);
      column[j][n - 1].x = one_column<false>(words, j * slots + two * 64 + lane);
    }
  }
  T x0[N][n], x1[N][n];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    X from = x.from(__shfl_sync(all, base, j));
#pragma unroll
    for (int u = 0; u < n; ++u) {
      x0[j][u] = from[column[j][u].x];
      if (u < two) x1[j][u] = from[column[j][u].y];
    }
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    Sum sum;
#pragma unroll
    for (int u = 0; u < two; ++u) sum.add(v[j][u].a, x0[j][u], v[j][u].b, x1[j][u]);
    if (one) sum.add(v[j][n - 1].a, x0[j][n - 1]);
    auto line = sum.sum(lane);
    if (row[j] >= 0) y.write(row[j], line);
  }
}

/// Groups g, g + stride, ... of N medium units. What names the next group is asked for before this
/// one is multiplied.
template <int N, class Sum, class S, class T, class X>
__device__ void medium_groups(DaspView<S> const& a, X const& x, Range<T> const& y, Index g,
                              Index stride, int lane) {
  Index units = a.medium_units(), groups = (units + N - 1) / N;
  DaspUnit const* first = a.units + a.long_units;
  // Lane j <= N holds unit j of the group; beyond the end, the closing one.
  DaspUnit mine, ahead;
  Index row[N], row_ahead[N];
  auto ask = [&](Index at) {
    ahead = load_unit(first + min(at * N + min(lane, N), units));
#pragma unroll
    for (int j = 0; j < N; ++j) row_ahead[j] = row_of(a, at * N + j, lane);
  };
  if (g >= groups) return;
  ask(g);
  for (; g < groups; g += stride) {
    mine = ahead;
#pragma unroll
    for (int j = 0; j < N; ++j) row[j] = row_ahead[j];
    if (g + stride < groups) ask(g + stride);
    if (N > 1) {
      int blocks = __shfl_down_sync(all, mine.blocks, 1) - mine.blocks;
      std::uint32_t irregular = __shfl_down_sync(all, mine.irregular, 1) - mine.irregular;
      int usual = __shfl_sync(all, blocks, 0);
      int first_block = __shfl_sync(all, mine.blocks, 0);
      int first_index = __shfl_sync(all, mine.indices, 0);
      if (__all_sync(all, lane >= N || (blocks == usual && mine.base >= 0 && irregular == 0))) {
        if (usual == 1) {
          alike<N, 0, 1, Sum>(a, x, y, first_block, first_index, mine.base, row, lane);
          continue;
        }
        if (usual == 2) {
          alike<N, 1, 0, Sum>(a, x, y, first_block, first_index, mine.base, row, lane);
          continue;
        }
        if (usual == 3) {
          alike<N, 1, 1, Sum>(a, x, y, first_block, first_index, mine.base, row, lane);
          continue;
        }
        if (N == 2 && usual == 4) {
          alike<N, 2, 0, Sum>(a, x, y, first_block, first_index, mine.base, row, lane);
          continue;
        }
      }
    }
#pragma unroll
    for (int j = 0; j < N; ++j) {
      DaspUnit unit, next;
      unit.blocks = __shfl_sync(all, mine.blocks, j),
      next.blocks = __shfl_sync(all, mine.blocks, j + 1);
      unit.indices = __shfl_sync(all, mine.indices, j);
      unit.base = __shfl_sync(all, mine.base, j);
      unit.irregular = __shfl_sync(all, mine.irregular, j);
      next.irregular = __shfl_sync(all, mine.irregular, j + 1);
      if (g * N + j < units) medium_unit<Sum>(a, x, y, g * N + j, unit, next, row[j], lane);
    }
  }
}

/// Four blocks of pieces; the slots of the two rows of a line are added apart.
template <class Sum, class S, class T, class X>
__device__ void short_unit(DaspView<S> const& a, X const& x, Range<T> const& y, Index u, int lane) {
  DaspKind kind = a.kind(u);
  Index v = a.within_kind(kind, u);
  typename DaspView<S>::Line line[4];
#pragma unroll
  for (int b = 0; b < 4; ++b) line[b] = a.line(kind, v, 8 * b + line_of(lane));
  DaspUnit unit = load_unit(a.units + u);
  int blocks = load_unit(a.units + u + 1).blocks - unit.blocks;
  S const* values = a.values + Offset{unit.blocks} * 32;
  auto const* words = a.indices + Offset{unit.indices} * 32;
  bool wide = unit.base < 0;
  X from = x.from(wide ? 0 : unit.base);
  Slots<S> slots[2];
  int2 column[2] = {};
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    if (2 * q + 1 < blocks) {
      slots[q] = load_two(values + q * 64 + 2 * lane);
      column[q] = wide ? two_columns<true>(words, q * 64 + 2 * lane)
                       : two_columns<false>(words, q * 64 + 2 * lane);
    } else if (2 * q < blocks) {
      slots[q].a = load_one(values + q * 64 + lane);
      column[q].x =
          wide ? one_column<true>(words, q * 64 + lane) : one_column<false>(words, q * 64 + lane);
    }
  }
  T x_of[4];
#pragma unroll
  for (int b = 0; b < 4; ++b)
    x_of[b] = b < blocks ? from[b % 2 == 0 ? column[b / 2].x : column[b / 2].y] : T(0);
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    S value = b % 2 == 0 ? slots[b / 2].a : slots[b / 2].b;
    // For the other row of the line the value and x are 0, since 0 times an Inf would be a NaN.
    bool first = lane % 4 < line[b].split;
    S const none = S(0.0f);
    Sum sum;
    sum.add(first ? value : none, first ? x_of[b] : T(0));
    auto result = sum.sum(lane);
    if (writes_line(lane) && line[b].first >= 0) y.write(line[b].first, result);
    if (kind == DaspKind::four) continue;
    Sum other;
    other.add(first ? none : value, first ? T(0) : x_of[b]);
    result = other.sum(lane);
    if (writes_line(lane) && line[b].second >= 0) y.write(line[b].second, result);
  }
}

template <class Sum, class S, class T, class X>
__device__ void single_or_empty(DaspView<S> const& a, X const& x, Range<T> const& y, Index i) {
  if (i >= a.singles() + a.with[0]) return;
  Index row = a.order[a.first_single() + i];
  if (i >= a.singles()) return y.write(row, T(0));
  Offset e = a.irregular + i;
  T x_of = x[a.irregular_columns[e]];
  T value = T(load_one(a.irregular_values + e));
  if (std::is_same_v<Sum, MmaF16>) x_of = T(half(x_of));
  if (std::is_same_v<Sum, AbsoluteFma<T>>) value = fabs(value);
  y.write(row, value * x_of);
}

/// Medium unit m by the four warps of a block, each a quarter of the blocks: for matrices with too
/// few units to fill the device.
template <class Sum, class S, class T, class X>
__device__ void shared_unit(DaspView<S> const& a, X const& x, Range<T> const& y, Index m,
                            int lane) {
  constexpr int warps = block_threads / 32;
  __shared__ T parts[warps][8];
  int warp = threadIdx.x / 32;
  DaspUnit unit = load_unit(a.units + a.long_units + m),
           next = load_unit(a.units + a.long_units + m + 1);
  Index row = warp == 0 ? row_of(a, m, lane) : -1;
  int blocks = next.blocks - unit.blocks, quarter = (blocks + 2 * warps - 1) / (2 * warps) * 2;
  int from = min(warp * quarter, blocks), here = min(quarter, blocks - from);
  Sum sum;
  if (warp == warps - 1 && unit.irregular != next.irregular) {
    Irregular<S> irregular(a, m, lane);
    multiply(a, unit, from, here, x, lane, sum);
    irregular.multiply(a, x, sum);
  } else {
    multiply(a, unit, from, here, x, lane, sum);
  }
  T line = sum.sum(lane);
  if (writes_line(lane)) parts[warp][line_of(lane)] = line;
  __syncthreads();
  if (row < 0) return;
  T total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) total += parts[w][line_of(lane)];
  y.write(row, total);
}

/// Blocks of a multiprocessor that share the medium units: more than run at a time.
constexpr Index medium_blocks = 16;

/// Blocks of each category, in this order.
struct Grid {
  Index long_rows, medium, shorts;
  bool shared;  ///< a medium unit by all warps of a block
};

/// Blocks that a multiprocessor should hold; 0: ptxas decides. Without a bound it issues the loads
/// of 16-bit values one by one to save registers that are not needed.
template <int N, class S>
constexpr int resident = N == 1 && sizeof(S) == 2 ? 8 : 0;

template <int N, class Sum, class S, class T, class X>
__global__ void __launch_bounds__(block_threads, resident<N, S>)
    dasp_kernel(DaspView<S> a, DaspWork<T> work, X x, Range<T> y, Grid grid) {
  if (Frame{work.loop}.stopped()) return;
  constexpr int warps = block_threads / 32;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Index b = blockIdx.x;
  if (b < grid.long_rows) {
    Index u = b * warps + warp;
    if (u < a.long_units) long_unit<Sum>(a, work, x, y, __ldg(a.long_order + u), lane);
    return;
  }
  b -= grid.long_rows;
  if (b < grid.medium) {
    if (grid.shared) return shared_unit<Sum>(a, x, y, b, lane);
    return medium_groups<N, Sum>(a, x, y, b * warps + warp, grid.medium * warps, lane);
  }
  b -= grid.medium;
  if (b < grid.shorts) {
    Index u = b * warps + warp;
    if (u < a.short_units()) short_unit<Sum>(a, x, y, a.long_units + a.medium_units() + u, lane);
    return;
  }
  single_or_empty<Sum>(a, x, y, (b - grid.shorts) * block_threads + threadIdx.x);
}

template <int N, class Sum, class S, class T, class X>
void launch(Device& on, DaspView<S> const& a, DaspWork<T> const& work, X x, Range<T> y) {
  constexpr int warps = block_threads / 32;
  Index units = a.medium_units(), groups = (units + N - 1) / N,
        processors = on.properties.multiProcessorCount;
  Grid grid{(a.long_units + warps - 1) / warps, 0, (a.short_units() + warps - 1) / warps,
            N == 1 && units < few_units * processors && work.blocks_per_unit >= 8};
  grid.medium =
      grid.shared ? units : std::min((groups + warps - 1) / warps, medium_blocks * processors);
  std::int64_t others = std::int64_t{a.singles()} + a.with[0];
  std::int64_t blocks = std::int64_t{grid.long_rows} + grid.medium + grid.shorts +
                        (others + block_threads - 1) / block_threads;
  dasp_kernel<N, Sum>
      <<<static_cast<unsigned int>(blocks), block_threads, 0, on.stream>>>(a, work, x, y, grid);
  check(cudaGetLastError());
}

}  // namespace

template <class Sum, class S, class T>
void dasp_column(Device& on, DaspView<S> const& a, DaspWork<T> const& work, T const* x,
                 std::int64_t x_stride, Range<T> const& y) {
  if (x_stride != 1) return launch<1, Sum>(on, a, work, Domain<T, false>{x, x_stride}, y);
  Domain<T, true> adjacent{x, 1};
  if (work.loop_num == 4) return launch<4, Sum>(on, a, work, adjacent, y);
  if (work.loop_num == 2) return launch<2, Sum>(on, a, work, adjacent, y);
  launch<1, Sum>(on, a, work, adjacent, y);
}

template <class S>
void dasp_absolute(Device& on, DaspView<S> const& a, DaspWork<double> const& work,
                   Range<double> const& y) {
  launch<1, AbsoluteFma<double>>(on, a, work, Ones<double>{}, y);
}

/// The kernels of one way to add up.
#define TCSOLVE_DASP_COLUMN(Sum, S, T)                                                  \
  template void dasp_column<Sum, S, T>(Device&, DaspView<S> const&, DaspWork<T> const&, \
                                       T const* x, std::int64_t x_stride, Range<T> const& y)
#define TCSOLVE_DASP_ABSOLUTE(S)                                                       \
  template void dasp_absolute<S>(Device&, DaspView<S> const&, DaspWork<double> const&, \
                                 Range<double> const& y)

}  // namespace tcsolve::cuda
