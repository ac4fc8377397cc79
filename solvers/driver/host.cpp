// SPDX-License-Identifier: Apache-2.0
/// The fused operations of the driver on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/driver/ops.hpp>

namespace tcsolve::host {

template struct Executes<DriverOps>;

}  // namespace tcsolve::host
