// SPDX-License-Identifier: Apache-2.0
/// Products with diagonals: the passes of the operations of formats/dia/ops.hpp on the device.
///
///   grid    tiles of as many rows as a block has threads, or of some times as many; of one column
///   as
///           many blocks as run at once, whose parts of <x, y> the last one adds
///   order   many tiles are taken in their order, chunk by chunk, from a counter: blocks that run
///           freely drift apart by millions of rows, and what one of them has brought into the L2
///           is gone when its neighbour, a plane of the grid further, reads it
///   lane    rows i, i + threads, ..: neighbouring lanes read neighbouring values and entries of x
///   inside  where no diagonal leaves the matrix nothing is clamped, and where a diagonal begins
///           is computed once for all rows of a thread
///   list    where the diagonals begin is among the kernel's parameters, where they are few
///   loads   four diagonals of each row on their way
///   sigma   thread, warp, block or chunk; the last block adds the partial sums in their order
///   packs   of row-major blocks a thread has a row and 16 bytes of columns (kernels/cuda/pack.cuh)
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/dia/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/pack.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

constexpr int ahead = 4;

/// Threads of a block, rows of a thread where there are many, and blocks of a multiprocessor.
/// Measured: docs/formats/dia.md.
template <class T>
constexpr int threads = sizeof(T) == 4 ? 128 : 256;
template <class T>
constexpr int many = sizeof(T) == 4 ? 4 : 2;
template <class T>
constexpr int blocks_each = 1024 / threads<T>;

/// The list of diagonals for a kernel's parameters. Reading them there is no load, and what is the
/// same for all threads is computed once for a warp; many would not fit into the constants' cache.
struct Diagonals {
  static constexpr Index most = 64;
  bool here = false;  ///< or there are too many
  std::int64_t low = 0, high = 0;
  DiaDiagonal list[most];
};
template <class S>
Diagonals diagonals_of(DiaView<S> const& a) {
  Diagonals d;
  d.here = a.distinct <= Diagonals::most;
  if (d.here) std::copy_n(a.list, a.distinct, d.list);
  if (a.distinct > 0) d.low = a.list[0].offset, d.high = a.list[a.distinct - 1].offset;
  return d;
}

/// Which tiles a block takes: t, t + grid, ... or, where there is a counter, chunks of consecutive
/// tiles in the order in which blocks become free.
struct TileOrder {
  std::int64_t tiles;
  unsigned int* next = nullptr;  ///< 0 between kernels
  unsigned int chunks = 0;
  int chunk = 0;  ///< tiles of a chunk

  /// Partial results of a pass: one for each block or chunk, whichever warp computed it.
  __device__ unsigned int parts() const { return next != nullptr ? chunks : gridDim.x; }
};

/// tile(t) for each tile of this block, and done(part) after each chunk, or after the last tile.
/// Every thread of the block calls it.
template <class Tile, class Done>
__device__ void each_tile(TileOrder const& order, Tile const& tile, Done const& done) {
  if (order.next == nullptr) {
    for (std::int64_t t = blockIdx.x; t < order.tiles; t += gridDim.x) tile(t);
    return done(blockIdx.x);
  }
  __shared__ unsigned int coming;
  if (threadIdx.x == 0) coming = atomicAdd(order.next, 1u);
  for (;;) {
    __syncthreads();
    unsigned int const here = coming;
    if (here >= order.chunks) {
      // Each block asks in vain once; the last of them to ask sets the counter back.
      if (threadIdx.x == 0 && here == order.chunks + gridDim.x - 1) *order.next = 0;
      return;
    }
    __syncthreads();
    if (threadIdx.x == 0) coming = atomicAdd(order.next, 1u);  // back before the chunk is done
    std::int64_t const first = std::int64_t{here} * order.chunk;
    for (std::int64_t t = first; t < first + order.chunk && t < order.tiles; ++t) tile(t);
    done(here);
  }
}

/// sums_r += the entries of row i + threads r in `count` diagonals times x, padding and all.
template <int count, int rows, class S, class X, class T>
__device__ __forceinline__ void add_diagonals(DiaView<S> const& a, DiaDiagonal const* d,
                                              std::int64_t i, X x, std::int64_t stride,
                                              T (&sums)[rows]) {
  S v[count][rows];
  T xj[count][rows];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    S const* const from = a.values + d[k].start + i;
    X const of = x + (i + d[k].offset) * stride;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      v[k][r] = read_only(from + r * threads<T>);
      xj[k][r] = read_only(of + r * threads<T> * stride);
    }
  }
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int r = 0; r < rows; ++r) sums[r] += T(v[k][r]) * xj[k][r];
}

