// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pseudo-block BiCGStab on the host.
#include <tcsolve/kernels/host/execute_columns.hpp>
#include <tcsolve/solvers/pseudo_block_bicgstab/ops.hpp>

namespace tcsolve::host {

template struct ExecutesColumns<PseudoBicgstabOps<double>>;
template struct ExecutesColumns<PseudoBicgstabOps<float>>;

}  // namespace tcsolve::host
