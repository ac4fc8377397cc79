// SPDX-License-Identifier: Apache-2.0
/// The small operations of block GMRES on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/small_op.cuh>
#include <tcsolve/solvers/block_gmres/ops.hpp>

namespace tcsolve::cuda {

void execute(Device& on, LoopState* state, BlockGmresStart const& op) { run_small(on, state, op); }
void execute(Device& on, LoopState* state, BlockGmresFloor const& op) { run_small(on, state, op); }
void execute(Device& on, LoopState* state, BlockGmresColumn const& op) { run_small(on, state, op); }
void execute(Device& on, LoopState* state, BlockGmresSolve const& op) { run_small(on, state, op); }

template struct Executes<OpList<BlockGmresStore>>;

}  // namespace tcsolve::cuda