/// sums_r of row i + threads r, where no diagonal leaves the matrix. list(k): diagonals k to k +
/// ahead.
template <int rows, class S, class X, class T, class List>
__device__ __forceinline__ void add_inside(DiaView<S> const& a, List&& list, std::int64_t i, X x,
                                           std::int64_t stride, T (&sums)[rows]) {
  Index k = 0;
  for (; k + ahead <= a.distinct; k += ahead) add_diagonals<ahead>(a, list(k), i, x, stride, sums);
  switch (a.distinct - k) {
    case 3: return add_diagonals<3>(a, list(k), i, x, stride, sums);
    case 2: return add_diagonals<2>(a, list(k), i, x, stride, sums);
    case 1: return add_diagonals<1>(a, list(k), i, x, stride, sums);
    default: return;
  }
}
/// The list in memory, read four ahead.
class Ahead {
 public:
  __device__ Ahead(DiaDiagonal const* list, Index count) : list_(list), count_(count) { ask(0); }
  __device__ DiaDiagonal const* operator()(Index k) {
#pragma unroll
    for (int l = 0; l < ahead; ++l) here_[l] = coming_[l];
    if (k + ahead < count_) ask(k + ahead);
    return here_;
  }

 private:
  __device__ void ask(Index k) {
#pragma unroll
    for (int l = 0; l < ahead; ++l) coming_[l] = read_only(list_ + k + l);
  }
  DiaDiagonal const* list_;
  Index count_;
  DiaDiagonal coming_[ahead], here_[ahead];
};

/// sums_r of row i + threads r, where diagonals leave the matrix: padding lies there, and any x
/// will do.
template <int rows, class S, class X, class T>
__device__ __forceinline__ void add_clamped(DiaView<S> const& a, std::int64_t i, X x,
                                            std::int64_t stride, T (&sums)[rows]) {
  for (Index k = 0; k < a.count; k += ahead) {
    S v[ahead][rows];
    T xj[ahead][rows];
#pragma unroll
    for (int l = 0; l < ahead; ++l) {
      DiaDiagonal const d = read_only(a.diagonals + k + l);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        std::int64_t const at = i + r * threads<T>, j = at + d.offset;
        v[l][r] = read_only(a.values + d.start + (at < d.last ? at : d.last));
        xj[l][r] = read_only(x + (j < 0 ? 0 : j < a.cols ? j : a.cols - 1) * stride);
      }
    }
#pragma unroll
    for (int l = 0; l < ahead; ++l)
#pragma unroll
      for (int r = 0; r < rows; ++r) sums[r] += T(v[l][r]) * xj[l][r];
  }
}

/// write(i, sum) for every row of tile t. Padding is -0 and adds nothing to a sum, unless it meets
/// an Inf or NaN of x, which makes NaN: where a sum is that the rows are taken anew, with a look at
/// every entry.
template <int rows, class S, class T, class Write>
__device__ __forceinline__ void each_row(DiaView<S> const& a, Diagonals const& all, std::int64_t t,
                                         T const* x, std::int64_t stride, Write const& write) {
  constexpr int tile = threads<T> * rows;
  std::int64_t const first = t * tile, i = first + threadIdx.x, end = first + tile;
  T sums[rows] = {};
  bool const inside = first + all.low >= 0 && end + all.high <= a.cols && end <= a.rows;
  if (inside && all.here)
    add_inside(
        a, [&](Index k) { return all.list + k; }, i, x, stride, sums);
  else if (inside)
    add_inside(a, Ahead(a.diagonals, a.count), i, x, stride, sums);
  else if constexpr (rows > 1)
    add_clamped(a, i, x, stride, sums);
  else if (i < a.rows)
    sums[0] = dia_row(a, i, x, stride);
  bool numbers = true;
#pragma unroll
  for (int r = 0; r < rows; ++r) numbers = numbers && sums[r] == sums[r];
  if (numbers) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (i + r * threads<T> < a.rows) write(i + r * threads<T>, sums[r]);
  } else {
#pragma unroll 1
    for (int r = 0; r < rows && i + r * threads<T> < a.rows; ++r)
      write(i + r * threads<T>, dia_row(a, i + r * threads<T>, x, stride));
  }
}

