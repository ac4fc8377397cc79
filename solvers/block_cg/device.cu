// SPDX-License-Identifier: Apache-2.0
/// The small operations of block CG on the device.
#include <tcsolve/kernels/cuda/small_op.cuh>
#include <tcsolve/solvers/block_cg/ops.hpp>

namespace tcsolve::cuda {

void execute(Device& on, LoopState* state, BlockCgLengths const& op) { run_small(on, state, op); }
void execute(Device& on, LoopState* state, BlockCgTurn const& op) { run_small(on, state, op); }

}  // namespace tcsolve::cuda
