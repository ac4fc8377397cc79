// SPDX-License-Identifier: Apache-2.0
/// Parts and their inverses on the device (precond/schwarz/part_inverses.hpp).
///
/// Inverses of dense blocks, a block of threads to each, in place (Gauss and Jordan):
///
///     for k:  p_k = row of the largest |a_rk|, r >= k;  rows k and p_k change places
///             a_k. /= a_kk, a_kk = 1 / a_kk;  a_r. -= a_rk a_k. for all other rows
///     for k from the last:  columns k and p_k change places
///
///     memory   a block in shared memory where it fits (about 160 rows), else where it lies
///     bits     each value has one writer at a time: the same on every run
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/precond/schwarz/dense_blocks.hpp>
#include <tcsolve/precond/schwarz/part_inverses_build.hpp>

#include <algorithm>

namespace tcsolve::cuda {
namespace {

constexpr int threads = 256;
constexpr unsigned all = 0xffffffffu;

/// The row of the largest entry of column k from row k on, by the first warp; the lowest of equals.
__device__ int pivot_row(double const* a, int m, int k) {
  double largest = -1;
  int row = k;
  for (int r = k + static_cast<int>(threadIdx.x); r < m; r += 32) {
    double const v = fabs(a[std::int64_t{r} * m + k]);
    if (v > largest || v != v) largest = v, row = r;
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    double const v = __shfl_xor_sync(all, largest, offset);
    int const r = __shfl_xor_sync(all, row, offset);
    if (v > largest || (v == largest && r < row)) largest = v, row = r;
  }
  return row;
}

/// `column` (m) and `pivots` (m) are the block's.
__device__ void invert(double* a, int m, double* column, int* pivots) {
  int const t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < m; ++k) {
    if (t < 32) {
      int const row = pivot_row(a, m, k);
      if (t == 0) pivots[k] = row;
    }
    __syncthreads();
    int const p = pivots[k];
    double* const top = a + std::int64_t{k} * m;
    if (p != k)
      for (int c = t; c < m; c += threads) {
        double const v = top[c];
        top[c] = a[std::int64_t{p} * m + c];
        a[std::int64_t{p} * m + c] = v;
      }
    __syncthreads();
    double const inverse = 1 / top[k];
    for (int r = t; r < m; r += threads) column[r] = a[std::int64_t{r} * m + k];
    __syncthreads();
    for (int c = t; c < m; c += threads) top[c] = c == k ? inverse : top[c] * inverse;
    __syncthreads();
    for (int r = t / 32; r < m; r += threads / 32) {
      if (r == k) continue;
      double* const row = a + std::int64_t{r} * m;
      double const v = column[r];
      for (int c = t % 32; c < m; c += 32) row[c] = (c == k ? 0.0 : row[c]) - v * top[c];
    }
    __syncthreads();
  }
  for (int k = m - 1; k >= 0; --k) {
    int const p = pivots[k];
    if (p != k)
      for (int r = t; r < m; r += threads) {
        double* const row = a + std::int64_t{r} * m;
        double const v = row[k];
        row[k] = row[p];
        row[p] = v;
      }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    invert_kernel(Index const* sizes, Offset const* starts, double* values, int most_in_shared,
                  int longest, double* work, Index* bad) {
  extern __shared__ double shared[];
  int const m = sizes[blockIdx.x];
  double* const block = values + (starts[blockIdx.x] - starts[0]);
  std::int64_t const count = std::int64_t{m} * m;
  bool const fits = m <= most_in_shared;
  double* const column = fits ? shared : work + 2 * std::int64_t{longest} * blockIdx.x;
  auto* const pivots = reinterpret_cast<int*>(column + m);
  double* const a = fits ? column + 2 * m : block;
  if (fits)
    for (std::int64_t e = threadIdx.x; e < count; e += threads) a[e] = block[e];
  __syncthreads();
  invert(a, m, column, pivots);
  bool finite = true;
  for (std::int64_t e = threadIdx.x; e < count; e += threads) {
    finite = finite && isfinite(a[e]);
    block[e] = a[e];
  }
  if (!finite) atomicMin(bad, static_cast<Index>(blockIdx.x));
}

}  // namespace

sparse::OwnedPattern overlap_links(Device& device, Arena& arena, PatternView a, Index most,
                                   Offset& longest) {
  Converter on(device, arena);
  return schwarzes::links(on, a, most, longest);
}
void gather_blocks(Device& device, Arena& arena, CsrView<double> const& a, PartBlocks const& blocks,
                   double* values) {
  Converter on(device, arena);
  schwarzes::gather(on, a, blocks, values);
}
void add_inverses(Device& device, Arena& arena, CancelFlag cancel, PatternView const& m,
                  PartBlocks const& blocks, double const* values, double* sums) {
  Converter on(device, arena);
  schwarzes::add(on, cancel, m, blocks, values, sums);
}

Index invert_blocks(Device& on, Arena& arena, CancelFlag cancel, BlockRange const& blocks,
                    double* values) {
  cancel.check();
  Index const count = blocks.count();
  if (blocks.starts.back() == blocks.starts.front()) return -1;
  Index const longest = *std::max_element(blocks.sizes.begin(), blocks.sizes.end());
  auto scope = arena.scope();
  auto* const bad = scope.take<Index>(1);
  copy(on, bad, &count, sizeof count);
  auto const needed = [](Index m) {
    return (static_cast<std::size_t>(m) + 2) * static_cast<std::size_t>(m) * sizeof(double);
  };
  Index in_shared = 0;  // the largest block that fits the shared memory
  for (Index const m : blocks.sizes)
    if (m > in_shared && needed(m) <= on.properties.sharedMemPerBlockOptin) in_shared = m;
  std::size_t const bytes = needed(in_shared);
  double* const work = longest == in_shared
                           ? nullptr
                           : scope.take<double>(2 * static_cast<std::size_t>(longest) *
                                                static_cast<std::size_t>(count));
  allow_shared(on, invert_kernel, bytes);
  invert_kernel<<<static_cast<unsigned>(count), threads, bytes, on.stream>>>(
      blocks.sizes_there, blocks.starts_there, values, in_shared, longest, work, bad);
  check(cudaGetLastError());
  Index first = 0;
  copy(on, &first, bad, sizeof first);
  return first < count ? first : -1;
}

}  // namespace tcsolve::cuda
