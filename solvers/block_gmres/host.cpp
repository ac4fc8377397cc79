// SPDX-License-Identifier: Apache-2.0
/// The small operations of block GMRES on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/small_op.hpp>
#include <tcsolve/solvers/block_gmres/ops.hpp>

namespace tcsolve::host {

void execute(Host&, LoopState* state, BlockGmresStart const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, BlockGmresFloor const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, BlockGmresColumn const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, BlockGmresSolve const& op) { run_small(state, op); }

template struct Executes<OpList<BlockGmresStore>>;

}  // namespace tcsolve::host
