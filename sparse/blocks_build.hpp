// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, written once for both backends (kernels/convert.hpp). The blocks of a block
/// row are met in ascending order by walking its rows side by side.
#pragma once

#include <type_traits>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/warp_moves.hpp>
#include <tcsolve/sparse/blocks.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::sparse {

/// f(J) for each block of block row I, ascending: its r <= most rows are walked side by side, and
/// those of the least block go on.
template <int most, class S, class F>
TCSOLVE_HD void each_block_column(CsrView<S> const& a, Index r, Index c, std::int64_t I,
                                  F const& f) {
  constexpr std::uint32_t none = 0xffffffffu;  // beyond every column
  Offset at[most] = {}, end[most] = {};
  std::uint32_t front[most];
  TCSOLVE_UNROLL
  for (int i = 0; i < most; ++i) {
    if (i < r) at[i] = a.offsets[I * r + i], end[i] = a.offsets[I * r + i + 1];
    front[i] = at[i] < end[i] ? static_cast<std::uint32_t>(a.columns[at[i]]) : none;
  }
  for (;;) {
    std::uint32_t least = none;
    TCSOLVE_UNROLL
    for (int i = 0; i < most; ++i) least = front[i] < least ? front[i] : least;
    if (least == none) return;
    std::uint32_t const J = least / static_cast<std::uint32_t>(c),
                        behind = (J + 1) * static_cast<std::uint32_t>(c);
    f(static_cast<Index>(J));
    TCSOLVE_UNROLL
    for (int i = 0; i < most; ++i)
      while (front[i] < behind) {
        ++at[i];
        front[i] = at[i] < end[i] ? static_cast<std::uint32_t>(a.columns[at[i]]) : none;
      }
  }
}

/// The same by a warp, a row a lane, which wait for each other.
template <class Warp, class F>
TCSOLVE_HD void each_block_column(Warp const& warp, PatternView const& a, Index r, Index c,
                                  std::int64_t I, F const& f) {
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

/// f(I, walk), where walk(g) calls g(J) for each block of block row I. Of a warp every lane does,
/// and writes the same.
template <class F>
struct WalkByWarp {
  PatternView a;
  Index r, c;
  F f;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    f(I, [&](auto const& g) { each_block_column(warp, a, r, c, I, g); });
  }
};
template <int most, class F>
struct WalkByThread {
  Index r, c;
  F f;
  template <class S>
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t I) const {
    f(I, [&](auto const& g) { each_block_column<most>(a, r, c, I, g); });
  }
};
template <class On, class F>
void each_block_row(On& on, PatternView const& a, Index r, Index c, F const& f) {
  static_assert(most_block_rows <= 16);
  Index const rows = a.rows / r;
  // More of them would not fit in shared memory, and 32 rows are few for a warp then.
  constexpr Offset walked_by_thread = 300;
  if (a.entries > walked_by_thread * rows) return on.each_warp(rows, WalkByWarp<F>{a, r, c, f});
  auto const by_thread = [&]<int most>(std::integral_constant<int, most>) {
    CsrView<double> const pattern{a.rows,    a.cols,  a.entries, a.offsets,
                                  a.columns, nullptr, on.space()};
    on.each_rows_of_columns(rows, r, pattern, WalkByThread<most, F>{r, c, f});
  };
  if (r <= 4)
    by_thread(std::integral_constant<int, 4>());
  else if (r <= 8)
    by_thread(std::integral_constant<int, 8>());
  else
    by_thread(std::integral_constant<int, 16>());
}

struct CountBlocks {
  Offset* count;  // (block rows)
  template <class Walk>
  TCSOLVE_HD void operator()(std::int64_t I, Walk const& walk) const {
    Offset here = 0;
    walk([&](Index) { ++here; });
    count[I] = here;
  }
};
struct FillBlocks {
  OffsetsView offsets;
  Index* columns;
  template <class Walk>
  TCSOLVE_HD void operator()(std::int64_t I, Walk const& walk) const {
    Index* to = columns + offsets[I];
    walk([&](Index J) { *to++ = J; });
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
  each_block_row(on, a, r, c, CountBlocks{count});
  on.scan(count, offsets, n, Plus{});
  return offsets;
}
template <class On>
OwnedPattern blocks_of(On& on, PatternView const& a, Index r, Index c) {
  OwnedPattern made = with_offsets(on, a.rows / r, a.cols / c, offsets_of_blocks(on, a, r, c));
  each_block_row(on, a, r, c, FillBlocks{made.offsets(), made.columns.data()});
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
