// SPDX-License-Identifier: Apache-2.0
/// The blocks of a matrix, counted: of every size at once, where none is asked for, in a sample of
/// a large matrix; of each block row, for the size taken; and what slices of 32 block rows take.
#pragma once

#include <tcsolve/formats/bsell/bsell.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::bsell {

constexpr int C = BsellView<double>::C;
constexpr std::size_t sizes = bsell_blocks.size();
constexpr std::uint32_t none = 0xffffffffu;

constexpr Index pieces(Index rows, Index each) {
  return static_cast<Index>((std::int64_t{rows} + each - 1) / each);
}

/// `count` rows of CSR from `first` on, walked side by side by the next column of each.
template <int count, class S>
struct Rows {
  std::int32_t const* columns;
  Offset at[count], end[count];
  std::uint32_t next[count];
  TCSOLVE_HD Rows(CsrView<S> const& a, std::int64_t first) : columns(a.columns) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < count; ++r) {
      bool const inside = first + r < a.rows;
      at[r] = inside ? a.offsets[first + r] : 0;
      end[r] = inside ? a.offsets[first + r + 1] : 0;
      next[r] = at[r] < end[r] ? static_cast<std::uint32_t>(columns[at[r]]) : none;
    }
  }
  /// The least next column; `none` when all entries are taken.
  TCSOLVE_HD std::uint32_t least() const {
    std::uint32_t least = none;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < count; ++r) least = next[r] < least ? next[r] : least;
    return least;
  }
  /// The entries below column `limit` are taken.
  TCSOLVE_HD void take(std::uint32_t limit) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < count; ++r)
      while (next[r] < limit) {
        ++at[r];
        next[r] = at[r] < end[r] ? static_cast<std::uint32_t>(columns[at[r]]) : none;
      }
  }
};

/// Whether all blocks of block row I are full: then its rows have the columns of the first of them,
/// block by block. No load waits for the one before, as those of a merge do.
template <int b, class S>
TCSOLVE_HD bool all_full(CsrView<S> const& a, std::int64_t I) {
  if ((I + 1) * b > a.rows) return false;
  Offset const begin = a.offsets[I * b], length = a.offsets[I * b + 1] - begin;
  bool all = length % b == 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int r = 1; r < b; ++r)
    all = all && a.offsets[I * b + r + 1] - a.offsets[I * b + r] == length;
  for (Offset k = 0; all && k < length; k += b) {
    std::int32_t const column = a.columns[begin + k];
    all = column % b == 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int r = 0; r < b; ++r) {
      std::int32_t const* const row = a.columns + (begin + r * length + k);
      all &= row[0] == column && row[b - 1] == column + b - 1;
    }
  }
  return all;
}

/// The blocks of block row I, by a merge of its rows where they are not all full.
template <int b, class S>
TCSOLVE_HD Index blocks_of_row(CsrView<S> const& a, std::int64_t I, bool full) {
  if (full) return static_cast<Index>((a.offsets[I * b + 1] - a.offsets[I * b]) / b);
  Rows<b, S> rows(a, I * b);
  Index length = 0;
  for (std::uint32_t least = rows.least(); least != none; least = rows.least(), ++length)
    rows.take((least / b + 1) * b);
  return length;
}
template <int b, class S>
struct CountBlockRow {
  Index* lengths;
  std::uint8_t* full;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t I) const {
    bool const all = all_full<b>(a, I);
    lengths[I] = blocks_of_row<b>(a, I, all);
    full[I] = all;
  }
};

/// Rows that are whole slices of every size of block.
constexpr Index stretch = 384;
/// Of more than a thousand stretches one in so many is looked at, 512 at most.
constexpr Index sampled_every(Index rows) {
  Index const stretches = pieces(rows, stretch);
  return stretches <= 1024 ? 1 : pieces(stretches, 512);
}

/// The lengths of the counted block rows, in blocks of every size: an element is one block row.
template <class S>
struct CountBlocks {
  CsrView<S> a;
  Index every;
  std::int64_t first[sizes + 1];  ///< elements of each size
  Index* lengths[sizes];          // (block rows)
  TCSOLVE_HD void operator()(std::int64_t e) const { count<0>(e); }

 private:
  template <std::size_t k>
  TCSOLVE_HD void count(std::int64_t e) const {
    if constexpr (k < sizes) {
      if (e >= first[k + 1]) return count<k + 1>(e);
      constexpr int b = bsell_blocks[k], each = stretch / b;
      std::int64_t const n = e - first[k], I = n / each * each * every + n % each;
      if (I * b < a.rows) lengths[k][I] = blocks_of_row<b>(a, I, all_full<b>(a, I));
    }
  }
};

/// Of slices, for scans.
struct Extent {
  Offset steps = 0, units = 0;  ///< 64-byte units of column numbers
  Offset blocks = 0, entries = 0;
  Offset longest = 0;  ///< blocks of a block row
  TCSOLVE_HD Extent operator+(Extent const& b) const {
    return {steps + b.steps, units + b.units, blocks + b.blocks, entries + b.entries,
            longest > b.longest ? longest : b.longest};
  }
};

