// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/aggregates.hpp>

namespace tcsolve {

Aggregates aggregates(Context& ctx, sparse::OwnedPattern const& strong) {
  Context::Entry const entry(ctx);
  // Symmetric, or of a symmetric matrix but for couplings that rounding has put near the threshold.
  return ctx.visit(
      [&](auto& on) { return aggregates(on, ctx.arena(), ctx.cancel_flag(), strong.view()); });
}

}  // namespace tcsolve
