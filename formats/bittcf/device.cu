// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in BitTCF (Acc-SpMM: Zhao et al. 2025, Algorithm 2). A warp takes a
/// window of eight rows, or a piece of a long one.
///
///   columns  8, 16 and 32 at a time, in FP32 64 too, where x and y are row-major and aligned;
///            remaining columns, and other layouts, 16 at a time by the same kernel with strides
///            (columns.cuh)
///   mma      the operands swapped, x^T the left one and the block the right one (unit.cuh)
///   lanes    lane l, g = l / 4, t = l % 4, has row g of a block, columns 2 t and 2 t + 1, whose
///            values are neighbours; of x the rows of these two, `width` columns; the sums of rows
///            2 t and 2 t + 1 of y and the same columns
///   rows     where a lane loads 16 bytes of a row of x at a time, eight neighbours load the row in
///            one run and exchange: lane 8 t + g has what lane 4 g + t multiplies. Eight lanes
///            then refer to one line of the first-level cache, not to four, whose lookups bounded
///            the product (docs/internals/bittcf.md)
///   ahead    values and rows of x of `ahead` blocks are loaded before the first is multiplied, and
///            columns, bitmaps and offsets of the blocks behind them
///   aside    side entries of rows 2 t and 2 t + 1 are added by the lanes of t on the CUDA cores
///   order    a thread block takes four neighbouring windows, which share rows of x in the
///            first-level cache; values are not kept there
///   pieces   are added by a launch before, and their sums by the windows that they are cut from
///   bytes    the matrix once for every group of columns, k sizeof(T) (rows + cols)
///   gram     X^T Y of 8 columns of FP64 beside Y = alpha A X, A square (gram.cuh): Y is in
///            registers and the window's rows of X, mostly read by the product, are near. Saved are
///            the 128 bytes a row that gram() reads, for 1024 a thread block
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/bittcf/columns.cuh>
#include <tcsolve/formats/bittcf/gram.cuh>
#include <tcsolve/formats/bittcf/ops.hpp>
#include <tcsolve/formats/bittcf/unit.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tcsolve::cuda {

namespace {

// Small thread blocks: no warp waits for the slowest of sixteen. Six share a multiprocessor, with
// 85 registers a thread, and eight, with 64, where a lane has at most 8 bytes of a row of x
// (docs/internals/bittcf.md).
constexpr int warps = 4;
constexpr int blocks_together(std::size_t bytes_of_lane) { return bytes_of_lane <= 8 ? 8 : 6; }

/// A value as it is stored, until it is multiplied.
template <class S>
using Raw = std::conditional_t<sizeof(S) == 2, unsigned short, S>;
/// One that is read once.
template <class S>
__device__ Raw<S> streamed(S const* p) {
  return __ldcs(reinterpret_cast<Raw<S> const*>(p));
}
template <class S>
__device__ S decoded(Raw<S> raw) {
  S value;
  memcpy(&value, &raw, sizeof value);
  return value;
}

/// Where the entries of a lane are in a bitmap: columns 2 t and 2 t + 1 of row g.
struct Place {
  int shift;
  unsigned below;
  bool lower;
  __device__ explicit Place(int lane)
      : shift(8 * (lane / 4 % 4) + 2 * (lane % 4)), below((1u << shift) - 1), lower(lane < 16) {}
  __device__ unsigned bits(unsigned low, unsigned high) const {
    return (lower ? low : high) >> shift & 3u;
  }
  /// Entries before them.
  __device__ int before(unsigned low, unsigned high) const {
    return __popc((lower ? low : high) & below) + (lower ? 0 : __popc(low));
  }
};

/// What a lane loads of a block's rows of x: part `part` of the rows of columns 2 pair and 2 pair
/// + 1.
template <bool exchanged>
struct Share {
  int pair, part, source;
  __device__ explicit Share(int lane)
      : pair(exchanged ? lane / 8 : lane % 4),
        part(exchanged ? lane % 8 : lane / 4),
        source(8 * (lane % 4) + lane / 4) {}
  /// What the lane multiplies, from those that loaded it.
  template <class T, int width>
  __device__ void exchange(T (&x)[2][width]) const {
    if constexpr (exchanged)
#pragma unroll
      for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int j = 0; j < width; ++j) x[k][j] = __shfl_sync(~0u, x[k][j], source);
  }
};

