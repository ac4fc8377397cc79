// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in panels. A thread block has a panel and a tile of columns, 128 or 64
/// bytes of a row of X; tiles of a panel are neighbours, so that A comes from device memory once.
///
///   gather   rows of X of a stage to shared memory, behind a row of zeros, by copies of 16 bytes
///            that pass no register
///   layout   a column-major X is made row-major first, and Y column-major afterwards, 64 columns
///            at a time: loads and stores by columns would cost more (docs/internals/tiled.md)
///   A        what a warp needs of A in a stage lies together and comes by the same copies, at most
///            4 KB at a time, so that one wait is for all
///   banks    16 bytes c of row r stand at c ^ r % 8, so that eight lanes write one row or one
///            column of eight rows without conflict, and read one row
///   lanes    eight (four) lanes have a line and 16 bytes of its columns each, four (eight) lines a
///            warp step: the paper's register tile, R = 32 columns in FP32, spread over lanes so
///            that a long line holds up three others, not 31
///   direct   the same without gathering: 16 bytes of a row of X a lane from where they lie
///   narrow   a few columns: a thread a line
///   parts    of long rows to workspace, joined by a kernel of their own, a warp a row, in order
///   bytes    for every tile the matrix and the tile's bytes of the footprint's rows; Y once
///
///            gathered rows       lanes 0 .. 7      8 .. 15  ...
///            0  [ 0 0 ... 0 ]    line 0            line 1        numbers [ 1 3 0 0 | 1 2 0 0 | ..
///            1  [ 8 x 16 B  ]    += a_0 row 1      += ..         values  [ a b . . | ...
///            2  [           ]    += a_1 row 3
#pragma once

#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/formats/tiled/gather.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

constexpr int most_threads = 512;

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
  LoopState* loop;  ///< around the product, or null
};

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
    if (e < valid) write_one(g, to[e], sum[e]);
}

template <class S>
__device__ std::int32_t target_of(TiledView<S> const& a, std::int64_t line) {
  return a.target != nullptr ? __ldg(a.target + line) : static_cast<std::int32_t>(line);
}

/// Lines of a warp, its chunks [first, first + count) having come. whole: where rows of X are read
/// in place, each by one load of 16 bytes, without a branch between them, so that eight are on
/// their way at once.
template <int lanes, bool direct, bool whole, int steps, class S, class T>
__device__ void multiply(StagedChunks<direct, S> const& staged, std::uint32_t first, int count,
                         std::uint32_t const (&begin)[steps], std::uint32_t const (&end)[steps],
                         int within, int c, Together<T> const* shared, std::int64_t x_row,
                         T const* columns, int valid, T (&sum)[steps][adjacent<T>]) {
  constexpr int size = StagedChunks<direct, S>::size;
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    std::uint32_t const from = max(begin[s], first), to = min(end[s], first + count);
#pragma unroll 2
    for (std::uint32_t at = from; at < to; ++at) {
      int const chunk = static_cast<int>(at - first);
      auto const number = staged.numbers(chunk, within);
      auto const value = staged.values(chunk, within);
      Together<T> rows[size];
#pragma unroll
      for (int j = 0; j < size; ++j) {
        if constexpr (!direct) {
          rows[j] = shared[place<lanes>(number.v[j], c)];
        } else {
          rows[j] = {};
          T const* const from = columns + number.v[j] * x_row;
          if (number.v[j] >= 0) rows[j] = whole ? load_together(from) : load_elements(from, valid);
        }
      }
#pragma unroll
      for (int j = 0; j < size; ++j) add(sum[s], T(value.v[j]), rows[j]);
    }
  }
}

