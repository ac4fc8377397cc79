// SPDX-License-Identifier: Apache-2.0
/// The counts of formats/survey_counts.hpp, written once for both backends
/// (kernels/convert.hpp). A warp, or a lane, adds what it has counted to one of a few copies of the
/// sums; the host adds these up.
#pragma once

#include <algorithm>
#include <array>

#include <tcsolve/formats/survey_counts.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::surveying {

constexpr Index long_row = 256;
constexpr int copies = 64;  ///< of the sums: few come to one word at a time
constexpr std::uint32_t none = 0xffffffffu;

TCSOLVE_HD void add(Offset* to, std::int64_t v) {
  if (v != 0) atomic_add(to, v);
}

/// Warp s is the slice of 32 rows from 32 s on, lane l its row l.
struct CountRows {
  PatternView a;
  RowCounts* counts;  // (copies)

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t s) const {
    template_of<Warp> length, first, beyond, by_length, in_long, is_long, slots, shorter;
    warp.each([&](int l) {
      std::int64_t const i = s * 32 + l;
      bool const inside = i < a.rows;
      Offset const begin = inside ? a.offsets[i] : 0, end = inside ? a.offsets[i + 1] : 0;
      length[l] = static_cast<std::uint32_t>(end - begin);
      shorter[l] = ~length[l];
      bool const any = begin < end;
      first[l] = any ? static_cast<std::uint32_t>(a.columns[begin]) : none;
      // The complement, so that the last column of all is the least.
      beyond[l] = any ? ~static_cast<std::uint32_t>(a.columns[end - 1]) : none;
      is_long[l] = length[l] > static_cast<std::uint32_t>(long_row);
      in_long[l] = is_long[l] != 0 ? length[l] : 0;
      // Six bits for each of five numbers of rows, 32 at most.
      by_length[l] = inside && length[l] <= 4 ? 1u << 6 * length[l] : 0;
      slots[l] = is_long[l] == 0 && length[l] > 4 ? (length[l] + 3) / 4 * 4 : 0;
    });
    auto const rows = static_cast<std::uint64_t>(warp.sum(by_length));
    std::uint32_t const longest = ~warp.least(shorter);
    bool const wide = spread(warp.least(first), warp.least(beyond));
    Offset const stored = Offset{longest} * 32, medium = warp.sum(slots);
    Offset const long_rows = warp.sum(is_long), long_entries = warp.sum(in_long);
    Offset medium_wide = 0;
    for (int group = 0; group < 4; ++group) {
      template_of<Warp> low, high, here;
      warp.each([&](int l) {
        bool const mine = l / 8 == group;
        low[l] = mine && is_long[l] == 0 ? first[l] : none;
        high[l] = mine && is_long[l] == 0 ? beyond[l] : none;
        here[l] = mine ? slots[l] : 0;
      });
      std::uint32_t const least = warp.least(low), most = warp.least(high);
      Offset const in_group = warp.sum(here);
      if (spread(least, most)) medium_wide += in_group;
    }
    RowCounts* const to = counts + s % copies;
    warp.each([&](int l) {
      if (l != 0) return;
      for (int k = 0; k <= 4; ++k) add(to->short_rows + k, rows >> 6 * k & 63);
      add(&to->long_rows, long_rows), add(&to->long_entries, long_entries);
      add(&to->medium_slots, medium), add(&to->medium_wide, medium_wide);
      add(&to->slices_stored, stored), add(&to->slices_wide, wide ? stored : 0);
      raise_to(&to->longest, Offset{longest});
    });
  }

 private:
  template <class Warp>
  using template_of = typename Warp::template Of<std::uint32_t>;
  /// Beyond 16-bit differences; `beyond` is the complement of the last column.
  TCSOLVE_HD static bool spread(std::uint32_t first, std::uint32_t beyond) {
    return first != none && ~beyond - first >= 65536;
  }
};

/// A merge of the eight rows of block row I by the tile of their next entry: of the tiles from
/// those of a part of the longest row on, up to those of its next part.
struct CountTiles {
  TileCounts* counts;  // (copies)
  int parts = 1;

  template <class S>
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t I, int part = 0) const {
    Offset at[8], end[8], longest = 0, of_longest = 0;
    std::uint32_t next[8];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < 8; ++r) {
      std::int64_t const i = 8 * I + r;
      at[r] = i < a.rows ? a.offsets[i] : 0;
      end[r] = i < a.rows ? a.offsets[i + 1] : 0;
      if (end[r] - at[r] > long_row) end[r] = at[r];
      if (end[r] - at[r] > longest) longest = end[r] - at[r], of_longest = at[r];
    }
    auto const first_of = [&](int part) {
      return part == 0 ? 0 : tile(a.columns[of_longest + part * longest / parts]);
    };
    bool const some = longest > 0;
    std::uint32_t const first = some ? first_of(part) : 0;
    std::uint32_t const past = some && part + 1 < parts ? first_of(part + 1) : none;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < 8; ++r) {
      if (first > 0) at[r] = first_from(a.columns, at[r], end[r], first);
      next[r] = at[r] < end[r] ? tile(a.columns[at[r]]) : none;
    }
    TileCounts seen;
    for (;;) {
      std::uint32_t least = none;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int r = 0; r < 8; ++r) least = next[r] < least ? next[r] : least;
      if (least >= past) break;
      Offset entries = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int r = 0; r < 8; ++r)
        while (next[r] == least) {
          ++entries;
          ++at[r];
          next[r] = at[r] < end[r] ? tile(a.columns[at[r]]) : none;
        }
      ++seen.tiles;
      if (entries <= 2) continue;
      ++seen.blocks;
      seen.block_entries += entries;
    }
    TileCounts* const to = counts + (I * parts + part) % copies;
    add(&to->tiles, seen.tiles);
    add(&to->blocks, seen.blocks), add(&to->block_entries, seen.block_entries);
  }

 private:
  TCSOLVE_HD static std::uint32_t tile(Index column) {
    return static_cast<std::uint32_t>(column) / 8;
  }
  /// The first place in [low, high) whose column lies in this tile or beyond it.
  TCSOLVE_HD static Offset first_from(Index const* columns, Offset low, Offset high,
                                      std::uint32_t first) {
    while (low < high) {
      Offset const middle = low + (high - low) / 2;
      if (tile(columns[middle]) < first)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};
/// The same of each part.
struct CountTilesOfParts {
  CsrView<void> a;
  CountTiles count;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    count(a, t / count.parts, static_cast<int>(t % count.parts));
  }
};

