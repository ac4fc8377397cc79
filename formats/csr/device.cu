// SPDX-License-Identifier: Apache-2.0
/// CSR products on the device (formats/csr/product.hpp).
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/formats/csr/product.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/pack.cuh>
#include <tcsolve/kernels/cuda/stepping_range.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve::cuda {

namespace {

constexpr int block = 256, ahead = 4;

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

/// `lanes` threads a row that is not cut, and one column of x. Sums are fixed trees: the same bits
/// on every run.
template <int lanes, class S, class T, class Y>
__global__ void __launch_bounds__(block)
    row_kernel(LoopState* loop, CsrParts<S> a, T const* x, std::int64_t stride, Y y) {
  if (Frame{loop}.stopped()) return;
  int const lane = threadIdx.x % lanes;
  std::int64_t const step = std::int64_t{gridDim.x} * (block / lanes);
  for (std::int64_t i0 = std::int64_t{blockIdx.x} * (block / lanes); i0 < a.a.rows; i0 += step) {
    std::int64_t const i = i0 + threadIdx.x / lanes;
    Offset const begin = i < a.a.rows ? a.a.offsets[i] : 0;
    Offset const end = i < a.a.rows ? a.a.offsets[i + 1] : 0;
    bool const cut = a.count > 0 && end - begin > a.length;
    T sum = cut ? T(0) : add_entries(a.a, begin + lane, end, lanes, x, stride);
    __syncwarp();
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(all, sum, offset);
    if (lane == 0 && i < a.a.rows && !cut) y.write(static_cast<Index>(i), sum);
  }
}

/// A warp a part of a long row.
template <class S, class T>
__global__ void __launch_bounds__(block)
    part_kernel(LoopState* loop, CsrParts<S> a, T const* x, std::int64_t stride, T* sums) {
  if (Frame{loop}.stopped()) return;
  Index const part = blockIdx.x * (block / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (part >= a.count) return;
  CsrPart const here = part_of(a, part);
  T const sum = warp_sum(add_entries(a.a, here.begin + lane, here.end, 32, x, stride));
  if (lane == 0) sums[part] = sum;
}

/// A warp a long row: the sums of its parts.
template <class S, class T, class Y>
__global__ void __launch_bounds__(block)
    join_kernel(LoopState* loop, CsrParts<S> a, T const* sums, Y y) {
  if (Frame{loop}.stopped()) return;
  Index const k = blockIdx.x * (block / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (k >= a.long_rows) return;
  T sum = 0;
  for (Index p = a.long_start[k] + lane; p < a.long_start[k + 1]; p += 32) sum += sums[p];
  sum = warp_sum(sum);
  if (lane == 0) y.write(a.long_row[k], sum);
}

/// One warp a row and up to 8 columns of x; lanes stride over the entries, each of which is read
/// once for the 8 columns. The sum of a row is a fixed tree: the same bits on every run.
template <class S, class T>
__global__ void __launch_bounds__(256)
    rows_kernel(LoopState* loop, T alpha, CsrView<S> a, T const* x, std::int64_t x_row,
                std::int64_t x_col, T beta, T* y, std::int64_t y_row, std::int64_t y_col, Index k) {
  if (Frame{loop}.stopped()) return;
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
    block_rows_kernel(LoopState* loop, T alpha, CsrView<S> a, T const* x, std::int64_t ldx, T beta,
                      T* y, std::int64_t ldy, Index k) {
  if (Frame{loop}.stopped()) return;
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

/// How threads share the rows of row-major blocks whose columns come in packs of 16 bytes.
struct PackTeams {
  int across;  ///< threads side by side on the packs of a row, a power of two
  int team;    ///< threads of a row: `across` times as many as take entries at once; at most a warp
  int packs;
};
/// As many entries at once as leave each thread twice what it has on its way.
PackTeams pack_teams(int packs, Offset mean) {
  PackTeams t{1, 1, packs};
  while (t.across < packs && t.across < 8) t.across *= 2;
  t.team = t.across;
  while (t.team < 32 && mean * t.across >= 2 * ahead * t.team) t.team *= 2;
  return t;
}

/// Entries first, first + step, ... < count of a row times packs of x, several on their way.
template <class S, class T>
__device__ Pack<T> add_packs(S const* values, std::int32_t const* columns, int first, int count,
                             int step, PackColumn<T> const& x) {
  Pack<T> sum(0);
  for (int e = first; e < count; e += ahead * step) {
    S v[ahead];
    Pack<T> xj[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) {
      int const at = min(e + l * step, count - 1);
      v[l] = read_only(values + at);
      xj[l] = x[read_only(columns + at)];
    }
#pragma unroll
    for (int l = 0; l < ahead; ++l)
      if (e + l * step < count) sum += Pack<T>(v[l]) * xj[l];
  }
  return sum;
}

/// A team a row, whose next one it asks for meanwhile. The sum of a row is a fixed tree: the same
/// bits on every run.
template <class S, class T>
__global__ void __launch_bounds__(block, 4)
    pack_rows_kernel(LoopState* loop, CsrView<S> a, Pack<T> const* x, std::int64_t stride,
                     Range<Pack<T>> y, PackTeams by) {
  if (Frame{loop}.stopped()) return;
  int const lane = threadIdx.x % by.team, c = lane % by.across, first = lane / by.across,
            at_once = by.team / by.across, each = block / by.team;
  std::int64_t const step = std::int64_t{gridDim.x} * each;
  std::int64_t i0 = std::int64_t{blockIdx.x} * each;
  auto const offset = [&](std::int64_t i) { return i <= a.rows ? a.offsets[i] : Offset{0}; };
  Offset coming = offset(i0 + threadIdx.x / by.team),
         behind = offset(i0 + threadIdx.x / by.team + 1);
  for (; i0 < a.rows; i0 += step) {
    std::int64_t const i = i0 + threadIdx.x / by.team;
    bool const is_row = i < a.rows;
    Offset const begin = coming;
    int const count = is_row ? static_cast<int>(behind - coming) : 0;
    coming = offset(i + step), behind = offset(i + step + 1);
    for (int j0 = 0; j0 < by.packs; j0 += by.across) {
      bool const here = is_row && j0 + c < by.packs;
      Pack<T> sum(0);
      if (here)
        sum = add_packs(a.values + begin, a.columns + begin, first, count, at_once,
                        PackColumn<T>(x, stride, j0 + c));
      __syncwarp();
      for (int to = by.team / 2; to >= by.across; to /= 2) {
        Pack<T> other;
#pragma unroll
        for (int e = 0; e < Pack<T>::columns; ++e) other.v[e] = __shfl_xor_sync(all, sum.v[e], to);
        sum += other;
      }
      if (here && first == 0)
        Range<Pack<T>>{y.alpha, y.beta, y.y + j0 + c, y.stride}.write(static_cast<Index>(i), sum);
    }
  }
}

unsigned int blocks_of(std::int64_t threads) {
  return static_cast<unsigned int>((threads + block - 1) / block);
}

/// One column of x.
template <class S, class T, class Y>
void column(Device& on, LoopState* loop, CsrParts<S> const& cut, T* sums, T const* x,
            std::int64_t stride, Y const& to) {
  CsrView<S> const& a = cut.a;
  Offset const mean = a.entries / a.rows;  // half of it, or a quarter, on their way in a lane
  int const of_row = mean <= 8 ? 2 : mean <= 16 ? 4 : mean <= 48 ? 8 : mean <= 128 ? 16 : 32;
  auto const launch = [&]<int... lanes>(std::integer_sequence<int, lanes...>) {
    unsigned int const most = 16 * on.max_blocks;
    unsigned int const blocks = std::min(blocks_of(std::int64_t{a.rows} * of_row), most);
    ((lanes == of_row ? row_kernel<lanes><<<blocks, block, 0, on.stream>>>(loop, cut, x, stride, to)
                      : void()),
     ...);
  };
  launch(std::integer_sequence<int, 2, 4, 8, 16, 32>{});
  if (cut.count > 0) {
    part_kernel<<<blocks_of(std::int64_t{32} * cut.count), block, 0, on.stream>>>(loop, cut, x,
                                                                                  stride, sums);
    join_kernel<<<blocks_of(std::int64_t{32} * cut.long_rows), block, 0, on.stream>>>(
        loop, cut, static_cast<T const*>(sums), to);
  }
  check(cudaGetLastError());
}

}  // namespace

template <class S, class T>
void spmm_csr(Device& on, LoopState* loop, T alpha, CsrParts<S> const& cut, T* sums, In<T> x,
              T beta, Out<T> y) {
  CsrView<S> const& a = cut.a;
  if (a.rows == 0 || y.cols == 0) return;
  auto row_stride = [](auto v) { return v.layout == Layout::row_major ? v.ld : std::int64_t{1}; };
  auto col_stride = [](auto v) { return v.layout == Layout::row_major ? std::int64_t{1} : v.ld; };
  if (y.cols == 1)
    return column(on, loop, cut, sums, x.data, row_stride(x),
                  Range<T>{alpha, beta, y.data, row_stride(y)});
  Elements<T const> const from = x;
  Elements<T> const to = y;
  if (has_packs(from) && has_packs(to)) {
    auto const in = packs_of(from);
    auto const out = packs_of(to);
    PackTeams const by = pack_teams(out.cols, a.entries / a.rows);
    unsigned int const most = 16 * on.max_blocks;
    pack_rows_kernel<<<std::min(blocks_of(std::int64_t{a.rows} * by.team), most), block, 0,
                       on.stream>>>(
        loop, a, in.data, in.row_stride,
        Range<Pack<T>>{Pack<T>(alpha), Pack<T>(beta), out.data, out.row_stride}, by);
    return check(cudaGetLastError());
  }
  int blocks = std::min<std::int64_t>((std::int64_t{a.rows} + 7) / 8, 16 * on.max_blocks);
  if (x.layout == Layout::row_major && y.layout == Layout::row_major) {
    auto const launch = [&](auto kernel) {
      kernel<<<blocks, 256, 0, on.stream>>>(loop, alpha, a, x.data, x.ld, beta, y.data, y.ld,
                                            y.cols);
    };
    if (y.cols <= 4)
      launch(block_rows_kernel<4, S, T>);
    else if (y.cols <= 8)
      launch(block_rows_kernel<8, S, T>);
    else
      launch(block_rows_kernel<16, S, T>);
    return check(cudaGetLastError());
  }
  rows_kernel<S, T><<<blocks, 256, 0, on.stream>>>(loop, alpha, a, x.data, row_stride(x),
                                                   col_stride(x), beta, y.data, row_stride(y),
                                                   col_stride(y), y.cols);
  check(cudaGetLastError());
}

template <class S, class T>
void spmv_then_csr(Device& on, LoopState* loop, T alpha, CsrParts<S> const& cut, T* sums, In<T> x,
                   T beta, Out<T> y, SmoothingStep<T> const& step) {
  if (cut.a.rows == 0) return;
  column(on, loop, cut, sums, x.data, std::int64_t{1},
         SteppingRange<T>{{alpha, beta, y.data, 1}, step});
}

#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_csr<S, T>(Device&, LoopState*, T, CsrParts<S> const&, T*, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmv_then_csr<S, T>(Device&, LoopState*, T, CsrParts<S> const&, T*, In<T>, T, \
                                    Out<T>, SmoothingStep<T> const&);
TCSOLVE_STEP_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<CsrOps>;

}  // namespace tcsolve::cuda
