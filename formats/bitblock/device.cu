// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in bitmap blocks.
///
///   columns  8, 16 and 32 at a time by mma_kernel where x and y are FP64, row-major and aligned;
///   the
///            others, and what is left of them, 8 at a time by the same kernel with strides and a
///            bound; one column by row_kernel, a row a group of four lanes
///   mma      m8n8k4.f64 (PTX ISA, "Matrix Fragments for mma"): lane l has row l / 4, column l % 4
///            of four columns of a block, row l % 4 of X's and its column l / 4; of the sums row
///            l / 4, columns 2 (l % 4) and one more. Four columns without an entry are left out
///
///                 block (8 x 8)         X (8 rows of 8 tiles columns)
///                 [ 4 | 4 ] columns     row of lane l: l % 4, then 4 + l % 4
///                                       its columns: tiles of them from tiles (l / 4) on, so that
///                                       a lane loads neighbours: tile t has columns t, t + tiles,
///                                       ..
///
///   ahead    values and rows of X of several blocks are loaded before the first is multiplied; the
///            descriptions of 32 blocks come by one load a lane and are handed round by shuffles
///   aside    side entries of row r are added by lanes 4 r .. 4 r + 3 on the CUDA cores
///   order    a thread block takes neighbouring block rows, so that rows of X that several of them
///            need stay in the first-level cache; values are not kept there
///   bytes    the matrix once for every group of columns, k sizeof(T) (rows + cols)
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/bitblock/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

#include <type_traits>
#include <utility>

namespace tcsolve::cuda {

namespace {

constexpr int warps = 16;  // of a block

template <class S>
__device__ double value(S const* p) {
  if constexpr (std::is_same_v<S, double> || std::is_same_v<S, float>)
    return double(__ldcs(p));
  else
    return double(*p);
}

__device__ void mma(double (&sum)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(a), "d"(b));
}

/// 8 `tiles` columns of x and y, row-major and aligned to what a lane loads.
template <int tiles>
struct Adjacent {
  static constexpr int columns = 8 * tiles;
  double const* x;
  double* y;
  std::int64_t ldx, ldy;
  double alpha, beta;
  /// Columns `tiles` (lane / 4) and following of row i.
  __device__ void row(Index i, int lane, double (&v)[tiles]) const {
    load(x + i * ldx + tiles * (lane / 4), v);
  }
  /// The columns whose sums a lane has, of row i: tiles 2 (lane % 4) and following, 2 tiles.
  __device__ void pairs(Index i, int lane, double (&v)[2 * tiles]) const {
    load(x + i * ldx + 2 * tiles * (lane % 4), v);
  }
  __device__ void write(Index i, int lane, double const (&sum)[tiles][2]) const {
    double* const to = y + i * ldy + 2 * tiles * (lane % 4);
    double v[2 * tiles];
#pragma unroll
    for (int t = 0; t < tiles; ++t) v[t] = alpha * sum[t][0], v[tiles + t] = alpha * sum[t][1];
    if (beta != 0) {
      double before[2 * tiles];
      load<2 * tiles>(to, before);
#pragma unroll
      for (int j = 0; j < 2 * tiles; ++j) v[j] += beta * before[j];
    }
#pragma unroll
    for (int j = 0; j < tiles; ++j) reinterpret_cast<double2*>(to)[j] = {v[2 * j], v[2 * j + 1]};
  }

 private:
  template <int n>
  __device__ static void load(double const* from, double (&v)[n]) {
    if constexpr (n == 1) {
      v[0] = *from;
    } else {
#pragma unroll
      for (int j = 0; j < n / 2; ++j) {
        double2 const two = reinterpret_cast<double2 const*>(from)[j];
        v[2 * j] = two.x, v[2 * j + 1] = two.y;
      }
    }
  }
};

/// Up to eight columns of any layout.
template <class T>
struct Strided {
  static constexpr int columns = 8;
  T const* x;
  T* y;
  std::int64_t x_row, x_column, y_row, y_column;
  int count;
  double alpha, beta;
  __device__ double at(Index i, int j) const {
    return j < count ? double(x[i * x_row + j * x_column]) : 0.0;
  }
  __device__ void row(Index i, int lane, double (&v)[1]) const { v[0] = at(i, lane / 4); }
  __device__ void pairs(Index i, int lane, double (&v)[2]) const {
    v[0] = at(i, 2 * (lane % 4)), v[1] = at(i, 2 * (lane % 4) + 1);
  }
  __device__ void write(Index i, int lane, double const (&sum)[1][2]) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      int const j = 2 * (lane % 4) + e;
      if (j >= count) return;
      T& out = y[i * y_row + j * y_column];
      double const v = alpha * sum[0][e];
      out = T(beta == 0 ? v : v + beta * double(out));
    }
  }
};

