// SPDX-License-Identifier: Apache-2.0
/// Products with slices of dense blocks: a lane a block row.
///
///   grid    a warp a slice; where slices are few, two, four or eight warps of a block share one:
///           warp w takes steps w, w + share, ..; their sums are added in shared memory, in order
///   loads   the b b values of a step are as many runs of 32; those of a few steps and the entries
///           of x that go with them are all on their way before one is multiplied, and the column
///           numbers of the steps after these
///   sigma   lane, warp, block; the last block adds the partial sums in block order
///   packs   of row-major blocks a thread has a block row and 16 bytes of columns
///           (kernels/cuda/pack.cuh)
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/formats/bsell/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/finish_sigma.cuh>
#include <tcsolve/kernels/cuda/pack.cuh>
#include <tcsolve/kernels/cuda/stepping_range.cuh>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include <algorithm>
#include <bit>

namespace tcsolve::cuda {

namespace {

constexpr int C = BsellView<double>::C;
constexpr int most_warps = 8;  ///< of a thread block, where they share a slice
constexpr int few_warps = 4;   ///< else

/// Steps that are multiplied at once, and blocks of eight warps that a multiprocessor holds then.
template <int b, class S, class T>
struct Form {
  /// Registers that a step takes: values and x.
  static constexpr int each = b * b * (sizeof(S) == 8 ? 2 : 1) + b * (sizeof(T) == 8 ? 2 : 1);
  static constexpr int steps = each <= 24 ? 2 : 1;
  static constexpr int blocks = each <= 12 ? 4 : each * steps <= 48 ? 3 : 2;
};
/// A warp that shares a slice has so many steps at least.
constexpr int least_steps = 2;

/// sums += `count` steps, which lie `apart` values apart, times x, padding and all; J their block
/// columns.
template <int count, int b, bool adjacent, class S, class X, class T>
__device__ __forceinline__ void add_steps(S const* values, std::int64_t apart, Index const* J, X x,
                                          std::int64_t stride, std::uint32_t last, T (&sums)[b]) {
  S v[count][b * b];
  T xj[count][b];
#pragma unroll
  for (int k = 0; k < count; ++k) {
#pragma unroll
    for (int e = 0; e < b * b; ++e) v[k][e] = read_only(values + k * apart + e * C);
#pragma unroll
    for (int c = 0; c < b; ++c) {
      std::uint32_t j = static_cast<std::uint32_t>(J[k]) * b + c;
      if (c > 0) j = j < last ? j : last;
      xj[k][c] = read_only(x + (adjacent ? j : j * stride));
    }
  }
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int r = 0; r < b; ++r)
#pragma unroll
      for (int c = 0; c < b; ++c) sums[r] += T(v[k][r * b + c]) * xj[k][c];
}

/// The steps that are left, fewer than 2 `count`: half as many, a quarter, ...
template <int count, int b, bool adjacent, class S, class T>
__device__ __forceinline__ void add_rest(int left, S const* values, std::int64_t apart, Index* J,
                                         T const* x, std::int64_t stride, std::uint32_t last,
                                         T (&sums)[b]) {
  if constexpr (count > 0) {
    if (left & count) {
      add_steps<count, b, adjacent>(values, apart, J, x, stride, last, sums);
      values += count * apart;
#pragma unroll
      for (int k = 0; k < count / 2; ++k) J[k] = J[k + count];
    }
    add_rest<count / 2, b, adjacent>(left, values, apart, J, x, stride, last, sums);
  }
}

/// sums_r = row r of this lane's block row: steps `first`, first + share, ...
template <int b, bool adjacent, class S, class T>
__device__ __forceinline__ void add_slice(BsellView<S> const& a, BsellSlice const& slice, int first,
                                          int log_share, T const* x, std::int64_t stride,
                                          T (&sums)[b]) {
  constexpr int steps = Form<b, S, T>::steps;
  if (first >= slice.steps) return;
  int const lane = threadIdx.x % 32, share = 1 << log_share;
  std::int64_t const apart = std::int64_t{share} * b * b * C;
  auto const last = static_cast<std::uint32_t>(a.cols - 1);
  S const* values = a.values + (Offset{slice.first} + first) * b * b * C + lane;
  Index coming[steps];
  auto const ask = [&](int s) {
#pragma unroll
    for (int k = 0; k < steps; ++k)
      coming[k] = a.column(slice, min(s + k * share, slice.steps - 1), lane);
  };
  ask(first);
  int left = (slice.steps - first + share - 1) >> log_share;
  for (int s = first; left >= steps; left -= steps) {
    Index J[steps];
#pragma unroll
    for (int k = 0; k < steps; ++k) J[k] = coming[k];
    s += steps * share;
    ask(s);
    add_steps<steps, b, adjacent>(values, apart, J, x, stride, last, sums);
    values += steps * apart;
  }
  add_rest<steps / 2, b, adjacent>(left, values, apart, coming, x, stride, last, sums);
}

/// The same with a test of every value. Padding is -0 and adds nothing to a sum, unless it meets an
/// Inf or NaN of x, which makes NaN: rows whose sum is NaN are added anew by this function.
template <int b, class S, class X, class T>
__device__ __noinline__ void add_entries(BsellView<S> a, BsellSlice slice, int lane, X x,
                                         std::int64_t stride, T* sums) {
  S const* values = a.values + Offset{slice.first} * b * b * C + lane;
  for (int s = 0; s < slice.steps; ++s, values += b * b * C) {
    Offset const J = Offset{a.column(slice, s, lane)} * b;
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < b; ++c) {
        S const v = values[(r * b + c) * C];
        if (!is_padding(v)) sums[r] += T(v) * x[(J + c) * stride];
      }
  }
}

