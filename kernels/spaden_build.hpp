// SPDX-License-Identifier: Apache-2.0
/// CSR to bitBSR, written once for both backends (kernels/convert.hpp): walk each block row twice,
/// once to count and once to fill, with scans between.
#pragma once

#include <limits>

#include <tcsolve/kernels/spaden.hpp>

namespace tcsolve::spaden {

/// The blocks of one block row in the order of their columns: a merge of its eight rows.
template <class S>
struct Walker {
  static constexpr Index none = std::numeric_limits<Index>::max();
  CsrView<S> a;
  Index column = none;
  Index begin[8], end[8], last[8];  ///< entries [begin, end) of each row are in the block
  Index ahead[8];                   ///< block column of entry `end`

  TCSOLVE_HD Walker(CsrView<S> const& matrix, Index block_row) : a(matrix) {
    for (int r = 0; r < 8; ++r) {
      Index row = 8 * block_row + r;
      bool here = row < a.rows;
      begin[r] = end[r] = here ? static_cast<Index>(a.offsets[row]) : 0;
      last[r] = here ? static_cast<Index>(a.offsets[row + 1]) : 0;
      look(r);
    }
  }
  TCSOLVE_HD void look(int r) { ahead[r] = end[r] < last[r] ? a.columns[end[r]] / 8 : none; }
  /// Goes to the next block; false when there is none.
  TCSOLVE_HD bool next() {
    column = none;
    for (int r = 0; r < 8; ++r) {
      begin[r] = end[r];
      column = ahead[r] < column ? ahead[r] : column;
    }
    if (column == none) return false;
    for (int r = 0; r < 8; ++r)
      while (ahead[r] == column) {
        ++end[r];
        look(r);
      }
    return true;
  }
  TCSOLVE_HD int count() const {
    Index sum = 0;
    for (int r = 0; r < 8; ++r) sum += end[r] - begin[r];
    return sum;
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
struct Add {
  TCSOLVE_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

/// counts[I], and the side entries of each row of block row I; one more element closes each scan.
template <class S>
struct Count {
  CsrView<S> a;
  Index block_rows;
  int side;
  Counts* counts;
  std::uint32_t* side_counts;
  TCSOLVE_HD void operator()(std::int64_t at) const {
    Index I = static_cast<Index>(at);
    Counts here{0, 0};
    std::uint32_t aside[8] = {};
    if (I < block_rows) {
      Walker<S> walk(a, I);
      while (walk.next()) {
        int n = walk.count();
        if (n > side) {
          ++here.blocks;
          here.values += n;
          continue;
        }
        for (int r = 0; r < 8; ++r)
          aside[r] += static_cast<std::uint32_t>(walk.end[r] - walk.begin[r]);
      }
    }
    counts[I] = here;
    for (int r = 0; r < 8; ++r)
      if (8 * I + r <= a.rows) side_counts[8 * I + r] = aside[r];
  }
};

template <class S>
struct Fill {
  CsrView<S> a;
  int side;
  Counts const* first;  ///< before each block row
  std::uint32_t const* side_start;
  SpadenBlock* blocks;
  S* values;
  S* side_values;
  std::int32_t* side_columns;
  TCSOLVE_HD void operator()(std::int64_t at) const {
    Index I = static_cast<Index>(at);
    Counts to = first[I];
    std::uint32_t aside[8];
    for (int r = 0; r < 8; ++r) aside[r] = 8 * I + r < a.rows ? side_start[8 * I + r] : 0;
    Walker<S> walk(a, I);
    while (walk.next()) {
      if (walk.count() <= side) {
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

struct TakeStart {
  Counts const* first;
  std::uint32_t* start;
  TCSOLVE_HD void operator()(std::int64_t i) const { start[i] = first[i].blocks; }
};
/// The block behind the last one ends the values.
struct CloseBlocks {
  SpadenBlock* blocks;
  Offset count;
  std::uint32_t values;
  TCSOLVE_HD void operator()(std::int64_t) const { blocks[count] = {0, 0, values}; }
};

/// Pieces of each line that has more than `most` elements; one more element closes the scan.
struct CountPieces {
  std::uint32_t const* start;
  Index lines;
  std::uint32_t most, piece;
  std::uint32_t* counts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::uint32_t n = i < lines ? start[i + 1] - start[i] : 0;
    counts[i] = n > most ? (n + piece - 1) / piece : 0;
  }
};
struct FillPieces {
  std::uint32_t const* start;
  std::uint32_t const* piece_start;
  std::uint32_t piece;
  SpadenPiece* pieces;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::uint32_t at = start[i];
    for (std::uint32_t p = piece_start[i]; p < piece_start[i + 1]; ++p, at += piece)
      pieces[p] = {at, start[i + 1] - at < piece ? start[i + 1] - at : piece};
  }
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
  auto* counts = on.template take<Counts>(lines);
  auto* first = on.template take<Counts>(lines);
  auto* side_counts = on.template take<std::uint32_t>(rows);
  // Block row `block_rows` closes the scans; where rows is a multiple of 8 it holds row `rows`.
  on.each(lines, Count<S>{a, v.block_rows, tuning.side, counts, side_counts});
  on.scan(counts, first, lines, AddCounts{});
  Counts total;
  on.read(first + v.block_rows, &total, 1);
  v.block_count = total.blocks;
  v.side_entries = a.entries - total.values;

  m.start = Array<std::uint32_t>(on.space(), lines);
  on.each(lines, TakeStart{first, m.start.data()});
  auto* side_start = side_counts;
  if (v.side_entries > 0) {
    m.side_start = Array<std::uint32_t>(on.space(), rows);
    side_start = m.side_start.data();
    on.scan(side_counts, side_start, rows, Add{});
  }
  m.blocks = Array<SpadenBlock>(on.space(), std::size_t(v.block_count) + 1);
  m.values = Array<S>(on.space(), total.values + 16 / sizeof(S));
  m.side_values = Array<S>(on.space(), v.side_entries);
  m.side_columns = Array<std::int32_t>(on.space(), v.side_entries);
  on.clear(m.values.data() + total.values, 16 / sizeof(S));
  on.each(v.block_rows, Fill<S>{a, tuning.side, first, side_start, m.blocks.data(), m.values.data(),
                                m.side_values.data(), m.side_columns.data()});
  on.each(1, CloseBlocks{m.blocks.data(), v.block_count, total.values});

  auto cut = [&](Array<std::uint32_t> const& start, Index count, Array<std::uint32_t>& pieces) {
    if (count == 0 || start.size() == 0) return std::uint32_t{0};
    std::size_t n = std::size_t(count) + 1;
    auto* here = on.template take<std::uint32_t>(n);
    pieces = Array<std::uint32_t>(on.space(), n);
    on.each(n, CountPieces{start.data(), count, static_cast<std::uint32_t>(tuning.long_row),
                           static_cast<std::uint32_t>(tuning.piece), here});
    on.scan(here, pieces.data(), n, Add{});
    std::uint32_t sum = 0;
    on.read(pieces.data() + count, &sum, 1);
    if (sum == 0) pieces = Array<std::uint32_t>();
    return sum;
  };
  v.pieces = static_cast<Index>(cut(m.start, v.block_rows, m.piece_start));
  v.side_pieces = static_cast<Index>(cut(m.side_start, a.rows, m.side_piece_start));
  m.piece = Array<SpadenPiece>(on.space(), std::size_t(v.pieces) + v.side_pieces);
  std::uint32_t piece = static_cast<std::uint32_t>(tuning.piece);
  if (v.pieces > 0)
    on.each(v.block_rows, FillPieces{m.start.data(), m.piece_start.data(), piece, m.piece.data()});
  if (v.side_pieces > 0)
    on.each(a.rows, FillPieces{m.side_start.data(), m.side_piece_start.data(), piece,
                               m.piece.data() + v.pieces});
  connect(m);
  return m;
}

}  // namespace tcsolve::spaden
