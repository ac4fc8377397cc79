// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/survey.hpp>

#include <algorithm>

#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/survey_counts.hpp>

namespace tcsolve {
namespace {

Offset in_tiles(Features const& f) { return f.entries - f.long_entries; }

/// Tiles full.
bool expect_tiles(Features& f) {
  f.tiles = (in_tiles(f) + 63) / 64;
  // A few entries may lie in no block, which takes less than one: no more blocks than are full.
  f.blocks = in_tiles(f) / 64;
  f.block_entries = in_tiles(f);
  return in_tiles(f) > 0;
}
/// An entry a tile.
void doubt_tiles(Features& f) {
  f.tiles = in_tiles(f);
  f.blocks = f.tiles / 3;
  f.block_entries = 3 * f.blocks;
}
void look_at_tiles(Context& ctx, AnyCsr const& any, Features& f) {
  TileCounts const tiles = std::visit(
      [&](auto const& a) {
        return ctx.visit([&](auto& on) { return count_tiles(on, ctx.arena(), a); });
      },
      any);
  f.tiles = tiles.tiles;
  f.blocks = tiles.blocks;
  f.block_entries = tiles.block_entries;
}
void gather_tiles(Features& f) { f.tiles = std::min(f.tiles, (f.entries + 63) / 64); }

}  // namespace

constinit Fact const tiles_fact{.name = "tiles",
                                .expect = expect_tiles,
                                .look = look_at_tiles,
                                .doubt = doubt_tiles,
                                .gather = gather_tiles};

template <class S>
Survey::Survey(Context& ctx, CsrView<S> const& a, Facts const& facts) {
  Context::Entry const entry(ctx);
  RowCounts const rows = ctx.visit([&](auto& on) { return count_rows(on, ctx.arena(), a); });
  Features& f = features_;
  f.rows = a.rows, f.cols = a.cols, f.entries = a.entries;
  std::ranges::copy(rows.short_rows, f.short_rows);
  f.long_rows = rows.long_rows, f.long_entries = rows.long_entries, f.longest = rows.longest;
  f.medium_slots = rows.medium_slots, f.medium_wide = rows.medium_wide;
  f.slices_stored = rows.slices_stored, f.slices_wide = rows.slices_wide;
  for (Fact const* fact : facts)
    if (fact->expect(f)) unknown_.push_back(fact);
}

bool Survey::knows(Fact const& fact) const {
  return std::ranges::find(unknown_, &fact) == unknown_.end();
}

bool Survey::knows(std::string_view fact) const {
  return std::ranges::find(unknown_, fact, &Fact::name) == unknown_.end();
}

void Survey::learn(Fact const& fact) {
  std::erase(unknown_, &fact);
  Facts const left = unknown_;
  for (Fact const* other : left) {
    if (other->after != &fact) continue;
    bool const open = other->expect(features_);
    if (!open) std::erase(unknown_, other);
  }
}

template <class S>
void Survey::look(Context& ctx, CsrView<S> const& a, Fact const& fact) {
  if (fact.after != nullptr) look(ctx, a, *fact.after);
  if (knows(fact)) return;
  Context::Entry const entry(ctx);
  fact.look(ctx, a, features_);
  learn(fact);
}

template <class S>
void Survey::look(Context& ctx, CsrView<S> const& a) {
  Facts const all = unknown_;
  for (Fact const* fact : all) look(ctx, a, *fact);
}

Features Survey::most() const {
  Features f = features_;
  for (Fact const* fact : unknown_) fact->doubt(f);
  return f;
}

template <class S>
bool mirrored(Context& ctx, CsrView<S> const& a) {
  return ctx.visit([&](auto& on) { return mirrored(on, ctx.arena(), a); });
}

#define TCSOLVE_INSTANTIATE(S)                                          \
  template Survey::Survey(Context&, CsrView<S> const&, Facts const&);   \
  template void Survey::look(Context&, CsrView<S> const&, Fact const&); \
  template void Survey::look(Context&, CsrView<S> const&);              \
  template bool mirrored(Context&, CsrView<S> const&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)
TCSOLVE_INSTANTIATE(bfloat16)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
