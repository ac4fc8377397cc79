// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pipelined_cg on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/solvers/pipelined_cg/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<PipelinedCgOps<double>>;
template struct Executes<PipelinedCgOps<float>>;

}  // namespace tcsolve::cuda
