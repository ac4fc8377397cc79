// SPDX-License-Identifier: Apache-2.0
/// Runs an operation on small matrices (kernels/small_matrix.hpp) on the host: by one thread.
#pragma once

#include <vector>

#include <tcsolve/core/loop_state.hpp>
#include <tcsolve/kernels/small_matrix.hpp>

namespace tcsolve::host {

/// op.run(team, frame, memory), unless the loop has stopped.
template <class V>
void run_small(LoopState* state, V const& op) {
  Frame const frame{state, true};
  if (frame.stopped()) return;
  std::vector<double> memory(static_cast<std::size_t>(op.work()));
  op.run(SmallTeam{}, frame, memory.data());
}

}  // namespace tcsolve::host
