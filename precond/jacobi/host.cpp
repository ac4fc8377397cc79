// SPDX-License-Identifier: Apache-2.0
/// The fused operations of jacobi on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/precond/jacobi/ops.hpp>

namespace tcsolve::host {

template struct Executes<JacobiOps<double>>;
template struct Executes<JacobiOps<float>>;
template struct Executes<OpList<RoundDiagonal>>;

}  // namespace tcsolve::host
