// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pipelined_cg on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/pipelined_cg/ops.hpp>

namespace tcsolve::host {

template struct Executes<PipelinedCgOps<double>>;
template struct Executes<PipelinedCgOps<float>>;

}  // namespace tcsolve::host
