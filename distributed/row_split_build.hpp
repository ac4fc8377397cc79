// SPDX-License-Identifier: Apache-2.0
/// Rows split by their columns, written once for both backends (kernels/convert.hpp).
///
///     rows      offsets ascend; the set of entries that begin a row
///     entries   columns are there; which ascend, which are outer, the set of the halo
///     sort      where some row does not ascend: by column, then by row, both stably
///     fill      each entry to its place
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <tcsolve/distributed/row_split.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/ranked_set.hpp>

namespace tcsolve {
namespace splitting {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// The first of each kind, or none; and what there is of others' columns.
struct Findings {
  std::int64_t bad_row = none;   ///< whose offsets descend or leave the entries
  std::int64_t outside = none;   ///< entry whose column is not there
  std::int64_t descends = none;  ///< entry not behind the one before it in its row
  std::int64_t twice = none;     ///< place, sorted, of a column that its row has already
  Offset layer = 0, outer = 0;   ///< columns in the halo, entries in these
};
struct FindNothing {
  Findings* found;
  TCSOLVE_HD void operator()(std::int64_t) const { *found = {}; }
};
struct CountOuter {
  RankedSet outer, halo;
  Findings* found;
  TCSOLVE_HD void operator()(std::int64_t) const {
    found->layer = halo.below(halo.n), found->outer = outer.below(outer.n);
  }
};

/// Global columns, of which [first, end) lie here.
struct Columns {
  std::int64_t const* given;
  std::int64_t first, end, all;
  TCSOLVE_HD bool own(std::int64_t j) const { return first <= j && j < end; }
};

struct LookAtRows {
  OffsetsView offsets;
  Offset entries;
  RankedSet begins;
  Findings* found;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const from = offsets[i], to = offsets[i + 1];
    if (from < 0 || to < from || to > entries) return lower_to(&found->bad_row, i);
    if (from < to) begins.insert(from);
  }
};

struct LookAtEntries {
  Columns columns;
  RankedSet begins, outer, halo;
  Findings* found;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const j = columns.given[e];
    if (j < 0 || j >= columns.all) return lower_to(&found->outside, e);
    if (e > 0 && columns.given[e - 1] >= j && !begins.has(e)) lower_to(&found->descends, e);
    if (columns.own(j)) return;
    outer.insert(e);
    halo.insert(j);
  }
};

/// key_p: the column of entry order_p among own ones and, behind these, the halo's.
struct ColumnKeys {
  Columns columns;
  RankedSet halo;
  Offset* order;
  std::uint32_t* key;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    std::int64_t const j = columns.given[p];
    order[p] = p;
    key[p] = static_cast<std::uint32_t>(
        columns.own(j) ? j - columns.first : columns.end - columns.first + halo.below(j));
  }
};
/// key_p: how many rows with entries begin before the one of entry order_p.
struct RowKeys {
  RankedSet begins;
  Offset const* order;
  std::uint32_t* key;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    key[p] = static_cast<std::uint32_t>(begins.below(order[p] + 1) - 1);
  }
};
struct LookAtSorted {
  Columns columns;
  Offset const* order;
  RankedSet begins, outer;
  Findings* found;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    std::int64_t const j = columns.given[order[p]];
    if (p > 0 && columns.given[order[p - 1]] == j && !begins.has(p)) lower_to(&found->twice, p);
    if (!columns.own(j)) outer.insert(p);
  }
};

struct CountAll {
  RankedSet set;
  Offset* members;
  TCSOLVE_HD void operator()(std::int64_t) const { *members = set.below(set.n); }
};

struct FindOuterRows {
  OffsetsView offsets;
  RankedSet outer, rows;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (outer.below(offsets[i]) < outer.below(offsets[i + 1])) rows.insert(i);
  }
};

