// SPDX-License-Identifier: Apache-2.0
/// The operations of deflated conjugate gradients on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/small_op.cuh>
#include <tcsolve/solvers/deflated_cg/ops.hpp>

namespace tcsolve::cuda {

void execute(Device& on, LoopState* state, DeflationBasis const& op) { run_small(on, state, op); }

template struct Executes<DeflatedCgOps>;

}  // namespace tcsolve::cuda
