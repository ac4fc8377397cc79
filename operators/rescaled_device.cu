// SPDX-License-Identifier: Apache-2.0
/// The fused operation of operators that are scaled by powers of two, on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/operators/rescaled_ops.hpp>

namespace tcsolve::cuda {

template struct Executes<RescaledOps<double>>;
template struct Executes<RescaledOps<float>>;

}  // namespace tcsolve::cuda