/// write(row, sum) for every row.
template <int b, bool adjacent, class S, class T, class Write>
__device__ __forceinline__ void each_row(BsellView<S> const& a, int log_share, T const* x,
                                         std::int64_t stride, Write const& write) {
  __shared__ T parts[most_warps][b][C];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int const share = 1 << log_share, slices = static_cast<int>(blockDim.x) / 32 >> log_share;
  for (std::int64_t first = std::int64_t{blockIdx.x} * slices; first < a.count;
       first += std::int64_t{gridDim.x} * slices) {
    std::int64_t const s = first + (warp >> log_share);
    int const part = warp & (share - 1);
    T sums[b] = {};
    BsellSlice slice{};
    if (s < a.count) {
      slice = read_only(a.slices + s);
      add_slice<b, adjacent>(a, slice, part, log_share, x, stride, sums);
    }
    if (share > 1) {
      __syncthreads();  // the last slice's have been added
#pragma unroll
      for (int r = 0; r < b; ++r) parts[warp][r][lane] = sums[r];
      __syncthreads();
      if (part > 0) continue;
      for (int w = 1; w < share; ++w)
#pragma unroll
        for (int r = 0; r < b; ++r) sums[r] += parts[warp + w][r][lane];
    }
    std::int64_t const p = s * C + lane;
    if (p >= a.block_rows) continue;
    bool all = true;
#pragma unroll
    for (int r = 0; r < b; ++r) all = all && sums[r] == sums[r];
    if (!all) {
      T anew[b] = {};
      add_entries<b>(a, slice, lane, x, stride, anew);
#pragma unroll
      for (int r = 0; r < b; ++r)
        if (sums[r] != sums[r]) sums[r] = anew[r];
    }
    std::int64_t const I = a.order == nullptr ? p : a.order[p];
#pragma unroll
    for (int r = 0; r < b; ++r)
      if (I * b + r < a.rows) write(static_cast<Index>(I * b + r), sums[r]);
  }
}

