// SPDX-License-Identifier: Apache-2.0
/// The fused operations of cg on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/cg/ops.hpp>

namespace tcsolve::host {

template struct Executes<CgOps<double>>;
template struct Executes<CgOps<float>>;

}  // namespace tcsolve::host
