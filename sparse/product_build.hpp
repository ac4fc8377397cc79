// SPDX-License-Identifier: Apache-2.0
/// C = A B, written once for both backends (sparse/groups.hpp).
///
///     weigh    how many products a row of C sums; from them a guess how many columns it has
///     count    its columns, by a table of that size; rows that do not fit try one four times as large
///     order    rows by the size of table that they need (rows_by_size.hpp); long rows last
///              (product_long_build.hpp)
///     fill     the columns sorted, those that were kept, others collected once more
///     values   products in the order of k, added up at the slots of a table of the row's columns
///
/// Columns that have been counted are kept as they came, as far as there is room for them
/// (ProductLimits::keep), so that few are collected once more.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_long_build.hpp>
#include <tcsolve/sparse/product_table.hpp>
#include <tcsolve/sparse/rounded.hpp>
#include <tcsolve/sparse/rows_by_size.hpp>

namespace tcsolve::sparse {

/// How many products a row of C sums, by one thread.
TCSOLVE_HD Offset products_of_row(PatternView const& a, PatternView const& b, std::int64_t i) {
  Offset sum = 0;
  for (Offset p = a.offsets[i], end = a.offsets[i + 1]; p < end; ++p) {
    Stretch const row = stretch_of(b.offsets, a.columns[p]);
    sum += row.end - row.begin;
  }
  return sum;
}

/// The size of table to begin with, by the number of products in a row of C.
struct WeighRow {
  PatternView a;
  RightFactor b;
  ProductLimits limits;
  std::uint32_t* size;
  Index* columns;       ///< of the row of C; so far none
  Index const** lists;  ///< of those that are kept; so far none
  SizeCounts counts;
  TCSOLVE_HD void take(std::int64_t i, Offset all) const {
    Offset const factors = a.offsets[i + 1] - a.offsets[i];
    columns[i] = 0, lists[i] = nullptr;
    Offset const most = all < b.cols ? all : Offset{b.cols};
    // Several products make a column of C, as a rule: a try with an eighth of them is cheap.
    constexpr Offset small = 47;
    Offset const half = all / 2 < small ? all / 2 : small, guess = half < all / 8 ? all / 8 : half;
    size[i] = all == 0               ? done_rows
              : factors > limits.row ? long_rows
                                     : size_for(guess < most ? guess : most, factors, limits.sizes);
    counts.add(i, size[i]);
  }
  TCSOLVE_HD void operator()(std::int64_t i) const { take(i, products_of_row(a, b, i)); }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const all = products_of_row(warp, a, b, i);
    warp.each([&](int lane) {
      if (lane == 0) take(i, all);
    });
  }
};

/// Lists of columns of rows that have been counted, each with room for all that its table holds.
struct KeptColumns {
  Index const** lists;  ///< (rows) null where the row's is not kept
  Index* memory;
  Offset room;

  /// For so many rows that go to tables of this size; null where there is no room.
  Index* take(int size, Offset rows) {
    Offset const all = rows * limit_of(size);
    if (all > room) return nullptr;
    room -= all;
    return std::exchange(memory, memory + all);
  }
};

struct CountColumns {
  Collect collect;
  Index const* rows;
  Index* columns;
  Index* kept;  ///< (rows, limit_of(size)) or null
  Index const** lists;
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at], limit = limit_of(collect.size);
    Index* const list = kept != nullptr ? kept + at * limit : nullptr;
    Index const count =
        collect(group, Table::of(group, collect.size, 0), i, [&](Index k, Index column) {
          if (list != nullptr && k < limit) list[k] = column;
        });
    if (group.lane() == 0) columns[i] = count, lists[i] = count < limit ? list : nullptr;
  }
};

/// The next size for a row that has not fitted; the others are done, long ones too.
struct TryLarger {
  int sizes;
  Index const* columns;
  std::uint32_t* size;
  SizeCounts counts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    auto const now = static_cast<int>(size[i]);
    if (size[i] >= long_rows || columns[i] < limit_of(now))
      size[i] = done_rows;
    else
      size[i] = now + 1 < sizes ? static_cast<std::uint32_t>(now + 2 < sizes ? now + 2 : sizes - 1)
                                : long_rows;
    counts.add(i, size[i]);
  }
};

