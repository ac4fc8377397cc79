// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/survey.hpp>

#include <algorithm>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/dia.hpp>
#include <tcsolve/kernels/survey.hpp>

namespace tcsolve {

template <class S>
Survey::Survey(Context& ctx, CsrView<S> const& a) {
  Context::Entry const entry(ctx);
  RowCounts const rows = ctx.visit([&](auto& on) { return count_rows(on, ctx.arena(), a); });
  Features& f = features_;
  f.rows = a.rows, f.cols = a.cols, f.entries = a.entries;
  std::ranges::copy(rows.short_rows, f.short_rows);
  f.long_rows = rows.long_rows, f.long_entries = rows.long_entries, f.longest = rows.longest;
  f.medium_slots = rows.medium_slots, f.medium_wide = rows.medium_wide;
  f.slices_stored = rows.slices_stored, f.slices_wide = rows.slices_wide;

  Offset const in_tiles = f.entries - f.long_entries;
  if (in_tiles > 0) unknown_ |= bit(Fact::tiles);
  f.tiles = (in_tiles + 63) / 64;
  // A few entries may lie in no block, which takes less than one: no more blocks than are full.
  f.blocks = in_tiles / 64;
  f.block_entries = in_tiles;
  if (a.entries >= 8 * Offset{a.rows} && a.entries > 0 && f.longest <= 4096) {
    unknown_ |= bit(Fact::dense);
    for (std::size_t k = 0; k < f.dense.size(); ++k) {
      Offset const positions = Offset{bsell_blocks[k]} * bsell_blocks[k];
      Offset const full = (f.entries + positions - 1) / positions;
      f.dense[k] = {full, full, 0};
    }
  }
  f.diagonals = f.longest;
  if (few_diagonals()) unknown_ |= bit(Fact::diagonals);
  f.symmetric = a.rows == a.cols && few_diagonals();
  if (f.symmetric) unknown_ |= bit(Fact::symmetry);
}

bool Survey::few_diagonals() const {
  return dia_fits(double(features_.diagonals), features_.rows, features_.entries);
}

template <class S>
void Survey::look(Context& ctx, CsrView<S> const& a, Fact fact) {
  if (knows(fact)) return;
  Context::Entry const entry(ctx);
  Features& f = features_;
  switch (fact) {
    case Fact::diagonals:
      f.diagonals = count_diagonals(ctx, a);
      if (!few_diagonals()) f.symmetric = false, learn(Fact::symmetry);
      break;
    case Fact::symmetry:
      look(ctx, a, Fact::diagonals);
      if (knows(Fact::symmetry)) return;
      f.symmetric = ctx.visit([&](auto& on) { return mirrored(on, ctx.arena(), a); });
      break;
    case Fact::dense: f.dense = count_blocks(ctx, a); break;
    case Fact::tiles: {
      TileCounts const tiles = ctx.visit([&](auto& on) { return count_tiles(on, ctx.arena(), a); });
      f.tiles = tiles.tiles, f.blocks = tiles.blocks, f.block_entries = tiles.block_entries;
      break;
    }
  }
  learn(fact);
}

template <class S>
void Survey::look(Context& ctx, CsrView<S> const& a) {
  for (Fact const fact : {Fact::diagonals, Fact::symmetry, Fact::dense, Fact::tiles})
    look(ctx, a, fact);
}

Features Survey::most() const {
  Features f = features_;
  if (!knows(Fact::tiles)) {
    f.tiles = f.entries - f.long_entries;
    f.blocks = f.tiles / 3, f.block_entries = 3 * f.blocks;
  }
  if (!knows(Fact::diagonals)) f.diagonals = std::max(f.diagonals, Offset{f.rows} + f.cols - 1);
  if (!knows(Fact::symmetry)) f.symmetric = false;
  if (!knows(Fact::dense)) f.dense.fill({f.entries, 32 * f.entries, 32 * f.entries});
  return f;
}

#define TCSOLVE_INSTANTIATE(S)                                   \
  template Survey::Survey(Context&, CsrView<S> const&);          \
  template void Survey::look(Context&, CsrView<S> const&, Fact); \
  template void Survey::look(Context&, CsrView<S> const&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)
TCSOLVE_INSTANTIATE(bfloat16)

}  // namespace tcsolve
