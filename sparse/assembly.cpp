// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/assembly.hpp>

namespace tcsolve::sparse {

Assembly::Assembly(Context& ctx, CooView const& entries) : entries_(entries.entries) {
  if (entries.rows < 0 || entries.cols < 0 || entries.entries < 0)
    throw ShapeError(cat("assembly: ", entries.entries, " entries of a ", entries.rows, " x ",
                         entries.cols, " matrix"));
  if (entries.entries > 0 && (entries.i == nullptr || entries.j == nullptr))
    throw ShapeError("assembly: the numbers of rows or columns are null");
  if (entries.space != ctx.space())
    throw ShapeError(cat("assembly: entries lie on the ", name(entries.space),
                         ", the Context computes on the ", name(ctx.space())));
  Context::Entry const entry(ctx);
  made_ = ctx.visit([&](auto& on) { return assemble_pattern(on, ctx.arena(), entries); });
}

void Assembly::values(Context& ctx, double const* from, double* to) const {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { assemble_values(on, ctx.arena(), made_, from, to); });
}

}  // namespace tcsolve::sparse
