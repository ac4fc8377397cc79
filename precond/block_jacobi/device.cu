// SPDX-License-Identifier: Apache-2.0
/// The fused operations of block_jacobi on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/precond/block_jacobi/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<BlockJacobiOps<double>>;
template struct Executes<BlockJacobiOps<float>>;

}  // namespace tcsolve::cuda
