// SPDX-License-Identifier: Apache-2.0
/// CSR to bitBSR, written once for both backends (kernels/convert.hpp). The work is cut into
/// shares: count in each, scan, fill each.
///
///     share p of a block row holds the blocks that come behind at least p `size` of its entries,
///     and behind less than (p + 1) `size`; drawn with size = 4, blocks by their entries
///
///         block       0      1     2    3    4
///         entries     ***    **    *    **** **      behind  0  3  5  6  10 entries
///         share       0      0     1    1    2
///
/// A block has 64 entries at most, so a thread walks less than size + 64, however they are spread
/// over rows and columns; it finds its first block by bisection.
#pragma once

#include <algorithm>
#include <limits>

#include <tcsolve/formats/spaden/spaden.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::spaden {

/// The last i in [low, high) with start(i) <= value; start ascends, start(low) <= value.
template <class Start>
TCSOLVE_HD Index last_before(Index low, Index high, Start const& start, Offset value) {
  while (high - low > 1) {
    Index middle = low + (high - low) / 2;
    if (start(middle) <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The shares of all block rows, one after the other.
template <class S>
struct Shares {
  CsrView<S> a;
  Index block_rows;
  Offset size;  ///< entries

  TCSOLVE_HD Offset count() const { return a.entries / size + block_rows; }
  /// Of block row I, 0 <= I <= block_rows: between this and the next are enough, without a scan.
  TCSOLVE_HD Offset first(Index I) const {
    Offset before = a.offsets[I < block_rows ? 8 * I : a.rows];
    return static_cast<std::uint32_t>(before) / static_cast<std::uint32_t>(size) + I;
  }
  TCSOLVE_HD Index block_row(Offset share) const {
    Offset low = share - a.entries / size, high = share + 1;  // since I <= first(I)
    auto start = [&](Index I) { return first(I); };
    return last_before(static_cast<Index>(low > 0 ? low : 0),
                       static_cast<Index>(high < block_rows ? high : block_rows), start, share);
  }
  /// Place of the side entries of row 8 I + r in the first share of block row I; its other shares
  /// follow, then the next row.
  TCSOLVE_HD Offset side_place(Index I, int r) const {
    Offset begin = first(I);
    return 8 * begin + r * (first(I + 1) - begin);
  }
};

/// Where a share begins.
struct Cut {
  Index block_row;
  Index entry[8];  ///< of each row
};

/// The blocks of a block row in the order of their columns: a merge of its eight rows.
template <class S>
struct Walker {
  static constexpr Index none = std::numeric_limits<Index>::max();
  CsrView<S> a;
  Offset seen = 0;         ///< entries of the block row before the next block
  Index column = none;     ///< of the block
  int count = 0;           ///< its entries
  Index begin[8], end[8];  ///< entries [begin, end) of each row are in the block
  Index last[8];           ///< end of each row
  Index ahead[8];          ///< block column of entry `end`

  /// At the first block; before next() comes jump() or seek().
  TCSOLVE_HD Walker(CsrView<S> const& matrix, Index block_row) : a(matrix) {
    for (int r = 0; r < 8; ++r) {
      Index row = 8 * block_row + r;
      bool here = row < a.rows;
      end[r] = here ? static_cast<Index>(a.offsets[row]) : 0;
      last[r] = here ? static_cast<Index>(a.offsets[row + 1]) : 0;
    }
  }

  TCSOLVE_HD Index block_column(Index entry) const { return a.columns[entry] / 8; }
  TCSOLVE_HD void look(int r) { ahead[r] = end[r] < last[r] ? block_column(end[r]) : none; }
  TCSOLVE_HD Offset left() const {
    Offset sum = 0;
    for (int r = 0; r < 8; ++r) sum += last[r] - end[r];
    return sum;
  }
  TCSOLVE_HD void jump(Index const* entry) {
    for (int r = 0; r < 8; ++r) {
      seen += entry[r] - end[r];
      end[r] = entry[r];
      look(r);
    }
  }

  /// Goes to the next block; false when there is none.
  TCSOLVE_HD bool next() {
    column = none;
    for (int r = 0; r < 8; ++r) {
      begin[r] = end[r];
      column = ahead[r] < column ? ahead[r] : column;
    }
    if (column == none) return false;
    count = 0;
    for (int r = 0; r < 8; ++r) {
      while (ahead[r] == column) {
        ++end[r];
        look(r);
      }
      count += end[r] - begin[r];
    }
    seen += count;
    return true;
  }

  /// From the first block to the first one that comes behind `wanted` entries or more. Bisects the
  /// block columns: each row's first entry in a column or behind it is known only to lie in
  /// [from, to], and these are halved no further than the answer needs.
  TCSOLVE_HD void seek(Offset wanted) {
    if (wanted == 0) return jump(end);  // a choice of arrays would take them out of registers
    if (wanted >= left()) return jump(last);
    constexpr Offset few = 32;
    Index low = none,
          high = 0;  // fewer than `wanted` come before block column low, not before high
    Index low_at[8], high_at[8];  // bounds of each row's first entry there
    Offset base = 0, between = left();
    for (int r = 0; r < 8; ++r) {
      low_at[r] = end[r], high_at[r] = last[r], base += end[r];
      if (end[r] == last[r]) continue;
      Index first = block_column(end[r]), behind = block_column(last[r] - 1) + 1;
      low = first < low ? first : low, high = behind > high ? behind : high;
    }
    while (between > few && high - low > 1) {
      Index middle = low + (high - low) / 2, from[8], to[8];
      for (int r = 0; r < 8; ++r) from[r] = low_at[r], to[r] = high_at[r];
      bool behind = false, before = false;
      for (;;) {
        Offset least = -base, most = -base;
        for (int r = 0; r < 8; ++r) least += from[r], most += to[r];
        behind = least >= wanted, before = most < wanted;
        if (behind || before) break;
        for (int r = 0; r < 8; ++r) halve(middle, from[r], to[r]);
      }
      between = 0;
      for (int r = 0; r < 8; ++r) {
        if (behind) high_at[r] = to[r];
        if (before) low_at[r] = from[r];
        between += high_at[r] - low_at[r];
      }
      (behind ? high : low) = middle;
    }
    for (int r = 0; r < 8; ++r)
      while (low_at[r] < high_at[r]) halve(low, low_at[r], high_at[r]);
    jump(low_at);
    while (seen < wanted) next();
  }
  /// [from, to] halved, that holds the row's first entry in block column `wanted` or behind it.
  TCSOLVE_HD void halve(Index wanted, Index& from, Index& to) const {
    if (from == to) return;
    Index middle = from + (to - from) / 2;
    if (block_column(middle) < wanted)
      from = middle + 1;
    else
      to = middle;
  }
};

struct Counts {
  std::uint32_t blocks, values;
};
struct AddCounts {
  TCSOLVE_HD Counts operator()(Counts a, Counts b) const {
    return {a.blocks + b.blocks, a.values + b.values};
  }
};

/// Cuts and counts; one more element closes each scan.
template <class S>
struct Count {
  Shares<S> shares;
  int side;
  Cut* cuts;
  Counts* counts;
  std::uint32_t* side_counts;
  TCSOLVE_HD void operator()(std::int64_t share) const {
    if (share == shares.count()) {
      counts[share] = {0, 0};
      side_counts[8 * share] = 0;
      return;
    }
    Index I = shares.block_row(share);
    Offset p = share - shares.first(I), wanted = p * shares.size;
    Walker<S> walk(shares.a, I);
    walk.seek(wanted);
    cuts[share].block_row = I;
    for (int r = 0; r < 8; ++r) cuts[share].entry[r] = walk.end[r];

    Counts here{0, 0};
    std::uint32_t aside[8] = {};
    while (walk.seen < wanted + shares.size && walk.next())
      if (walk.count > side) {
        ++here.blocks;
        here.values += walk.count;
      } else {
        for (int r = 0; r < 8; ++r) aside[r] += walk.end[r] - walk.begin[r];
      }
    counts[share] = here;
    for (int r = 0; r < 8; ++r) side_counts[shares.side_place(I, r) + p] = aside[r];
  }
};

template <class S>
struct Fill {
  Shares<S> shares;
  int side;
  Cut const* cuts;
  Counts const* first;              ///< before each share
  std::uint32_t const* side_first;  ///< by side_place
  SpadenBlock* blocks;
  S* values;
  S* side_values;
  std::int32_t* side_columns;
  TCSOLVE_HD void operator()(std::int64_t share) const {
    CsrView<S> const& a = shares.a;
    Counts to = first[share];
    if (share == shares.count()) {  // the block behind the last one ends the values
      blocks[to.blocks] = {0, 0, to.values};
      return;
    }
    Index I = cuts[share].block_row;
    Walker<S> walk(a, I);
    walk.jump(cuts[share].entry);
    Offset p = share - shares.first(I), end = (p + 1) * shares.size;
    std::uint32_t aside[8];
    for (int r = 0; r < 8; ++r) aside[r] = side_first[shares.side_place(I, r) + p];
    while (walk.seen < end && walk.next()) {
      if (walk.count <= side) {
        for (int r = 0; r < 8; ++r)
          for (Index k = walk.begin[r]; k < walk.end[r]; ++k, ++aside[r]) {
            side_values[aside[r]] = a.values[k];
            side_columns[aside[r]] = a.columns[k];
          }
        continue;
      }
      SpadenBlock block{0, walk.column, to.values};
      for (int r = 0; r < 8; ++r)
        for (Index k = walk.begin[r]; k < walk.end[r]; ++k) {
          block.bitmap |= std::uint64_t{1} << (8 * r + a.columns[k] % 8);
          values[to.values++] = a.values[k];
        }
      blocks[to.blocks++] = block;
    }
  }
};

/// The first block of block row I, the first side entries of its rows, and the pieces of each: none
/// for up to `most` elements. I == block_rows closes the starts and the scan of the pieces.
template <class S>
struct FindStarts {
  Shares<S> shares;
  Counts const* first;
  std::uint32_t const* side_first;
  std::uint32_t most, piece;
  std::uint32_t *start, *side_start;
  std::uint32_t* pieces;  ///< of block rows, then of rows of side entries
  TCSOLVE_HD std::uint32_t cut(std::uint32_t n) const { return n > most ? (n - 1) / piece + 1 : 0; }
  TCSOLVE_HD void operator()(std::int64_t at) const {
    Index I = static_cast<Index>(at), rows = shares.a.rows;
    Offset begin = shares.first(I);
    start[I] = first[begin].blocks;
    if (I == shares.block_rows) {
      side_start[rows] = side_first[8 * begin];
      pieces[std::int64_t{I} + rows] = 0;
      return;
    }
    Offset width = shares.first(I + 1) - begin;
    pieces[I] = cut(first[begin + width].blocks - start[I]);
    std::uint32_t const* side = side_first + 8 * begin;
    for (Index r = 0, i = 8 * I; r < 8 && i < rows; ++r, ++i, side += width) {
      side_start[i] = *side;
      pieces[std::int64_t{shares.block_rows} + i] = cut(side[width] - *side);
    }
  }
};

/// to_i = from_i - from_0
struct TakePieceStart {
  std::uint32_t const* from;
  std::uint32_t* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i] - from[0]; }
};
struct FillPieces {
  std::uint32_t const* start;
  std::uint32_t const* piece_start;
  Index lines;
  std::uint32_t size;
  SpadenPiece* pieces;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    auto first = [&](Index i) { return Offset{piece_start[i]}; };
    Index line = last_before(0, lines, first, p);
    std::uint32_t at = start[line] + (static_cast<std::uint32_t>(p) - piece_start[line]) * size;
    pieces[p] = {at, start[line + 1] - at < size ? start[line + 1] - at : size};
  }
};