/// Offsets of `own`, a copy of those given, which may be null without rows, and where outer rows
/// begin; i <= rows.
template <class To>
struct SplitOffsets {
  OffsetsView offsets;
  std::int64_t rows;
  RankedSet outer, outer_rows;
  To *own, *given;
  Offset* outer_offsets;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const from = i > 0 ? offsets[i] : 0, before = outer.below(from);
    own[i] = static_cast<To>(from - before);
    given[i] = static_cast<To>(from);
    if (i == rows || outer_rows.has(i)) outer_offsets[outer_rows.below(i)] = before;
  }
};

TCSOLVE_HD std::int64_t given_at(Offset const* order, std::int64_t p) {
  return order != nullptr ? order[p] : p;
}

/// To their places among the columns of `own` and `outer`.
struct MoveColumns {
  Columns columns;
  Offset const* order;
  RankedSet halo;
  Index *own, *outer;
  TCSOLVE_HD void to_own(std::int64_t p, Offset k) const {
    own[k] = static_cast<Index>(columns.given[given_at(order, p)] - columns.first);
  }
  TCSOLVE_HD void to_outer(std::int64_t p, Offset k) const {
    outer[k] = static_cast<Index>(halo.below(columns.given[given_at(order, p)]));
  }
};
struct MoveValues {
  double const* given;
  Offset const* order;
  double *own, *outer;
  TCSOLVE_HD void to_own(std::int64_t p, Offset k) const { own[k] = given[given_at(order, p)]; }
  TCSOLVE_HD void to_outer(std::int64_t p, Offset k) const { outer[k] = given[given_at(order, p)]; }
};
/// The entries at places 32 w to 32 w + 31, of which most often none is outer.
template <class Move>
struct MoveEntries {
  RankedSet outer;
  Move move;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    std::int64_t const first = 32 * w, count = first + 32 < outer.n ? 32 : outer.n - first;
    auto const bits = static_cast<std::uint32_t>(outer.words[w >> 1] >> (first & 63));
    Offset const before = outer.below(first);
    if (bits == 0)
      return warp.each([&](int l) {
        if (l < count) move.to_own(first + l, first + l - before);
      });
    warp.each([&](int l) {
      if (l >= count) return;
      Offset const k = before + count_bits(bits & ((std::uint32_t{1} << l) - 1));
      if ((bits >> l & 1) != 0)
        move.to_outer(first + l, k);
      else
        move.to_own(first + l, first + l - k);
    });
  }
};
template <class On, class Move>
void move_entries(On& on, RankedSet const& outer, Move const& move) {
  on.each_warp((outer.n + 31) / 32, MoveEntries<Move>{outer, move});
}

struct Nothing {
  template <class A>
  TCSOLVE_HD void operator()(A const&, std::int64_t) const {}
};

template <class On>
Offset offset_at(On& on, OffsetsView const& offsets, std::int64_t i) {
  if (offsets.wide) {
    Offset at = 0;
    on.read(static_cast<std::int64_t const*>(offsets.data) + i, &at, 1);
    return at;
  }
  std::int32_t at = 0;
  on.read(static_cast<std::int32_t const*>(offsets.data) + i, &at, 1);
  return at;
}

/// The row of entry e; offsets ascend.
template <class On>
std::int64_t row_of(On& on, CsrView64 const& a, Offset e) {
  std::int64_t low = 0, high = a.rows;  // offsets[low] <= e < offsets[high]
  while (high - low > 1) {
    std::int64_t const middle = low + (high - low) / 2;
    (offset_at(on, a.offsets, middle) <= e ? low : high) = middle;
  }
  return low;
}

template <class On>
std::int64_t column_of(On& on, CsrView64 const& a, Offset e) {
  std::int64_t j = 0;
  on.read(a.columns + e, &j, 1);
  return j;
}

