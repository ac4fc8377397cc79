// SPDX-License-Identifier: Apache-2.0
/// <x, y> of a product: lane, warp, block; the last block adds the partial sums in block order.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/cuda/rank_sums.cuh>
#include <tcsolve/kernels/cuda/sums.cuh>

namespace tcsolve::cuda {

/// *sigma = the sum of every thread's part. All threads of all blocks call it, at their end.
__device__ inline void finish_sigma(double mine, double* sigma, Scratch const& scratch) {
  __shared__ double warps[32];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = blockDim.x / 32;
  double total = warp_sum(mine);
  if (lane == 0) warps[warp] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    total = 0;
    for (int w = 0; w < count; ++w) total += warps[w];
    scratch.partials[blockIdx.x] = total;
  }
  if (!last_block(scratch.ticket) || warp > 0) return;
  double all[1] = {end_sum_by_warp(scratch.partials, gridDim.x)};
  if (lane != 0) return;
  *scratch.ticket = 0;
  if (sum_over_ranks<Add>(scratch, nullptr, all)) *sigma = all[0];
}

namespace {

__global__ void sigma_kernel(double* sigma, Scratch scratch) {
  double all[1];
  if (take_over_ranks<Add>(scratch, nullptr, all)) *sigma = all[0];
}

/// To be called behind such a kernel: *sigma of all ranks, where that is not there yet.
void end_sigma(Device& on, double* sigma) {
  if (!on.scratch.apart.cut()) return;
  gather_sums(on, 1);
  sigma_kernel<<<1, 1, 0, on.stream>>>(sigma, on.scratch);
  check(cudaGetLastError());
}

}  // namespace

}  // namespace tcsolve::cuda
