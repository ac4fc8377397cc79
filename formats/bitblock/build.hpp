// SPDX-License-Identifier: Apache-2.0
/// CSR to bitmap blocks, written once for both backends (kernels/convert.hpp): a thread merges the
/// eight rows of a block row by their columns, once to count, once to write.
///
///     count    blocks and values of each block row, side entries of each row
///     scan     where they begin
///     fill     blocks, values, side entries
#pragma once

#include <limits>

#include <tcsolve/formats/bitblock/lines.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::bitblock {

/// The blocks of a block row in the order of their columns.
template <class S>
struct Merge {
  static constexpr Index none = std::numeric_limits<Index>::max();
  CsrView<S> a;
  Index column = none;      ///< of the block
  int count = 0;            ///< its entries
  Offset begin[8], end[8];  ///< entries [begin, end) of each row are in the block
  Offset last[8];           ///< end of each row

  TCSOLVE_HD Merge(CsrView<S> const& matrix, Index block_row) : a(matrix) {
    for (int r = 0; r < 8; ++r) {
      Index const row = 8 * block_row + r;
      bool const here = row < a.rows;
      end[r] = here ? a.offsets[row] : 0;
      last[r] = here ? a.offsets[row + 1] : 0;
    }
  }
  /// Goes to the next block; false when there is none.
  TCSOLVE_HD bool next() {
    column = none;
    for (int r = 0; r < 8; ++r) {
      begin[r] = end[r];
      if (end[r] == last[r]) continue;
      Index const ahead = a.columns[end[r]] / 8;
      column = ahead < column ? ahead : column;
    }
    if (column == none) return false;
    count = 0;
    for (int r = 0; r < 8; ++r) {
      while (end[r] < last[r] && a.columns[end[r]] / 8 == column) ++end[r];
      count += static_cast<int>(end[r] - begin[r]);
    }
    return true;
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

/// One more element closes each scan.
template <class S>
struct Count {
  CsrView<S> a;
  Index block_rows;
  int aside;
  Counts* counts;              ///< (block_rows + 1)
  std::uint32_t* side_counts;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t I) const {
    Counts here{0, 0};
    if (I < block_rows) {
      std::uint32_t side[8] = {};
      for (Merge<S> merge(a, static_cast<Index>(I)); merge.next();) {
        if (merge.count > aside) {
          ++here.blocks;
          here.values += static_cast<std::uint32_t>(merge.count);
        } else {
          for (int r = 0; r < 8; ++r)
            side[r] += static_cast<std::uint32_t>(merge.end[r] - merge.begin[r]);
        }
      }
      for (Index r = 0, i = static_cast<Index>(8 * I); r < 8 && i < a.rows; ++r, ++i)
        side_counts[i] = side[r];
    } else {
      side_counts[a.rows] = 0;
    }
    counts[I] = here;
  }
};

template <class S>
struct Fill {
  CsrView<S> a;
  Index block_rows;
  int aside;
  Counts const* first;
  std::uint32_t const* side_first;
  std::uint32_t* start;
  BitBlock* blocks;
  S* values;
  std::int32_t* side_columns;
  S* side_values;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    Counts to = first[I];
    start[I] = to.blocks;
    if (I == block_rows) return;
    std::uint32_t side[8];
    for (Index r = 0, i = static_cast<Index>(8 * I); r < 8 && i < a.rows; ++r, ++i)
      side[r] = side_first[i];
    for (Merge<S> merge(a, static_cast<Index>(I)); merge.next();) {
      if (merge.count <= aside) {
        for (int r = 0; r < 8; ++r)
          for (Offset k = merge.begin[r]; k < merge.end[r]; ++k, ++side[r]) {
            side_columns[side[r]] = a.columns[k];
            side_values[side[r]] = a.values[k];
          }
        continue;
      }
      BitBlock block{0, merge.column, to.values};
      for (int r = 0; r < 8; ++r)
        for (Offset k = merge.begin[r]; k < merge.end[r]; ++k) {
          block.bitmap |= std::uint64_t{1} << (8 * r + a.columns[k] % 8);
          values[to.values++] = a.values[k];
        }
      blocks[to.blocks++] = block;
    }
  }
};

