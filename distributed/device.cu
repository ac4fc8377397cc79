// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>

namespace tcsolve::cuda {

template struct Executes<DistributedOps>;

}  // namespace tcsolve::cuda
