// SPDX-License-Identifier: Apache-2.0
/// The fused operations of block_jacobi on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/precond/block_jacobi/ops.hpp>

namespace tcsolve::host {

template struct Executes<BlockJacobiOps<double>>;
template struct Executes<BlockJacobiOps<float>>;

}  // namespace tcsolve::host