template <class On>
void require_good(On& on, std::int64_t first_row, CsrView64 const& a, Findings const& found) {
  if (found.bad_row != none)
    throw MatrixError(cat("row ", first_row + found.bad_row, ": offsets descend"));
  if (found.outside != none)
    throw MatrixError(cat("row ", first_row + row_of(on, a, found.outside), " has column ",
                          column_of(on, a, found.outside), ", outside [0, ", a.cols, ")"));
}

template <class On>
Findings read(On& on, Findings const* found) {
  Findings here;
  on.read(found, &here, 1);
  return here;
}

/// order, and outer anew. Throws where a row has a column twice.
template <class On>
void sort_entries(On& on, std::int64_t first_row, CsrView64 const& a, Columns const& columns,
                  RankedSet const& begins, RankedSet const& outer, RankedSet const& halo,
                  std::uint32_t local_columns, Findings* found, Offset* order) {
  auto* const key = on.template take<std::uint32_t>(static_cast<std::size_t>(a.entries));
  on.each(a.entries, ColumnKeys{columns, halo, order, key});
  on.sort(key, order, a.entries, local_columns);
  auto const rows = static_cast<std::uint32_t>(rank_members(on, begins));
  on.each(a.entries, RowKeys{begins, order, key});
  on.sort(key, order, a.entries, rows);
  on.clear(outer.words, RankedSet::word_count(outer.n));
  on.each(a.entries, LookAtSorted{columns, order, begins, outer, found});
  Offset const twice = read(on, found).twice;
  if (twice == none) return;
  Offset e = 0;
  on.read(order + twice, &e, 1);
  throw MatrixError(
      cat("row ", first_row + row_of(on, a, e), " has column ", column_of(on, a, e), " twice"));
}

/// Lists on the backend that come to the host together: to wait for a device takes longer than to
/// copy a little more. Those of 8 bytes an element before those of 4.
template <class On>
class Lists {
 public:
  Lists(On& on, std::size_t bytes)
      : on_(on), bytes_(bytes), there_(on.template take<std::byte>(bytes)) {}
  template <class T>
  T* add(std::int64_t n) {
    auto* const at = reinterpret_cast<T*>(there_ + used_);
    used_ += sizeof(T) * static_cast<std::size_t>(n);
    return at;
  }
  /// Waits.
  void fetch() {
    here_.resize(bytes_);
    on_.read(there_, here_.data(), static_cast<std::int64_t>(bytes_));
  }
  /// The first n elements of a list, once they are here.
  template <class T>
  std::vector<T> of(T const* list, std::int64_t n) const {
    std::vector<T> out(static_cast<std::size_t>(n));
    auto const at = reinterpret_cast<std::byte const*>(list) - there_;
    if (n > 0) std::memcpy(out.data(), here_.data() + at, out.size() * sizeof(T));
    return out;
  }

 private:
  On& on_;
  std::size_t bytes_, used_ = 0;
  std::byte* there_;
  std::vector<std::byte> here_;
};

}  // namespace splitting

