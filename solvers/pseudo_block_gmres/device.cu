// SPDX-License-Identifier: Apache-2.0
/// The small operations of pseudo-block GMRES on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/execute_columns.cuh>
#include <tcsolve/kernels/cuda/small_op.cuh>
#include <tcsolve/solvers/pseudo_block_gmres/ops.hpp>

namespace tcsolve::cuda {

void execute(Device& on, LoopState* state, PseudoGmresStart const& op) { run_small(on, state, op); }
void execute(Device& on, LoopState* state, PseudoGmresDiagonal const& op) {
  run_small(on, state, op);
}
void execute(Device& on, LoopState* state, PseudoGmresColumn const& op) {
  run_small(on, state, op);
}
void execute(Device& on, LoopState* state, PseudoGmresSolve const& op) { run_small(on, state, op); }

template struct Executes<OpList<PseudoGmresStore<double>, PseudoGmresStore<float>>>;
template struct ExecutesColumns<OpList<PseudoGmresNext<double>, PseudoGmresNext<float>>>;

}  // namespace tcsolve::cuda
