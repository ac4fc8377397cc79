// SPDX-License-Identifier: Apache-2.0
/// The fused operations of a matrix with a correction on its diagonal, on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/operators/corrected_ops.hpp>

namespace tcsolve::cuda {

template struct Executes<CorrectedOps<double>>;
template struct Executes<CorrectedOps<float>>;

}  // namespace tcsolve::cuda
