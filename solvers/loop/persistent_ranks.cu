// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/persistent_kernel.cuh>

namespace tcsolve::cuda {

void const* persistent_over_ranks() {
  return reinterpret_cast<void const*>(persistent_kernel<double, RanksTeam>);
}

}  // namespace tcsolve::cuda
