// SPDX-License-Identifier: Apache-2.0
/// The rows of a matrix on all threads of the host.
#pragma once

#include <algorithm>

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve {

/// f(i) for i in [0, rows), `stretch` rows at a time. Throws Cancelled between two stretches.
template <class F>
void each_row(Context& ctx, Index rows, std::int64_t stretch, F const& f) {
  CancelFlag const cancel = ctx.cancel_flag();
  host::Visit const visit(ctx.threads());
  host::parallel((rows + stretch - 1) / stretch, 2, [&](std::int64_t s) {
    cancel.check();
    auto const end = static_cast<Index>(std::min<std::int64_t>(rows, (s + 1) * stretch));
    for (auto i = static_cast<Index>(s * stretch); i < end; ++i) f(i);
  });
}

}  // namespace tcsolve
