// SPDX-License-Identifier: Apache-2.0
/// The fused operations of minres on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/solvers/minres/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<MinresOps<double>>;
template struct Executes<MinresOps<float>>;

}  // namespace tcsolve::cuda
