// SPDX-License-Identifier: Apache-2.0
/// The fused operations of pseudo-block CG on the host.
#include <tcsolve/kernels/host/execute_columns.hpp>
#include <tcsolve/solvers/pseudo_block_cg/ops.hpp>

namespace tcsolve::host {

template struct ExecutesColumns<PseudoCgOps<double>>;
template struct ExecutesColumns<PseudoCgOps<float>>;

}  // namespace tcsolve::host