/// The longest block row of slice s, and whether its block columns lie within 16 bits. What it is
/// goes to `slices`, where they are made; else s counts those of the stretches that are looked at.
template <class S>
struct MeasureSlice {
  CsrView<S> a;
  Index every, block, block_rows;
  Index const *lengths, *order;
  BsellSlice* slices;
  Extent* extents;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t s) const {
    Index const each = stretch / (block * C);
    std::int64_t const slice = s / each * each * every + s % each;
    typename W::template Of<std::uint32_t> low, shorter, higher;  // complements: of the most
    typename W::template Of<std::uint32_t> length, taken;
    warp.each([&](int l) {
      low[l] = shorter[l] = higher[l] = none;
      length[l] = taken[l] = 0;
      std::int64_t const p = slice * C + l;
      if (p >= block_rows) return;
      std::int64_t const I = order == nullptr ? p : order[p];
      length[l] = static_cast<std::uint32_t>(lengths[I]);
      shorter[l] = ~length[l];
      std::uint32_t high = 0;
      for (std::int64_t i = I * block; i < (I + 1) * block && i < a.rows; ++i) {
        Offset const begin = a.offsets[i], end = a.offsets[i + 1];
        if (begin == end) continue;
        auto const first = static_cast<std::uint32_t>(a.columns[begin] / block);
        auto const last = static_cast<std::uint32_t>(a.columns[end - 1] / block);
        low[l] = first < low[l] ? first : low[l];
        high = last > high ? last : high;
        taken[l] += static_cast<std::uint32_t>(end - begin);
      }
      if (low[l] != none) higher[l] = ~high;
    });
    std::uint32_t const steps = ~warp.least(shorter), base = warp.least(low);
    bool const wide = steps > 0 && ~warp.least(higher) - base > 65535;
    Offset const blocks = warp.sum(length), entries = warp.sum(taken);
    warp.each([&](int l) {
      if (l > 0) return;
      extents[s] = {steps, wide ? 2 * Offset{steps} : steps, blocks, entries, steps};
      if (slices == nullptr) return;
      std::int32_t const from = wide ? -1 : steps > 0 ? static_cast<std::int32_t>(base) : 0;
      slices[s] = {0, 0, static_cast<std::int32_t>(steps), from};
    });
  }
};

/// What the host reads, in one message: the slices of each size.
struct Report {
  Extent before[sizes + 1];
};
struct SetReport {
  Extent const* before;
  std::int64_t at[sizes + 1];
  Report* report;
  TCSOLVE_HD void operator()(std::int64_t) const {
    for (std::size_t k = 0; k <= sizes; ++k) report->before[k] = before[at[k]];
  }
};

/// Blocks of every size: of what is looked at, times the entries there are for each of it.
template <class On, class S>
BsellCounts count(On& on, CsrView<S> const& a) {
  BsellCounts counts{};
  if (a.rows == 0) return counts;
  Index const every = sampled_every(a.rows), looked_at = pieces(pieces(a.rows, stretch), every);
  CountBlocks<S> walk{a, every, {}, {}};
  SetReport report{};
  for (std::size_t k = 0; k < sizes; ++k) {
    walk.lengths[k] = on.template take<Index>(pieces(a.rows, bsell_blocks[k]));
    walk.first[k + 1] = walk.first[k] + std::int64_t{looked_at} * (stretch / bsell_blocks[k]);
    report.at[k + 1] = report.at[k] + std::int64_t{looked_at} * (stretch / (bsell_blocks[k] * C));
  }
  on.each(walk.first[sizes], walk);
  std::int64_t const slices = report.at[sizes];
  auto* extents = on.template take<Extent>(slices + 1);
  auto* before = on.template take<Extent>(slices + 1);
  for (std::size_t k = 0; k < sizes; ++k)
    on.each_warp(report.at[k + 1] - report.at[k],
                 MeasureSlice<S>{a, every, bsell_blocks[k], pieces(a.rows, bsell_blocks[k]),
                                 walk.lengths[k], nullptr, nullptr, extents + report.at[k]});
  on.clear(extents + slices, 1);
  on.scan(extents, before, slices + 1, Plus{});
  report.before = before;
  report.report = on.template take<Report>(1);
  on.each(1, report);
  Report got;
  on.read(report.report, &got, 1);
  for (std::size_t k = 0; k < sizes; ++k) {
    Extent const &first = got.before[k], &last = got.before[k + 1];
    Offset const seen = last.entries - first.entries, steps = last.steps - first.steps;
    double const share = seen > 0 ? double(a.entries) / double(seen) : 1;
    auto const of_all = [&](Offset n) { return static_cast<Offset>(double(n) * share + 0.5); };
    counts[k] = {of_all(last.blocks - first.blocks), C * of_all(steps),
                 C * of_all(last.units - first.units - steps)};
  }
  return counts;
}

}  // namespace tcsolve::bsell
