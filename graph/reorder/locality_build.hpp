// SPDX-License-Identifier: Apache-2.0
/// The sectors of x that a block of 32 rows reads (graph/reorder/locality.hpp), written once for
/// both backends (kernels/convert.hpp). Each lane holds the next entry of its row; the warp counts
/// the least sector of all lanes, and every lane then skips its entries in that sector.
#pragma once

#include <algorithm>

#include <tcsolve/graph/reorder/renumber.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::measuring {

struct AddSums {
  TCSOLVE_HD LocalitySums operator()(LocalitySums const& a, LocalitySums const& b) const {
    return {a.profile + b.profile, a.sectors + b.sectors,
            a.bandwidth > b.bandwidth ? a.bandwidth : b.bandwidth, a.wide_blocks + b.wide_blocks};
  }
};

struct MeasureBlock {
  static constexpr Index block_rows = 32, sector = 4;  // FP64 entries of x in 32 bytes
  static constexpr std::uint32_t none = 0xffffffffu;
  PatternView a;
  LocalitySums* blocks;

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t block) const {
    template_of<Warp, Offset> at, end;
    template_of<Warp, std::uint32_t> next, low, high, reach, below;
    warp.each([&](int lane) {
      std::int64_t const i = block * block_rows + lane;
      bool const inside = i < a.rows;
      at[lane] = inside ? a.offsets[i] : 0, end[lane] = inside ? a.offsets[i + 1] : 0;
      bool const any = at[lane] < end[lane];
      auto const row = static_cast<std::uint32_t>(i);
      std::uint32_t const first = any ? number(a.columns[at[lane]]) : none;
      std::uint32_t const last = any ? number(a.columns[end[lane] - 1]) : 0;
      next[lane] = any ? first / sector : none;
      below[lane] = any && first < row ? row - first : 0;
      std::uint32_t const above = any && last > row ? last - row : 0;
      low[lane] = first, high[lane] = ~last;
      reach[lane] = ~(below[lane] > above ? below[lane] : above);
    });
    LocalitySums sums;
    for (std::uint32_t least = warp.least(next); least != none; least = warp.least(next)) {
      ++sums.sectors;
      warp.each([&](int lane) {
        while (next[lane] == least) {
          ++at[lane];
          next[lane] = at[lane] < end[lane] ? number(a.columns[at[lane]]) / sector : none;
        }
      });
    }
    std::uint32_t const first = warp.least(low), last = ~warp.least(high);
    sums.bandwidth = static_cast<Index>(~warp.least(reach));
    sums.wide_blocks = first != none && last - first >= 65536;
    sums.profile = warp.sum(below);
    warp.each([&](int lane) {
      if (lane == 0) blocks[block] = sums;
    });
  }

 private:
  template <class Warp, class T>
  using template_of = typename Warp::template Of<T>;
  TCSOLVE_HD static std::uint32_t number(Index j) { return static_cast<std::uint32_t>(j); }
};

template <class On>
LocalitySums build(On& on, PatternView const& a) {
  std::int64_t const n = (std::int64_t{a.rows} + MeasureBlock::block_rows - 1) / 32;
  auto* const blocks = on.template take<LocalitySums>(n + 1);
  auto* const before = on.template take<LocalitySums>(n + 1);
  on.each_warp(n, MeasureBlock{a, blocks});
  on.scan(blocks, before, n + 1, AddSums{});
  LocalitySums sums;
  on.read(before + n, &sums, 1);
  return sums;
}

}  // namespace tcsolve::measuring