/// What the lane needs to know of blocks b to b + n - 1.
template <int n>
struct Description {
  int2 column[n];
  uint2 bitmap[n];
  std::uint32_t offset[n];
  template <class S>
  __device__ void load(BittcfView<S> const& a, std::uint32_t b, int pair) {
    auto const* const columns = reinterpret_cast<int2 const*>(a.column) + 4 * std::size_t(b);
    auto const* const bitmaps = reinterpret_cast<uint2 const*>(a.bitmaps) + b;
#pragma unroll
    for (int u = 0; u < n; ++u) {
      column[u] = __ldg(columns + pair + 4 * u);
      bitmap[u] = __ldg(bitmaps + u);
      offset[u] = __ldg(a.offsets + b + u);
    }
  }
};

/// `ahead` blocks, of which `count` exist, all if `whole`. Missing blocks are multiplied as blocks
/// without entries, which costs less than branches, at the columns of the first, so that no other x
/// is read. The description becomes that of the blocks from `next` on.
template <bool whole, int ahead, class S, class T, class Columns, int width>
__device__ void add_batch(BittcfView<S> const& a, Columns const& at, Description<ahead>& blocks,
                          int count, std::uint32_t next, Place const& place,
                          Share<Columns::exchanged> const& share, T (&sum)[2][width]) {
  Raw<S> v[ahead][2];
  T x[ahead][2][width];
#pragma unroll
  for (int u = 0; u < ahead; ++u) {
    int2 const column = whole || u < count ? blocks.column[u] : blocks.column[0];
    at.row(column.x, share.part, x[u][0]);
    at.row(column.y, share.part, x[u][1]);
  }
#pragma unroll
  for (int u = 0; u < ahead; ++u) {
    unsigned const low = blocks.bitmap[u].x, high = blocks.bitmap[u].y,
                   bits = whole || u < count ? place.bits(low, high) : 0;
    S const* const values = a.values + (blocks.offset[u] + place.before(low, high));
    v[u][0] = (bits & 1u) != 0 ? streamed(values) : Raw<S>(0);
    v[u][1] = (bits & 2u) != 0 ? streamed(values + (bits & 1u)) : Raw<S>(0);
  }
  if constexpr (whole) blocks.load(a, next, share.pair);
#pragma unroll
  for (int u = 0; u < ahead; ++u) {
    typename Unit<T>::Value const values[2] = {Unit<T>::value(decoded<S>(v[u][0])),
                                               Unit<T>::value(decoded<S>(v[u][1]))};
    share.exchange(x[u]);
    Unit<T>::multiply(sum, values, x[u]);
  }
}

/// Blocks [begin, end) of a window.
template <class S, class T, class Columns, int width>
__device__ void add_blocks(BittcfView<S> const& a, Columns const& at, std::uint32_t begin,
                           std::uint32_t end, int lane, T (&sum)[2][width]) {
  constexpr int ahead = Unit<T>::ahead(width);
  static_assert(ahead <= BittcfView<S>::behind);
  Place const place(lane);
  Share<Columns::exchanged> const share(lane);
  Description<ahead> blocks;
  blocks.load(a, begin, share.pair);
  std::uint32_t b = begin;
  for (; b + ahead <= end; b += ahead)
    add_batch<true>(a, at, blocks, ahead, b + ahead, place, share, sum);
  if (b < end) add_batch<false>(a, at, blocks, static_cast<int>(end - b), end, place, share, sum);
}

/// The side entries of a row.
template <class S, class T, class Columns, int width>
__device__ void add_side(BittcfView<S> const& a, Columns const& at, Index row, int g,
                         T (&sum)[width]) {
  std::uint32_t const end = __ldg(a.side_start + row + 1);
#pragma unroll 2
  for (std::uint32_t e = __ldg(a.side_start + row); e < end; ++e) {
    T x[width];
    at.row(__ldcs(a.side_columns + e), g, x);
    T const v = T(decoded<S>(streamed(a.side_values + e)));
#pragma unroll
    for (int j = 0; j < width; ++j) sum[j] = fma(v, x[j], sum[j]);
  }
}

/// Eight rows of what the pieces came to, as many columns as are multiplied at a time.
template <class T, int width>
struct Parts {
  T* data;
  __device__ T* row(std::uint32_t piece, int r) const {
    return data + (8 * std::size_t(piece) + r) * (8 * width);
  }
};