/// end(i, y_i) follows each row.
template <int rows, bool adjacent, class S, class T, class End>
__global__ void __launch_bounds__(threads<T>, blocks_each<T>)
    dia_kernel(DiaMultiply<S, T> op, LoopState* state, TileOrder order,
               __grid_constant__ Diagonals const all, End end) {
  if (Frame{state, false}.stopped()) return;
  T const alpha = op.alpha, beta = op.beta;
  std::int64_t const stride = op.y.row_stride;
  for (std::int64_t j = blockIdx.y; j < op.y.cols; j += gridDim.y) {
    T const* const x = op.x.data + j * op.x.col_stride;
    T* const y = op.y.data + j * op.y.col_stride;
    auto const write = [&](std::int64_t i, T sum) {
      T& to = y[i * stride];
      T const yi = beta == T(0) ? alpha * sum : alpha * sum + beta * to;
      to = yi;
      end(i, yi);
    };
    each_tile(
        order,
        [&](std::int64_t t) {
          each_row<rows>(op.a, all, t, x, adjacent ? 1 : op.x.row_stride, write);
        },
        [](unsigned int) {});
  }
}

template <class S, class T>
__global__ void __launch_bounds__(PackRows::threads, 4)
    dia_columns_kernel(DiaMultiply<S, Pack<T>> op, LoopState* state, PackRows rows,
                       __grid_constant__ Diagonals const all) {
  if (Frame{state, false}.stopped()) return;
  std::int64_t const tile = rows.height();
  rows.each([&](std::int64_t first, std::int64_t i, int j) {
    PackColumn<T> const x(op.x.data, op.x.row_stride, j);
    Pack<T> sums[1] = {};
    bool const inside =
        first + all.low >= 0 && first + tile + all.high <= op.a.cols && first + tile <= op.a.rows;
    if (inside && all.here)
      add_inside(
          op.a, [&](Index k) { return all.list + k; }, i, x, 1, sums);
    else
      add_clamped(op.a, i, x, 1, sums);
    Pack<T> const sum = sums[0] == sums[0] ? sums[0] : dia_row(op.a, i, x, 1);
    Pack<T>& y = op.y.data[i * op.y.row_stride + j];
    y = op.beta == Pack<T>(0) ? op.alpha * sum : op.alpha * sum + op.beta * y;
  });
}

struct NoEnd {
  template <class T>
  __device__ void operator()(std::int64_t, T) const {}
};
template <class T>
struct StepEnd {
  SmoothingStep<T> step;
  __device__ void operator()(std::int64_t i, T y) const { step.take(i, y); }
};

template <int rows, class S, class T>
__global__ void __launch_bounds__(threads<T>, blocks_each<T>)
    dia_dot_kernel(DiaMultiplyDot<S, T> op, LoopState* state, Scratch scratch, TileOrder order,
                   __grid_constant__ Diagonals const all) {
  Frame const frame{state, false};
  if (frame.stopped()) return;
  constexpr int block = threads<T>;
  __shared__ double part[block / 32];
  auto const add_block = [&](double v) {  // in thread 0
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < block / 32; ++w) total += part[w];
    return total;
  };
  double mine = 0;
  auto const write = [&](std::int64_t i, T sum) {
    T const yi = op.alpha * sum;
    op.y[i] = yi;
    mine += double(op.x[i]) * double(yi);
  };
  each_tile(
      order, [&](std::int64_t t) { each_row<rows>(op.a, all, t, op.x, 1, write); },
      [&](unsigned int k) {
        double const total = add_block(mine);
        if (threadIdx.x == 0) scratch.partials[k] = total;
        mine = 0;
      });
  if (!last_block(scratch.ticket)) return;
  double total[1] = {end_sum_by_block<Add, 8>(scratch.partials, order.parts(), block, add_block)};
  if (threadIdx.x != 0) return;
  *scratch.ticket = 0;
  if (sum_over_ranks<Add>(scratch, state, total)) op.finish(frame, total);
}

/// launch(rows, blocks, order): many rows a thread where that leaves 768 threads for each
/// multiprocessor. One column of a long vector is taken in order (docs/internals/large-systems.md).
template <class T, class Launch>
void with_grid(Device const& on, Index rows, Index columns, Launch const& launch) {
  auto const tiles = [&](int each) {
    std::int64_t const tile = std::int64_t{each} * threads<T>;
    return (rows + tile - 1) / tile;
  };
  auto const by_stride = [&](std::int64_t count, auto each, std::int64_t most) {
    std::int64_t const blocks = std::min<std::int64_t>(count, most);
    launch(each, static_cast<unsigned int>(std::max<std::int64_t>(1, blocks)), TileOrder{count});
  };
  std::int64_t const wide = tiles(many<T>);
  std::int64_t const resident = std::int64_t{blocks_each<T>} * on.properties.multiProcessorCount;
  if (columns == 1 && wide >= 16 * resident) {
    std::int64_t const most = Device::max_sums * std::int64_t{on.max_blocks};
    std::int64_t const chunk = std::max<std::int64_t>(8, (wide + most - 1) / most);
    launch(std::integral_constant<int, many<T>>{}, static_cast<unsigned int>(resident),
           TileOrder{.tiles = wide,
                     .next = on.scratch.next,
                     .chunks = static_cast<unsigned int>((wide + chunk - 1) / chunk),
                     .chunk = static_cast<int>(chunk)});
  } else if (wide * threads<T> >= 768 * on.properties.multiProcessorCount) {
    by_stride(wide, std::integral_constant<int, many<T>>{},
              columns == 1 ? resident : 4 * on.max_blocks);
  } else {
    by_stride(tiles(1), std::integral_constant<int, 1>{}, 4 * on.max_blocks);
  }
  check(cudaGetLastError());
}