template <int lanes, bool direct, int lines, class S, class T>
__global__ void __launch_bounds__(most_threads, 1)
    wide_kernel(TiledView<S> a, Columns<T> g, int capacity) {
  if (Frame{g.loop}.stopped()) return;
  constexpr int n = adjacent<T>, tile = lanes * n, together = 32 / lanes, steps = lines / together,
                height = TiledView<S>::height;
  extern __shared__ uint4 memory[];
  int const lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  StagedChunks<direct, S> staged;
  staged.capacity = capacity;
  staged.memory = reinterpret_cast<char*>(memory) + warp * capacity * staged.bytes;
  auto* const shared = reinterpret_cast<Together<T>*>(reinterpret_cast<char*>(memory) +
                                                      warps * capacity * staged.bytes);
  auto const block = static_cast<Index>(blockIdx.x);
  Index const panel = block / g.tiles;
  std::int64_t const first_column = std::int64_t{block % g.tiles} * tile;
  int const columns = min(tile, static_cast<int>(g.count - first_column));
  int const c = lane % lanes, valid = min(max(columns - c * n, 0), n);
  T const* const own_columns = g.x.data + first_column + c * n;
  int const own = lines * warp + lane / lanes, within = own % height;
  Index const slices = a.slices();

  T sum[steps][n] = {};
  // Where every panel has one stage, its number need not be waited for.
  bool const single = a.stages == a.panels;
  std::uint32_t const first = single ? panel : __ldg(a.stage_start + panel),
                      last = single ? panel + 1 : __ldg(a.stage_start + panel + 1);
  if constexpr (!direct)
    if (threadIdx.x < lanes) shared[threadIdx.x] = {};
  for (std::uint32_t t = first; t < last; ++t) {
    std::uint32_t const* const slice = a.start + std::int64_t{t} * slices;
    std::uint32_t at = __ldg(slice + lines / height * warp);
    std::uint32_t const all = __ldg(slice + lines / height * (warp + 1));
    std::uint32_t begin[steps], end[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      begin[s] = __ldg(slice + (own + s * together) / height);
      end[s] = __ldg(slice + (own + s * together) / height + 1);
    }
    int count = static_cast<int>(min(all - at, static_cast<std::uint32_t>(capacity)));
    if constexpr (!direct) {
      std::uint32_t const from = __ldg(a.map_start + t);
      int const rows = static_cast<int>(__ldg(a.map_start + t + 1) - from);
      if (t > first) __syncthreads();
      staged.copy(a, at, count, lane);
      gather<lanes>(a.map + from, rows, g.x, first_column, columns, shared);
      copies_done();
      __syncthreads();
    } else {
      staged.copy(a, at, count, lane);
      copies_done();
      __syncwarp();
    }
    while (true) {
      if (direct && g.x.aligned && valid == n)
        multiply<lanes, direct, direct>(staged, at, count, begin, end, within, c, shared, g.x.row,
                                        own_columns, valid, sum);
      else
        multiply<lanes, direct, false>(staged, at, count, begin, end, within, c, shared, g.x.row,
                                       own_columns, valid, sum);
      at += count;
      if (at >= all) break;
      count = static_cast<int>(min(all - at, static_cast<std::uint32_t>(capacity)));
      __syncwarp();
      staged.copy(a, at, count, lane);
      copies_done();
      __syncwarp();
    }
    if (direct) __syncwarp();
  }

  std::int64_t const first_line = std::int64_t{panel} * a.panel_rows;
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    std::int64_t const line = first_line + own + s * together;
    if (line >= a.lines || valid == 0) continue;
    std::int32_t const to = target_of(a, line);
    if (to >= 0) {
      write_row(g, g.y.data + to * g.y.row + first_column + c * n, sum[s], valid);
      continue;
    }
    Together<T> part;
#pragma unroll
    for (int e = 0; e < n; ++e) part.v[e] = sum[s][e];
    *reinterpret_cast<Together<T>*>(g.parts + ~to * g.ld + first_column + c * n) = part;
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
  if (Frame{g.loop}.stopped()) return;
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
  if (Frame{g.loop}.stopped()) return;
  std::int64_t const k = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  Index const j = static_cast<Index>(blockIdx.y) * 32 + threadIdx.x % 32;
  if (k >= long_rows || j >= g.count) return;
  std::uint32_t const end = __ldg(long_start + k + 1);
  T sum = 0;
#pragma unroll 8
  for (std::uint32_t p = __ldg(long_start + k); p < end; ++p) sum += g.parts[p * g.ld + j];
  write_one(g, g.y.data[long_row[k] * g.y.row + j * g.y.column], sum);
}