template <int b, bool adjacent, class S, class T, class Y>
__global__ void __launch_bounds__(most_warps * 32, Form<b, S, T>::blocks)
    bsell_kernel(BsellView<S> a, int log_share, T const* x, std::int64_t stride, Y y,
                 LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  each_row<b, adjacent>(a, log_share, x, stride, [&](Index row, T sum) { y.write(row, sum); });
}

/// Steps that a thread with a pack multiplies at once.
template <int b>
constexpr int pack_steps = b <= 3 ? 2 : 1;

template <int b, class S, class T>
__global__ void __launch_bounds__(PackRows::threads, b <= 3 ? 3 : 2)
    bsell_columns_kernel(BsellView<S> a, PackRows rows, Pack<T> const* x, std::int64_t stride,
                         Range<Pack<T>> y, LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  constexpr int steps = pack_steps<b>;
  auto const last = static_cast<std::uint32_t>(a.cols - 1);
  rows.each([&](std::int64_t, std::int64_t p, int j) {
    BsellSlice const slice = read_only(a.slices + p / C);
    int const lane = static_cast<int>(p % C);
    PackColumn<T> const X(x, stride, j);
    S const* values = a.values + Offset{slice.first} * b * b * C + lane;
    Pack<T> sums[b] = {};
    int s = 0;
    for (; s + steps <= slice.steps; s += steps, values += steps * b * b * C) {
      Index J[steps];
#pragma unroll
      for (int k = 0; k < steps; ++k) J[k] = a.column(slice, s + k, lane);
      add_steps<steps, b, true>(values, b * b * C, J, X, 1, last, sums);
    }
    if (steps == 2 && s < slice.steps) {
      Index const J = a.column(slice, s, lane);
      add_steps<1, b, true>(values, b * b * C, &J, X, 1, last, sums);
    }
    bool all = true;
#pragma unroll
    for (int r = 0; r < b; ++r) all = all && sums[r] == sums[r];
    if (!all) {
      Pack<T> anew[b] = {};
      add_entries<b>(a, slice, lane, X, 1, anew);
#pragma unroll
      for (int r = 0; r < b; ++r) sums[r] = anew[r];
    }
    std::int64_t const I = a.order == nullptr ? p : a.order[p];
    Range<Pack<T>> const to{y.alpha, y.beta, y.y + j, y.stride};
#pragma unroll
    for (int r = 0; r < b; ++r)
      if (I * b + r < a.rows) to.write(static_cast<Index>(I * b + r), sums[r]);
  });
}

template <int b, class S, class T>
__global__ void __launch_bounds__(most_warps * 32, Form<b, S, T>::blocks)
    bsell_dot_kernel(BsellView<S> a, int log_share, T const* x, Range<T> y, double* sigma,
                     Scratch scratch, LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  double mine = 0;
  each_row<b, true>(a, log_share, x, std::int64_t{1}, [&](Index row, T sum) {
    y.write(row, sum);
    mine += double(x[row]) * double(y.alpha * sum);
  });
  finish_sigma(mine, sigma, scratch);
}

struct Grid {
  unsigned int blocks, threads;
  int log_share;  ///< of the warps of a slice, a power of two
};
/// Warps share a slice where the device holds about all slices at once; two warps do where one warp
/// a slice would leave a part of the device idle most of the time. Measured: docs/formats/bsell.md.
template <int b, class S, class T>
Grid grid(Device const& on, BsellView<S> const& a) {
  std::int64_t const held =
      std::int64_t{Form<b, S, T>::blocks} * most_warps * on.properties.multiProcessorCount;
  std::int64_t const slices = a.count;
  int share = 1;
  while (share < most_warps && slices * 2 * share <= held + held / 2 &&
         slices * 2 * share * least_steps <= a.steps)
    share *= 2;
  if (share == 1 && slices > held && slices < 4 * held) share = 2;
  int const warps = std::max(share, few_warps);
  std::int64_t const blocks = (slices * share + warps - 1) / warps;
  return {static_cast<unsigned int>(std::min<std::int64_t>(blocks, 4 * on.max_blocks)),
          static_cast<unsigned int>(warps * 32),
          std::countr_zero(static_cast<unsigned int>(share))};
}

}  // namespace

