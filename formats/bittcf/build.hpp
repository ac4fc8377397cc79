// SPDX-License-Identifier: Apache-2.0
/// CSR to BitTCF, written once for both backends (kernels/convert.hpp): a warp walks the eight rows
/// of a window side by side, least column first, once to count and once to write.
///
///     count    blocks and values of each window, side entries of each row
///     scan     where they begin
///     pieces   by how much the windows differ, how many of each
///     fill     columns and bitmaps, side columns
///     refill   the values, as for new ones: a thread a row
#pragma once

#include <limits>

#include <tcsolve/formats/bittcf/lines.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::bittcf {

/// The columns of a window in order, and which of its rows have them. Lane r < 8 has row r.
template <class W, class S>
struct Walk {
  static constexpr std::uint32_t none = 0xffffffffu;
  W const& warp;
  std::int32_t const* columns;
  typename W::template Of<Offset> at, last;
  typename W::template Of<std::uint32_t> ahead, has;  ///< next column of a row; 1: it has `column`
  std::uint32_t column = none;
  std::int64_t entries;  ///< of the window
  int count = 0;         ///< rows that have `column`

  TCSOLVE_HD Walk(W const& w, CsrView<S> const& a, std::int64_t window)
      : warp(w), columns(a.columns) {
    std::int64_t const first = 8 * window, end = first + 8 < a.rows ? first + 8 : a.rows;
    entries = a.offsets[end] - a.offsets[first];
    warp.each([&](int l) {
      bool const here = l < 8 && first + l < a.rows;
      at[l] = here ? a.offsets[first + l] : 0;
      last[l] = here ? a.offsets[first + l + 1] : 0;
      has[l] = 0;
      ahead[l] = next(l);
    });
  }
  /// Goes to the next column; false when there is none.
  TCSOLVE_HD bool step() {
    column = warp.least(ahead);
    if (column == none) return false;
    warp.each([&](int l) {
      has[l] = ahead[l] == column;
      at[l] += has[l];
      if (has[l] != 0) ahead[l] = next(l);
    });
    count = static_cast<int>(warp.sum(has));
    return true;
  }

 private:
  TCSOLVE_HD std::uint32_t next(int l) {
    return at[l] < last[l] ? static_cast<std::uint32_t>(columns[at[l]]) : none;
  }
};

/// Columns of so many entries stand aside in a window of `entries`.
TCSOLVE_HD int aside_in(BittcfTuning const& tuning, std::int64_t entries) {
  return entries <= tuning.aside_window ? tuning.aside : 0;
}

struct Counts {
  std::uint32_t blocks, values;
};
struct AddCounts {
  TCSOLVE_HD Counts operator()(Counts a, Counts b) const {
    return {a.blocks + b.blocks, a.values + b.values};
  }
};

/// A warp a window.
template <class S>
struct Count {
  CsrView<S> a;
  BittcfTuning tuning;
  Counts* counts;              ///< (windows + 1)
  std::uint32_t* side_counts;  ///< (rows + 1)
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t I) const {
    Walk<W, S> walk(warp, a, I);
    int const aside = aside_in(tuning, walk.entries);
    typename W::template Of<std::uint32_t> side;
    warp.each([&](int l) { side[l] = 0; });
    std::uint32_t columns = 0, values = 0;
    while (walk.step()) {
      if (walk.count > aside) {
        ++columns;
        values += static_cast<std::uint32_t>(walk.count);
      } else {
        warp.each([&](int l) { side[l] += walk.has[l]; });
      }
    }
    warp.each([&](int l) {
      if (l < 8 && 8 * I + l < a.rows) side_counts[8 * I + l] = side[l];
      if (l == 0) counts[I] = {(columns + 7) / 8, values};
    });
  }
};

/// What closes the scans.
struct CloseCounts {
  Counts* counts;
  std::uint32_t* side_counts;
  TCSOLVE_HD void operator()(std::int64_t) const {
    *counts = {0, 0};
    *side_counts = 0;
  }
};

TCSOLVE_HD std::uint32_t blocks_of(Counts const* first, std::int64_t I) {
  return first[I + 1].blocks - first[I].blocks;
}

/// |blocks - mean|, of which IBD is the mean.
struct Deviation {
  Counts const* first;
  std::int64_t windows;
  std::uint64_t* deviation;  ///< (windows + 1)
  TCSOLVE_HD void operator()(std::int64_t I) const {
    deviation[I] = 0;
    if (I == windows) return;
    auto const mean = static_cast<std::int64_t>(first[windows].blocks / windows),
               here = static_cast<std::int64_t>(blocks_of(first, I));
    deviation[I] = static_cast<std::uint64_t>(here < mean ? mean - here : here - mean);
  }
};