/// to = from^T + beta to, from (rows, cols), both row-major: what is column-major is the transpose
/// of a row-major block.
template <class T>
__global__ void __launch_bounds__(256)
    turn_kernel(LoopState* loop, T const* from, std::int64_t ld, std::int64_t rows,
                std::int64_t cols, T beta, T* to, std::int64_t to_ld) {
  if (Frame{loop}.stopped()) return;
  __shared__ T tile[32][33];
  std::int64_t const across = (cols + 31) / 32, i0 = blockIdx.x / across * 32,
                     j0 = blockIdx.x % across * 32;
  int const a = threadIdx.x % 32, b = threadIdx.x / 32;
#pragma unroll
  for (int u = 0; u < 32; u += 8)
    if (i0 + b + u < rows && j0 + a < cols) tile[b + u][a] = from[(i0 + b + u) * ld + j0 + a];
  __syncthreads();
#pragma unroll
  for (int u = 0; u < 32; u += 8)
    if (j0 + b + u < cols && i0 + a < rows) {
      T& out = to[(j0 + b + u) * to_ld + i0 + a];
      out = beta == T(0) ? tile[a][b + u] : fma(beta, out, tile[a][b + u]);
    }
}

inline unsigned int blocks(std::int64_t n, std::int64_t each) {
  return static_cast<unsigned int>((n + each - 1) / each);
}

/// Chunks of A that a warp of wide_kernel copies at once.
template <class S>
int chunks_at_once(TiledView<S> const& a) {
  int const most = a.direct ? StagedChunks<true, S>::most : StagedChunks<false, S>::most;
  return std::max(1, std::min(most, a.most_chunks));
}
/// Shared memory of wide_kernel with `lanes` lanes a line.
template <class S>
std::size_t shared_bytes(TiledView<S> const& a, int lanes) {
  int const chunk = a.direct ? StagedChunks<true, S>::bytes : StagedChunks<false, S>::bytes;
  std::size_t const staged = std::size_t(a.panel_rows / a.warp_lines()) * chunks_at_once(a) * chunk;
  return staged + (a.direct ? 0 : std::size_t(a.widest + 1) * lanes * 16);
}

template <int lanes, bool direct, int lines, class S, class T>
void launch_kernel(Device& on, TiledView<S> const& a, Columns<T> const& g) {
  auto* const kernel = wide_kernel<lanes, direct, lines, S, T>;
  auto const bytes = static_cast<int>(shared_bytes(a, lanes));
  allow_shared(on, kernel, static_cast<std::size_t>(bytes));
  kernel<<<static_cast<unsigned int>(a.panels * std::int64_t{g.tiles}), 32 * a.panel_rows / lines,
           bytes, on.stream>>>(a, g, chunks_at_once(a));
  check(cudaGetLastError());
}
template <int lanes, class S, class T>
void launch_wide(Device& on, TiledView<S> const& a, Columns<T> const& g) {
  bool const few = a.warp_lines() == 8;
  if (a.direct && few) launch_kernel<lanes, true, 8>(on, a, g);
  if (a.direct && !few) launch_kernel<lanes, true, 16>(on, a, g);
  if (!a.direct && few) launch_kernel<lanes, false, 8>(on, a, g);
  if (!a.direct && !few) launch_kernel<lanes, false, 16>(on, a, g);
}

