// SPDX-License-Identifier: Apache-2.0
/// The parts of a run that users wait for beside the iterations.
#pragma once

#include <string_view>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/timed.hpp>

namespace tcsolve {

/// f() between two PhaseEvents; its seconds are added to `sum`, also when it throws. Throws
/// Cancelled instead of beginning once Context::cancel() was called, and after f() where it was
/// called meanwhile: what is not interrupted does not forget it.
template <class F>
void phase(Context& ctx, std::string_view name, double& sum, F const& f) {
  ctx.cancel_flag().check();
  ctx.emit(PhaseEvent{name, false, 0});
  double const before = sum;
  timed(sum, f);
  ctx.emit(PhaseEvent{name, true, sum - before});
  if (ctx.cancelled()) throw Cancelled();
}

}  // namespace tcsolve
