// SPDX-License-Identifier: Apache-2.0
/// The fused operations of bicgstab on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/solvers/bicgstab/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<BicgstabOps<double>>;
template struct Executes<BicgstabOps<float>>;

}  // namespace tcsolve::cuda
