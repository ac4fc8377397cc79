// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/blocks.hpp>

namespace tcsolve::sparse {

OwnedPattern blocks_of(Context& ctx, PatternView const& a, Index r, Index c) {
  auto const fits = [](Index b, Index n) { return b >= 1 && b <= most_block_rows && n % b == 0; };
  if (!fits(r, a.rows) || !fits(c, a.cols))
    throw ShapeError(cat("blocks: of ", r, " x ", c, " in a matrix of ", a.rows, " x ", a.cols,
                         "; needed are 1 to ", most_block_rows, " that divide its extents"));
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return blocks_of(on, ctx.arena(), a, r, c); });
}

OwnedPattern entries_of(Context& ctx, PatternView const& blocks, Index r, Index c) {
  narrow(std::int64_t{blocks.rows} * r, "rows of blocks");
  narrow(std::int64_t{blocks.cols} * c, "columns of blocks");
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return entries_of(on, ctx.arena(), blocks, r, c); });
}

}  // namespace tcsolve::sparse
