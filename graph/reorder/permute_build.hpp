// SPDX-License-Identifier: Apache-2.0
/// P A P^T, written once for both backends (kernels/convert.hpp).
///
///     row i of B = row old(i) of A, its columns j as new(j), ascending
///
/// The position of an entry in its row is the number of entries with smaller columns. Rows of up to
/// 256 entries count it by comparing all pairs. The entries of all longer rows are sorted together,
/// first by column, then stably by row. The result is unique, because the columns of a row differ.
///
///   bytes  columns and values three times with random access to rows; of scratch, 4 per entry and
///          48 per entry of a long row
#pragma once

#include <limits>

#include <tcsolve/graph/reorder/renumber.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::permuting {

constexpr Offset long_row = 256;

/// The lengths of the new rows, and separately those of the long rows.
template <class O>
struct Lengths {
  OffsetsView offsets;
  Index const* old_numbers;
  Index rows;
  O* all;
  Offset* of_long;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index const old = i < rows ? old_numbers[i] : 0;
    Offset const length = i < rows ? offsets[old + 1] - offsets[old] : 0;
    all[i] = static_cast<O>(length);
    of_long[i] = length > long_row ? length : 0;
  }
};

/// An entry of a long row: its position in A and its new row.
struct Moved {
  Offset from;
  Index row;
};

/// Writes the new columns in the order of the old ones, and lists the entries of long rows.
template <class O>
struct Rename {
  PatternView a;
  Index const *old_numbers, *new_numbers;
  O const* offsets;
  Offset const* before;  ///< number of entries in long rows before each row
  Index* unsorted;
  std::uint32_t* key;
  Moved* moved;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const old = old_numbers[i];
    Offset const from = a.offsets[old], length = a.offsets[old + 1] - from, to = offsets[i];
    warp.each([&](int lane) {
      for (Offset k = lane; k < length; k += 32) {
        Index const column = new_numbers[a.columns[from + k]];
        if (length > long_row) {
          key[before[i] + k] = static_cast<std::uint32_t>(column);
          moved[before[i] + k] = {from + k, static_cast<Index>(i)};
        } else {
          unsorted[to + k] = column;
        }
      }
    });
  }
};

template <class S, class O>
struct Place {
  CsrView<S> a;
  Index const* old_numbers;
  O const* offsets;
  Index const* unsorted;
  Index* columns;
  S* values;  ///< null: only the pattern is permuted
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const to = offsets[i];
    int const length = offsets[i + 1] - to <= long_row ? static_cast<int>(offsets[i + 1] - to) : 0;
    Index const* const row = unsorted + to;
    warp.each([&](int lane) {
      for (int k = lane; k < length; k += 32) {
        Index const column = row[k];
        int rank = 0;
        for (int m = 0; m < length; ++m) rank += row[m] < column;
        columns[to + rank] = column;
        if constexpr (!std::is_void_v<S>)
          values[to + rank] = a.values[a.offsets[old_numbers[i]] + k];
      }
    });
  }
};

struct RowKeys {
  Moved const* moved;
  std::uint32_t* key;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    key[k] = static_cast<std::uint32_t>(moved[k].row);
  }
};

/// Entry k of all in long rows, by row and column.
template <class S, class O>
struct PlaceLong {
  CsrView<S> a;
  Index const* new_numbers;
  O const* offsets;
  Offset const* before;
  Moved const* moved;
  Index* columns;
  S* values;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Moved const& entry = moved[k];
    Offset const to = offsets[entry.row] + (k - before[entry.row]);
    columns[to] = new_numbers[a.columns[entry.from]];
    if constexpr (!std::is_void_v<S>) values[to] = a.values[entry.from];
  }
};

/// Writes P A P^T to arrays that the caller has allocated; offsets (rows + 1).
template <class On, class S, class O>
void permute_into(On& on, CsrView<S> const& a, Index const* old_numbers, Index const* new_numbers,
                  O* offsets, Index* columns, S* values) {
  std::int64_t const n = a.rows;
  O* const lengths = on.template take<O>(n + 1);
  auto* const long_lengths = on.template take<Offset>(n + 1);
  auto* const before = on.template take<Offset>(n + 1);
  on.each(n + 1, Lengths<O>{a.offsets, old_numbers, a.rows, lengths, long_lengths});
  on.scan(lengths, offsets, n + 1, Plus{});
  on.scan(long_lengths, before, n + 1, Plus{});
  Offset in_long = 0;
  on.read(before + n, &in_long, 1);
  auto* const unsorted = on.template take<Index>(a.entries);
  auto* const key = on.template take<std::uint32_t>(in_long);
  auto* const moved = on.template take<Moved>(in_long);
  PatternView const pattern(a);
  on.each_warp(n,
               Rename<O>{pattern, old_numbers, new_numbers, offsets, before, unsorted, key, moved});
  on.each_warp(n, Place<S, O>{a, old_numbers, offsets, unsorted, columns, values});
  if (in_long == 0) return;
  auto const keys = static_cast<std::uint32_t>(n);
  on.sort(key, moved, in_long, keys);
  on.each(in_long, RowKeys{moved, key});
  on.sort(key, moved, in_long, keys);
  on.each(in_long, PlaceLong<S, O>{a, new_numbers, offsets, before, moved, columns, values});
}

template <class On, class S>
CsrArrays<S> permute(On& on, CsrView<S> const& a, Index const* old_numbers,
                     Index const* new_numbers) {
  CsrArrays<S> b;
  auto const rows = static_cast<std::size_t>(a.rows) + 1;
  b.columns = Array<Index>(on.space(), a.entries);
  b.values = Array<S>(on.space(), a.entries);
  auto const into = [&](auto& offsets) {
    offsets = std::remove_reference_t<decltype(offsets)>(on.space(), rows);
    permute_into(on, a, old_numbers, new_numbers, offsets.data(), b.columns.data(),
                 b.values.data());
  };
  if (a.entries <= std::numeric_limits<std::int32_t>::max())
    into(b.narrow_offsets);
  else
    into(b.wide_offsets);
  return b;
}

}  // namespace tcsolve::permuting
