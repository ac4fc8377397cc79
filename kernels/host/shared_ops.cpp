// SPDX-License-Identifier: Apache-2.0
/// The fused operations that many share, on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/shared_ops.hpp>

namespace tcsolve::host {

template struct WalksExactly<OpList<ShiftResidual>>;
template struct Executes<SharedOps>;

}  // namespace tcsolve::host
