// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pseudo-block CG on the device.
#include <tcsolve/kernels/cuda/execute_columns.cuh>
#include <tcsolve/solvers/pseudo_block_cg/ops.hpp>

namespace tcsolve::cuda {

template struct ExecutesColumns<PseudoCgOps<double>>;
template struct ExecutesColumns<PseudoCgOps<float>>;

}  // namespace tcsolve::cuda
