// SPDX-License-Identifier: Apache-2.0
/// What the pattern of a matrix will cost each format, in one pass (formats/features.hpp).
#pragma once

#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/kernels/views/dasp.hpp>
#include <tcsolve/kernels/views/sell.hpp>

namespace tcsolve {

/// Counts over a pattern, as sums of a pass: integers, exact in FP64, so that host and device agree
/// whatever the order.
struct FeatureSums {
  enum : int {
    short_rows = 0,  ///< + l: rows of l entries, l = 0 .. 4
    long_rows = 5,   ///< of more than 256 entries
    long_entries,
    medium_slots,  ///< of the other rows, each filled up to a multiple of 4
    medium_wide,   ///< of these, in block rows whose columns span 65536 or more
    slices_stored,
    slices_wide,  ///< stored in slices whose columns span 65536 or more
    tiles,        ///< 8 x 8 tiles with an entry, long rows left out
    blocks,       ///< tiles of more than two entries
    block_entries,
    count
  };
};

/// Element I is block row I, eight rows. Cost: the pattern once; a merge of eight rows, serial in
/// its thread, of which long rows are left out.
template <class S>
struct MeasureFeatures {
  static constexpr char const* name = "measure_features";
  static constexpr bool long_elements = true;
  static constexpr int sums = FeatureSums::count;
  static constexpr Index long_row = 256, none = 2147483647;
  std::int64_t n;
  CsrView<S> a;
  double* counts;

  TCSOLVE_HD void element(std::int64_t I, NoCoefficients, double* sum) const {
    using F = FeatureSums;
    if (I % 4 == 0) measure_slice(I / 4, sum);
    Offset at[8], end[8];
    Index low = none, high = -1;
    double slots = 0;
    for (int r = 0; r < 8; ++r) {
      std::int64_t const i = 8 * I + r;
      at[r] = i < a.rows ? a.offsets[i] : 0;
      end[r] = i < a.rows ? a.offsets[i + 1] : 0;
      if (i >= a.rows) continue;
      Offset const length = end[r] - at[r];
      if (length > long_row) {
        sum[F::long_rows] += 1;
        sum[F::long_entries] += double(length);
        end[r] = at[r];
        continue;
      }
      if (length <= 4) {
        for (int l = 0; l <= 4; ++l) sum[F::short_rows + l] += length == l;
      } else {
        slots += double((length + 3) / 4 * 4);
      }
      if (length == 0) continue;
      low = a.columns[at[r]] < low ? a.columns[at[r]] : low;
      high = a.columns[end[r] - 1] > high ? a.columns[end[r] - 1] : high;
    }
    sum[F::medium_slots] += slots;
    if (high - low > 65535) sum[F::medium_wide] += slots;
    walk_tiles(at, end, sum);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < sums; ++k) counts[k] = sum[k];
  }

 private:
  /// A merge of eight rows by the block column of their next entry.
  TCSOLVE_HD void walk_tiles(Offset (&at)[8], Offset const (&end)[8], double* sum) const {
    using F = FeatureSums;
    Index next[8];
    for (int r = 0; r < 8; ++r) next[r] = at[r] < end[r] ? a.columns[at[r]] : none;
    for (;;) {
      Index tile = none;
      for (int r = 0; r < 8; ++r) tile = next[r] / 8 < tile ? next[r] / 8 : tile;
      if (tile == none / 8) return;
      int entries = 0;
      for (int r = 0; r < 8; ++r)
        while (next[r] / 8 == tile) {
          ++entries;
          ++at[r];
          next[r] = at[r] < end[r] ? a.columns[at[r]] : none;
        }
      sum[F::tiles] += 1;
      if (entries <= 2) continue;
      sum[F::blocks] += 1;
      sum[F::block_entries] += entries;
    }
  }
  TCSOLVE_HD void measure_slice(std::int64_t s, double* sum) const {
    constexpr int C = SellView<S>::C;
    Index low = none, high = -1;
    Offset width = 0;
    for (std::int64_t i = s * C; i < (s + 1) * C && i < a.rows; ++i) {
      Offset const first = a.offsets[i], last = a.offsets[i + 1];
      if (first == last) continue;
      width = last - first > width ? last - first : width;
      low = a.columns[first] < low ? a.columns[first] : low;
      high = a.columns[last - 1] > high ? a.columns[last - 1] : high;
    }
    sum[FeatureSums::slices_stored] += double(width * C);
    if (high - low > 65535) sum[FeatureSums::slices_wide] += double(width * C);
  }
};

/// counts = entries above the diagonal, entries below it, and those above that are not what lies at
/// (j, i). Cost: for each entry above a search of a row.
template <class S>
struct MeasureSymmetry {
  static constexpr char const* name = "measure_symmetry";
  static constexpr bool long_elements = true;
  static constexpr int sums = 3;
  std::int64_t n;
  CsrView<S> a;
  double* counts;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      if (j < i) sum[1] += 1;
      if (j <= i) continue;
      sum[0] += 1;
      Offset low = a.offsets[j], high = a.offsets[j + 1];
      while (high - low > 1) {
        Offset const middle = low + (high - low) / 2;
        (a.columns[middle] <= i ? low : high) = middle;
      }
      bool const there = low < high && a.columns[low] == i;
      if (!there || double(a.values[low]) != double(a.values[k])) sum[2] += 1;
    }
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < sums; ++k) counts[k] = sum[k];
  }
};

/// length[0] = entries of the longest row.
template <class S>
struct LongestRow {
  static constexpr char const* name = "longest_row";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;
  CsrView<S> a;
  double* length;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double const here = double(a.offsets[i + 1] - a.offsets[i]);
    sum[0] = here > sum[0] ? here : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *length = sum[0]; }
};

}  // namespace tcsolve
