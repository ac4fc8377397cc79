// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/precond/spectrum_ops.hpp>

namespace tcsolve::host {

template struct Executes<SpectrumOps>;

}  // namespace tcsolve::host
