// SPDX-License-Identifier: Apache-2.0
/// G = X^T Y of eight columns whose rows lie in the lanes of warps, for the product that makes Y
/// (formats/bittcf/device.cu). Lane l, g = l / 4, t = l % 4, has column g of rows 2 t and 2 t + 1
/// of Y, and loads the same elements of X.
///
///   mma      m8n8k4.f64 takes four rows of X and Y, one of each lane t, in any order: first those
///            of h = 0, then of h = 1, as the lanes have them, so that nothing is exchanged
///
///                left: X^T              right: Y               sums
///                rows  columns of X     rows  2 t + h          rows     columns of X
///                cols  2 t + h          cols  columns of Y     columns  columns of Y
///
///            lane l gives row g, column t of the left operand and row t, column g of the right
///            one, and has row g, columns 2 t and 2 t + 1 of the sums
///   order    a warp's rows by h; the warps of a thread block, one after the other; neighbouring
///            thread blocks, in as many groups as groups_of() says; the groups, by a warp. All
///            follows from the number of rows: the same bits on every run
///   bytes    512 for each thread block, written and read once
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>

#include <cstdint>

namespace tcsolve::cuda {

namespace {

constexpr int gram_size = 64;  ///< elements of G

/// What a warp has added.
struct WarpGram {
  double product[2] = {};

  /// Four rows, one of each lane t. All lanes of the warp take part.
  __device__ void add(double x, double y) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(product[0]), "+d"(product[1])
                 : "d"(x), "d"(y));
  }

  /// The sum over the warps of the thread block, row-major, to `to`. All its threads take part.
  template <int warps>
  __device__ void store(double* to) const {
    __shared__ double total[gram_size];
    int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int w = 0; w < warps; ++w) {
      if (warp == w)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          double& sum = total[2 * lane + e];  // row g, column 2 t + e
          sum = w == 0 ? product[e] : sum + product[e];
        }
      __syncthreads();
    }
    for (int e = threadIdx.x; e < gram_size; e += 32 * warps) to[e] = total[e];
  }
};

constexpr int gram_threads = 256;  // of the kernels below

/// Groups that `count` thread blocks are added in: 16 of them at least in each, 512 groups at most,
/// so that all multiprocessors read and the second kernel has little to add.
constexpr unsigned int groups_of(std::int64_t count) {
  return static_cast<unsigned int>(count < 32 ? 1 : count > 512 * 16 ? 512 : count / 16);
}

/// Group b of gridDim.x of `count` matrices one after the other: their sum, to
/// groups[e gridDim.x + b], e the element. Four matrices are read at a time.
__global__ void __launch_bounds__(gram_threads)
    gram_groups_kernel(double const* matrices, std::int64_t count, double* groups) {
  constexpr int together = gram_threads / gram_size;
  static_assert(together * gram_size == gram_threads);
  __shared__ double part[gram_threads];
  int const e = threadIdx.x % gram_size, which = threadIdx.x / gram_size;
  std::int64_t const end = count * (blockIdx.x + 1) / gridDim.x;
  std::int64_t const begin = count * blockIdx.x / gridDim.x + which;
  double sum = add_parts_ahead<Add, 8, std::int64_t>(
      [&](std::int64_t m) { return __ldcs(matrices + m * gram_size + e); }, begin, end, together);
  part[threadIdx.x] = sum;
  __syncthreads();
  if (which != 0) return;
  add_parts<Add>([&](int w, int) { return part[w * gram_size + e]; }, 1, together, 1, &sum);
  groups[std::int64_t{e} * gridDim.x + blockIdx.x] = sum;
}

/// G_e is the sum of the groups. A warp each. In a stopped loop G stays as it is.
__global__ void __launch_bounds__(gram_threads)
    gram_sum_kernel(double const* groups, unsigned int count, double* G, LoopState const* state) {
  if (state != nullptr && state->stop != 0) return;
  int const e = static_cast<int>(blockIdx.x * gram_threads + threadIdx.x) / 32;
  double const sum = end_sum_by_warp(groups + std::int64_t{e} * count, count);
  if (threadIdx.x % 32 == 0) G[e] = sum;
}

/// G of all ranks. One block.
__global__ void __launch_bounds__(gram_threads)
    gram_ranks_kernel(double* G, LoopState* state, Scratch scratch) {
  if (state != nullptr && state->stop != 0) return;
  sum_over_ranks<Add>(scratch, state, G, gram_size, [](int) { return true; });
}
/// The second half, where that is cut in two.
__global__ void __launch_bounds__(gram_threads)
    gram_take_kernel(double* G, LoopState* state, Scratch scratch) {
  take_over_ranks<Add>(scratch, state, G, gram_size, gram_size, [](int) { return true; });
}

/// Doubles that add_grams() and the kernel before it work on.
std::int64_t gram_doubles(std::int64_t count) { return (count + groups_of(count)) * gram_size; }

/// G = sum of the first `count` matrices of `memory`.
void add_grams(Device& on, LoopState* state, double* memory, std::int64_t count, double* G) {
  unsigned int const groups = groups_of(count);
  double* const sums = memory + count * gram_size;
  gram_groups_kernel<<<groups, gram_threads, 0, on.stream>>>(memory, count, sums);
  check(cudaGetLastError());
  gram_sum_kernel<<<32 * gram_size / gram_threads, gram_threads, 0, on.stream>>>(sums, groups, G,
                                                                                 state);
  check(cudaGetLastError());
  bool const cut = on.scratch.apart.cut();
  if (on.scratch.mail == nullptr && !cut) return;
  gram_ranks_kernel<<<1, gram_threads, 0, on.stream>>>(G, state, on.scratch);
  check(cudaGetLastError());
  if (!cut) return;
  gather_sums(on, gram_size);
  gram_take_kernel<<<1, gram_threads, 0, on.stream>>>(G, state, on.scratch);
  check(cudaGetLastError());
}

}  // namespace

}  // namespace tcsolve::cuda