struct CountPieces {
  Counts const* first;
  std::uint64_t const* sums;  ///< of the deviations, (windows + 1)
  std::int64_t windows;
  BittcfTuning tuning;
  std::uint32_t* pieces;  ///< (windows + 1)
  TCSOLVE_HD void operator()(std::int64_t I) const {
    pieces[I] = 0;
    if (I == windows) return;
    bool const differ = sums[windows] > static_cast<std::uint64_t>(windows) *
                                            static_cast<std::uint64_t>(tuning.imbalance);
    constexpr std::uint32_t piece = BittcfTuning::piece;
    auto const longest = static_cast<std::uint32_t>(tuning.long_window);
    std::uint32_t const most = differ && piece < longest ? piece : longest;
    std::uint32_t const here = blocks_of(first, I);
    if (here > most) pieces[I] = (here + piece - 1) / piece;
  }
};

/// What the host has to know before it can take memory.
struct Totals {
  Counts counts;
  std::uint32_t pieces;
};
struct TakeTotals {
  Counts const* counts;
  std::uint32_t const* pieces;
  Totals* to;
  TCSOLVE_HD void operator()(std::int64_t) const { *to = {*counts, *pieces}; }
};

struct FillPieces {
  Counts const* first;
  std::uint32_t const* piece_start;
  BittcfPiece* piece;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    std::uint32_t block = first[I].blocks;
    std::uint32_t const end = first[I + 1].blocks;
    for (std::uint32_t p = piece_start[I]; p < piece_start[I + 1]; ++p) {
      std::uint32_t const left = end - block;
      std::uint32_t const count = left < BittcfTuning::piece ? left : BittcfTuning::piece;
      piece[p] = {block, count};
      block += count;
    }
  }
};

struct FillStart {
  Counts const* first;
  std::uint32_t* start;
  TCSOLVE_HD void operator()(std::int64_t I) const { start[I] = first[I].blocks; }
};

/// A block that a window's walk is filling.
template <class W>
struct OpenBlock {
  W const& warp;
  std::uint64_t* bitmaps;
  std::uint32_t* offsets;
  std::int32_t* columns;
  std::uint32_t block, offset;                  ///< its number, the values before it
  typename W::template Of<std::uint32_t> bits;  ///< of a lane's row
  std::uint32_t held = 0;                       ///< its values
  int width = 0;                                ///< its columns

  TCSOLVE_HD void clear() {
    warp.each([&](int l) { bits[l] = 0; });
    held = 0, width = 0;
  }
  template <class S>
  TCSOLVE_HD void add(Walk<W, S> const& walk) {
    auto const column = static_cast<std::int32_t>(walk.column);
    warp.each([&](int l) {
      bits[l] |= walk.has[l] << slot_of(width);
      if (l == 0) columns[8 * std::size_t(block) + slot_of(width)] = column;
    });
    held += static_cast<std::uint32_t>(walk.count);
    if (++width == 8) close(column);
  }
  /// The last column is repeated to the end.
  TCSOLVE_HD void close(std::int32_t column) {
    if (width == 0) return;
    auto const low = half(0), high = half(4);
    warp.each([&](int l) {
      if (l >= width && l < 8) columns[8 * std::size_t(block) + slot_of(l)] = column;
      if (l == 0) bitmaps[block] = high << 32 | low, offsets[block] = offset;
    });
    ++block;
    offset += held;
    clear();
  }

 private:
  /// The bits of rows r to r + 3.
  TCSOLVE_HD std::uint64_t half(int r) const {
    typename W::template Of<std::uint32_t> shifted;
    warp.each([&](int l) { shifted[l] = l >= r && l < r + 4 ? bits[l] << (8 * (l - r)) : 0; });
    return static_cast<std::uint64_t>(warp.sum(shifted));
  }
};

template <class S>
struct Fill {
  CsrView<S> a;
  BittcfTuning tuning;
  Counts const* first;
  std::uint32_t const* side_first;
  std::uint64_t* bitmaps;
  std::uint32_t* offsets;
  std::int32_t *columns, *side_columns;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t I) const {
    Walk<W, S> walk(warp, a, I);
    int const aside = aside_in(tuning, walk.entries);
    typename W::template Of<std::uint32_t> side;
    warp.each([&](int l) { side[l] = l < 8 && 8 * I + l < a.rows ? side_first[8 * I + l] : 0; });
    OpenBlock<W> open{warp, bitmaps, offsets, columns, first[I].blocks, first[I].values, {}, 0, 0};
    open.clear();
    std::int32_t latest = 0;
    while (walk.step()) {
      if (walk.count > aside) {
        latest = static_cast<std::int32_t>(walk.column);
        open.add(walk);
        continue;
      }
      warp.each([&](int l) {
        if (walk.has[l] != 0) side_columns[side[l]++] = static_cast<std::int32_t>(walk.column);
      });
    }
    open.close(latest);
  }
};

