// SPDX-License-Identifier: Apache-2.0
/// Every format as lines that one thread walks entry by entry, in storage order. A line is a row,
/// or a part of one: where a format shares long rows, or csr has rows of thousands, their parts are
/// joined afterwards, in order. For work that is done once in a while and written once for all
/// formats (kernels/verbs/residual.hpp); the products have ways of their own.
///
///     lines(a)                    how many
///     parts(a)                    how many lines are parts of rows; 0: every line is a row
///     walk(a, line, entry)        entry(column, value) for each entry; whose they are
///     rows_to_join(a)             how many candidates there are for ...
///     join(a, k, part)            part(p) for each part of a row, in order; which row, -1: none
///
/// Positions without an entry are left out, so that an Inf in x reaches only rows that refer to it;
/// dasp fills up with zero times a column of the same row.
#pragma once

#include <tcsolve/kernels/views/bsell.hpp>
#include <tcsolve/kernels/views/csell.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/dasp.hpp>
#include <tcsolve/kernels/views/dia.hpp>
#include <tcsolve/kernels/views/sell.hpp>
#include <tcsolve/kernels/views/spaden.hpp>

namespace tcsolve {

/// Whose a line is: a row, or a part with a number; neither where there is nothing.
struct LineOwner {
  Index row = -1;
  std::int64_t part = -1;
};

/// CSR whose long rows are cut.
template <class S>
struct CsrParts {
  static constexpr Offset length = 512;  ///< entries of a part; rows of more are cut
  CsrView<S> a;
  Index long_rows = 0;
  Index count = 0;                    ///< parts
  Index const* long_row = nullptr;    ///< (long_rows)
  Index const* long_start = nullptr;  ///< (long_rows + 1) first part of each
};

// ---- csr ----

template <class S, class F>
TCSOLVE_HD void walk_entries(CsrView<S> const& a, Offset begin, Offset end, F& entry) {
  for (Offset e = begin; e < end; ++e) entry(a.columns[e], a.values[e]);
}

template <class S>
TCSOLVE_HD std::int64_t lines(CsrView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsrView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsrView<S> const& a, std::int64_t line, F& entry) {
  walk_entries(a, a.offsets[line], a.offsets[line + 1], entry);
  return {static_cast<Index>(line), -1};
}

template <class S>
TCSOLVE_HD std::int64_t lines(CsrParts<S> const& a) {
  return std::int64_t{a.a.rows} + a.count;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsrParts<S> const& a) {
  return a.count;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsrParts<S> const& a, std::int64_t line, F& entry) {
  if (line < a.a.rows) {
    Offset const begin = a.a.offsets[line], end = a.a.offsets[line + 1];
    if (end - begin > a.length) return {};  // by its parts
    walk_entries(a.a, begin, end, entry);
    return {static_cast<Index>(line), -1};
  }
  Index const part = static_cast<Index>(line - a.a.rows);
  Index low = 0, high = a.long_rows;  // the row is the last that begins at or before the part
  while (high - low > 1) {
    Index const middle = low + (high - low) / 2;
    (a.long_start[middle] <= part ? low : high) = middle;
  }
  Index const row = a.long_row[low];
  Offset const begin = a.a.offsets[row] + (part - a.long_start[low]) * a.length;
  Offset const end = a.a.offsets[row + 1];
  walk_entries(a.a, begin, begin + a.length < end ? begin + a.length : end, entry);
  return {-1, part};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(CsrParts<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(CsrParts<S> const& a, std::int64_t k, F& part) {
  for (Index p = a.long_start[k]; p < a.long_start[k + 1]; ++p) part(p);
  return a.long_row[k];
}

// ---- sell ----

template <class S>
TCSOLVE_HD std::int64_t lines(SellView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(SellView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(SellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = SellView<S>::C;
  SellSlice const slice = a.slices[line / C];
  Offset const lane = line % C;
  for (Offset j = 0; j < a.lengths[line]; ++j) {
    Offset const at = slice.indices + lane + j * C;
    entry(slice.wide != 0 ? a.columns[at] : slice.base + a.deltas[at],
          a.values[slice.values + lane + j * C]);
  }
  return {static_cast<Index>(line), -1};
}

// ---- dia ----

template <class S>
TCSOLVE_HD std::int64_t lines(DiaView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(DiaView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(DiaView<S> const& a, std::int64_t line, F& entry) {
  Index const i = static_cast<Index>(line);
  for (Index k = 0; k < a.count; ++k) {
    DiaDiagonal const d = a.diagonals[k];
    S const value = a.values[d.start + (i < d.last ? i : d.last)];
    if (!is_hole(value)) entry(i + d.offset, value);
  }
  return {i, -1};
}

// ---- bsell: a row of a block row ----

template <class S>
TCSOLVE_HD std::int64_t lines(BsellView<S> const& a) {
  return std::int64_t{a.count} * a.block * BsellView<S>::C;
}
template <class S>
TCSOLVE_HD std::int64_t parts(BsellView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(BsellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = BsellView<S>::C;
  Index const b = a.block;
  int const lane = static_cast<int>(line % C);  // lanes lie side by side
  Index const r = static_cast<Index>(line / C % b);
  std::int64_t const s = line / C / b, place = s * C + lane;
  if (place >= a.block_rows) return {};
  std::int64_t const row = (a.order == nullptr ? place : std::int64_t{a.order[place]}) * b + r;
  if (row >= a.rows) return {};
  BsellSlice const slice = a.slices[s];
  S const* values = a.values + (Offset{slice.first} * b + r) * b * C + lane;
  for (Index j = 0; j < slice.steps; ++j, values += Offset{b} * b * C) {
    Index const column = a.column(slice, j, lane);
    for (Index c = 0; c < b; ++c) {
      S const value = values[c * C];
      if (!is_hole(value)) entry(column * b + c, value);
    }
  }
  return {static_cast<Index>(row), -1};
}

// ---- csell: rows, and pieces of long ones ----

template <class S>
TCSOLVE_HD std::int64_t lines(CsellView<S> const& a) {
  return a.lines;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsellView<S> const& a) {
  return a.parts;
}
template <class I, class S, class F>
TCSOLVE_HD void walk_strip(CsellView<S> const& a, CsellStrip const& strip, int lane, Index begin,
                           Index end, F& entry) {
  S const* const values = a.values + Offset{strip.first} * CsellView<S>::C;
  I const* const numbers = reinterpret_cast<I const*>(a.numbers + Offset{strip.numbers} * 64);
  for (Index j = begin; j < end; ++j) {
    Offset const at = a.place(j, lane);
    I const number = numbers[at];
    if (number != csell_hole<I>)
      entry(a.bases[strip.first + j] + static_cast<Index>(number), values[at]);
  }
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = CsellView<S>::C;
  Index const slice = static_cast<Index>(line / C);
  int const lane = static_cast<int>(line % C);
  CsellStrip const strip = a.strips[slice / a.depth];
  Index const begin = slice % a.depth == 0 ? 0 : a.ends[slice - 1], end = a.ends[slice];
  if (strip.bytes == 1)
    walk_strip<std::uint8_t>(a, strip, lane, begin, end, entry);
  else if (strip.bytes == 2)
    walk_strip<std::uint16_t>(a, strip, lane, begin, end, entry);
  else
    walk_strip<std::int32_t>(a, strip, lane, begin, end, entry);
  std::int32_t const row = a.order == nullptr ? static_cast<Index>(line) : a.order[line];
  if (row < 0) return {-1, ~row};
  return {row, -1};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(CsellView<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(CsellView<S> const& a, std::int64_t k, F& part) {
  for (Index p = a.long_start[k]; p < a.long_start[k + 1]; ++p) part(p);
  return a.long_row[k];
}

// ---- dasp: lanes of long units; lines of medium ones; halves of the lines of short ones; rows of
// one entry, and of none ----

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

// ---- spaden: rows; of long ones what is not in pieces, and the pieces ----

TCSOLVE_HD int bits_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

template <class S>
TCSOLVE_HD std::int64_t lines(SpadenView<S> const& a) {
  return std::int64_t{a.rows} + std::int64_t{a.pieces} * 8 + a.side_pieces;
}
/// Where there are pieces, every row that has some leaves a part of its own as well.
template <class S>
TCSOLVE_HD std::int64_t parts(SpadenView<S> const& a) {
  return a.pieces + a.side_pieces > 0 ? lines(a) : 0;
}
template <class S>
TCSOLVE_HD bool in_pieces(SpadenView<S> const& a, std::int64_t row) {
  return a.pieces > 0 && a.piece_start[row / 8] < a.piece_start[row / 8 + 1];
}
template <class S>
TCSOLVE_HD bool side_in_pieces(SpadenView<S> const& a, std::int64_t row) {
  return a.side_pieces > 0 && a.side_piece_start[row] < a.side_piece_start[row + 1];
}
/// Row r of blocks [begin, end).
template <class S, class F>
TCSOLVE_HD void walk_blocks(SpadenView<S> const& a, std::uint32_t begin, std::uint32_t end, int r,
                            F& entry) {
  for (std::uint32_t k = begin; k < end; ++k) {
    SpadenBlock const block = a.blocks[k];
    std::uint64_t const below = block.bitmap & ((std::uint64_t{1} << (8 * r)) - 1);
    S const* value = a.values + block.offset + bits_of(below);
    unsigned const row = static_cast<unsigned>(block.bitmap >> (8 * r)) & 255u;
    for (int c = 0; c < 8; ++c)
      if ((row >> c & 1u) != 0) entry(8 * block.column + c, *value++);
  }
}
template <class S, class F>
TCSOLVE_HD void walk_side(SpadenView<S> const& a, std::uint32_t begin, std::uint32_t end,
                          F& entry) {
  for (std::uint32_t e = begin; e < end; ++e) entry(a.side_columns[e], a.side_values[e]);
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(SpadenView<S> const& a, std::int64_t line, F& entry) {
  if (line < a.rows) {
    bool const cut = in_pieces(a, line), side_cut = side_in_pieces(a, line);
    if (!cut)
      walk_blocks(a, a.start[line / 8], a.start[line / 8 + 1], static_cast<int>(line % 8), entry);
    if (a.side_start != nullptr && !side_cut)
      walk_side(a, a.side_start[line], a.side_start[line + 1], entry);
    if (cut || side_cut) return {-1, line};
    return {static_cast<Index>(line), -1};
  }
  std::int64_t const at = line - a.rows;
  if (at < std::int64_t{a.pieces} * 8) {
    SpadenPiece const piece = a.piece[at / 8];
    walk_blocks(a, piece.first, piece.first + piece.count, static_cast<int>(at % 8), entry);
  } else {
    SpadenPiece const piece = a.piece[a.pieces + (at - std::int64_t{a.pieces} * 8)];
    walk_side(a, piece.first, piece.first + piece.count, entry);
  }
  return {-1, line};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(SpadenView<S> const& a) {
  return a.pieces + a.side_pieces > 0 ? a.rows : 0;
}
template <class S, class F>
TCSOLVE_HD Index join(SpadenView<S> const& a, std::int64_t row, F& part) {
  bool const cut = in_pieces(a, row), side_cut = side_in_pieces(a, row);
  if (!cut && !side_cut) return -1;
  part(row);
  if (cut)
    for (auto p = a.piece_start[row / 8]; p < a.piece_start[row / 8 + 1]; ++p)
      part(a.rows + std::int64_t{p} * 8 + row % 8);
  if (side_cut)
    for (auto p = a.side_piece_start[row]; p < a.side_piece_start[row + 1]; ++p)
      part(a.rows + std::int64_t{a.pieces} * 8 + p);
  return static_cast<Index>(row);
}

}  // namespace tcsolve
