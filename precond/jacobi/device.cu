// SPDX-License-Identifier: Apache-2.0
/// The fused operations of jacobi on the device.
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/precond/jacobi/ops.hpp>

namespace tcsolve::cuda {

template struct Executes<JacobiOps<double>>;
template struct Executes<JacobiOps<float>>;
template struct Executes<OpList<RoundDiagonal>>;

}  // namespace tcsolve::cuda