/// The sums of window I from its side entries and its pieces; true where it has pieces.
template <class S, class T, class Columns, int width>
__device__ bool add_others(BittcfView<S> const& a, Columns const& at, Parts<T, width> const& parts,
                           Index I, int lane, T (&sum)[2][width]) {
  int const g = lane / 4, r = 2 * (lane % 4);
  if (a.side_start != nullptr)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (8 * I + r + h < a.rows) add_side(a, at, 8 * I + r + h, g, sum[h]);
  if (a.piece_start == nullptr) return false;
  std::uint32_t const begin = __ldg(a.piece_start + I), end = __ldg(a.piece_start + I + 1);
#pragma unroll 2
  for (std::uint32_t p = begin; p < end; ++p) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      T part[width];
      Adjacent<T, width>::load_own(parts.row(p, r + h), g, part);
#pragma unroll
      for (int j = 0; j < width; ++j) sum[h][j] += part[j];
    }
  }
  return begin < end;
}

/// A warp a window, or a piece.
template <class S, class T, class Columns>
__global__ void __launch_bounds__(32 * warps, blocks_together(sizeof(T) * Columns::width))
    bittcf_kernel(LoopState* state, BittcfView<S> a, Columns at, T* parts_of, bool pieces) {
  if (Frame{state}.stopped()) return;
  constexpr int width = Columns::width;
  int const lane = threadIdx.x % 32, g = lane / 4, r = 2 * (lane % 4);
  Parts<T, width> const parts{parts_of};
  Index const I = blockIdx.x * warps + threadIdx.x / 32;
  if (I >= (pieces ? a.pieces : a.windows)) return;
  uint2 blocks;  // first, and the one behind the last
  if (pieces) {
    blocks = __ldg(reinterpret_cast<uint2 const*>(a.piece + I));
    blocks.y += blocks.x;
  } else {
    blocks = {__ldg(a.start + I), __ldg(a.start + I + 1)};
  }
  T sum[2][width] = {};
  if (!pieces && add_others(a, at, parts, I, lane, sum)) blocks.x = blocks.y;
  add_blocks(a, at, blocks.x, blocks.y, lane, sum);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (pieces)
      Adjacent<T, width>::store_own(parts.row(I, r + h), g, sum[h]);
    else if (8 * I + r + h < a.rows)
      at.write(8 * I + r + h, g, sum[h]);
  }
}

/// Y = alpha A X as above, a warp a window, the pieces before. Writes X^T Y of the windows of each
/// thread block to `grams`, in the order of the blocks.
template <class S>
__global__ void __launch_bounds__(32 * warps, blocks_together(16))
    bittcf_gram_kernel(LoopState* state, BittcfView<S> a, Adjacent<double, 1> at, double* parts_of,
                       double* grams) {
  if (Frame{state}.stopped()) return;
  int const lane = threadIdx.x % 32, g = lane / 4, r = 2 * (lane % 4);
  Index const I = blockIdx.x * warps + threadIdx.x / 32;
  WarpGram gram;
  if (I < a.windows) {  // warps beyond the last window add zeros
    uint2 blocks = {__ldg(a.start + I), __ldg(a.start + I + 1)};
    double sum[2][1] = {};
    Parts<double, 1> const parts{parts_of};
    if (add_others(a, at, parts, I, lane, sum)) blocks.x = blocks.y;
    add_blocks(a, at, blocks.x, blocks.y, lane, sum);
    // Rows that are not there are zeros: their sums would be NaN beside an Inf in x.
    double x[2][1] = {}, y[2] = {};
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (8 * I + r + h < a.rows) at.row(8 * I + r + h, g, x[h]);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (8 * I + r + h < a.rows) {
        at.write(8 * I + r + h, g, sum[h]);
        y[h] = at.alpha * sum[h][0];
      }
      gram.add(x[h][0], y[h]);
    }
  }
  gram.store<warps>(grams + std::int64_t{blockIdx.x} * gram_size);
}

/// Thread blocks of four windows or pieces.
Index thread_blocks(Index items) { return (items + warps - 1) / warps; }

template <class S, class T, class Columns>
void launch(Device& on, LoopState* state, BittcfView<S> const& a, T* parts, Columns const& at,
            bool pieces) {
  auto const blocks = static_cast<unsigned int>(thread_blocks(pieces ? a.pieces : a.windows));
  if (blocks == 0) return;
  bittcf_kernel<<<blocks, 32 * warps, 0, on.stream>>>(state, a, at, parts, pieces);
  check(cudaGetLastError());
}
template <class S, class T, class Columns>
void launch(Device& on, LoopState* state, BittcfView<S> const& a, T* parts, Columns const& at) {
  launch(on, state, a, parts, at, true);
  launch(on, state, a, parts, at, false);
}

