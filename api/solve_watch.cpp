// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/solve_watch.hpp>

#include <algorithm>
#include <limits>

namespace tcsolve {

SolveWatch::SolveWatch(Context& ctx, SolveCall const& callbacks)
    : ctx_(ctx), callbacks_(callbacks), depth_(ctx.depth() + 1) {
  if (callbacks_.progress) ctx_.attach(this);
  if (callbacks_.stop.stop_possible()) stop_.emplace(callbacks_.stop, Cancel{*this});
}

SolveWatch::~SolveWatch() {
  stop_.reset();  // waits for a stop callback that is running on another thread
  if (callbacks_.progress) ctx_.detach(this);
  if (cancelled_) ctx_.clear_cancel();
}

void SolveWatch::on(IterationEvent const& event) {
  if (event.depth != depth_ || cancelled_) return;  // a loop may finish the steps it has begun
  std::int64_t const every = std::max<Index>(1, callbacks_.every);
  // Another solve, of the next column or choice, counts from one.
  if (event.iteration <= last_ || next_ == 0) next_ = static_cast<Index>(every);
  last_ = event.iteration;
  if (event.iteration < next_) return;
  next_ = static_cast<Index>(std::min<std::int64_t>((event.iteration / every + 1) * every,
                                                    std::numeric_limits<Index>::max()));
  if (!callbacks_.progress(event)) cancel();
}

void SolveWatch::cancel() {
  if (ctx_.cancelled()) return;
  cancelled_ = true;
  ctx_.cancel();
}

}  // namespace tcsolve
