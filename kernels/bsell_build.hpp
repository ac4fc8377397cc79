// SPDX-License-Identifier: Apache-2.0
/// CSR to slices of dense blocks, written once for both backends (kernels/convert.hpp): how many
/// blocks there are of every size at once, where none is asked for, in a sample of a large matrix;
/// how many each block row has of the size taken; the order of block rows; then the slices; and new
/// values where the pattern stays.
#pragma once

#include <bit>
#include <limits>

#include <tcsolve/kernels/bsell.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::bsell {

constexpr int C = BsellView<double>::C;
constexpr std::size_t sizes = bsell_blocks.size();
constexpr std::uint32_t none = 0xffffffffu;

TCSOLVE_HD int ones(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return __popc(v);
#else
  return std::popcount(v);
#endif
}
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

/// The blocks of the block rows that are looked at, of every size: each element is one of them.
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
  Index longest = 0;  ///< blocks of a block row
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
      extents[s] = {steps, wide ? 2 * Offset{steps} : steps, blocks, entries,
                    static_cast<Index>(steps)};
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

/// Sorting keys: by window, then longest first. Beyond a thousand blocks lengths are not told
/// apart.
struct SetKeys {
  static constexpr Index told = 1000;
  Index const* lengths;
  Index window, most;
  std::uint32_t* key;
  Index* order;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    Index const length = lengths[I] < most ? lengths[I] : most;
    key[I] = static_cast<std::uint32_t>(I / window * (most + 1) + most - length);
    order[I] = static_cast<Index>(I);
  }
};
struct SetPlace {
  Index const* order;
  Index* place;
  TCSOLVE_HD void operator()(std::int64_t p) const { place[order[p]] = static_cast<Index>(p); }
};

/// Where slice s begins.
struct SetStart {
  Extent const* start;
  BsellSlice* slices;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    slices[s].first = static_cast<std::int32_t>(start[s].steps);
    slices[s].numbers = static_cast<std::uint32_t>(start[s].units);
  }
};

/// The column numbers of block row I, or of a lane that has none: those of its first row where all
/// blocks are full, else by a merge of its rows.
template <int b, class S>
struct FillNumbers {
  BsellView<S> m;
  Index const* place;
  std::uint8_t const* full;  // (block_rows)
  std::uint8_t* numbers;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t I) const {
    bool const inside = I < m.block_rows;
    std::int64_t const p = inside && place != nullptr ? place[I] : I;
    BsellSlice const slice = m.slices[p / C];
    int const lane = static_cast<int>(p % C);
    Index j = 0;
    if (inside && full[I] != 0) {
      Offset const begin = a.offsets[I * b], end = a.offsets[I * b + 1];
      for (Offset k = begin; k < end; k += b, ++j) set(slice, j, lane, a.columns[k] / b);
    } else if (inside) {
      Rows<b, S> rows(a, I * b);
      for (std::uint32_t least = rows.least(); least != none; least = rows.least(), ++j) {
        std::uint32_t const J = least / b;
        set(slice, j, lane, static_cast<Index>(J));
        rows.take((J + 1) * b);
      }
    }
    Index const none_here = slice.base < 0 ? 0 : slice.base;  // the number 0
    for (; j < slice.steps; ++j) set(slice, j, lane, none_here);
  }

 private:
  TCSOLVE_HD void set(BsellSlice const& slice, Index j, int lane, Index J) const {
    std::uint8_t* const here = numbers + Offset{slice.numbers} * 64;
    Offset const at = Offset{j} * C + lane;
    if (slice.base < 0)
      reinterpret_cast<std::int32_t*>(here)[at] = J;
    else
      reinterpret_cast<std::uint16_t*>(here)[at] = static_cast<std::uint16_t>(J - slice.base);
  }
};

/// The values of row i, or of a lane that has none: its entries where the column numbers say, holes
/// in between. `again`, where the pattern stays: its entries where no hole is, and nobody asks for
/// columns. Rows go through shared memory, so that they are read in runs.
template <int b, bool again, class S>
struct FillValues {
  static constexpr int step = b * b * C;
  BsellView<S> m;
  Index const* place;
  std::uint8_t const* full;  // (block_rows)
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t i) const {
    bool const inside = i < a.rows;
    if (again && !inside) return;
    std::int64_t const I = i / b, p = I < m.block_rows && place != nullptr ? place[I] : I;
    int const lane = static_cast<int>(p % C), r = static_cast<int>(i % b);
    BsellSlice const slice = m.slices[p / C];
    Offset at = inside ? a.offsets[i] : 0;
    Offset const end = inside ? a.offsets[i + 1] : 0;
    S* to = values + (Offset{slice.first} * b + r) * b * C + lane;
    Index j = 0;
    // Another pattern, which nobody has looked at, must not lead out of its arrays, here and below.
    if (inside && full[I] != 0) {
      for (; j < slice.steps && at + b <= end; ++j, at += b, to += step) {
        S now[b];  // before any is written, which would make the next wait
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) now[c] = no_hole(a.values[at + c]);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) to[c * C] = now[c];
      }
    } else if constexpr (again) {
      between_holes(a.values, at, end, slice.steps, to);
    }
    if constexpr (!again) {
      for (; j < slice.steps; ++j, to += step) {
        std::int64_t const first = std::int64_t{m.column(slice, j, lane)} * b;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) {
          bool const here = at < end && a.columns[at] == first + c;
          to[c * C] = here ? no_hole(a.values[at]) : hole<S>();
          at += here;
        }
      }
    }
  }

 private:
  /// The old values of a few steps are on their way at once, and then the new ones: the last comes
  /// first, since its place is known when all the old ones are.
  TCSOLVE_HD static void between_holes(S const* entries, Offset at, Offset end, Index steps,
                                       S* to) {
    constexpr int together = 8 / b, count = together * b;
    for (Index j = 0; j < steps && at < end; j += together, to += together * step) {
      std::uint32_t kept = 0;  // a bit for each that is no hole
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = 0; e < count; ++e) {
        S const old = j + e / b < steps ? to[e / b * step + e % b * C] : hole<S>();
        kept |= std::uint32_t{!is_hole(old)} << e;
      }
      S now[count];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = count - 1; e >= 0; --e) {
        Offset const from = at + ones(kept & ((1u << e) - 1));
        if (from >= end) kept &= ~(1u << e);
        now[e] = (kept >> e & 1) != 0 ? no_hole(entries[from]) : hole<S>();
      }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = 0; e < count; ++e)
        if ((kept >> e & 1) != 0) to[e / b * step + e % b * C] = now[e];
      at += ones(kept);
    }
  }
};

