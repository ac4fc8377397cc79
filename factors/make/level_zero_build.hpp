// SPDX-License-Identifier: Apache-2.0
/// Patterns of level 0 and level schedules (factors/make/level_zero.hpp), written once for both
/// backends (kernels/convert.hpp, kernels/steps.hpp).
#pragma once

#include <algorithm>
#include <limits>

#include <tcsolve/factors/arrange/arranged_view.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/factors/make/level_zero.hpp>
#include <tcsolve/graph/reorder/adjacency_build.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::level_zeros {

// ---- the joint rows ----

/// How many entries row i has before and behind its diagonal, and with it.
struct Split {
  PatternView a;
  Index *below, *above;
  Offset* length;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (i == a.rows) {
      length[i] = 0;
      return;
    }
    Offset const first = a.offsets[i], count = a.offsets[i + 1] - first;
    Offset const at = sparse::first_not_below(a.columns + first, count, static_cast<Index>(i));
    bool const own = at < count && a.columns[first + at] == i;
    below[i] = static_cast<Index>(at);
    above[i] = static_cast<Index>(count - at - (own ? 1 : 0));
    length[i] = count + (own ? 0 : 1);
  }
};

template <class O>
struct WriteStarts {
  Offset const* offsets;
  Index const* below;
  std::int64_t rows;
  O* to;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    to[i] = static_cast<O>(offsets[i]);
    if (i == rows) return;
    to[rows + 1 + i] = static_cast<O>(offsets[i] + below[i]);
    to[2 * rows + 1 + i] = static_cast<O>(offsets[i] + below[i] + 1);
  }
};

struct WriteColumns {
  PatternView a;
  Offset const* offsets;
  Index const *below, *above;
  Index* columns;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const first = a.offsets[i], count = a.offsets[i + 1] - first, to = offsets[i];
    Index const left = below[i], own = count > Offset{left} + above[i] ? 1 : 0;
    warp.each([&](int lane) {
      if (lane == 0) columns[to + left] = static_cast<Index>(i);
      for (Offset k = lane; k < count; k += 32)
        columns[to + k + (k >= left && own == 0 ? 1 : 0)] = a.columns[first + k];
    });
  }
};

/// Sums over all rows.
struct Facts {
  Offset lower, upper, squares, subtractions, of_long_rows;
  Index longest, unused;
};

template <class Warp>
TCSOLVE_HD Offset sum_of_warp(Warp const& warp,
                              typename Warp::template Of<std::uint64_t> const& v) {
  typename Warp::template Of<std::uint32_t> low, high;
  warp.each([&](int lane) {
    low[lane] = static_cast<std::uint32_t>(v[lane]);
    high[lane] = static_cast<std::uint32_t>(v[lane] >> 32);
  });
  return warp.sum(low) + (warp.sum(high) << 32);
}

/// Rows 32 w to 32 w + 31.
struct SeeRows {
  PatternView a;
  Index const *below, *above;
  Offset const* offsets;
  Facts* facts;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint64_t> lower, upper, squares, subtractions;
    warp.each([&](int lane) {
      lower[lane] = upper[lane] = squares[lane] = subtractions[lane] = 0;
      std::int64_t const i = 32 * w + lane;
      if (i >= a.rows) return;
      auto const length = static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]);
      lower[lane] = static_cast<std::uint64_t>(below[i]);
      upper[lane] = static_cast<std::uint64_t>(above[i]);
      squares[lane] = length * length;
      Index const* const columns = a.columns + a.offsets[i];
      for (Index k = 0; k < below[i]; ++k)
        subtractions[lane] += static_cast<std::uint64_t>(above[columns[k]]);
      raise_to(&facts->longest, static_cast<Index>(length));
    });
    Offset const sums[] = {sum_of_warp(warp, lower), sum_of_warp(warp, upper),
                           sum_of_warp(warp, squares), sum_of_warp(warp, subtractions)};
    warp.each([&](int lane) {
      if (lane != 0) return;
      Offset* const to[] = {&facts->lower, &facts->upper, &facts->squares, &facts->subtractions};
      for (int f = 0; f < 4; ++f) atomic_add(to[f], sums[f]);
    });
  }
};
struct SeeLongRows {
  Offset const* offsets;
  std::int64_t rows;
  Index short_row;
  Facts* facts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (Offset const length = offsets[i + 1] - offsets[i]; length > short_row)
      atomic_add(&facts->of_long_rows, length);
  }
};

// ---- the levels ----

/// Rows of a level, of L and of U.
struct Found {
  Index lower, upper;
};
struct KahnCounts {
  Found found[3];  ///< rows of the present level, of the next one and of the one after it, in turn
  Found levels;    ///< 0: there are more than the limit
};
/// What belongs to a triangle. The two are members and no array: one with a subscript that a thread
/// finds out is kept in a device's local memory.
struct Triangle {
  Index* left;   ///< entries of each row in the triangle that are still waited for
  Index* level;  ///< zeros
  Index* queue;
};

