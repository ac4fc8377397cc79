// SPDX-License-Identifier: Apache-2.0
/// The operations of deflated conjugate gradients on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/small_op.hpp>
#include <tcsolve/solvers/deflated_cg/ops.hpp>

namespace tcsolve::host {

void execute(Host&, LoopState* state, DeflationBasis const& op) { run_small(state, op); }

template struct Executes<DeflatedCgOps>;

}  // namespace tcsolve::host