template <class S, class T>
void spmm_bsell(Device& on, BsellProduct<S, T> const& p) {
  if (p.a.rows == 0) return;
  Elements<T const> const x = p.x;
  Elements<T> const y = p.y;
  if (has_packs(x) && has_packs(y)) {
    auto const from = packs_of(x);
    auto const to = packs_of(y);
    PackRows const rows(on, p.a.block_rows, to.cols);
    return with_bsell_block(p.a.block, [&]<int b>(std::integral_constant<int, b>) {
      bsell_columns_kernel<b, S, T><<<rows.blocks, PackRows::threads, 0, on.stream>>>(
          p.a, rows, from.data, from.row_stride,
          Range<Pack<T>>{Pack<T>(p.alpha), Pack<T>(p.beta), to.data, to.row_stride}, p.loop);
      check(cudaGetLastError());
    });
  }
  with_bsell_block(p.a.block, [&]<int b>(std::integral_constant<int, b>) {
    Grid const g = grid<b, S, T>(on, p.a);
    for (Index j = 0; j < y.cols; ++j) {
      T const* const from = x.data + j * x.col_stride;
      Range<T> const to{p.alpha, p.beta, y.data + j * y.col_stride, y.row_stride};
      if (x.row_stride == 1)
        bsell_kernel<b, true><<<g.blocks, g.threads, 0, on.stream>>>(p.a, g.log_share, from,
                                                                     x.row_stride, to, p.loop);
      else
        bsell_kernel<b, false><<<g.blocks, g.threads, 0, on.stream>>>(p.a, g.log_share, from,
                                                                      x.row_stride, to, p.loop);
      check(cudaGetLastError());
    }
  });
}

template <class S, class T>
void spmv_then_bsell(Device& on, BsellProduct<S, T> const& p, SmoothingStep<T> const& step) {
  if (p.a.rows == 0) return;
  SteppingRange<T> const y{{p.alpha, p.beta, p.y.data, 1}, step};
  with_bsell_block(p.a.block, [&]<int b>(std::integral_constant<int, b>) {
    Grid const g = grid<b, S, T>(on, p.a);
    bsell_kernel<b, true><<<g.blocks, g.threads, 0, on.stream>>>(p.a, g.log_share, p.x.data,
                                                                 std::int64_t{1}, y, p.loop);
    check(cudaGetLastError());
  });
}

template <class S, class T>
void spmv_dot_bsell(Device& on, BsellProduct<S, T> const& p, double* sigma) {
  if (p.a.rows == 0) {
    check(cudaMemsetAsync(sigma, 0, sizeof(double), on.stream));
    return;
  }
  Range<T> const y{p.alpha, T(0), p.y.data, 1};
  with_bsell_block(p.a.block, [&]<int b>(std::integral_constant<int, b>) {
    Grid const g = grid<b, S, T>(on, p.a);
    bsell_dot_kernel<b><<<g.blocks, g.threads, 0, on.stream>>>(p.a, g.log_share, p.x.data, y, sigma,
                                                               on.scratch, p.loop);
  });
  check(cudaGetLastError());
  end_sigma(on, sigma);
}

#define TCSOLVE_INSTANTIATE(S, T)                                     \
  template void spmm_bsell<S, T>(Device&, BsellProduct<S, T> const&); \
  template void spmv_dot_bsell<S, T>(Device&, BsellProduct<S, T> const&, double*);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmv_then_bsell<S, T>(Device&, BsellProduct<S, T> const&, SmoothingStep<T> const&);
TCSOLVE_STEP_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<BsellExactOps>;

}  // namespace tcsolve::cuda
