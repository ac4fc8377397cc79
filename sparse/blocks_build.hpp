// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, written once for both backends (kernels/convert.hpp). The blocks of a block
/// row are met in ascending order by walking its rows side by side.
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/blocks.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::sparse {

/// f(J) for each block of block row I, ascending: every lane waits at an entry of its row, and
/// those of the least block go on.
template <class Warp, class A, class F>
TCSOLVE_HD void each_block_column(Warp const& warp, A const& a, Index r, Index c, std::int64_t I,
                                  F const& f) {
  constexpr std::uint32_t none = 0xffffffffu;
  typename Warp::template Of<Offset> at, end;
  typename Warp::template Of<std::uint32_t> block;
  auto const of_entry = [&](int lane) {
    return at[lane] < end[lane] ? static_cast<std::uint32_t>(a.columns[at[lane]] / c) : none;
  };
  warp.each([&](int lane) {
    at[lane] = lane < r ? a.offsets[I * r + lane] : 0;
    end[lane] = lane < r ? a.offsets[I * r + lane + 1] : 0;
    block[lane] = of_entry(lane);
  });
  for (std::uint32_t next; (next = warp.least(block)) != none;) {
    f(static_cast<Index>(next));
    warp.each([&](int lane) {
      while (block[lane] == next) ++at[lane], block[lane] = of_entry(lane);
    });
  }
}

struct CountRowBlocks {
  PatternView a;
  Index r, c;
  Offset* count;  // (block rows)
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Offset here = 0;
    each_block_column(warp, a, r, c, I, [&](Index) { ++here; });
    warp.each([&](int lane) {
      if (lane == 0) count[I] = here;
    });
  }
};
struct FillRowBlocks {
  PatternView a;
  Index r, c;
  OffsetsView offsets;
  Index* columns;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Offset to = offsets[I];
    each_block_column(warp, a, r, c, I, [&](Index J) {
      warp.each([&](int lane) {
        if (lane == 0) columns[to] = J;
      });
      ++to;
    });
  }
};
/// Where each block row begins among all blocks: (rows / r + 1).
template <class On>
Offset* offsets_of_blocks(On& on, PatternView const& a, Index r, Index c) {
  Index const rows = a.rows / r;
  std::int64_t const n = std::int64_t{rows} + 1;
  auto* const count = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.clear(count + rows, 1);
  on.each_warp(rows, CountRowBlocks{a, r, c, count});
  on.scan(count, offsets, n, Plus{});
  return offsets;
}
template <class On>
OwnedPattern blocks_of(On& on, PatternView const& a, Index r, Index c) {
  Index const rows = a.rows / r;
  OwnedPattern made = with_offsets(on, rows, a.cols / c, offsets_of_blocks(on, a, r, c));
  on.each_warp(rows, FillRowBlocks{a, r, c, made.offsets(), made.columns.data()});
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
