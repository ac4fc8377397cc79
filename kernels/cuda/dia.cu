// SPDX-License-Identifier: Apache-2.0
/// Products with diagonals: the sweeps of the verbs of kernels/verbs/dia.hpp on the device.
///
///   grid    tiles of 256 rows, or of some times as many; as many blocks as a sweep of long rows
///   lane    rows i, i + 256, ..: neighbouring lanes read neighbouring values and entries of x
///   inside  where no diagonal leaves the matrix nothing is clamped, and where a diagonal begins
///           is computed once for all rows of a thread
///   loads   four diagonals of each row on their way, and where the next four begin
///   sigma   thread, warp, block; the last block adds the partial sums in block order
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/last_block.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>

#include <algorithm>

namespace tcsolve::cuda {

namespace {

constexpr int block = 256, ahead = 4;

/// Rows of a thread where there are many, and blocks of a multiprocessor. Measured:
/// docs/formats/dia.md.
template <class T>
constexpr int many = sizeof(T) == 4 ? 4 : 2;
constexpr int blocks_each = 4;

/// sums_r += the entries of row i + 256 r in `count` diagonals times x, holes and all. Rows that
/// are not `inside` have diagonals that leave the matrix, where holes lie: any x will do.
template <bool inside, int count, int rows, class S, class T>
__device__ __forceinline__ void add_diagonals(DiaView<S> const& a, DiaDiagonal const (&d)[ahead],
                                              std::int64_t i, T const* x, std::int64_t stride,
                                              T (&sums)[rows]) {
  S v[count][rows];
  T xj[count][rows];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    S const* const from = a.values + d[k].start + i;
    T const* const of = x + (i + d[k].offset) * stride;
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if constexpr (inside) {
        v[k][r] = read_only(from + r * block);
        xj[k][r] = read_only(of + r * block * stride);
      } else {
        std::int64_t const at = i + r * block, j = at + d[k].offset;
        v[k][r] = read_only(a.values + d[k].start + (at < d[k].last ? at : d[k].last));
        xj[k][r] = read_only(x + (j < 0 ? 0 : j < a.cols ? j : a.cols - 1) * stride);
      }
  }
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int r = 0; r < rows; ++r) sums[r] += T(v[k][r]) * xj[k][r];
}

/// sums_r of row i + 256 r.
template <bool inside, int rows, class S, class T>
__device__ __forceinline__ void add_rows(DiaView<S> const& a, std::int64_t i, T const* x,
                                         std::int64_t stride, T (&sums)[rows]) {
  DiaDiagonal coming[ahead];
  auto const ask = [&](Index k) {
#pragma unroll
    for (int l = 0; l < ahead; ++l) coming[l] = read_only(a.diagonals + k + l);
  };
  ask(0);
  Index k = 0;
  for (; k + ahead <= a.distinct; k += ahead) {
    DiaDiagonal here[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) here[l] = coming[l];
    if (k + ahead < a.count) ask(k + ahead);
    add_diagonals<inside, ahead>(a, here, i, x, stride, sums);
  }
  switch (a.distinct - k) {
    case 3: return add_diagonals<inside, 3>(a, coming, i, x, stride, sums);
    case 2: return add_diagonals<inside, 2>(a, coming, i, x, stride, sums);
    case 1: return add_diagonals<inside, 1>(a, coming, i, x, stride, sums);
    default: return;
  }
}

/// write(i, sum) for every row. A hole is -0 and adds nothing to a sum, unless it meets an Inf or
/// NaN of x, which makes NaN: where a sum is that the rows are taken anew, with a look at every
/// entry.
template <int rows, class S, class T, class Write>
__device__ void each_row(DiaView<S> const& a, T const* x, std::int64_t stride, Write const& write) {
  constexpr int tile = block * rows;
  std::int64_t const low = a.count > 0 ? a.diagonals[0].offset : 0,
                     high = a.count > 0 ? a.diagonals[a.distinct - 1].offset : 0;
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile; first < a.rows;
       first += std::int64_t{gridDim.x} * tile) {
    std::int64_t const i = first + threadIdx.x, end = first + tile;
    T sums[rows] = {};
    if (a.count > 0) {
      if (first + low >= 0 && end + high <= a.cols && end <= a.rows)
        add_rows<true>(a, i, x, stride, sums);
      else if constexpr (rows > 1)
        add_rows<false>(a, i, x, stride, sums);
      else if (i < a.rows)
        sums[0] = dia_row(a, i, x, stride);
    }
    bool all = true;
#pragma unroll
    for (int r = 0; r < rows; ++r) all = all && sums[r] == sums[r];
    if (all) {
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (i + r * block < a.rows) write(i + r * block, sums[r]);
    } else {
#pragma unroll 1
      for (int r = 0; r < rows && i + r * block < a.rows; ++r)
        write(i + r * block, dia_row(a, i + r * block, x, stride));
    }
  }
}

