// SPDX-License-Identifier: Apache-2.0
/// The small operations of pseudo-block GMRES on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/execute_columns.hpp>
#include <tcsolve/kernels/host/small_op.hpp>
#include <tcsolve/solvers/pseudo_block_gmres/ops.hpp>

namespace tcsolve::host {

void execute(Host&, LoopState* state, PseudoGmresStart const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, PseudoGmresDiagonal const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, PseudoGmresColumn const& op) { run_small(state, op); }
void execute(Host&, LoopState* state, PseudoGmresSolve const& op) { run_small(state, op); }

template struct Executes<OpList<PseudoGmresStore<double>, PseudoGmresStore<float>>>;
template struct ExecutesColumns<OpList<PseudoGmresNext<double>, PseudoGmresNext<float>>>;

}  // namespace tcsolve::host
