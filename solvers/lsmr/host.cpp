// SPDX-License-Identifier: Apache-2.0
/// The fused operations of lsmr on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/lsmr/ops.hpp>

namespace tcsolve::host {

template struct Executes<LsmrOps<double>>;
template struct Executes<LsmrOps<float>>;

}  // namespace tcsolve::host
