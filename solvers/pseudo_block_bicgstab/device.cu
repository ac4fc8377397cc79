// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pseudo-block BiCGStab on the device.
#include <tcsolve/kernels/cuda/execute_columns.cuh>
#include <tcsolve/solvers/pseudo_block_bicgstab/ops.hpp>

namespace tcsolve::cuda {

template struct ExecutesColumns<PseudoBicgstabOps<double>>;
template struct ExecutesColumns<PseudoBicgstabOps<float>>;

}  // namespace tcsolve::cuda