/// Rows without entries in a triangle are its level 0.
struct BeginLevels {
  Triangle lower, upper;
  KahnCounts* counts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    auto const row = static_cast<Index>(i);
    if (lower.left[i] == 0) lower.queue[atomic_add(&counts->found[0].lower, 1)] = row;
    if (upper.left[i] == 0) upper.queue[atomic_add(&counts->found[0].upper, 1)] = row;
  }
};
/// Row number i of a level of L, or, beyond those, of one of U.
struct TakeOff {
  PatternView back;  ///< row j lists the rows that have an entry in column j
  Triangle lower, upper;
  Found first, here;  ///< where the level begins in the queues, and its rows
  Index depth;
  Found *next, *after;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    bool const of_lower = i < here.lower;
    Index *const left = of_lower ? lower.left : upper.left,
                 *const level = of_lower ? lower.level : upper.level,
                 *const queue = (of_lower ? lower.queue : upper.queue) +
                                (of_lower ? first.lower : first.upper);
    Index* const to = queue + (of_lower ? here.lower : here.upper);
    Index* const count = of_lower ? &next->lower : &next->upper;
    Index const j = queue[of_lower ? i : i - here.lower];
    Offset const begin = back.offsets[j], end = back.offsets[j + 1];
    warp.each([&](int lane) {
      if (i == 0 && lane == 0) *after = {0, 0};
      for (Offset k = begin + lane; k < end; k += 32) {
        Index const row = back.columns[k];
        if (of_lower ? row <= j : row >= j) continue;
        if (atomic_add(left + row, -1) != 1) continue;
        level[row] = depth + 1;
        to[atomic_add(count, 1)] = row;
      }
    });
  }
};
struct EndLevels {
  KahnCounts* counts;
  Found levels;
  TCSOLVE_HD void operator()(std::int64_t) const { counts->levels = levels; }
};

struct Kahn {
  PatternView back;
  Triangle lower, upper;
  KahnCounts* counts;  ///< zeros
  Index most;

  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    steps.each(back.rows, BeginLevels{lower, upper, counts});
    Found first{0, 0}, levels{0, 0};
    for (Index d = 0;; ++d) {
      Found const here = steps.value(counts->found + d % 3);
      std::int64_t const rows = std::int64_t{here.lower} + here.upper;
      if (rows == 0) break;
      if (d == most) return;
      steps.each_warp(rows, TakeOff{back, lower, upper, first, here, d, counts->found + (d + 1) % 3,
                                    counts->found + (d + 2) % 3});
      first.lower += here.lower, first.upper += here.upper;
      levels.lower += here.lower > 0 ? 1 : 0, levels.upper += here.upper > 0 ? 1 : 0;
    }
    steps.each(1, EndLevels{counts, levels});
  }
};

// ---- the schedules ----

struct KeyByLevel {
  Index const* level;
  std::uint32_t* key;
  Index* row;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    key[i] = static_cast<std::uint32_t>(level[i]), row[i] = static_cast<Index>(i);
  }
};
/// Where a level begins among the sorted rows.
struct StartLevel {
  std::uint32_t const* key;
  std::int64_t rows;
  Index* starts;  ///< (levels + 1)
  TCSOLVE_HD void operator()(std::int64_t l) const {
    starts[l] =
        static_cast<Index>(sparse::first_not_below(key, rows, static_cast<std::uint32_t>(l)));
  }
};
struct PadLevel {
  Index const* starts;
  Index levels;
  Index* padded;  ///< (levels + 1)
  TCSOLVE_HD void operator()(std::int64_t l) const {
    padded[l] = l < levels
                    ? (starts[l + 1] - starts[l] + rows_of_warp - 1) / rows_of_warp * rows_of_warp
                    : 0;
  }
};
struct NoRow {
  Index* row_of;
  TCSOLVE_HD void operator()(std::int64_t p) const { row_of[p] = -1; }
};
struct PlaceRow {
  std::uint32_t const* key;
  Index const *row, *starts, *places;
  Index* row_of;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    auto const l = static_cast<std::int64_t>(key[k]);
    row_of[places[l] + k - starts[l]] = row[k];
  }
};

/// By level and number, levels padded: level_order() of the triangle.
template <class On>
LevelSchedule schedule(On& on, Index rows, Index const* level, Index levels) {
  auto const n = static_cast<std::size_t>(rows), count = static_cast<std::size_t>(levels) + 1;
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const row = on.template take<Index>(n);
  auto* const starts = on.template take<Index>(count);
  auto* const padded = on.template take<Index>(count);
  on.each(rows, KeyByLevel{level, key, row});
  on.sort(key, row, rows, static_cast<std::uint32_t>(levels));
  on.each(std::int64_t{levels} + 1, StartLevel{key, rows, starts});
  on.each(std::int64_t{levels} + 1, PadLevel{starts, levels, padded});
  LevelSchedule made;
  made.levels = levels;
  made.starts = Array<Index>(on.space(), count);
  on.scan(padded, made.starts.data(), std::int64_t{levels} + 1, Plus{});
  on.read(made.starts.data() + levels, &made.places, 1);
  made.row_of = Array<Index>(on.space(), static_cast<std::size_t>(made.places));
  on.each(made.places, NoRow{made.row_of.data()});
  on.each(rows, PlaceRow{key, row, starts, made.starts.data(), made.row_of.data()});
  return made;
}

