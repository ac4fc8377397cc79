// SPDX-License-Identifier: Apache-2.0
/// The exact residual of DASP on the device.
#include <tcsolve/formats/dasp/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>

namespace tcsolve::cuda {

template struct Executes<DaspExactOps>;

}  // namespace tcsolve::cuda
