// SPDX-License-Identifier: Apache-2.0
/// h = V^T w for the columns made so far: the block dot product of Gram-Schmidt.
///
///   V      n x (j + 1), column after column; j is read on the device
///   grid   blocks of 256 over the rows, fixed by n; every block takes all columns, eight at a
///   time,
///          so that w is read once for eight columns and eight loads are in flight
///   sum    FP64; partials (column, block), added in block order by the last block
///   bytes  (j + 1) n + ceil((j + 1) / 8) n values
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/verbs/gmres.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int block_size = 256;
constexpr int group = 8;  // columns in flight

__device__ double warp_sum(double a) {
  for (int offset = 16; offset > 0; offset /= 2) a += __shfl_down_sync(0xffffffffu, a, offset);
  return a;
}

template <class T>
__global__ void __launch_bounds__(block_size)
    gram_kernel(Gram<T> verb, LoopState* state, unsigned int* ticket) {
  Frame frame{state, false};
  if (frame.stopped()) return;
  __shared__ double warps[group][block_size / 32];
  __shared__ bool last;
  int columns = frame.step() + 1;
  std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  for (int j0 = 0; j0 < columns; j0 += group) {
    int here = columns - j0 < group ? columns - j0 : group;
    double sum[group] = {};
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < verb.n;
         i += stride) {
      double wi = double(verb.w[i]);
#pragma unroll
      for (int j = 0; j < group; ++j)
        if (j < here) sum[j] += double(verb.V[(j0 + j) * verb.n + i]) * wi;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < group; ++j) {
      double a = warp_sum(sum[j]);
      if (threadIdx.x % 32 == 0) warps[j][threadIdx.x / 32] = a;
    }
    __syncthreads();
    if (threadIdx.x < here) {
      double a = 0;
      for (int k = 0; k < block_size / 32; ++k) a += warps[threadIdx.x][k];
      verb.partials[std::int64_t{j0 + (int)threadIdx.x} * gridDim.x + blockIdx.x] = a;
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int j = threadIdx.x / 32; j < columns; j += block_size / 32) {
    double a = 0;
    for (unsigned int b = threadIdx.x % 32; b < gridDim.x; b += 32)
      a += __ldcg(verb.partials + std::int64_t{j} * gridDim.x + b);
    a = warp_sum(a);
    if (threadIdx.x % 32 == 0) verb.h[j] = a;
  }
  if (threadIdx.x == 0) *ticket = 0;
}

}  // namespace

int gram_blocks(Device& on) { return 2 * on.properties.multiProcessorCount; }

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
