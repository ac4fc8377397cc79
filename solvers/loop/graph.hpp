// SPDX-License-Identifier: Apache-2.0
/// A recorded loop on the device: a CUDA graph with a conditional WHILE node around some steps of
/// the body. A step's last operation decides on the device whether there is another round; the host
/// launches once. Deciding costs 3.5 us, so a round has several steps; those behind a stop do
/// nothing (docs/results/cg-h200.md).
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>

namespace tcsolve::cuda {

class WhileGraph;

/// Captures `steps` times the body. `handle`: of the conditional node, for LoopState. Null, and
/// why, where the driver has no such nodes. Throws DeviceError when a command of the body cannot be
/// captured.
std::shared_ptr<WhileGraph> record_while(Context&, Recording const& body, LoopState* state,
                                         int steps, unsigned long long& handle, std::string& why);
void launch(Device&, WhileGraph&);
/// True when everything submitted to the stream has finished; does not wait. `still`: seconds for
/// which nothing was seen to move there, after which ranks may give up.
bool finished(Device&, double still = 0);

}  // namespace tcsolve::cuda