template <int rows, bool adjacent, class S, class T>
__global__ void __launch_bounds__(block, blocks_each)
    dia_kernel(DiaMultiply<S, T> verb, LoopState* state) {
  if (Frame{state, false}.stopped()) return;
  T const alpha = verb.alpha, beta = verb.beta;
  std::int64_t const stride = verb.y.row_stride;
  for (std::int64_t j = blockIdx.y; j < verb.y.cols; j += gridDim.y) {
    T const* const x = verb.x.data + j * verb.x.col_stride;
    T* const y = verb.y.data + j * verb.y.col_stride;
    each_row<rows>(verb.a, x, adjacent ? 1 : verb.x.row_stride, [&](std::int64_t i, T sum) {
      T& to = y[i * stride];
      to = beta == T(0) ? alpha * sum : alpha * sum + beta * to;
    });
  }
}

template <int rows, class S, class T>
__global__ void __launch_bounds__(block, blocks_each)
    dia_dot_kernel(DiaMultiplyDot<S, T> verb, LoopState* state, Scratch scratch) {
  Frame const frame{state, false};
  if (frame.stopped()) return;
  __shared__ double part[block / 32];
  double mine = 0;
  each_row<rows>(verb.a, verb.x, 1, [&](std::int64_t i, T sum) {
    T const yi = verb.alpha * sum;
    verb.y[i] = yi;
    mine += double(verb.x[i]) * double(yi);
  });
  auto const add_block = [&](double v) {  // in thread 0
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < block / 32; ++w) total += part[w];
    return total;
  };
  double total = add_block(mine);
  if (threadIdx.x == 0) scratch.partials[blockIdx.x] = total;
  if (!last_block(scratch.ticket)) return;
  __threadfence();
  double sum = 0;
#pragma unroll 8
  for (unsigned int b = threadIdx.x; b < gridDim.x; b += block) sum += __ldcg(scratch.partials + b);
  total = add_block(sum);
  if (threadIdx.x != 0) return;
  *scratch.ticket = 0;
  verb.finish(frame, &total);
}

/// launch(rows, blocks): many rows a thread where that leaves three blocks for each multiprocessor.
template <class S, class T, class Launch>
void with_grid(Device const& on, Index rows, Launch const& launch) {
  auto const tiles = [&](std::int64_t each) { return (rows + each * block - 1) / (each * block); };
  auto const blocks = [&](std::int64_t wanted) {
    return static_cast<unsigned int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(wanted, 4 * on.max_blocks)));
  };
  if (tiles(many<T>) >= 3 * on.properties.multiProcessorCount)
    launch(std::integral_constant<int, many<T>>{}, blocks(tiles(many<T>)));
  else
    launch(std::integral_constant<int, 1>{}, blocks(tiles(1)));
  check(cudaGetLastError());
}

template <class S, class T>
void multiply(Device& on, LoopState* state, DiaMultiply<S, T> const& verb) {
  if (verb.n == 0) return;
  with_grid<S, T>(on, verb.a.rows, [&]<int rows>(std::integral_constant<int, rows>, auto blocks) {
    dim3 const grid(blocks, std::min<unsigned int>(verb.y.cols, 65535));
    if (verb.x.row_stride == 1)
      dia_kernel<rows, true><<<grid, block, 0, on.stream>>>(verb, state);
    else
      dia_kernel<rows, false><<<grid, block, 0, on.stream>>>(verb, state);
  });
}
template <class S, class T>
void multiply(Device& on, LoopState* state, DiaMultiplyDot<S, T> const& verb) {
  with_grid<S, T>(on, verb.a.rows, [&]<int rows>(std::integral_constant<int, rows>, auto blocks) {
    dia_dot_kernel<rows><<<blocks, block, 0, on.stream>>>(verb, state, on.scratch);
  });
}

}  // namespace

#define TCSOLVE_SPECIALISE(S, T)                                               \
  template <>                                                                  \
  void sweep(Device& on, LoopState* state, DiaMultiply<S, T> const& verb) {    \
    multiply(on, state, verb);                                                 \
  }                                                                            \
  template <>                                                                  \
  void sweep(Device& on, LoopState* state, DiaMultiplyDot<S, T> const& verb) { \
    multiply(on, state, verb);                                                 \
  }
TCSOLVE_VALUE_PAIRS(TCSOLVE_SPECIALISE)

}  // namespace tcsolve::cuda
