// SPDX-License-Identifier: Apache-2.0
/// Sums over a grid in a fixed order: every block leaves its part, the last one adds them.
#pragma once

namespace tcsolve::cuda {

/// True in every thread of the block that is the last one to arrive.
__device__ inline bool last_block(unsigned int* ticket) {
  __shared__ bool last;
  __threadfence();  // this block's partial sums are visible before its ticket is
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  return last;
}

}  // namespace tcsolve::cuda