/// The first of the columns: as many as the next launch takes.
template <class S, class T>
Index launch(Device& on, TiledView<S> const& a, Columns<T> g) {
  constexpr Index n = adjacent<T>, half = 4 * n, whole = 8 * n;
  Index const left = g.count;
  auto const fits = [&](int lanes) {
    return shared_bytes(a, lanes) <= on.properties.sharedMemPerBlockOptin;
  };
  bool const by_rows = g.x.column == 1 && g.y.column == 1;
  if (by_rows && left > half && fits(8)) {
    g.tiles = left / whole + (left % whole > half ? 1 : 0);
    g.count = std::min(left, g.tiles * whole);
    launch_wide<8>(on, a, g);
  } else if (by_rows && left >= n && fits(4)) {
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

template <class S, class T>
void multiply_columns(Device& on, LoopState* loop, T alpha, TiledView<S> const& a, In<T> x, T beta,
                      Out<T> y, T* parts, std::int64_t ld) {
  auto const from = [&](Index j) {
    return Columns<T>{strided(x, j), strided(y, j), alpha, beta, parts + j, ld, y.cols - j, 1,
                      loop};
  };
  for (Index j = 0; j < y.cols;) j += launch(on, a, from(j));
  if (a.parts == 0) return;
  join_kernel<<<dim3(blocks(a.long_rows, 8), blocks(y.cols, 32)), 256, 0, on.stream>>>(
      a.long_start, a.long_row, a.long_rows, from(0));
  check(cudaGetLastError());
}

template <class T>
void turn(Device& on, LoopState* loop, T const* from, std::int64_t ld, std::int64_t rows,
          std::int64_t cols, T beta, T* to, std::int64_t to_ld) {
  if (rows == 0 || cols == 0) return;
  std::int64_t const tiles = (rows + 31) / 32 * ((cols + 31) / 32);
  turn_kernel<<<static_cast<unsigned int>(tiles), 256, 0, on.stream>>>(loop, from, ld, rows, cols,
                                                                       beta, to, to_ld);
  check(cudaGetLastError());
}

}  // namespace

template <class S, class T>
void spmm_tiled(Device& on, Arena& arena, LoopState* loop, T alpha, TiledView<S> const& a, In<T> x,
                T beta, Out<T> y) {
  Index const k = y.cols;
  if (a.rows == 0 || k == 0) return;
  constexpr Index n = adjacent<T>, turned_together = 64;
  bool const wide = k >= n, turn_x = wide && x.layout == Layout::col_major,
             turn_y = wide && y.layout == Layout::col_major;
  Index const together = turn_x || turn_y ? std::min(k, turned_together) : k;
  std::int64_t const ld = (std::int64_t{together} + n - 1) / n * n;
  auto scope = arena.scope();
  auto const taken = [&](bool wanted, Index rows) {
    return wanted ? scope.template take<T>(std::size_t(rows) * ld) : nullptr;
  };
  T *const X = taken(turn_x, a.cols), *const Y = taken(turn_y, a.rows),
           *const parts = taken(a.parts > 0, a.parts);
  for (Index j = 0; j < k; j += together) {
    Index const count = std::min(together, k - j);
    In<T> from{x.data + x.offset(0, j), a.cols, count, x.ld, x.layout, x.space};
    Out<T> to{y.data + y.offset(0, j), a.rows, count, y.ld, y.layout, y.space};
    if (turn_x) {
      turn(on, loop, from.data, x.ld, count, a.cols, T(0), X, ld);
      from = {X, a.cols, count, ld, Layout::row_major, x.space};
    }
    if (turn_y) {
      multiply_columns(on, loop, alpha, a, from, T(0),
                       {Y, a.rows, count, ld, Layout::row_major, y.space}, parts, ld);
      turn(on, loop, static_cast<T const*>(Y), ld, a.rows, count, beta, to.data, y.ld);
    } else {
      multiply_columns(on, loop, alpha, a, from, beta, to, parts, ld);
    }
  }
}

}  // namespace tcsolve::cuda
