// SPDX-License-Identifier: Apache-2.0
/// The fused operations of bicgstab on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/bicgstab/ops.hpp>

namespace tcsolve::host {

template struct Executes<BicgstabOps<double>>;
template struct Executes<BicgstabOps<float>>;

}  // namespace tcsolve::host
