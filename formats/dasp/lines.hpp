// SPDX-License-Identifier: Apache-2.0
/// DASP by lines (kernels/lines.hpp): lanes of long units, lines of medium ones, halves of the
/// lines of short ones, rows of one entry, and of none.
#pragma once

#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(DaspView<S> const& a) {
  return std::int64_t{a.long_units} * a.block + std::int64_t{a.medium_units()} * a.lines +
         std::int64_t{a.short_units()} * a.pieces * 2 + a.singles() + a.with[0];
}
template <class S>
TCSOLVE_HD std::int64_t parts(DaspView<S> const& a) {
  return std::int64_t{a.long_units} * a.block;
}
/// Slots [from, to) of line r of block b of a unit.
template <class S, class F>
TCSOLVE_HD void walk_slots(DaspView<S> const& a, DaspUnit const& unit, Index blocks, Index b, int r,
                           int from, int to, F& entry) {
  for (int k = from; k < to; ++k) {
    Offset const at = a.place(blocks, b, r * a.slots + k);
    entry(a.column(unit, at), a.values[Offset{unit.blocks} * a.block + at]);
  }
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(DaspView<S> const& a, std::int64_t line, F& entry) {
  std::int64_t at = line;
  if (at < parts(a)) {
    Index const u = static_cast<Index>(at / a.block);
    DaspUnit const unit = a.units[u];
    Offset const slots = Offset{a.units[u + 1].blocks - unit.blocks} * a.block;
    for (Offset s = at % a.block; s < slots; s += a.block)
      entry(a.column(unit, s), a.values[Offset{unit.blocks} * a.block + s]);
    return {-1, at};
  }
  at -= parts(a);
  if (at < std::int64_t{a.medium_units()} * a.lines) {
    Index const u = a.long_units + static_cast<Index>(at / a.lines);
    if (at >= a.medium_rows) return {};
    DaspUnit const unit = a.units[u];
    Index const blocks = a.units[u + 1].blocks - unit.blocks;
    for (Index b = 0; b < blocks; ++b)
      walk_slots(a, unit, blocks, b, static_cast<int>(at % a.lines), 0, a.slots, entry);
    for (auto e = a.irregular_start[at]; e < a.irregular_start[at + 1]; ++e)
      entry(a.irregular_columns[e], a.irregular_values[e]);
    return {a.order[a.first_medium() + at], -1};
  }
  at -= std::int64_t{a.medium_units()} * a.lines;
  if (at < std::int64_t{a.short_units()} * a.pieces * 2) {
    Index const u = a.long_units + a.medium_units() + static_cast<Index>(at / (2 * a.pieces));
    int const l = static_cast<int>(at / 2 % a.pieces);
    DaspUnit const unit = a.units[u];
    Index const blocks = a.units[u + 1].blocks - unit.blocks;
    if (l >= blocks * a.lines) return {};
    DaspKind const kind = a.kind(u);
    auto const pair = a.line(kind, a.within_kind(kind, u), l);
    bool const second = at % 2 != 0;
    Index const row = second ? pair.second : pair.first;
    if (row < 0) return {};
    walk_slots(a, unit, blocks, l / a.lines, l % a.lines, second ? pair.split : 0,
               second ? a.slots : pair.split, entry);
    return {row, -1};
  }
  at -= std::int64_t{a.short_units()} * a.pieces * 2;
  if (at < a.singles()) {
    entry(a.irregular_columns[a.irregular + at], a.irregular_values[a.irregular + at]);
    return {a.order[a.first_single() + at], -1};
  }
  return {a.order[a.first_empty() + at - a.singles()], -1};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(DaspView<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(DaspView<S> const& a, std::int64_t k, F& part) {
  std::int64_t const end = std::int64_t{a.long_start[k + 1]} * a.block;
  for (std::int64_t p = std::int64_t{a.long_start[k]} * a.block; p < end; ++p) part(p);
  return a.order[k];
}

}  // namespace tcsolve