/// What the host has to know before it can take memory.
struct Totals {
  Counts counts;
  std::uint32_t pieces, all_pieces;
};
struct TakeTotals {
  Counts const* counts;
  std::uint32_t const *pieces, *all_pieces;
  Totals* to;
  TCSOLVE_HD void operator()(std::int64_t) const { *to = {*counts, *pieces, *all_pieces}; }
};

template <class S>
void connect(SpadenArrays<S>& m) {
  SpadenView<S>& v = m.view;
  v.start = m.start.data();
  v.blocks = m.blocks.data();
  v.values = m.values.data();
  v.side_start = m.side_start.data();
  v.side_values = m.side_values.data();
  v.side_columns = m.side_columns.data();
  v.piece_start = m.piece_start.data();
  v.side_piece_start = m.side_piece_start.data();
  v.piece = m.piece.data();
}

template <class On, class S>
SpadenArrays<S> build(On& on, CsrView<S> const& a, SpadenTuning const& tuning) {
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("bitBSR: ", a.entries, " entries; it counts them in 32 bits"));
  SpadenArrays<S> m;
  SpadenView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  v.block_rows = static_cast<Index>((std::int64_t{a.rows} + 7) / 8);
  std::size_t lines = std::size_t(v.block_rows) + 1, rows = std::size_t(a.rows) + 1;

  // The device wants enough threads to fill it, the host few seams.
  Offset size = tuning.share;
  if (size == 0)
    size = on.space() == Space::cuda ? std::clamp<Offset>(a.entries >> 17, 32, 256) : 1 << 20;
  Shares<S> shares{a, v.block_rows, size};
  std::size_t n = std::size_t(shares.count());
  auto* cuts = on.template take<Cut>(n);
  auto* counts = on.template take<Counts>(n + 1);
  auto* first = on.template take<Counts>(n + 1);
  auto* side_counts = on.template take<std::uint32_t>(8 * n + 1);
  auto* side_first = on.template take<std::uint32_t>(8 * n + 1);
  on.each(n + 1, Count<S>{shares, tuning.side, cuts, counts, side_counts});
  on.scan(counts, first, n + 1, AddCounts{});
  on.scan(side_counts, side_first, 8 * n + 1, Plus{});
  m.start = Array<std::uint32_t>(on.space(), lines);
  m.side_start = Array<std::uint32_t>(on.space(), rows);
  std::uint32_t piece = static_cast<std::uint32_t>(tuning.piece);
  std::size_t all_lines = lines + rows - 1;
  auto* piece_counts = on.template take<std::uint32_t>(all_lines);
  auto* piece_first = on.template take<std::uint32_t>(all_lines);
  on.each(lines,
          FindStarts<S>{shares, first, side_first, static_cast<std::uint32_t>(tuning.long_row),
                        piece, m.start.data(), m.side_start.data(), piece_counts});
  on.scan(piece_counts, piece_first, all_lines, Plus{});

  auto* totals = on.template take<Totals>(1);
  on.each(1,
          TakeTotals{first + n, piece_first + v.block_rows, piece_first + all_lines - 1, totals});
  Totals total;
  on.read(totals, &total, 1);
  v.block_count = total.counts.blocks;
  v.side_entries = a.entries - total.counts.values;
  v.pieces = static_cast<Index>(total.pieces);
  v.side_pieces = static_cast<Index>(total.all_pieces - total.pieces);

  m.blocks = Array<SpadenBlock>(on.space(), std::size_t(v.block_count) + 1);
  m.values = Array<S>(on.space(), total.counts.values + 16 / sizeof(S));
  m.side_values = Array<S>(on.space(), v.side_entries);
  m.side_columns = Array<std::int32_t>(on.space(), v.side_entries);
  on.clear(m.values.data() + total.counts.values, 16 / sizeof(S));
  on.each(n + 1, Fill<S>{shares, tuning.side, cuts, first, side_first, m.blocks.data(),
                         m.values.data(), m.side_values.data(), m.side_columns.data()});

  m.piece = Array<SpadenPiece>(on.space(), total.all_pieces);
  auto cut = [&](Array<std::uint32_t> const& start, Index count, std::uint32_t const* from,
                 Index pieces, SpadenPiece* to) {
    Array<std::uint32_t> piece_start;
    if (pieces == 0) return piece_start;
    piece_start = Array<std::uint32_t>(on.space(), std::size_t(count) + 1);
    on.each(std::int64_t{count} + 1, TakePieceStart{from, piece_start.data()});
    on.each(pieces, FillPieces{start.data(), piece_start.data(), count, piece, to});
    return piece_start;
  };
  m.piece_start = cut(m.start, v.block_rows, piece_first, v.pieces, m.piece.data());
  m.side_piece_start = cut(m.side_start, a.rows, piece_first + v.block_rows, v.side_pieces,
                           m.piece.data() + v.pieces);
  if (v.side_entries == 0) m.side_start = Array<std::uint32_t>();
  connect(m);
  return m;
}

}  // namespace tcsolve::spaden
