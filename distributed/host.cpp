// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/host/execute.hpp>

namespace tcsolve::host {

template struct Executes<DistributedOps>;

}  // namespace tcsolve::host