/// The side entries of a row, added to the sums of its four lanes.
template <int tiles, class S, class Columns>
__device__ void add_side(BitblockView<S> const& a, Columns const& at, Index row, int lane,
                         double (&sum)[tiles][2]) {
  constexpr int ahead = tiles > 2 ? 2 : 4;
  std::uint32_t const end = __ldg(a.side_start + row + 1);
  for (std::uint32_t e = __ldg(a.side_start + row); e < end; e += ahead) {
    double v[ahead], x[ahead][2 * tiles];
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      if (e + u >= end) break;
      v[u] = value(a.side_values + e + u);
      at.pairs(__ldcs(a.side_columns + e + u), lane, x[u]);
    }
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      if (e + u >= end) break;
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        sum[t][0] = fma(v[u], x[u][t], sum[t][0]);
        sum[t][1] = fma(v[u], x[u][tiles + t], sum[t][1]);
      }
    }
  }
}

/// What a lane multiplies of a block: of columns lane % 4 and 4 + lane % 4.
template <int tiles>
struct Operands {
  double a[2], x[2][tiles];
  bool left, right;  ///< whether these four columns have an entry, the same in all lanes

  template <class S, class Columns>
  __device__ void load(BitblockView<S> const& m, Columns const& at, int4 const& block, int lane) {
    constexpr unsigned left_columns = 0x0f0f0f0fu;
    unsigned const low = static_cast<unsigned>(block.x), high = static_cast<unsigned>(block.y);
    int const r = lane / 4, c = lane % 4;
    left = ((low | high) & left_columns) != 0;
    right = ((low | high) & ~left_columns) != 0;
    // Entries before (r, c), and the bits of row r from column c on.
    unsigned const mine = r < 4 ? low : high;
    int const shift = 8 * (r % 4) + c;
    unsigned const bits = mine >> shift & (255u >> c);
    int const before = __popc(mine & ((1u << shift) - 1)) + (r < 4 ? 0 : __popc(low));
    S const* const values = m.values + static_cast<unsigned>(block.w) + before;
    a[0] = (bits & 1u) != 0 ? value(values) : 0.0;
    a[1] = (bits >> 4 & 1u) != 0 ? value(values + __popc(bits & 15u)) : 0.0;
    load_rows(m, at, 8 * block.z + c, lane);
  }
  __device__ void multiply(double (&sum)[tiles][2]) const {
    if (left)
#pragma unroll
      for (int t = 0; t < tiles; ++t) mma(sum[t], a[0], x[0][t]);
    if (right)
#pragma unroll
      for (int t = 0; t < tiles; ++t) mma(sum[t], a[1], x[1][t]);
  }

 private:
  template <class S, class Columns>
  __device__ void load_rows(BitblockView<S> const& m, Columns const& at, Index i, int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int t = 0; t < tiles; ++t) x[h][t] = 0;
      if ((h == 0 ? left : right) && i + 4 * h < m.cols) at.row(i + 4 * h, lane, x[h]);
    }
  }
};

/// A warp a block row, `chunk` neighbouring ones a thread block.
template <class S, class Columns>
__global__ void __launch_bounds__(32 * warps, 1)
    mma_kernel(BitblockView<S> a, Columns at, Index chunk) {
  constexpr int tiles = Columns::columns / 8, ahead = tiles == 1 ? 5 : tiles == 2 ? 3 : 2;
  int const lane = threadIdx.x % 32;
  Index const first = blockIdx.x * chunk, last = min(first + chunk, a.block_rows);
  for (Index I = first + threadIdx.x / 32; I < last; I += warps) {
    double sum[tiles][2] = {};
    Index const row = 8 * I + lane / 4;
    bool const exists = row < a.rows;
    std::uint32_t const end = __ldg(a.start + I + 1);
    std::uint32_t b = __ldg(a.start + I);
    if (a.side_start != nullptr && exists) add_side(a, at, row, lane, sum);
    for (; b < end; b += 32) {
      int const count = min(32u, end - b);
      int4 mine = {0, 0, 0, 0};
      if (lane < count) mine = __ldcs(reinterpret_cast<int4 const*>(a.blocks + b) + lane);
      for (int k = 0; k < count; k += ahead) {
        Operands<tiles> operands[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u) {
          // Beyond the last one: no bits, so nothing is loaded.
          int const from = (k + u) % 32;
          int4 block{__shfl_sync(all, mine.x, from), __shfl_sync(all, mine.y, from),
                     __shfl_sync(all, mine.z, from), __shfl_sync(all, mine.w, from)};
          if (k + u >= count) block.x = block.y = 0;
          operands[u].load(a, at, block, lane);
        }
#pragma unroll
        for (int u = 0; u < ahead; ++u) operands[u].multiply(sum);
      }
    }
    if (exists) at.write(row, lane, sum);
  }
}

