// SPDX-License-Identifier: Apache-2.0
/// The fused operations of cg on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/solvers/cg/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<CgOps<double>>;
template struct Executes<CgOps<float>>;

}  // namespace tcsolve::cuda
