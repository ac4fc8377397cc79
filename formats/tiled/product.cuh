// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in panels. A thread block has a panel and a tile of columns, 128 bytes
/// of a row of X; tiles of a panel are neighbours, so that A comes from device memory once.
///
///   gather   rows of X of a stage to shared memory, behind one row of zeros: row-major by copies
///   of
///            16 bytes that pass no register; column-major by loads of four (FP64: two) columns,
///            neighbouring threads having neighbouring rows
///   banks    16 bytes c of row r stand at c ^ r % 8, so that eight lanes write one row or one
///            column of eight rows without conflict, and read one row
///   lanes    eight lanes have a line and 16 bytes of its columns each, four lines a warp step: the
///            paper's register tile, R = 32 columns in FP32, spread over lanes so that a long line
///            holds up three others, not 31
///   A        8 bytes of numbers and 4 values of a line a load, which its lanes share; a chunk
///   ahead direct   the same without gathering: 16 bytes of four rows of X at once narrow   a few
///   columns: a thread a line, X where it lies parts    of long rows to workspace, joined by a
///   kernel of their own, a warp a row, in order bytes    for every tile the matrix and 128 bytes
///   of the footprint's rows; Y once
///
///            gathered rows       lanes 0 .. 7      8 .. 15  ...
///            0  [ 0 0 ... 0 ]    line 0            line 1        numbers [ 1 3 0 0 | 1 2 0 0 | ..
///            1  [ 8 x 16 B  ]    += a_0 row 1      += ..         values  [ a b . . | ...
///            2  [           ]    += a_1 row 3
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/tiled/ops.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>
#include <cstring>

namespace tcsolve::cuda {

namespace {

constexpr int lines_of_warp = 8, most_threads = 512;

/// Elements of 16 bytes.
template <class T>
constexpr int adjacent = 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(16) Together {
  T v[adjacent<T>];
};

/// Where a block of columns lies.
template <class T>
struct Strided {
  T* data;
  std::int64_t row, column;  ///< strides
  bool aligned;              ///< rows can be loaded by 16 bytes
};
template <class T>
Strided<T> strided(MultiView<T> const& v, Index j) {
  bool const rows = v.layout == Layout::row_major;
  T* const data = v.data + v.offset(0, j);
  bool const aligned =
      rows && v.ld % adjacent<T> == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  return {data, rows ? v.ld : std::int64_t{1}, rows ? std::int64_t{1} : v.ld, aligned};
}

/// What every kernel is given besides the matrix.
template <class T>
struct Columns {
  Strided<T const> x;
  Strided<T> y;
  T alpha, beta;
  T* parts;  ///< (parts, ld) row-major, rows aligned to 16 bytes
  std::int64_t ld;
  Index count;  ///< columns
  int tiles;
};

/// Four neighbours, by as few loads as there can be.
template <class E>
__device__ void load_four(E const* from, E (&to)[4]) {
  if constexpr (sizeof(E) == 2) {
    uint2 const v = __ldg(reinterpret_cast<uint2 const*>(from));
    memcpy(to, &v, sizeof v);
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(E)) / 4; ++i) {
      uint4 const v = __ldg(reinterpret_cast<uint4 const*>(from) + i);
      memcpy(reinterpret_cast<char*>(to) + 16 * i, &v, sizeof v);
    }
  }
}

/// A line's entries of a chunk.
template <bool direct, class S>
struct Chunk {
  static constexpr int size = TiledView<S>::chunk;
  std::conditional_t<direct, std::int32_t, std::uint16_t> number[size];
  S value[size];
  __device__ void load(TiledView<S> const& a, std::uint32_t chunk, int within) {
    std::int64_t const at = std::int64_t{chunk} * TiledView<S>::group + within * size;
    if constexpr (direct)
      load_four(a.columns + at, number);
    else
      load_four(a.local + at, number);
    load_four(a.values + at, value);
  }
};