/// What the host has to know before it can take memory.
struct TakeTotals {
  Counts const* counts;
  Counts* to;
  TCSOLVE_HD void operator()(std::int64_t) const { *to = *counts; }
};

/// The values of row i: what comes before a block's columns and is in no block stands aside.
/// Another pattern, which nobody has looked at, leads nowhere outside the row's places.
template <class S>
struct Refill {
  CsrView<S> a;
  BitblockView<S> m;
  S *values, *side_values;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset at = a.offsets[i];
    Offset const last = a.offsets[i + 1];
    std::uint32_t side = m.side_start != nullptr ? m.side_start[i] : 0;
    std::uint32_t const side_end = m.side_start != nullptr ? m.side_start[i + 1] : 0;
    auto aside = [&](Index before) {
      for (; at < last && a.columns[at] < before; ++at)
        if (side < side_end) side_values[side++] = a.values[at];
    };
    for (std::uint32_t b = m.start[i / 8]; b < m.start[i / 8 + 1]; ++b) {
      BitBlock const block = m.blocks[b];
      BitRow const row = row_of(block, static_cast<int>(i % 8));
      if (row.bits == 0) continue;
      aside(8 * block.column);
      S* to = values + row.first;
      for (int n = set_bits(row.bits); n > 0 && at < last; --n) *to++ = a.values[at++];
    }
    aside(std::numeric_limits<Index>::max());
  }
};

template <class On, class S>
BitblockArrays<S> build(On& on, CsrView<S> const& a, BitblockTuning const& tuning) {
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("bitblock: ", a.entries, " entries; it counts them in 32 bits"));
  BitblockArrays<S> m;
  BitblockView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  v.block_rows = static_cast<Index>((std::int64_t{a.rows} + 7) / 8);
  std::size_t const lines = std::size_t(v.block_rows) + 1, rows = std::size_t(a.rows) + 1;

  auto* const counts = on.template take<Counts>(lines);
  auto* const first = on.template take<Counts>(lines);
  auto* const side_counts = on.template take<std::uint32_t>(rows);
  on.each(lines, Count<S>{a, v.block_rows, tuning.aside, counts, side_counts});
  on.scan(counts, first, lines, AddCounts{});
  m.side_start = Array<std::uint32_t>(on.space(), rows);
  on.scan(side_counts, m.side_start.data(), rows, Plus{});
  auto* const totals = on.template take<Counts>(1);
  on.each(1, TakeTotals{first + v.block_rows, totals});
  Counts total;
  on.read(totals, &total, 1);

  v.side_entries = a.entries - total.values;
  m.start = Array<std::uint32_t>(on.space(), lines);
  m.blocks = Array<BitBlock>(on.space(), total.blocks);
  m.values = Array<S>(on.space(), total.values);
  m.side_columns = Array<std::int32_t>(on.space(), std::size_t(v.side_entries));
  m.side_values = Array<S>(on.space(), std::size_t(v.side_entries));
  on.each(lines,
          Fill<S>{a, v.block_rows, tuning.aside, first, m.side_start.data(), m.start.data(),
                  m.blocks.data(), m.values.data(), m.side_columns.data(), m.side_values.data()});
  if (v.side_entries == 0) m.side_start = Array<std::uint32_t>();
  v.start = m.start.data();
  v.blocks = m.blocks.data();
  v.values = m.values.data();
  v.side_start = m.side_start.data();
  v.side_columns = m.side_columns.data();
  v.side_values = m.side_values.data();
  return m;
}

template <class On, class S>
void refill(On& on, CsrView<S> const& a, BitblockArrays<S>& m) {
  on.each(a.rows, Refill<S>{a, m.view, m.values.data(), m.side_values.data()});
}

}  // namespace tcsolve::bitblock
