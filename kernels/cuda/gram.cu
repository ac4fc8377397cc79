// SPDX-License-Identifier: Apache-2.0
/// The inner products of an Arnoldi step (kernels/verbs/gmres.hpp): each column of [V u] with u and
/// with w, and <w, w>.
///
///   V      n x j, column after column; j is read on the device
///   grid   blocks of 256 over the rows, fixed by n; every block takes all columns, eight at a
///          time, so that u and w are read once for eight columns and eight loads are in flight
///   sum    FP64; partials (sum, block), added in block order by the last block
///   bytes  (j + 2 ceil((j + 1) / 8)) n values
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/verbs/gmres.hpp>

#include "last_block.cuh"
#include "warp_sums.cuh"

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 256;
constexpr int group = 8;        // columns in flight
constexpr int blocks_each = 3;  // a multiprocessor

template <class T>
__global__ void __launch_bounds__(block_size, blocks_each)
    gram_kernel(Gram<T> verb, LoopState* state, unsigned int* ticket) {
  // The last thread of the last block leads: the first ones are busy with the column of H.
  Frame frame{state, threadIdx.x == block_size - 1};
  if (frame.stopped()) return;
  constexpr int warps = block_size / 32;
  __shared__ double part[2 * group + 1][warps];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int j = frame.step(), columns = j + 1;
  std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  for (int k0 = 0; k0 < columns; k0 += group) {
    int here = columns - k0 < group ? columns - k0 : group;
    double sum[2 * group] = {}, ww[1] = {};
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < verb.n;
         i += stride) {
      double ui = double(verb.u[i]), wi = double(verb.w[i]);
#pragma unroll
      for (int k = 0; k < group; ++k)
        if (k < here) {
          double a = verb.left(j, k0 + k, i);
          sum[2 * k] += a * ui;
          sum[2 * k + 1] += a * wi;
        }
      ww[0] += wi * wi;
    }
    __syncthreads();  // the array may still be read
    double total = warp_sums(sum), norm2 = warp_sums(ww);
    if (lane % 2 == 0) part[lane / 2][warp] = total;
    if (lane == 0) part[2 * group][warp] = norm2;
    __syncthreads();
    // Thread k adds up sum k; <w, w> goes with the last group.
    int k = threadIdx.x, count = 2 * here + (k0 + here == columns ? 1 : 0);
    if (k < count) {
      double const* row = part[k < 2 * here ? k : 2 * group];
      double a = 0;
      for (int l = 0; l < warps; ++l) a += row[l];
      verb.partials[std::int64_t{2 * k0 + k} * gridDim.x + blockIdx.x] = a;
    }
  }
  if (!last_block(ticket)) return;
  __threadfence();
  for (int k = warp; k < verb.sums(j); k += warps) {
    double const* row = verb.partials + std::int64_t{k} * gridDim.x;
    double a[1] = {};
    for (unsigned int b0 = lane; b0 < gridDim.x; b0 += 32 * group) {
      double p[group];
#pragma unroll
      for (int l = 0; l < group; ++l)
        p[l] = b0 + 32 * l < gridDim.x ? __ldcg(row + b0 + 32 * l) : 0;
#pragma unroll
      for (int l = 0; l < group; ++l) a[0] += p[l];
    }
    double total = warp_sums(a);
    if (lane == 0) verb.H.sums[k] = total;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < columns; k += block_size) verb.entry(j, k);
  if (frame.lead) {
    verb.finish(frame);
    *ticket = 0;
  }
}

}  // namespace

int gram_blocks(Device& on) { return blocks_each * on.properties.multiProcessorCount; }

template <class T>
void gram(Device& on, LoopState* state, Gram<T> const& verb) {
  std::int64_t wanted = (verb.n + block_size - 1) / block_size;
  std::int64_t most = gram_blocks(on);
  int blocks = static_cast<int>(wanted < 1 ? 1 : wanted > most ? most : wanted);
  gram_kernel<<<blocks, block_size, 0, on.stream>>>(verb, state, on.scratch.ticket);
  check(cudaGetLastError());
}
template void gram<double>(Device&, LoopState*, Gram<double> const&);
template void gram<float>(Device&, LoopState*, Gram<float> const&);

}  // namespace tcsolve::cuda