/// Rows from `data` on can be loaded 16 bytes at a time, and their addresses computed in 32 bits.
template <class T>
bool in_runs(T const* data, std::int64_t ld) {
  std::int64_t const step = ld * std::int64_t{sizeof(T)};
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && step % 16 == 0 &&
         step < std::int64_t{1} << 31;
}
template <class T>
bool in_runs(MultiView<T> const& v) {
  return v.layout == Layout::row_major && in_runs(v.data, v.ld);
}

template <class T, int width>
Adjacent<T, width> adjacent(T const* x, std::int64_t ldx, T* y, std::int64_t ldy, T alpha, T beta) {
  auto const step = [](std::int64_t ld) { return static_cast<std::uint32_t>(ld * sizeof(T)); };
  return {x, y, step(ldx), step(ldy), alpha, beta};
}

}  // namespace

template <class S, class T>
void spmm_bittcf(Device& on, LoopState* state, T alpha, BittcfView<S> const& a, T* parts, In<T> x,
                 T beta, Out<T> y) {
  if (a.rows == 0) return;
  auto const strides = [](auto const& v) {
    bool const rows = v.layout == Layout::row_major;
    return std::pair{rows ? std::int64_t{v.ld} : 1, rows ? 1 : std::int64_t{v.ld}};
  };
  bool const aligned = in_runs(x) && in_runs(y);
  for (Index j = 0; j < y.cols;) {
    Index const left = y.cols - j;
    T const* const from = x.data + x.offset(0, j);
    T* const to = y.data + y.offset(0, j);
    auto const runs = [&]<int width>(std::integral_constant<int, width>) {
      auto const at = adjacent<T, width>(from, x.ld, to, y.ld, alpha, beta);
      launch(on, state, a, parts, at);
      j += at.columns;
    };
    constexpr int widest = Unit<T>::widest;
    static_assert(8 * widest * sizeof(T) <= BittcfView<S>::columns * 4);
    if (widest > 4 && aligned && left >= 8 * widest) {
      runs(std::integral_constant<int, widest>{});
    } else if (aligned && left >= 32) {
      runs(std::integral_constant<int, 4>{});
    } else if (aligned && left >= 16) {
      runs(std::integral_constant<int, 2>{});
    } else if (aligned && left >= 8) {
      runs(std::integral_constant<int, 1>{});
    } else {
      auto const [x_row, x_column] = strides(x);
      auto const [y_row, y_column] = strides(y);
      int const count = left < Strided<T>::columns ? left : Strided<T>::columns;
      launch(on, state, a, parts,
             Strided<T>{from, to, x_row, x_column, y_row, y_column, count, alpha, beta});
      j += count;
    }
  }
}

template <class S>
std::int64_t gram_doubles_bittcf(Device&, BittcfView<S> const& a, In<double> x, In<double> y) {
  bool const taken = a.rows > 0 && x.cols == 8 && in_runs(x) && in_runs(y);
  return taken ? gram_doubles(thread_blocks(a.windows)) : 0;
}

template <class S>
void spmm_gram_bittcf(Device& on, LoopState* state, double alpha, BittcfView<S> const& a,
                      double* parts, In<double> x, Out<double> y, double* G, double* memory) {
  auto const at = adjacent<double, 1>(x.data, x.ld, y.data, y.ld, alpha, 0.0);
  Index const blocks = thread_blocks(a.windows);
  launch(on, state, a, parts, at, true);
  bittcf_gram_kernel<<<static_cast<unsigned int>(blocks), 32 * warps, 0, on.stream>>>(
      state, a, at, parts, memory);
  check(cudaGetLastError());
  add_grams(on, state, memory, blocks, G);
}

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template std::int64_t gram_doubles_bittcf<S>(Device&, BittcfView<S> const&, In<double>,       \
                                               In<double>);                                     \
  template void spmm_gram_bittcf<S>(Device&, LoopState*, double, BittcfView<S> const&, double*, \
                                    In<double>, Out<double>, double*, double*);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmm_bittcf<S, T>(Device&, LoopState*, T, BittcfView<S> const&, T*, In<T>, T, \
                                  Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<BittcfExactOps>;

}  // namespace tcsolve::cuda