__device__ inline void copy_to_shared(void* shared, void const* global) {
  auto const to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
__device__ inline void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Where 16 bytes number c of a gathered row stand.
template <int lanes>
__device__ int place(int row, int c) {
  return row * lanes + (lanes == 8 ? c ^ (row & 7) : c ^ (row >> 1 & 3));
}

/// Up to 16 bytes of a row of X: `valid` elements, zeros behind them.
template <class T>
__device__ Together<T> load_elements(Strided<T const> const& x, T const* from, int valid) {
  if (x.aligned && valid == adjacent<T>) {
    uint4 const v = __ldg(reinterpret_cast<uint4 const*>(from));
    Together<T> out;
    memcpy(&out, &v, sizeof v);
    return out;
  }
  Together<T> out;
#pragma unroll
  for (int e = 0; e < adjacent<T>; ++e) out.v[e] = e < valid ? __ldg(from + e * x.column) : T(0);
  return out;
}

/// The rows of X that a stage maps, to shared memory from row 1 on. columns: of this tile.
template <int lanes, class T>
__device__ void gather(std::int32_t const* map, int count, Strided<T const> const& x,
                       std::int64_t first_column, int columns, Together<T>* shared) {
  constexpr int n = adjacent<T>;
  if (x.column == 1) {
    int const c = threadIdx.x % lanes, valid = min(max(columns - c * n, 0), n);
    bool const whole = x.aligned && valid == n;
#pragma unroll 4
    for (int f = threadIdx.x / lanes; f < count; f += blockDim.x / lanes) {
      T const* const from = x.data + __ldg(map + f) * x.row + first_column + c * n;
      Together<T>* const to = shared + place<lanes>(f + 1, c);
      if (whole)
        copy_to_shared(to, from);
      else
        *to = load_elements(x, from, valid);
    }
  } else {
#pragma unroll 2
    for (int i = threadIdx.x; i < count * lanes; i += blockDim.x) {
      int const c = i / count, f = i - c * count, valid = min(max(columns - c * n, 0), n);
      T const* const from = x.data + __ldg(map + f) * x.row + (first_column + c * n) * x.column;
      shared[place<lanes>(f + 1, c)] = load_elements(x, from, valid);
    }
  }
}

template <class T>
__device__ void add(T (&sum)[adjacent<T>], T value, Together<T> const& x) {
#pragma unroll
  for (int e = 0; e < adjacent<T>; ++e) sum[e] = fma(value, x.v[e], sum[e]);
}

template <class T>
__device__ void write_one(Columns<T> const& g, T& out, T sum) {
  T const v = g.alpha * sum;
  out = g.beta == T(0) ? v : fma(g.beta, out, v);
}

/// `valid` neighbouring elements of a row of y.
template <class T>
__device__ void write_row(Columns<T> const& g, T* to, T const (&sum)[adjacent<T>], int valid) {
  if (g.y.aligned && valid == adjacent<T>) {
    auto* const place = reinterpret_cast<Together<T>*>(to);
    Together<T> out{};
    if (g.beta != T(0)) out = *place;
#pragma unroll
    for (int e = 0; e < adjacent<T>; ++e) write_one(g, out.v[e], sum[e]);
    *place = out;
    return;
  }
#pragma unroll
  for (int e = 0; e < adjacent<T>; ++e)
    if (e < valid) write_one(g, to[e * g.y.column], sum[e]);
}

template <class S>
__device__ std::int32_t target_of(TiledView<S> const& a, std::int64_t line) {
  return a.target != nullptr ? __ldg(a.target + line) : static_cast<std::int32_t>(line);
}

template <int lanes, bool direct, class S, class T>
__global__ void __launch_bounds__(most_threads) wide_kernel(TiledView<S> a, Columns<T> g) {
  constexpr int n = adjacent<T>, tile = lanes * n, together = 32 / lanes,
                steps = lines_of_warp / together, height = TiledView<S>::height;
  extern __shared__ uint4 memory[];
  auto* const shared = reinterpret_cast<Together<T>*>(memory);
  Index const panel = static_cast<Index>(blockIdx.x) / g.tiles;
  std::int64_t const first_column = static_cast<std::int64_t>(blockIdx.x % g.tiles) * tile;
  int const columns = min(tile, static_cast<int>(g.count - first_column));
  int const lane = threadIdx.x % 32, c = lane % lanes, valid = min(max(columns - c * n, 0), n);
  int const own = lines_of_warp * (threadIdx.x / 32) + lane / lanes, within = own % height;
  Index const slices = a.slices();

  T sum[steps][n] = {};
  std::uint32_t const first = __ldg(a.stage_start + panel), last = __ldg(a.stage_start + panel + 1);
  if constexpr (!direct)
    if (threadIdx.x < lanes) shared[threadIdx.x] = {};
  for (std::uint32_t t = first; t < last; ++t) {
    if constexpr (!direct) {
      if (t > first) __syncthreads();
      std::uint32_t const from = __ldg(a.map_start + t);
      gather<lanes>(a.map + from, static_cast<int>(__ldg(a.map_start + t + 1) - from), g.x,
                    first_column, columns, shared);
    }
    // What comes first of A is on its way while X is.
    Chunk<direct, S> next[steps];
    std::uint32_t at[steps], end[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      std::uint32_t const* const slice =
          a.start + std::int64_t{t} * slices + (own + s * together) / height;
      at[s] = __ldg(slice);
      end[s] = __ldg(slice + 1);
      if (at[s] < end[s]) next[s].load(a, at[s], within);
    }
    if constexpr (!direct) {
      copies_done();
      __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      while (at[s] < end[s]) {
        Chunk<direct, S> const now = next[s];
        if (++at[s] < end[s]) next[s].load(a, at[s], within);
        if constexpr (direct) {
          Together<T> x[Chunk<direct, S>::size];
#pragma unroll
          for (int j = 0; j < Chunk<direct, S>::size; ++j) {
            x[j] = {};
            if (now.number[j] >= 0)
              x[j] = load_elements(
                  g.x, g.x.data + now.number[j] * g.x.row + (first_column + c * n) * g.x.column,
                  valid);
          }
#pragma unroll
          for (int j = 0; j < Chunk<direct, S>::size; ++j) add(sum[s], T(now.value[j]), x[j]);
        } else {
#pragma unroll
          for (int j = 0; j < Chunk<direct, S>::size; ++j)
            add(sum[s], T(now.value[j]), shared[place<lanes>(now.number[j], c)]);
        }
      }
    }
  }

  std::int64_t const first_line = std::int64_t{panel} * a.panel_rows;
  auto* const turned = reinterpret_cast<T*>(memory);  // (panel_rows, tile + 1)
  bool const by_rows = g.y.column == 1;
  if (!by_rows) __syncthreads();
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    int const i = own + s * together;
    if (!by_rows)
#pragma unroll
      for (int e = 0; e < n; ++e) turned[i * (tile + 1) + c * n + e] = sum[s][e];
    std::int64_t const line = first_line + i;
    if (line >= a.lines || valid == 0) continue;
    std::int32_t const to = target_of(a, line);
    if (to < 0) {
      Together<T> part;
#pragma unroll
      for (int e = 0; e < n; ++e) part.v[e] = sum[s][e];
      *reinterpret_cast<Together<T>*>(g.parts + ~to * g.ld + first_column + c * n) = part;
    } else if (by_rows) {
      write_row(g, g.y.data + to * g.y.row + first_column + c * n, sum[s], valid);
    }
  }
  if (by_rows) return;
  __syncthreads();
  for (int k = threadIdx.x; k < a.panel_rows * columns; k += blockDim.x) {
    int const j = k / a.panel_rows, i = k - j * a.panel_rows;
    if (first_line + i >= a.lines) continue;
    std::int32_t const to = target_of(a, first_line + i);
    if (to >= 0)
      write_one(g, g.y.data[to * g.y.row + (first_column + j) * g.y.column],
                turned[i * (tile + 1) + j]);
  }
}