/// The values of row i: an entry whose column is in none of the row's blocks is a side entry.
/// A matrix of another pattern, which is not checked, writes no position outside the row's.
template <class S>
struct Refill {
  BittcfView<S> m;
  S *values, *side_values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    Offset at = a.offsets[i];
    Offset const last = a.offsets[i + 1];
    std::uint32_t side = m.side_start != nullptr ? m.side_start[i] : 0;
    std::uint32_t const side_end = m.side_start != nullptr ? m.side_start[i + 1] : 0;
    auto aside = [&](Index before) {
      for (; at < last && a.columns[at] < before; ++at)
        if (side < side_end) side_values[side++] = a.values[at];
    };
    for (std::uint32_t b = m.start[i / 8]; b < m.start[i / 8 + 1]; ++b) {
      BitRow const row = row_of(m.bitmaps[b], m.offsets[b], static_cast<int>(i % 8));
      for (int k = 0; k < 8; ++k) {
        int const c = slot_of(k);
        if ((row.bits >> c & 1u) == 0) continue;
        if (side < side_end) aside(m.column[8 * std::size_t(b) + c]);
        if (at < last) values[row.first + set_bits(row.bits & ((1u << c) - 1))] = a.values[at++];
      }
    }
    aside(std::numeric_limits<Index>::max());
  }
};

template <class On, class S>
void refill(On& on, CsrView<S> const& a, BittcfArrays<S>& m) {
  on.each_row_of_values(a.rows, a, Refill<S>{m.view, m.values.data(), m.side_values.data()});
}

template <class On, class S>
BittcfArrays<S> build(On& on, CsrView<S> const& a, BittcfTuning const& tuning) {
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("bittcf: ", a.entries, " entries; it counts them in 32 bits"));
  BittcfArrays<S> m;
  BittcfView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  v.windows = static_cast<Index>((std::int64_t{a.rows} + 7) / 8);
  std::int64_t const windows = v.windows;
  std::size_t const lines = std::size_t(windows) + 1, rows = std::size_t(a.rows) + 1;

  auto* const counts = on.template take<Counts>(lines);
  auto* const first = on.template take<Counts>(lines);
  auto* const side_counts = on.template take<std::uint32_t>(rows);
  on.each_warp(windows, Count<S>{a, tuning, counts, side_counts});
  on.each(1, CloseCounts{counts + windows, side_counts + a.rows});
  on.scan(counts, first, lines, AddCounts{});
  m.side_start = Array<std::uint32_t>(on.space(), rows);
  on.scan(side_counts, m.side_start.data(), rows, Plus{});

  auto* const deviations = on.template take<std::uint64_t>(lines);
  auto* const sums = on.template take<std::uint64_t>(lines);
  on.each(lines, Deviation{first, windows, deviations});
  on.scan(deviations, sums, lines, Plus{});
  auto* const pieces = on.template take<std::uint32_t>(lines);
  on.each(lines, CountPieces{first, sums, windows, tuning, pieces});
  m.piece_start = Array<std::uint32_t>(on.space(), lines);
  on.scan(pieces, m.piece_start.data(), lines, Plus{});
  auto* const to = on.template take<Totals>(1);
  on.each(1, TakeTotals{first + windows, m.piece_start.data() + windows, to});
  Totals total;
  on.read(to, &total, 1);

  v.block_count = total.counts.blocks;
  v.side_entries = a.entries - total.counts.values;
  v.pieces = static_cast<Index>(total.pieces);
  m.start = Array<std::uint32_t>(on.space(), lines);
  std::size_t const blocks = total.counts.blocks, all = blocks + v.behind;
  m.bitmaps = Array<std::uint64_t>(on.space(), all);
  m.offsets = Array<std::uint32_t>(on.space(), all);
  m.column = Array<std::int32_t>(on.space(), 8 * all);
  on.clear(m.bitmaps.data() + blocks, v.behind);
  on.clear(m.offsets.data() + blocks, v.behind);
  on.clear(m.column.data() + 8 * blocks, 8 * v.behind);
  m.values = Array<S>(on.space(), total.counts.values);
  m.side_columns = Array<std::int32_t>(on.space(), std::size_t(v.side_entries));
  m.side_values = Array<S>(on.space(), std::size_t(v.side_entries));
  m.piece = Array<BittcfPiece>(on.space(), total.pieces);
  on.each(lines, FillStart{first, m.start.data()});
  on.each_warp(windows, Fill<S>{a, tuning, first, m.side_start.data(), m.bitmaps.data(),
                                m.offsets.data(), m.column.data(), m.side_columns.data()});
  if (v.pieces > 0) on.each(windows, FillPieces{first, m.piece_start.data(), m.piece.data()});
  if (v.side_entries == 0) m.side_start = Array<std::uint32_t>();
  if (v.pieces == 0) m.piece_start = Array<std::uint32_t>();
  v.start = m.start.data(), v.bitmaps = m.bitmaps.data(), v.offsets = m.offsets.data();
  v.column = m.column.data(), v.values = m.values.data();
  v.side_start = m.side_start.data(), v.side_columns = m.side_columns.data();
  v.side_values = m.side_values.data();
  v.piece_start = m.piece_start.data(), v.piece = m.piece.data();
  refill(on, a, m);
  return m;
}

}  // namespace tcsolve::bittcf
