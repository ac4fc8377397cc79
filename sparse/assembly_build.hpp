// SPDX-License-Identifier: Apache-2.0
/// The places of entries, written once for both backends (kernels/convert.hpp).
///
///     list    (column, {position, row}) of every entry; of one that is left out, row = rows; of one
///             outside, rows + 1
///     sort    by column, then by row, stably: entries of a place stand together, k ascending, and
///             those without one behind all others
///     count   how many places begin before each entry
#pragma once

#include <algorithm>

#include <tcsolve/sparse/assembly.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::sparse {

/// An entry: its number, and its row or its column, the one that is not the key.
template <class O>
struct Entry {
  O position;
  std::uint32_t other;
};

template <class O>
struct ListByColumn {
  CooView a;
  std::uint32_t* key;
  Entry<O>* entry;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index const i = a.i[k], j = a.j[k];
    bool const left_out = i < 0 || j < 0;
    bool const outside = !left_out && (i >= a.rows || j >= a.cols);
    auto const rows = static_cast<std::uint32_t>(a.rows);
    key[k] = left_out || outside ? 0u : static_cast<std::uint32_t>(j);
    entry[k] = {static_cast<O>(k), left_out  ? rows
                                   : outside ? rows + 1
                                             : static_cast<std::uint32_t>(i)};
  }
};

/// Key and other change their parts.
template <class O>
struct TurnToRows {
  std::uint32_t* key;
  Entry<O>* entry;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    std::uint32_t const column = key[k];
    key[k] = entry[k].other;
    entry[k].other = column;
  }
};

/// 1 where a place begins; position `entries` ends the list.
template <class O>
struct MarkPlaces {
  std::uint32_t const* row;
  Entry<O> const* entry;
  std::uint32_t rows;
  Offset entries;
  Offset* begins;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    bool const there = k < entries && row[k] < rows;
    begins[k] =
        there && (k == 0 || row[k] != row[k - 1] || entry[k].other != entry[k - 1].other) ? 1 : 0;
  }
};

struct RowsOfPlaces {
  std::uint32_t const* row;
  Offset entries;
  Offset const* before;
  Offset* offsets;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    offsets[i] = before[first_not_below(row, entries, static_cast<std::uint32_t>(i))];
  }
};

/// How many entries are kept: those left out stand last, with the key `rows`.
struct CountLeft {
  std::uint32_t const* row;
  Offset entries;
  std::uint32_t rows;
  Offset* kept;
  TCSOLVE_HD void operator()(std::int64_t) const { *kept = first_not_below(row, entries, rows); }
};

template <class O>
struct WritePlaces {
  Entry<O> const* entry;
  Offset const* begins;
  Offset const* before;
  Offset kept;
  O* source;
  O* starts;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    if (k < kept) source[k] = entry[k].position;
    if (k == kept) starts[before[k]] = static_cast<O>(k);
    if (begins[k] == 0) return;
    starts[before[k]] = static_cast<O>(k);
    columns[before[k]] = static_cast<Index>(entry[k].other);
  }
};

template <class O>
struct SumPlaces {
  O const* source;
  O const* starts;
  double const* from;
  double* to;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    double sum = from[source[starts[s]]];
    for (O k = starts[s] + 1; k < starts[s + 1]; ++k) sum += from[source[k]];
    to[s] = sum;
  }
};

template <class O, class On>
OwnedPattern assemble_into(On& on, CooView const& a, Array<O>& source, Array<O>& starts) {
  Offset const n = a.entries;
  auto const rows = static_cast<std::uint32_t>(a.rows);
  auto* const key = on.template take<std::uint32_t>(static_cast<std::size_t>(n));
  auto* const entry = on.template take<Entry<O>>(static_cast<std::size_t>(n));
  auto* const begins = on.template take<Offset>(static_cast<std::size_t>(n) + 1);
  auto* const before = on.template take<Offset>(static_cast<std::size_t>(n) + 1);
  auto* const offsets = on.template take<Offset>(static_cast<std::size_t>(a.rows) + 1);
  on.each(n, ListByColumn<O>{a, key, entry});
  on.sort(key, entry, n, std::max<std::uint32_t>(1, static_cast<std::uint32_t>(a.cols)));
  on.each(n, TurnToRows<O>{key, entry});
  on.sort(key, entry, n, rows + 2);
  if (n > 0) {
    std::uint32_t last = 0;
    on.read(key + n - 1, &last, 1);
    if (last > rows) {
      Entry<O> outside{};
      on.read(entry + n - 1, &outside, 1);
      throw MatrixError(cat("entry ", outside.position, " (counted from 0) lies outside of the ",
                            a.rows, " x ", a.cols, " matrix"));
    }
  }
  on.each(n + 1, MarkPlaces<O>{key, entry, rows, n, begins});
  on.scan(begins, before, n + 1, Plus{});
  on.each(std::int64_t{a.rows} + 1, RowsOfPlaces{key, n, before, offsets});
  OwnedPattern made = with_offsets(on, a.rows, a.cols, offsets);
  Offset kept = 0;
  auto* const count = on.template take<Offset>(1);
  on.each(1, CountLeft{key, n, rows, count});
  on.read(count, &kept, 1);
  source = Array<O>(on.space(), static_cast<std::size_t>(kept));
  starts = Array<O>(on.space(), static_cast<std::size_t>(made.entries) + 1);
  on.each(kept + 1, WritePlaces<O>{entry, begins, before, kept, source.data(), starts.data(),
                                   made.columns.data()});
  return made;
}

template <class On>
AssembledPattern assemble_pattern(On& on, CooView const& a) {
  AssembledPattern made;
  made.pattern = a.entries <= std::numeric_limits<std::int32_t>::max()
                     ? assemble_into(on, a, made.narrow_source, made.narrow_starts)
                     : assemble_into(on, a, made.wide_source, made.wide_starts);
  return made;
}

template <class On>
void assemble_values(On& on, AssembledPattern const& made, double const* from, double* to) {
  Offset const n = made.pattern.entries;
  if (made.wide_starts.size() > 0)
    on.each(n, SumPlaces<std::int64_t>{made.wide_source.data(), made.wide_starts.data(), from, to});
  else
    on.each(
        n, SumPlaces<std::int32_t>{made.narrow_source.data(), made.narrow_starts.data(), from, to});
}

}  // namespace tcsolve::sparse
