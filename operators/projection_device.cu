// SPDX-License-Identifier: Apache-2.0
/// The fused operation of a projection on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/operators/projection_ops.hpp>

namespace tcsolve::cuda {

template struct Executes<ProjectionOps>;

}  // namespace tcsolve::cuda
