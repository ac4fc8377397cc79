// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/precond/spectrum_ops.hpp>

namespace tcsolve::cuda {

template struct Executes<SpectrumOps>;

}  // namespace tcsolve::cuda
