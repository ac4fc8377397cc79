// SPDX-License-Identifier: Apache-2.0
/// The fused operations of the driver on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/execute_columns.hpp>
#include <tcsolve/solvers/driver/ops.hpp>

namespace tcsolve::host {

template struct Executes<DriverOps>;
template struct ExecutesColumns<DriverColumnOps>;

}  // namespace tcsolve::host