/// One column: four lanes a row, two columns of a block a lane.
template <class S, class T>
__global__ void __launch_bounds__(32 * warps) row_kernel(BitblockView<S> a, Strided<T> at) {
  int const lane = threadIdx.x % 32, r = lane / 4, c = 2 * (lane % 4);
  Index const I = blockIdx.x * warps + threadIdx.x / 32;
  if (I >= a.block_rows) return;
  Index const row = 8 * I + r;
  double sum = 0;
  if (a.side_start != nullptr && row < a.rows)
    for (std::uint32_t e = a.side_start[row] + lane % 4; e < a.side_start[row + 1]; e += 4)
      sum = fma(value(a.side_values + e), at.at(a.side_columns[e], 0), sum);
#pragma unroll 4
  for (std::uint32_t b = a.start[I]; b < a.start[I + 1]; ++b) {
    BitBlock const block = a.blocks[b];
    BitRow const here = row_of(block, r);
    S const* const values = a.values + here.first + __popc(here.bits & ((1u << c) - 1));
    bool const one = (here.bits >> c & 1u) != 0, two = (here.bits >> c & 2u) != 0;
    if (one) sum = fma(value(values), at.at(8 * block.column + c, 0), sum);
    if (two) sum = fma(value(values + one), at.at(8 * block.column + c + 1, 0), sum);
  }
  sum += __shfl_xor_sync(all, sum, 1);
  sum += __shfl_xor_sync(all, sum, 2);
  double const sums[1][2] = {{sum, 0}};
  if (row < a.rows && lane % 4 == 0) at.write(row, lane, sums);
}

template <class S, class Columns>
void launch_mma(Device& on, BitblockView<S> const& a, Columns const& at) {
  // Eight chunks a multiprocessor, of whole rounds.
  constexpr Index rounds = 8;
  Index const share = a.block_rows / (rounds * on.properties.multiProcessorCount) + 1,
              chunk = (share + warps - 1) / warps * warps;
  mma_kernel<<<static_cast<unsigned int>((a.block_rows + chunk - 1) / chunk), 32 * warps, 0,
               on.stream>>>(a, at, chunk);
  check(cudaGetLastError());
}

/// Columns [0, 8 tiles) of x and y.
template <int tiles, class S>
void launch_adjacent(Device& on, double alpha, BitblockView<S> const& a, In<double> x, double beta,
                     Out<double> y) {
  launch_mma(on, a, Adjacent<tiles>{x.data, y.data, x.ld, y.ld, alpha, beta});
}

/// Elements from `data` on can be loaded in pairs, in every row.
bool in_pairs(void const* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(double2) == 0 && ld % 2 == 0;
}

}  // namespace

template <class S, class T>
void spmm_bitblock(Device& on, T alpha, BitblockView<S> const& a, In<T> x, T beta, Out<T> y) {
  if (a.rows == 0) return;
  auto const strides = [](auto const& v) {
    bool const rows = v.layout == Layout::row_major;
    return std::pair{rows ? v.ld : std::int64_t{1}, rows ? std::int64_t{1} : v.ld};
  };
  bool const adjacent = x.layout == Layout::row_major && y.layout == Layout::row_major &&
                        in_pairs(x.data, x.ld) && in_pairs(y.data, y.ld);
  for (Index j = 0; j < y.cols;) {
    Index const left = y.cols - j;
    T const* const from = x.data + x.offset(0, j);
    T* const to = y.data + y.offset(0, j);
    if constexpr (std::is_same_v<T, double>) {
      if (adjacent && left >= 8) {
        In<double> const xj{from, x.rows, left, x.ld};
        Out<double> const yj{to, y.rows, left, y.ld};
        Index const taken = left >= 32 ? 32 : left >= 16 ? 16 : 8;
        if (taken == 32) launch_adjacent<4>(on, alpha, a, xj, beta, yj);
        if (taken == 16) launch_adjacent<2>(on, alpha, a, xj, beta, yj);
        if (taken == 8) launch_adjacent<1>(on, alpha, a, xj, beta, yj);
        j += taken;
        continue;
      }
    }
    auto const [x_row, x_column] = strides(x);
    auto const [y_row, y_column] = strides(y);
    int const count = left < 8 ? left : 8;
    Strided<T> const at{from,     to,    x_row,         x_column,    y_row,
                        y_column, count, double(alpha), double(beta)};
    if (count == 1) {
      row_kernel<<<(a.block_rows + warps - 1) / warps, 32 * warps, 0, on.stream>>>(a, at);
      check(cudaGetLastError());
    } else {
      launch_mma(on, a, at);
    }
    j += count;
  }
}

#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_bitblock<S, T>(Device&, T, BitblockView<S> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

template struct Executes<BitblockExactOps>;

}  // namespace tcsolve::cuda