/// The size that a row needs, now that its columns are counted, and its length. Where one has not
/// fitted its table they are of no use.
struct SettleSize {
  PatternView a;
  ProductLimits limits;
  Index const* columns;
  std::uint32_t const* tried;  ///< the size of the table; null: there was none
  std::uint32_t* size;
  Offset* length;  ///< (rows + 1)
  SizeCounts counts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const there = i < a.rows;
    length[i] = there ? columns[i] : 0;
    if (!there) return;
    if (tried != nullptr && tried[i] < long_rows &&
        columns[i] >= limit_of(static_cast<int>(tried[i])))
      counts.try_again();
    Offset const factors = a.offsets[i + 1] - a.offsets[i];
    size[i] = columns[i] == 0        ? done_rows
              : factors > limits.row ? long_rows
                                     : size_for(columns[i], factors, limits.sizes);
    counts.add(i, size[i]);
  }
};

struct FillColumns {
  Collect collect;
  Index const* rows;
  Index const* const* lists;
  OffsetsView offsets;
  Index* columns;
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at];
    Offset const begin = offsets[i];
    auto const count = static_cast<Index>(offsets[std::int64_t{i} + 1] - begin);
    auto const list = group.template strip<Index>(0);
    Index const* const kept = lists[i];
    // Groups that go in step collect if one of them has to.
    if (group.most(kept == nullptr ? 1 : 0) == 0) {
      for (Index k = group.lane(); k < count; k += group.lanes()) list[k] = kept[k];
    } else {
      Table const table = Table::of(group, collect.size, sizeof(Index));
      collect(group, table, i, [&](Index k, Index column) { list[k] = column; });
    }
    sort_keys(group, list, count);
    for (Index k = group.lane(); k < count; k += group.lanes()) columns[begin + k] = list[k];
  }
};

/// f(size, lanes, first, count) for the rows in each size of table; those below by_threads may have
/// a thread, and where rows of B have some `width` entries some have a part of a warp.
template <class Begin, class F>
void each_size(ProductLimits const& limits, int by_threads, int width, Begin const& begin,
               F const& f) {
  for (int s = 0; s < limits.sizes; ++s)
    if (Offset const count = begin[s + 1] - begin[s]; count > 0)
      f(s, lanes_for(limits, s, by_threads, width, count), begin[s], count);
}

/// fresh() makes a backend whose workspace ends with it.
template <class Fresh>
ProductPattern product_pattern(Fresh const& fresh, PatternView const& a, RightFactor const& b,
                               ProductLimits const& limits) {
  auto on = fresh();
  std::int64_t const n = a.rows;
  auto* const tried = on.template take<std::uint32_t>(n);
  auto* const size = on.template take<std::uint32_t>(n);
  auto* const columns = on.template take<Index>(n);
  RowsBySize const rows(on, n);
  KeptColumns kept{on.template take<Index const*>(n), nullptr,
                   static_cast<Offset>(limits.keep * double(a.entries + b.entries))};
  try {
    kept.memory = on.template take<Index>(static_cast<std::size_t>(kept.room));
  } catch (MemoryError const&) { kept.room = 0; }  // what is not kept is collected once more
  ProductPattern made;
  made.limits = limits;
  made.order = Array<Index>(on.space(), static_cast<std::size_t>(n));
  Index* const order = made.order.data();
  int const width = width_for(b);

  constexpr Offset walked_by_one = 64;
  WeighRow const weigh{a, b, limits, tried, columns, kept.lists, rows.counts()};
  if (a.entries <= walked_by_one * n)
    on.each(n, weigh);
  else
    on.each_warp(n, weigh);
  RowsFound found = rows.order(on, tried, order, false);
  auto const long_ones = [&] {
    return LongRows(on, a, b, order + found.begin[long_rows],
                    found.begin[done_rows] - found.begin[long_rows]);
  };
  for (;;) {
    each_size(limits, pattern_by_threads, width, found.begin,
              [&](int s, int lanes, Offset first, Offset count) {
                Index* const lists = kept.take(s, count);
                in_stretches(on, limits.cancel, count, lanes, Table::bytes(lanes, s, 0),
                             [&](Offset from) {
                               return CountColumns{{a, b, s, width},
                                                   order + first + from,
                                                   columns,
                                                   lists ? lists + from * limit_of(s) : nullptr,
                                                   kept.lists};
                             });
              });
    count_long_rows(fresh, long_ones(), limits, columns);
    // As if all had fitted, which most products do: then the host has waited once.
    on.each(n + 1, SettleSize{a, limits, columns, tried, size, rows.length(), rows.counts()});
    found = rows.order(on, size, order, true);
    if (found.again == 0) break;
    on.each(n, TryLarger{limits.sizes, columns, tried, rows.counts()});
    found = rows.order(on, tried, order, false);
  }
  made.begin = found.begin;
  made.pattern = with_offsets(on, a.rows, b.cols, rows.offsets(), found.entries);
  Index* const to = made.pattern.columns.data();
  each_size(limits, pattern_by_threads, width, made.begin,
            [&](int s, int lanes, Offset first, Offset count) {
              std::size_t const bytes = Table::bytes(lanes, s, sizeof(Index));
              in_stretches(on, limits.cancel, count, lanes, bytes, [&](Offset from) {
                return FillColumns{
                    {a, b, s, width}, order + first + from, kept.lists, made.pattern.offsets(), to};
              });
            });
  fill_long_rows(fresh, long_ones(), limits, made.pattern.offsets(), to);
  return made;
}

