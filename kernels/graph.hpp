// SPDX-License-Identifier: Apache-2.0
/// A recorded loop on the device: a CUDA graph with a conditional WHILE node around the body. The
/// body's last verb decides on the device whether it runs again; the host launches once.
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>

namespace tcsolve::cuda {

class WhileGraph;

/// Captures the body. `state` (device memory) gets the handle of the conditional node.
/// Throws DeviceError when a command of the body cannot be captured.
std::shared_ptr<WhileGraph> record_while(Context&, Recording const& body, LoopState* state);
void launch(Device&, WhileGraph&);
/// True when everything submitted to the stream has finished; does not wait.
bool finished(Device&);

}  // namespace tcsolve::cuda
