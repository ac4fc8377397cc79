// SPDX-License-Identifier: Apache-2.0
/// The fused operations of the driver on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/execute_columns.cuh>
#include <tcsolve/solvers/driver/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<DriverOps>;
template struct ExecutesColumns<DriverColumnOps>;

}  // namespace tcsolve::cuda
