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
  Frame frame{state, threadIdx.x == 0};  // of the last block
  if (frame.stopped()) return;
  __shared__ double warps[2 * group + 1][block_size / 32];
  __shared__ bool last;
  int j = frame.step(), columns = j + 1;
  std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  auto keep = [](int k, double a) {
    a = warp_sum(a);
    if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = a;
  };
  for (int k0 = 0; k0 < columns; k0 += group) {
    int here = columns - k0 < group ? columns - k0 : group;
    double s[group] = {}, t[group] = {}, ww = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < verb.n;
         i += stride) {
      double ui = double(verb.u[i]), wi = double(verb.w[i]);
#pragma unroll
      for (int k = 0; k < group; ++k)
        if (k < here) {
          double a = verb.left(j, k0 + k, i);
          s[k] += a * ui;
          t[k] += a * wi;
        }
      ww += wi * wi;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < group; ++k) keep(2 * k, s[k]), keep(2 * k + 1, t[k]);
    keep(2 * group, ww);
    __syncthreads();
    // Thread k adds up sum k; <w, w> goes with the last group.
    int k = threadIdx.x, count = 2 * here + (k0 + here == columns ? 1 : 0);
    if (k < count) {
      double const* row = warps[k < 2 * here ? k : 2 * group];
      double a = 0;
      for (int l = 0; l < block_size / 32; ++l) a += row[l];
      verb.partials[std::int64_t{2 * k0 + k} * gridDim.x + blockIdx.x] = a;
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int k = threadIdx.x / 32; k < verb.sums(j); k += block_size / 32) {
    double a = 0;
    for (unsigned int b = threadIdx.x % 32; b < gridDim.x; b += 32)
      a += __ldcg(verb.partials + std::int64_t{k} * gridDim.x + b);
    a = warp_sum(a);
    if (threadIdx.x % 32 == 0) verb.H.sums[k] = a;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < columns; k += block_size) verb.entry(j, k);
  if (frame.lead) {
    verb.finish(frame);
    *ticket = 0;
  }
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