template <class On>
RowSplit split_rows(On& on, std::int64_t first_row, CsrView64 const& a, std::int64_t first_column,
                    Index own_columns) {
  using namespace splitting;
  RowSplit made;
  EntryPlaces& places = made.places;
  places.rows = a.rows, places.entries = a.entries;
  auto const room = [&]<class T>(Array<T>& array, std::int64_t n) {
    array.resize(on.space(), static_cast<std::size_t>(n));
    return array.data();
  };

  Columns const columns{a.columns, first_column, first_column + own_columns, a.cols};
  std::int64_t const words = RankedSet::word_count(a.entries);
  RankedSet const outer = ranked_set(on, a.entries, room(places.outer_words, words),
                                     room(places.outer_members, words)),
                  begins = ranked_set(on, a.entries), halo = ranked_set(on, a.cols);
  auto* const found = on.template take<Findings>(1);
  on.each(1, FindNothing{found});
  on.each(a.rows, LookAtRows{a.offsets, a.entries, begins, found});
  on.each(a.entries, LookAtEntries{columns, begins, outer, halo, found});
  number_members(on, halo);
  number_members(on, outer);
  on.each(1, CountOuter{outer, halo, found});
  Findings const seen = read(on, found);
  require_good(on, first_row, a, seen);

  Offset const layer = seen.layer, beyond = places.outer = seen.outer;
  Index const local = narrow(own_columns + layer, "columns of a rank and of its halo");
  Offset* order = nullptr;
  if (seen.descends != none) {
    order = room(places.order, a.entries);
    sort_entries(on, first_row, a, columns, begins, outer, halo, static_cast<std::uint32_t>(local),
                 found, order);
    number_members(on, outer);
  }

  Offset const most_rows = std::min<Offset>(a.rows, beyond);
  auto const bytes = [](Offset n, std::size_t each) { return static_cast<std::size_t>(n) * each; };
  Lists lists(on, bytes(1 + layer + most_rows + 1, 8) + bytes(beyond + most_rows, sizeof(Index)));
  auto* const outer_row_count = lists.template add<Offset>(1);
  auto* const numbers = lists.template add<std::int64_t>(layer);
  auto* const outer_offsets = lists.template add<Offset>(most_rows + 1);
  auto* const outer_columns = lists.template add<Index>(beyond);
  auto* const outer_rows = lists.template add<Index>(most_rows);
  list_members(on, halo, numbers);
  RankedSet const rows = ranked_set(on, a.rows);
  on.each(a.rows, FindOuterRows{a.offsets, outer, rows});
  number_members(on, rows);
  on.each(1, CountAll{rows, outer_row_count});
  list_members(on, rows, outer_rows);
  auto const split_offsets = [&]<class To>(Array<To>& own, Array<To>& given) {
    on.each(std::int64_t{a.rows} + 1,
            SplitOffsets<To>{a.offsets, a.rows, outer, rows, room(own, a.rows + 1),
                             room(given, a.rows + 1), outer_offsets});
  };
  if (a.entries <= std::numeric_limits<std::int32_t>::max())
    split_offsets(made.own.narrow_offsets, places.narrow_offsets);
  else
    split_offsets(made.own.wide_offsets, places.wide_offsets);
  move_entries(
      on, outer,
      MoveColumns{columns, order, halo, room(made.own.columns, a.entries - beyond), outer_columns});

  lists.fetch();
  Offset const with_others = lists.of(outer_row_count, 1).front();
  made.halo = lists.of(numbers, layer);
  made.outer_rows = lists.of(outer_rows, with_others);
  made.outer.rows = static_cast<Index>(with_others);
  made.outer.cols = static_cast<Index>(layer);
  made.outer.offsets = lists.of(outer_offsets, with_others + 1);
  made.outer.columns = lists.of(outer_columns, beyond);
  return made;
}

template <class On>
SplitValues split_values(On& on, EntryPlaces const& places, double const* values,
                         Array<double>& own) {
  using namespace splitting;
  RankedSet const outer{places.entries, const_cast<std::uint64_t*>(places.outer_words.data()),
                        const_cast<Offset*>(places.outer_members.data())};
  own.resize(on.space(), static_cast<std::size_t>(places.entries - places.outer));
  Lists lists(on, (1 + static_cast<std::size_t>(places.outer)) * sizeof(double));
  auto* const norm = lists.template add<double>(1);
  auto* const outer_values = lists.template add<double>(places.outer);
  Offset const* const order = places.order.size() > 0 ? places.order.data() : nullptr;
  move_entries(on, outer, MoveValues{values, order, own.data(), outer_values});
  on.clear(norm, 1);
  CsrView<double> const a{places.rows, 0,      places.entries, places.offsets(),
                          nullptr,     values, on.space()};
  on.each_row_of_values(places.rows, a, Nothing{}, {.norm = norm});
  lists.fetch();
  return {lists.of(outer_values, places.outer), lists.of(norm, 1).front()};
}

}  // namespace tcsolve