template <class T>
struct AddNarrow {
  Columns<T> const& g;
  T* sum;
  template <class S>
  __device__ void operator()(Index column, S value) const {
    T const* const x = g.x.data + column * g.x.row;
#pragma unroll
    for (int j = 0; j < adjacent<float>; ++j)
      if (j < g.count) sum[j] = fma(T(value), __ldg(x + j * g.x.column), sum[j]);
  }
};
/// A thread a line, up to four columns.
template <class S, class T>
__global__ void __launch_bounds__(256) narrow_kernel(TiledView<S> a, Columns<T> g) {
  std::int64_t const line = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (line >= a.lines) return;
  T sum[adjacent<float>] = {};
  AddNarrow<T> const add{g, sum};
  LineOwner const owner = walk(a, line, add);
#pragma unroll
  for (int j = 0; j < adjacent<float>; ++j) {
    if (j >= g.count) break;
    if (owner.row >= 0)
      write_one(g, g.y.data[owner.row * g.y.row + j * g.y.column], sum[j]);
    else
      g.parts[owner.part * g.ld + j] = sum[j];
  }
}

/// The parts of long rows, a warp a row and 32 columns.
template <class T>
__global__ void __launch_bounds__(256)
    join_kernel(std::uint32_t const* long_start, std::int32_t const* long_row, Index long_rows,
                Columns<T> g) {
  std::int64_t const k = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  Index const j = static_cast<Index>(blockIdx.y) * 32 + threadIdx.x % 32;
  if (k >= long_rows || j >= g.count) return;
  std::uint32_t const end = __ldg(long_start + k + 1);
  T sum = 0;
#pragma unroll 8
  for (std::uint32_t p = __ldg(long_start + k); p < end; ++p) sum += g.parts[p * g.ld + j];
  write_one(g, g.y.data[long_row[k] * g.y.row + j * g.y.column], sum);
}

