// SPDX-License-Identifier: Apache-2.0
/// The fused operations of minres on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/minres/ops.hpp>

namespace tcsolve::host {

template struct Executes<MinresOps<double>>;
template struct Executes<MinresOps<float>>;

}  // namespace tcsolve::host
