// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/call_limits.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

CallLimits::CallLimits(Solver& method, SolveCall const& call) : method_(method) {
  if (!any(call)) return;
  StoppingParams const* const keys = method.stops_by();
  StoppingParams now = keys != nullptr ? *keys : StoppingParams{};
  if (call.rtol) now.rtol = *call.rtol;
  if (call.atol) now.atol = *call.atol;
  if (call.max_iters) now.max_iters = *call.max_iters;
  if (call.time_limit) now.time_limit = *call.time_limit;
  checked(now, "SolveCall");
  std::optional<StoppingParams> before;
  if (keys != nullptr) before = *keys;
  method.stop_by(now);
  before_ = before;
}

CallLimits::~CallLimits() {
  if (before_) method_.stop_by(*before_);
}

}  // namespace tcsolve