/// to (rows, k), rows `ld` apart, = x, whose columns are.
template <class T>
__global__ void __launch_bounds__(256)
    turn_kernel(Strided<T const> x, std::int64_t rows, Index k, T* to, std::int64_t ld) {
  __shared__ T tile[32][33];
  std::int64_t const i0 = std::int64_t{blockIdx.x} * 32;
  Index const j0 = static_cast<Index>(blockIdx.y) * 32;
  int const a = threadIdx.x % 32, b = threadIdx.x / 32;
#pragma unroll
  for (int u = 0; u < 32; u += 8)
    if (i0 + a < rows && j0 + b + u < k)
      tile[b + u][a] = __ldg(x.data + (i0 + a) * x.row + (j0 + b + u) * x.column);
  __syncthreads();
#pragma unroll
  for (int u = 0; u < 32; u += 8)
    if (i0 + b + u < rows && j0 + a < k) to[(i0 + b + u) * ld + j0 + a] = tile[a][b + u];
}

inline unsigned int blocks(std::int64_t n, std::int64_t each) {
  return static_cast<unsigned int>((n + each - 1) / each);
}

/// Shared memory of wide_kernel with `lanes` lanes a line.
template <class S, class T>
std::size_t shared_bytes(TiledView<S> const& a, Columns<T> const& g, int lanes) {
  std::size_t const gathered = a.direct ? 0 : std::size_t(a.widest + 1) * lanes * 16;
  std::size_t const turned =
      g.y.column == 1 ? 0 : std::size_t(a.panel_rows) * (lanes * adjacent<T> + 1) * sizeof(T);
  return std::max(gathered, turned);
}

template <int lanes, bool direct, class S, class T>
void launch_wide(Device& on, TiledView<S> const& a, Columns<T> const& g) {
  auto* const kernel = wide_kernel<lanes, direct, S, T>;
  auto const bytes = static_cast<int>(shared_bytes(a, g, lanes));
  // Always the most: beside another product, the size of either might come between the other's size
  // and its launch.
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(on.properties.sharedMemPerBlockOptin)));
  kernel<<<static_cast<unsigned int>(a.panels * std::int64_t{g.tiles}),
           32 * a.panel_rows / lines_of_warp, bytes, on.stream>>>(a, g);
  check(cudaGetLastError());
}
template <int lanes, class S, class T>
void launch_wide(Device& on, TiledView<S> const& a, Columns<T> const& g) {
  if (a.direct)
    launch_wide<lanes, true>(on, a, g);
  else
    launch_wide<lanes, false>(on, a, g);
}

/// Columns [j, k): as many as the next launch takes.
template <class S, class T>
Index launch(Device& on, TiledView<S> const& a, Columns<T> g) {
  constexpr Index n = adjacent<T>, half = 4 * n, whole = 8 * n;
  Index const left = g.count;
  auto const fits = [&](int lanes) {
    return shared_bytes(a, g, lanes) <= on.properties.sharedMemPerBlockOptin;
  };
  if (left > half && fits(8)) {
    g.tiles = left / whole + (left % whole > half ? 1 : 0);
    g.count = std::min(left, g.tiles * whole);
    launch_wide<8>(on, a, g);
  } else if (left >= n && fits(4)) {
    g.tiles = 1;
    g.count = std::min(left, half);
    launch_wide<4>(on, a, g);
  } else {
    g.count = std::min(left, adjacent<float>);
    narrow_kernel<<<blocks(a.lines, 256), 256, 0, on.stream>>>(a, g);
    check(cudaGetLastError());
  }
  return g.count;
}

}  // namespace

template <class S, class T>
void spmm_tiled(Device& on, Arena& arena, T alpha, TiledView<S> const& a, In<T> x, T beta,
                Out<T> y) {
  Index const k = y.cols;
  if (a.rows == 0 || k == 0) return;
  auto scope = arena.scope();
  constexpr Index n = adjacent<T>;
  std::int64_t const ld = (std::int64_t{k} + n - 1) / n * n;
  if (x.layout == Layout::col_major && a.scattered && a.cols > 0 && k >= n) {
    T* const turned = scope.template take<T>(std::size_t(a.cols) * ld);
    turn_kernel<<<dim3(blocks(a.cols, 32), blocks(k, 32)), 256, 0, on.stream>>>(
        strided(x, 0), a.cols, k, turned, ld);
    check(cudaGetLastError());
    x = {turned, a.cols, k, ld, Layout::row_major, x.space};
  }
  T* const parts = a.parts > 0 ? scope.template take<T>(std::size_t(a.parts) * ld) : nullptr;
  auto const from = [&](Index j) {
    return Columns<T>{strided(x, j), strided(y, j), alpha, beta, parts + j, ld, k - j, 1};
  };
  for (Index j = 0; j < k;) j += launch(on, a, from(j));
  if (a.parts == 0) return;
  join_kernel<<<dim3(blocks(a.long_rows, 8), blocks(k, 32)), 256, 0, on.stream>>>(
      a.long_start, a.long_row, a.long_rows, from(0));
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