/// Row i of C in a table again, with a sum at each slot; what is written is looked up once more.
template <class T>
struct SumRow {
  CsrView<T> a, b;
  int size, width;
  PatternView c;
  Index const* rows;
  T* values;

  TCSOLVE_HD static void add(T& sum, T x, T y) { sum = sum_of(sum, product_of(x, y)); }
  /// Lanes load the entries of several rows of B, and add those of one after those of the other:
  /// their columns may be the same.
  template <class Group>
  TCSOLVE_HD void together(Group const& group, Table const& table, Strip<T> const& sum,
                           Index i) const {
    int const at_once = group.lanes() < width ? 1 : group.lanes() / width,
              step = group.lanes() / at_once, mine = group.lane() / step;
    each_factors(group, a, b.offsets, i, table.staged, [&](Offset p, int n) {
      int const most = group.most(n);
      for (int m = 0; m < most; m += at_once) {
        Stretch const row = m + mine < n ? table.staged[m + mine] : Stretch{0, 0};
        Offset q = row.begin + group.lane() % step;
        bool const has = q < row.end;
        T const factor = has ? a.values[p + m + mine] : T(0), first = has ? b.values[q] : T(0);
        Index const slot = has ? table.slot_with(b.columns[q]) : 0;
        for (int turn = 0; turn < at_once && m + turn < most; ++turn) {
          if (turn == mine && has) {
            add(sum[slot], factor, first);
            for (q += step; q < row.end; q += step)
              add(sum[table.slot_with(b.columns[q])], factor, b.values[q]);
          }
          group.sync();
        }
      }
    });
  }
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at];
    Offset const begin = c.offsets[i], end = c.offsets[i + 1];
    auto const sum = group.template strip<T>(0);
    Table const table = Table::of(group, size, sizeof(T));
    table.clear(group);
    group.sync();
    for (Offset k = begin + group.lane(); k < end; k += group.lanes())
      sum[table.add(group, c.columns[k])] = T(0);
    if (group.lanes() == 1) {
      each_factor(a, b.offsets, i, [&](Offset p, Stretch const& row) {
        T const factor = a.values[p];
        for (Offset q = row.begin; q < row.end; ++q)
          add(sum[table.slot_with(b.columns[q])], factor, b.values[q]);
      });
    } else {
      together(group, table, sum, i);
    }
    for (Offset k = begin + group.lane(); k < end; k += group.lanes())
      values[k] = sum[table.slot_with(c.columns[k])];
  }
};

template <class T, class Fresh>
void product_values(Fresh const& fresh, ProductPattern const& made, CsrView<T> const& a,
                    CsrView<T> const& b, T* c) {
  auto on = fresh();
  PatternView const pattern = made.pattern.view();
  int const width = width_for(b);
  each_size(made.limits, values_by_threads, width, made.begin,
            [&](int s, int lanes, Offset first, Offset count) {
              on.each_group(count, lanes, Table::bytes(lanes, s, sizeof(T)),
                            SumRow<T>{a, b, s, width, pattern, made.order.data() + first, c});
            });
  sum_long_rows(fresh,
                LongRows(on, a, b, made.order.data() + made.begin[long_rows],
                         made.begin[done_rows] - made.begin[long_rows]),
                made.limits, a, b, pattern.offsets, c);
}

}  // namespace tcsolve::sparse
