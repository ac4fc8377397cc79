// SPDX-License-Identifier: Apache-2.0
/// Runs an operation on small matrices (kernels/small_matrix.hpp) on the device: by one block, its
/// scratch in shared memory.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/small_matrix.hpp>

namespace tcsolve::cuda {

namespace {

constexpr int small_block = 256;

template <class V>
__global__ void __launch_bounds__(small_block) small_kernel(V op, LoopState* state) {
  extern __shared__ double memory[];
  Frame const frame{state, threadIdx.x == 0};
  if (frame.stopped()) return;
  op.run(SmallTeam{static_cast<int>(threadIdx.x), small_block}, frame, memory);
}

/// op.run(team, frame, memory), unless the loop has stopped.
template <class V>
void run_small(Device& on, LoopState* state, V const& op) {
  auto const bytes = static_cast<std::size_t>(op.work()) * sizeof(double);
  allow_shared(on, small_kernel<V>, bytes);
  small_kernel<<<1, small_block, bytes, on.stream>>>(op, state);
  check(cudaGetLastError());
}

}  // namespace

}  // namespace tcsolve::cuda
