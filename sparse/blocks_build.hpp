// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, written once for both backends (kernels/convert.hpp). The blocks of a block
/// row are met in ascending order by walking its rows side by side.
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/blocks.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::sparse {

/// f(J) for each block of block row I, ascending.
template <class A, class F>
TCSOLVE_HD void each_block_column(A const& a, Index r, Index c, std::int64_t I, F const& f) {
  Offset at[most_block_rows], end[most_block_rows];
  for (Index i = 0; i < r; ++i) at[i] = a.offsets[I * r + i], end[i] = a.offsets[I * r + i + 1];
  for (;;) {
    Index next = -1;
    for (Index i = 0; i < r; ++i)
      if (at[i] < end[i] && (next < 0 || a.columns[at[i]] / c < next)) next = a.columns[at[i]] / c;
    if (next < 0) return;
    for (Index i = 0; i < r; ++i)
      while (at[i] < end[i] && a.columns[at[i]] / c == next) ++at[i];
    f(next);
  }
}

struct CountRowBlocks {
  Index rows, r, c;  // block rows
  Offset* count;     // (rows + 1)
  template <class A>
  TCSOLVE_HD void operator()(A const& a, std::int64_t I) const {
    Offset here = 0;
    if (I < rows) each_block_column(a, r, c, I, [&](Index) { ++here; });
    count[I] = here;
  }
};
struct FillRowBlocks {
  Index r, c;
  OffsetsView offsets;
  Index* columns;
  template <class A>
  TCSOLVE_HD void operator()(A const& a, std::int64_t I) const {
    Offset to = offsets[I];
    each_block_column(a, r, c, I, [&](Index J) { columns[to++] = J; });
  }
};
/// Where each block row begins among all blocks: (rows / r + 1).
template <class On>
Offset* offsets_of_blocks(On& on, CsrView<double> const& a, Index r, Index c) {
  Index const rows = a.rows / r;
  std::int64_t const n = std::int64_t{rows} + 1;
  auto* const count = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each_rows_of_columns(n, r, a, CountRowBlocks{rows, r, c, count});
  on.scan(count, offsets, n, Plus{});
  return offsets;
}
template <class On>
OwnedPattern blocks_of(On& on, PatternView const& pattern, Index r, Index c) {
  CsrView<double> const a{pattern.rows,    pattern.cols, pattern.entries, pattern.offsets,
                          pattern.columns, nullptr,      on.space()};
  Index const rows = a.rows / r;
  OwnedPattern made = with_offsets(on, rows, a.cols / c, offsets_of_blocks(on, a, r, c));
  on.each_rows_of_columns(rows, r, a, FillRowBlocks{r, c, made.offsets(), made.columns.data()});
  return made;
}

struct OffsetOfRow {
  PatternView blocks;
  Index r, c;
  Offset* offsets;  // (r rows + 1)
  TCSOLVE_HD void operator()(std::int64_t row) const {
    std::int64_t const I = row / r, i = row - I * r;
    Offset const begin = blocks.offsets[I];
    Offset const length = i > 0 ? blocks.offsets[I + 1] - begin : 0;
    offsets[row] = (begin * r + i * length) * c;
  }
};
struct FillBlockRow {
  PatternView blocks;
  Index r, c;
  Index* columns;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Offset const begin = blocks.offsets[I], row = (blocks.offsets[I + 1] - begin) * c;
    Index* const to = columns + begin * r * c;
    warp.each([&](int lane) {
      for (Offset k = lane; k < row; k += 32) {
        auto const column = static_cast<Index>(blocks.columns[begin + k / c] * c + k % c);
        for (Index i = 0; i < r; ++i) to[i * row + k] = column;
      }
    });
  }
};
template <class On>
OwnedPattern entries_of(On& on, PatternView const& blocks, Index r, Index c) {
  Index const rows = blocks.rows * r;
  auto* const offsets = on.template take<Offset>(std::size_t(rows) + 1);
  on.each(std::int64_t{rows} + 1, OffsetOfRow{blocks, r, c, offsets});
  OwnedPattern made = with_offsets(on, rows, blocks.cols * c, offsets);
  on.each_warp(blocks.rows, FillBlockRow{blocks, r, c, made.columns.data()});
  return made;
}

}  // namespace tcsolve::sparse