/// Raises *differs where an a_ij above the diagonal differs from a_ji, or a_ji is not stored, and
/// sums the number of entries above minus that of entries below: A = A^T where none differs and
/// this sum is 0.
struct Mirror {
  Index* differs;
  Offset* excess;  // (copies)

  template <class S>
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    if (i >= a.rows || glance(differs) != 0) return;
    Offset more = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      more += (j > i) - (j < i);
      if (j > i && !matches(a, j, static_cast<Index>(i), end - 1 - k, a.values[k]))
        return put(differs, 1);
    }
    add(excess + i % copies, more);
  }
  /// The matrix in memory: a warp that stages its own row still searches in other rows.
  void const* columns;
  void const* values;

 private:
  /// Of a row of a stencil the entry with so many behind it has its mirror with so many before it.
  template <class S>
  TCSOLVE_HD bool matches(CsrView<S> const& a, Index row, Index column, Offset behind,
                          S value) const {
    auto const* const all = static_cast<Index const*>(columns);
    Offset low = a.offsets[row], high = a.offsets[row + 1];
    Offset const guess = low + behind;
    if (guess < high && all[guess] == column) low = guess, high = guess + 1;
    while (high - low > 1) {
      Offset const middle = low + (high - low) / 2;
      (all[middle] <= column ? low : high) = middle;
    }
    return low < high && all[low] == column &&
           double(static_cast<S const*>(values)[low]) == double(value);
  }
};

template <class Counts, class On>
Counts* cleared(On& on) {
  auto* const counts = on.template take<Counts>(copies);
  on.clear(counts, copies);
  return counts;
}
template <class Counts, class On>
std::array<Counts, copies> counted(On& on, Counts const* counts) {
  std::array<Counts, copies> all;
  on.read(counts, all.data(), copies);
  return all;
}

template <class On>
RowCounts count_rows(On& on, PatternView const& a) {
  auto* const counts = cleared<RowCounts>(on);
  on.each_warp((std::int64_t{a.rows} + 31) / 32, CountRows{a, counts});
  RowCounts all;
  for (RowCounts const& c : counted(on, counts)) {
    for (int k = 0; k <= 4; ++k) all.short_rows[k] += c.short_rows[k];
    all.long_rows += c.long_rows, all.long_entries += c.long_entries;
    all.medium_slots += c.medium_slots, all.medium_wide += c.medium_wide;
    all.slices_stored += c.slices_stored, all.slices_wide += c.slices_wide;
    all.longest = std::max(all.longest, c.longest);
  }
  return all;
}

template <class On>
TileCounts count_tiles(On& on, PatternView const& a) {
  auto* const counts = cleared<TileCounts>(on);
  CsrView<void> const pattern{a.rows, a.cols, a.entries, a.offsets, a.columns, nullptr, on.space()};
  std::int64_t const block_rows = (std::int64_t{a.rows} + 7) / 8;
  // Block rows of many entries are few, and do not fit near a lane each.
  constexpr Offset many = 768, part = 64;
  Offset const mean = block_rows > 0 ? a.entries / block_rows : 0;
  if (mean < many) {
    on.each_rows_of_columns(block_rows, 8, pattern, CountTiles{counts});
  } else {
    int const parts = static_cast<int>(std::min(mean / part, Offset{32}));
    on.each(block_rows * parts, CountTilesOfParts{pattern, {counts, parts}});
  }
  TileCounts all;
  for (TileCounts const& c : counted(on, counts))
    all.tiles += c.tiles, all.blocks += c.blocks, all.block_entries += c.block_entries;
  return all;
}

template <class On, class S>
bool mirrored(On& on, CsrView<S> const& a) {
  if (a.rows != a.cols) return false;
  struct Found {
    Offset excess[copies];
    Index differs;
  };
  auto* const found = on.template take<Found>(1);
  on.clear(found, 1);
  on.each_row(a.rows, a, Mirror{&found->differs, found->excess, a.columns, a.values});
  Found got;
  on.read(found, &got, 1);
  Offset excess = 0;
  for (Offset const e : got.excess) excess += e;
  return got.differs == 0 && excess == 0;
}

}  // namespace tcsolve::surveying