/// All values, of a new matrix or again, and ||A||.
template <bool again, class On, class S>
void fill(On& on, CsrView<S> const& a, BsellArrays<S>& m) {
  auto* const norm = on.template take<double>(1);
  on.clear(norm, 1);
  with_bsell_block(m.view.block, [&]<int b>(std::integral_constant<int, b>) {
    std::int64_t const lanes = std::int64_t{m.view.count} * C * b;
    FillValues<b, again, S> const f{m.view, m.place.data(), m.full.data(), m.values.data()};
    if constexpr (again)
      on.each_row_of_values(lanes, a, f, {norm});
    else
      on.each_row(lanes, a, f, {norm});
  });
  on.read(norm, &m.norm, 1);
}

/// The same pattern with new values.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, BsellArrays<S>& m) {
  fill<true>(on, a, m);
}

/// Block rows by length within windows.
template <class On, class S>
void sort(On& on, Index const* lengths, Index longest, Index window, BsellArrays<S>& m) {
  Index const block_rows = m.view.block_rows;
  Index const most = std::min(longest, SetKeys::told);
  std::int64_t const keys = std::int64_t{pieces(block_rows, window)} * (most + 1);
  if (keys > std::numeric_limits<std::uint32_t>::max())
    throw SizeError(cat("bsell: ", pieces(block_rows, window), " windows; sorting keys have 32 ",
                        "bits: take a larger window than ", window));
  m.order = Array<Index>(on.space(), block_rows);
  m.place = Array<Index>(on.space(), block_rows);
  auto* key = on.template take<std::uint32_t>(block_rows);
  on.each(block_rows, SetKeys{lengths, window, most, key, m.order.data()});
  on.sort(key, m.order.data(), block_rows, static_cast<std::uint32_t>(keys));
  on.each(block_rows, SetPlace{m.order.data(), m.place.data()});
}

template <class On, class S>
BsellArrays<S> build(On& on, CsrView<S> const& a, BsellTuning const& tuning) {
  BsellArrays<S> m;
  BsellView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  v.block = tuning.block > 0 ? tuning.block
                             : bsell_blocks[bsell_choice(count(on, a), a.entries, sizeof(S))];
  v.block_rows = pieces(a.rows, v.block);
  v.count = pieces(v.block_rows, C);
  auto const refuse = [&](double blocks) {
    double const positions = blocks * v.block * v.block;
    if (!holes_pay(positions, a.entries))
      throw MatrixError(cat("bsell: blocks of ", v.block, " x ", v.block, " need ", positions,
                            " positions for ", a.entries, " entries; take another format"));
  };
  m.full = Array<std::uint8_t>(on.space(), v.block_rows);
  auto* lengths = on.template take<Index>(v.block_rows);
  with_bsell_block(v.block, [&]<int b>(std::integral_constant<int, b>) {
    on.each_rows_of_columns(v.block_rows, b, a, CountBlockRow<b, S>{lengths, m.full.data()});
  });

  std::int64_t const closed = std::int64_t{v.count} + 1;
  m.slices = Array<BsellSlice>(on.space(), v.count);
  auto* extents = on.template take<Extent>(closed);
  auto* start = on.template take<Extent>(closed);
  auto const measure = [&] {
    on.each_warp(v.count, MeasureSlice<S>{a, 1, v.block, v.block_rows, lengths, m.order.data(),
                                          m.slices.data(), extents});
    on.clear(extents + v.count, 1);
    on.scan(extents, start, closed, Plus{});
    Extent total;
    on.read(start + v.count, &total, 1);
    return total;
  };
  Extent total = measure();
  refuse(double(total.blocks));  // before anything is sorted
  if (bsell_sorts({total.blocks, C * total.steps})) {
    sort(on, lengths, total.longest, tuning.window, m);
    total = measure();
  }
  refuse(double(total.steps) * C);
  if (total.steps > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("bsell: ", total.steps, " steps; it counts them in 31 bits"));
  v.steps = static_cast<Index>(total.steps);
  on.each(v.count, SetStart{start, m.slices.data()});
  m.numbers = Array<std::uint8_t>(on.space(), std::size_t(total.units) * 64);
  m.values = Array<S>(on.space(), std::size_t(total.steps) * v.block * v.block * C);
  v.slices = m.slices.data(), v.numbers = m.numbers.data(), v.values = m.values.data();
  v.order = m.order.data();
  with_bsell_block(v.block, [&]<int b>(std::integral_constant<int, b>) {
    on.each_rows_of_columns(std::int64_t{v.count} * C, b, a,
                            FillNumbers<b, S>{v, m.place.data(), m.full.data(), m.numbers.data()});
  });
  fill<false>(on, a, m);
  return m;
}

}  // namespace tcsolve::bsell
