// SPDX-License-Identifier: Apache-2.0
/// The fused operations that many share, on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/shared_ops.hpp>

namespace tcsolve::cuda {

template struct Executes<SharedOps>;

}  // namespace tcsolve::cuda