template <class S, class T>
void multiply(Device& on, LoopState* state, DiaMultiply<S, T> const& op) {
  if (op.n == 0) return;
  auto const all = diagonals_of(op.a);
  if (has_packs(op.x) && has_packs(op.y)) {
    DiaMultiply<S, Pack<T>> const packs{op.n / Pack<T>::columns, Pack<T>(op.alpha), op.a,
                                        packs_of(op.x),          Pack<T>(op.beta),  packs_of(op.y)};
    PackRows const rows(on, op.a.rows, packs.y.cols);
    dia_columns_kernel<S, T>
        <<<rows.blocks, PackRows::threads, 0, on.stream>>>(packs, state, rows, all);
    return check(cudaGetLastError());
  }
  with_grid<T>(on, op.a.rows, op.y.cols,
               [&]<int rows>(std::integral_constant<int, rows>, auto blocks, TileOrder order) {
                 dim3 const grid(blocks, std::min<unsigned int>(op.y.cols, 65535));
                 if (op.x.row_stride == 1)
                   dia_kernel<rows, true>
                       <<<grid, threads<T>, 0, on.stream>>>(op, state, order, all, NoEnd{});
                 else
                   dia_kernel<rows, false>
                       <<<grid, threads<T>, 0, on.stream>>>(op, state, order, all, NoEnd{});
               });
}
template <class S, class T>
void multiply(Device& on, LoopState* state, DiaMultiplyDot<S, T> const& op) {
  auto const all = diagonals_of(op.a);
  with_grid<T>(on, op.a.rows, 1,
               [&]<int rows>(std::integral_constant<int, rows>, auto blocks, TileOrder order) {
                 dia_dot_kernel<rows>
                     <<<blocks, threads<T>, 0, on.stream>>>(op, state, on.scratch, order, all);
               });
  if (!on.scratch.apart.cut()) return;
  gather_sums(on, 1);
  finish_kernel<<<1, 1, 0, on.stream>>>(op, state, on.scratch);
  check(cudaGetLastError());
}

}  // namespace

template <class S, class T>
void multiply_then(Device& on, LoopState* state, DiaMultiply<S, T> const& op,
                   SmoothingStep<T> const& step) {
  if (op.n == 0) return;
  auto const all = diagonals_of(op.a);
  with_grid<T>(on, op.a.rows, 1,
               [&]<int rows>(std::integral_constant<int, rows>, auto blocks, TileOrder order) {
                 // With four rows on their way a thread has no registers for their steps.
                 constexpr bool at_once = rows <= 2;
                 if constexpr (at_once) {
                   dia_kernel<rows, true><<<blocks, threads<T>, 0, on.stream>>>(
                       op, state, order, all, StepEnd<T>{step});
                 } else {
                   dia_kernel<rows, true>
                       <<<blocks, threads<T>, 0, on.stream>>>(op, state, order, all, NoEnd{});
                   execute(on, state, step);
                 }
               });
}
#define TCSOLVE_INSTANTIATE(S, T)                                                  \
  template void multiply_then<S, T>(Device&, LoopState*, DiaMultiply<S, T> const&, \
                                    SmoothingStep<T> const&);
TCSOLVE_STEP_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

#define TCSOLVE_SPECIALISE(S, T)                                               \
  template <>                                                                  \
  void execute(Device& on, LoopState* state, DiaMultiply<S, T> const& op) {    \
    multiply(on, state, op);                                                   \
  }                                                                            \
  template <>                                                                  \
  void execute(Device& on, LoopState* state, DiaMultiplyDot<S, T> const& op) { \
    multiply(on, state, op);                                                   \
  }
TCSOLVE_VALUE_PAIRS(TCSOLVE_SPECIALISE)
#undef TCSOLVE_SPECIALISE

template struct Executes<DiaExactOps>;

}  // namespace tcsolve::cuda
