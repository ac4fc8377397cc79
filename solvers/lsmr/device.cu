// SPDX-License-Identifier: Apache-2.0
/// The fused operations of lsmr on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/solvers/lsmr/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<LsmrOps<double>>;
template struct Executes<LsmrOps<float>>;

}  // namespace tcsolve::cuda
