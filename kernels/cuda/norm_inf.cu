// SPDX-License-Identifier: Apache-2.0
/// ||A||_inf of a CSR matrix.
///
///   row     two to 32 lanes, a quarter of a mean row; four entries of a lane on their way
///   long    rows beyond a share of 4096 entries are listed, share by share, and added by a second
///           kernel, a warp a share: a row of millions is shared by thousands of warps
///   max     lane, warp, block; the last block of the second kernel takes the largest; NaN wins
///   bytes   the values and the offsets once
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/cuda/sums.cuh>
#include <tcsolve/kernels/norm_inf.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int norm_block = 256, norm_warps = norm_block / 32;
constexpr Offset share = 4096;

/// A share of a long row; those of a row lie one after the other, the first one counts them.
struct Share {
  Offset begin, end;
  Offset count;
};

struct LongRows {
  Share* shares;
  double* sums;         // of each
  unsigned int* count;  // of shares
};

__device__ double larger(double a, double b) { return combine<Largest>(a, b); }

/// The largest of the block, in thread 0.
__device__ double block_largest(double a) {
  __shared__ double part[norm_warps];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) a = larger(a, __shfl_xor_sync(all, a, offset));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
  __syncthreads();
  for (int w = 0; w < norm_warps; ++w) a = larger(a, part[w]);
  return a;
}

/// |values[k]| + |values[k + step]| + ..., k < end.
template <int ahead, class S>
__device__ double add_sizes(S const* values, Offset k, Offset end, Offset step) {
  double sum = 0;
  for (; k < end; k += ahead * step) {
    double v[ahead];
#pragma unroll
    for (int l = 0; l < ahead; ++l) v[l] = k + l * step < end ? double(values[k + l * step]) : 0.0;
#pragma unroll
    for (int l = 0; l < ahead; ++l) sum += magnitude(v[l]);
  }
  return sum;
}

template <int lanes, class S>
__global__ void __launch_bounds__(norm_block)
    rows_kernel(CsrView<S> a, LongRows longs, double* largest) {
  int const lane = threadIdx.x % lanes;
  std::int64_t const step = std::int64_t{gridDim.x} * (norm_block / lanes);
  double most = 0;
  // All lanes of a warp take as many steps: the shuffles of the sum need all of them.
  for (std::int64_t i0 = std::int64_t{blockIdx.x} * (norm_block / lanes); i0 < a.rows; i0 += step) {
    std::int64_t const i = i0 + threadIdx.x / lanes;
    Offset begin = 0, end = 0;
    if (i < a.rows) begin = a.offsets[i], end = a.offsets[i + 1];
    if (end - begin > share) {
      Offset const count = (end - begin + share - 1) / share;
      if (lane == 0) {
        Share* to = longs.shares + atomicAdd(longs.count, static_cast<unsigned int>(count));
        for (Offset s = 0; s < count; ++s, begin += share)
          to[s] = {begin, min(begin + share, end), s == 0 ? count : 0};
      }
      begin = end;
    }
    double sum = add_sizes<4>(a.values, begin + lane, end, lanes);
    __syncwarp();
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(all, sum, offset);
    most = larger(sum, most);
  }
  most = block_largest(most);
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

template <class S>
__global__ void __launch_bounds__(norm_block)
    long_kernel(S const* values, LongRows longs, double const* largest, int blocks, double* value,
                unsigned int* ticket) {
  unsigned int const count = *longs.count, lane = threadIdx.x % 32;
  for (unsigned int s = blockIdx.x * norm_warps + threadIdx.x / 32; s < count;
       s += gridDim.x * norm_warps) {
    Share const here = longs.shares[s];
    double const sum = warp_sum(add_sizes<8>(values, here.begin + lane, here.end, 32));
    if (lane == 0) longs.sums[s] = sum;
  }
  if (!last_block(ticket)) return;
  double most = 0;
  for (unsigned int s = threadIdx.x; s < count; s += norm_block) {
    double row = 0;
    add_parts<Add, Offset>([&](Offset k, Offset) { return __ldcg(longs.sums + s + k); }, 0,
                           longs.shares[s].count, 1, &row);
    most = larger(row, most);
  }
  most = end_sum_by_block<Largest>(largest, blocks, norm_block, [&](double of_blocks) {
    return block_largest(larger(of_blocks, most));
  });
  if (threadIdx.x == 0) *value = most, *ticket = 0;
}

}  // namespace

template <class S>
void norm_inf(Device& on, Arena& arena, CsrView<S> const& a, double* value) {
  auto scope = arena.scope();
  // A long row has less than twice as many shares as its entries fill.
  auto const most = static_cast<std::size_t>(2 * (a.entries / share) + 1);
  auto take = [&]<class P>(std::size_t n, P) { return scope.template take<P>(n); };
  LongRows const longs{take(most, Share{}), take(most, double{}), take(1, 0u)};
  int const blocks = on.max_blocks;
  double* const largest = take(std::size_t(blocks), double{});
  check(cudaMemsetAsync(longs.count, 0, sizeof(unsigned int), on.stream));
  auto rows = [&]<int lanes>(std::integral_constant<int, lanes>) {
    rows_kernel<lanes><<<blocks, norm_block, 0, on.stream>>>(a, longs, largest);
  };
  Offset const quarter = a.rows > 0 ? a.entries / a.rows / 4 : 0;
  if (quarter < 2)
    rows(std::integral_constant<int, 2>{});
  else if (quarter < 4)
    rows(std::integral_constant<int, 4>{});
  else if (quarter < 12)
    rows(std::integral_constant<int, 8>{});
  else
    rows(std::integral_constant<int, 32>{});
  check(cudaGetLastError());
  long_kernel<<<on.properties.multiProcessorCount, norm_block, 0, on.stream>>>(
      a.values, longs, largest, blocks, value, on.scratch.ticket);
  check(cudaGetLastError());
}
template void norm_inf<double>(Device&, Arena&, CsrView<double> const&, double*);
template void norm_inf<float>(Device&, Arena&, CsrView<float> const&, double*);
template void norm_inf<half>(Device&, Arena&, CsrView<half> const&, double*);
template void norm_inf<bfloat16>(Device&, Arena&, CsrView<bfloat16> const&, double*);

}  // namespace tcsolve::cuda
