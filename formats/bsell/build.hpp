// SPDX-License-Identifier: Apache-2.0
/// CSR to slices of dense blocks, written once for both backends (kernels/convert.hpp): the size of
/// block and how many each block row has (formats/bsell/count.hpp); the order of block rows; then
/// the slices; and new values where the pattern stays.
#pragma once

#include <bit>
#include <limits>

#include <tcsolve/formats/bsell/count.hpp>

namespace tcsolve::bsell {

TCSOLVE_HD int ones(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return __popc(v);
#else
  return std::popcount(v);
#endif
}

/// Sorting keys: by window, then longest first. Beyond a thousand blocks all lengths are
/// sorted as one.
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

/// The values of row i, or of a lane that has none: its entries where the column numbers say,
/// padding in between. `again`, where the pattern stays: its entries where no padding is,
/// without a look at the columns. Rows go through shared memory, so that they are read in runs.
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
    // The pattern is not checked here: another one must not cause reads beyond its arrays.
    if (inside && full[I] != 0) {
      for (; j < slice.steps && at + b <= end; ++j, at += b, to += step) {
        S now[b];  // before any is written, which would make the next wait
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) now[c] = as_entry(a.values[at + c]);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) to[c * C] = now[c];
      }
    } else if constexpr (again) {
      between_padding(a.values, at, end, slice.steps, to);
    }
    if constexpr (!again) {
      for (; j < slice.steps; ++j, to += step) {
        std::int64_t const first = std::int64_t{m.column(slice, j, lane)} * b;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
        for (int c = 0; c < b; ++c) {
          bool const here = at < end && a.columns[at] == first + c;
          to[c * C] = here ? as_entry(a.values[at]) : padding<S>();
          at += here;
        }
      }
    }
  }

 private:
  /// The old values of a few steps are on their way at once, and then the new ones: the last comes
  /// first, since its place is known when all the old ones are.
  TCSOLVE_HD static void between_padding(S const* entries, Offset at, Offset end, Index steps,
                                         S* to) {
    constexpr int together = 8 / b, count = together * b;
    for (Index j = 0; j < steps && at < end; j += together, to += together * step) {
      std::uint32_t kept = 0;  // a bit for each that is no padding
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = 0; e < count; ++e) {
        S const old = j + e / b < steps ? to[e / b * step + e % b * C] : padding<S>();
        kept |= std::uint32_t{!is_padding(old)} << e;
      }
      S now[count];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int e = count - 1; e >= 0; --e) {
        Offset const from = at + ones(kept & ((1u << e) - 1));
        if (from >= end) kept &= ~(1u << e);
        now[e] = (kept >> e & 1) != 0 ? as_entry(entries[from]) : padding<S>();
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
  if (m.values.size() == 0) {  // a matrix without entries has no array to point into
    m.norm = 0;
    return;
  }
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
void sort(On& on, Index const* lengths, Offset longest, Index window, BsellArrays<S>& m) {
  Index const block_rows = m.view.block_rows;
  auto const most = static_cast<Index>(std::min<Offset>(longest, SetKeys::told));
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
    if (!padding_pays(positions, a.entries))
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