/// The rows of each column; A's own rows where the pattern is symmetric.
template <class On>
PatternView by_columns(On& on, PatternView const& a) {
  if (ordering::has_symmetric_pattern(on, a)) return a;
  auto* const column = on.template take<std::uint32_t>(static_cast<std::size_t>(a.entries));
  auto* const row = on.template take<Index>(static_cast<std::size_t>(a.entries));
  auto* const starts = on.template take<Offset>(static_cast<std::size_t>(a.rows) + 1);
  on.each_warp(a.rows, ordering::ListEntries{a, column, row});
  on.sort(column, row, a.entries, static_cast<std::uint32_t>(a.rows));
  on.each(std::int64_t{a.rows} + 1, ordering::Starts{column, a.entries, starts});
  PatternView back = a;
  back.offsets = starts, back.columns = row;
  return back;
}

template <class On>
std::optional<LevelZero> build(On& on, PatternView const& a, Index most_levels) {
  std::int64_t const rows = a.rows;
  auto const n = static_cast<std::size_t>(rows);
  if (rows + std::int64_t{rows_of_warp} * most_levels > std::numeric_limits<Index>::max())
    return std::nullopt;  // places are counted with 31 bits
  LevelZero made;
  made.rows = a.rows;
  auto* const below = on.template take<Index>(n);
  auto* const above = on.template take<Index>(n);
  auto* const length = on.template take<Offset>(n + 1);
  auto* const offsets = on.template take<Offset>(n + 1);
  on.each(rows + 1, Split{a, below, above, length});
  on.scan(length, offsets, rows + 1, Plus{});

  auto* const facts = on.template take<Facts>(1);
  on.clear(facts, 1);
  on.each_warp((rows + 31) / 32, SeeRows{a, below, above, offsets, facts});
  Facts seen{};
  on.read(facts, &seen, 1);
  made.entries = seen.lower + seen.upper + rows;
  made.lower = seen.lower, made.upper = seen.upper, made.subtractions = seen.subtractions;
  made.longest_row = seen.longest;
  made.short_row = short_row_of(seen.longest, static_cast<double>(seen.squares), made.entries);
  if (made.short_row < made.longest_row) {
    on.each(rows, SeeLongRows{offsets, rows, made.short_row, facts});
    on.read(facts, &seen, 1);
    made.of_long_rows = seen.of_long_rows;
  }

  auto* const counts = on.template take<KahnCounts>(1);
  auto const triangle = [&](Index const* entries) {
    Triangle const t{on.template take<Index>(n), on.template take<Index>(n),
                     on.template take<Index>(n)};
    on.each(rows, sparse::Copy<Index>{entries, t.left});
    on.clear(t.level, rows);
    return t;
  };
  Kahn const kahn{by_columns(on, a), triangle(below), triangle(above), counts, most_levels};
  on.clear(counts, 1);
  cooperate(on, kahn);
  KahnCounts found{};
  on.read(counts, &found, 1);
  if (rows > 0 && found.levels.lower == 0) return std::nullopt;
  made.lower_levels = schedule(on, a.rows, kahn.lower.level, found.levels.lower);
  made.upper_levels = schedule(on, a.rows, kahn.upper.level, found.levels.upper);

  auto const write_starts = [&](auto& to) {
    to = std::decay_t<decltype(to)>(on.space(), 3 * n + 1);
    on.each(rows + 1,
            WriteStarts<std::decay_t<decltype(*to.data())>>{offsets, below, rows, to.data()});
  };
  if (made.entries <= std::numeric_limits<std::int32_t>::max())
    write_starts(made.narrow);
  else
    write_starts(made.wide);
  made.columns = Array<Index>(on.space(), static_cast<std::size_t>(made.entries));
  on.each_warp(rows, WriteColumns{a, offsets, below, above, made.columns.data()});
  return made;
}

// ---- a matching? ----

struct SeeDiagonal {
  Index* small;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    double diagonal = 0, largest = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      double const size = a.values[k] < 0 ? -a.values[k] : a.values[k];
      largest = largest < size ? size : largest;
      if (a.columns[k] == i) diagonal = size;
    }
    if (!(diagonal >= small_pivot * largest) || diagonal == 0) put(small, 1);
  }
};
template <class On>
bool has_small_diagonal(On& on, CsrView<double> const& a) {
  auto* const small = on.template take<Index>(1);
  on.clear(small, 1);
  on.each_row(a.rows, a, SeeDiagonal{small});
  Index found = 0;
  on.read(small, &found, 1);
  return found != 0;
}

}  // namespace tcsolve::level_zeros
