// SPDX-License-Identifier: Apache-2.0
/// A^T, written once for both backends (kernels/convert.hpp).
///
///     mirror   where a_ji lies, for every entry of A: the pattern of a square A that has them all
///              is that of A^T, entry by entry, and nothing is sorted
///     list     (column, {position, row}) of every entry, in the order of A
///     sort     by column, stably: the entries of A^T in their order
///     offsets  of column j: how many entries have a smaller one
#pragma once

#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve::sparse {

/// An entry of A: where it lies, and its row.
template <class O>
struct Place {
  O position;
  Index row;
};

template <class O>
struct ListEntries {
  PatternView a;
  std::uint32_t* key;
  Place<O>* place;
  TCSOLVE_HD void operator()(std::int64_t i, Offset k) const {
    key[k] = static_cast<std::uint32_t>(a.columns[k]);
    place[k] = {static_cast<O>(k), static_cast<Index>(i)};
  }
};

struct ColumnOffsets {
  std::uint32_t const* sorted;
  Offset entries;
  Offset* offsets;
  TCSOLVE_HD void operator()(std::int64_t j) const {
    offsets[j] = first_not_below(sorted, entries, static_cast<std::uint32_t>(j));
  }
};

template <class O>
struct TakePlaces {
  Place<O> const* place;
  Index* columns;
  O* source;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    columns[k] = place[k].row;
    source[k] = place[k].position;
  }
};

template <class O, class T>
struct Gather {
  O const* source;
  T const* from;
  T* to;
  TCSOLVE_HD void operator()(std::int64_t k) const { to[k] = from[source[k]]; }
};

/// source_k = the place of a_ji, where entry k is a_ij, or the word that one is missing.
template <class O>
struct FindMirror {
  PatternView a;
  O* source;
  std::int32_t* missing;
  TCSOLVE_HD void operator()(std::int64_t i, Offset k) const {
    Index const j = a.columns[k];
    Offset const begin = a.offsets[j], end = a.offsets[j + 1];
    Offset const at =
        begin + first_not_below(a.columns + begin, end - begin, static_cast<Index>(i));
    if (at < end && a.columns[at] == i)
      source[k] = static_cast<O>(at);
    else
      *missing = 1;
  }
};

/// Whether A's pattern is that of A^T; then `source` is where its entries come from.
template <class O, class On>
bool has_mirrors(On& on, PatternView const& a, O* source) {
  if (a.rows != a.cols) return false;
  auto* const missing = on.template take<std::int32_t>(1);
  on.clear(missing, 1);
  each_entry(on, a, FindMirror<O>{a, source, missing});
  std::int32_t some = 0;
  on.read(missing, &some, 1);
  return some == 0;
}

template <class O, class On>
OwnedPattern transpose_into(On& on, PatternView const& a, Array<O>& source) {
  source = Array<O>(on.space(), static_cast<std::size_t>(a.entries));
  if (has_mirrors(on, a, source.data())) {
    OwnedPattern made = with_offsets(on, a.rows, a.cols, a.offsets, a.entries);
    on.each(a.entries, Copy<Index>{a.columns, made.columns.data()});
    return made;
  }
  auto* const key = on.template take<std::uint32_t>(a.entries);
  auto* const place = on.template take<Place<O>>(a.entries);
  auto* const offsets = on.template take<Offset>(std::size_t(a.cols) + 1);
  each_entry(on, a, ListEntries<O>{a, key, place});
  on.sort(key, place, a.entries, static_cast<std::uint32_t>(a.cols));
  on.each(std::int64_t{a.cols} + 1, ColumnOffsets{key, a.entries, offsets});
  OwnedPattern made = with_offsets(on, a.cols, a.rows, offsets, a.entries);
  on.each(a.entries, TakePlaces<O>{place, made.columns.data(), source.data()});
  return made;
}

template <class On>
TransposedPattern transpose_pattern(On& on, PatternView const& a) {
  TransposedPattern made;
  made.pattern = a.entries <= std::numeric_limits<std::int32_t>::max()
                     ? transpose_into(on, a, made.narrow_source)
                     : transpose_into(on, a, made.wide_source);
  return made;
}

template <class On, class T>
void transpose_values(On& on, TransposedPattern const& made, T const* from, T* to) {
  std::int64_t const n = made.pattern.entries;
  if (made.wide_source.size() > 0)
    on.each(n, Gather<std::int64_t, T>{made.wide_source.data(), from, to});
  else
    on.each(n, Gather<std::int32_t, T>{made.narrow_source.data(), from, to});
}

}  // namespace tcsolve::sparse
