// SPDX-License-Identifier: Apache-2.0
/// The small operations of block CG on the host.
#include <tcsolve/kernels/host/small_op.hpp>
#include <tcsolve/solvers/block_cg/ops.hpp>

namespace tcsolve::host {

void execute(Host&, LoopState* state, BlockCgLengths const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, BlockCgTurn const& op) { run_small(state, op); }

}  // namespace tcsolve::host
