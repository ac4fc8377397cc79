// SPDX-License-Identifier: Apache-2.0
/// C = A B, written once for both backends (sparse/groups.hpp).
///
///     weigh    how many products a row of C sums; from them a guess how many columns it has
///     count    its columns, by a table of that size; rows that do not fit try one four times as large
///     order    rows by the size of table that they need; long rows last (product_long_build.hpp)
///     fill     the columns once more, sorted
///     values   products in the order of k, added up at the slots of a table of the row's columns
///
/// A table has 16 << s slots, s the size of the row; a row has fewer columns than limit_of(s).
///
///     slot   0   1   2   3   4   5   6   7          hash of 9: 2; of 4: 2, taken, so 3
///            .   .   9   4   .   .  17   .          list: 9 4 17, as they came
///
/// On a device many rows of the first sizes have a thread each: their chains of look-ups are short,
/// and what hides their latency is other rows. The lanes of a warp share the entries of a larger
/// one; where rows of B are short, four rows have eight lanes each.
///
/// Columns that have been counted are kept as they came, as far as there is room for them
/// (ProductLimits::keep), so that few are collected once more.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_long_build.hpp>
#include <tcsolve/sparse/rounded.hpp>

namespace tcsolve::sparse {

constexpr int table_sizes = ProductPattern::sizes;
/// Sizes whose rows a thread may have, to collect their columns and to add up their values. Beyond
/// them the tables of the threads that hide each other's latency do not fit a multiprocessor.
constexpr int pattern_by_threads = 2, values_by_threads = 1;
/// Up to this size rows may have eight lanes, where a row of B has no more entries on the average.
constexpr int by_parts = 3, part_lanes = 8;
constexpr std::uint32_t long_rows = table_sizes, done_rows = table_sizes + 1;

TCSOLVE_HD Index slots_of(int size) { return Index{16} << size; }
/// The least table that so many lanes share.
TCSOLVE_HD int shared_size(int lanes) { return lanes == 1 ? 0 : lanes <= part_lanes ? 1 : 3; }
/// A table of this size is given up when it holds so many: each lane that shares it may add one
/// more before it sees that, and one slot stays empty for searches to end at.
TCSOLVE_HD Index limit_of(int size) {
  Index const slots = slots_of(size), most = 3 * slots / 4;
  return size < shared_size(32) || most < slots - 32 ? most : slots - 32;
}
/// The least size, of `sizes`, for so many columns, of a row of A with so many entries: many of
/// them are not for one thread.
TCSOLVE_HD std::uint32_t size_for(Offset columns, Offset factors, int sizes) {
  constexpr Offset many = 256;
  int size = 0;
  while (size < sizes && columns >= limit_of(size)) ++size;
  if (factors > many)
    while (size < pattern_by_threads && size + 1 < sizes) ++size;
  return size < sizes ? static_cast<std::uint32_t>(size) : long_rows;
}
/// By so many lanes a row of this size is made, of which there are so many, where rows of B have
/// some `width` entries; rows of the sizes below by_threads may have a thread.
inline int lanes_for(ProductLimits const& limits, int size, int by_threads, int width,
                     Offset rows) {
  constexpr Offset few_parts = 8;  // for one of threads
  if (size < by_threads && rows >= limits.few) return 1;
  return size <= by_parts && width <= part_lanes && rows >= limits.few / few_parts ? part_lanes
                                                                                   : 32;
}

/// column to an empty slot: -1, else what is there. One lane needs no locked instruction.
template <class Group>
TCSOLVE_HD Index claim(Group const& group, Index& slot, Index column) {
  if (group.lanes() > 1) return atomic_replace(&slot, -1, column);
  Index const seen = slot;
  if (seen == -1) slot = column;
  return seen;
}

/// Where row k of B lies.
struct Stretch {
  Offset begin, end;
};
TCSOLVE_HD Stretch stretch_of(OffsetsView const& b, Index k) {
  return {b[k], b[std::int64_t{k} + 1]};
}

/// f(p, s) for the entries p of row i of A in their order: s is the row of B that they multiply.
/// For one lane, which looks up the next one before it walks this one.
template <class A, class F>
TCSOLVE_HD void each_factor(A const& a, OffsetsView const& b, Index i, F const& f) {
  Offset p = a.offsets[i];
  Offset const end = a.offsets[i + 1];
  if (p == end) return;
  Stretch next = stretch_of(b, a.columns[p]);
  for (; p < end; ++p) {
    Stretch const row = next;
    if (p + 1 < end) next = stretch_of(b, a.columns[p + 1]);
    f(p, row);
  }
}
/// f(p, n) for the entries p to p + n - 1 of row i of A, as many as there are lanes; their rows of
/// B are in `staged` (lanes).
template <class Group, class A, class F>
TCSOLVE_HD void each_factors(Group const& group, A const& a, OffsetsView const& b, Index i,
                             Strip<Stretch> const& staged, F const& f) {
  Offset const begin = a.offsets[i], count = a.offsets[i + 1] - begin;
  int const lane = group.lane(), lanes = group.lanes();
  for (Offset first = 0, most = group.most(count); first < most; first += lanes) {
    Offset const left = count > first ? count - first : 0;
    int const n = left < lanes ? static_cast<int>(left) : lanes;
    group.sync();
    if (lane < n) staged[lane] = stretch_of(b, a.columns[begin + first + lane]);
    group.sync();
    f(begin + first, n);
  }
}
/// So many lanes go along a row of B together, while others go along the next ones: about as many
/// as an average one has entries.
inline int width_for(PatternView const& b) {
  Offset const mean = b.rows > 0 ? (b.entries + b.rows - 1) / b.rows : 0;
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint32_t>(std::clamp<Offset>(mean, 4, 32))));
}

/// The columns of a row of C, each at the slot where a search for it ends. The memory of a group
/// begins, where it has several lanes, with their stretches and a counter.
struct Table {
  Strip<Stretch> staged;
  Index* count = nullptr;
  Strip<Index> slots;
  int size = 0;
  std::size_t end = 0;  ///< bytes before what follows

  TCSOLVE_HD static int size_with(int lanes, int size) {
    return size > shared_size(lanes) ? size : shared_size(lanes);
  }
  /// What several lanes share besides: a stretch each, and a counter.
  TCSOLVE_HD static std::size_t shared_bytes(int lanes) {
    return lanes == 1 ? 0 : static_cast<std::size_t>(lanes) * sizeof(Stretch) + 16;
  }
  /// Of a group with `more` bytes for each slot besides.
  static std::size_t bytes(int lanes, int size, std::size_t more) {
    return shared_bytes(lanes) +
           static_cast<std::size_t>(slots_of(size_with(lanes, size))) * (sizeof(Index) + more);
  }
  /// After `before` bytes for each slot.
  template <class Group>
  TCSOLVE_HD static Table of(Group const& group, int size, std::size_t before) {
    Table made;
    made.size = size_with(group.lanes(), size);
    auto const all = static_cast<std::size_t>(slots_of(made.size));
    std::size_t at = all * before;
    made.slots = group.template strip<Index>(at);
    at += all * sizeof(Index);
    if (group.lanes() > 1) {
      made.staged = group.template strip<Stretch>(at);
      made.count = &group.template strip<Index>(at + static_cast<std::size_t>(group.lanes()) *
                                                         sizeof(Stretch))[0];
      at += shared_bytes(group.lanes());
    }
    made.end = at;
    return made;
  }

  /// Where the search for a column begins.
  TCSOLVE_HD Index first_slot(Index column) const {
    return static_cast<Index>(static_cast<std::uint32_t>(column) * 2654435769u >> (28 - size));
  }
  TCSOLVE_HD Index next(Index slot) const { return (slot + 1) & (slots_of(size) - 1); }
  /// Where a column is that the table has; one that it has not ends at an empty slot.
  TCSOLVE_HD Index slot_with(Index column) const {
    Index s = first_slot(column);
    while (slots[s] != column && slots[s] != -1) s = next(s);
    return s;
  }
  /// The slot of a column that nobody else adds.
  template <class Group>
  TCSOLVE_HD Index add(Group const& group, Index column) const {
    Index s = first_slot(column);
    while (claim(group, slots[s], column) != -1) s = next(s);
    return s;
  }
  template <class Group>
  TCSOLVE_HD void clear(Group const& group) const {
    for (Index s = group.lane(); s < slots_of(size); s += group.lanes()) slots[s] = -1;
  }
};

/// Collects the columns of a row of A B.
struct Collect {
  PatternView a, b;
  int size, width;

  /// How many columns row i has; limit_of(size) or more where they do not fit. listed(k, column)
  /// hears of each, k-th as they came.
  template <class Group, class F>
  TCSOLVE_HD Index operator()(Group const& group, Table const& table, Index i,
                              F const& listed) const {
    Index const limit = limit_of(size);
    table.clear(group);
    Index known = 0;  // how many there were when this lane added its last one
    auto const meet = [&](Index column) {
      for (Index s = table.first_slot(column);; s = table.next(s)) {
        Index const seen = claim(group, table.slots[s], column);
        if (seen == column) return;
        if (seen != -1) continue;
        Index const before = group.lanes() > 1 ? atomic_add(table.count, 1) : known;
        listed(before, column);
        known = before + 1;
        return;
      }
    };
    if (group.lanes() == 1) {
      each_factor(a, b.offsets, i, [&](Offset, Stretch const& row) {
        for (Offset q = row.begin; q < row.end && known < limit; ++q) meet(b.columns[q]);
      });
      return known;
    }
    if (group.lane() == 0) *table.count = 0;
    int const at_once = group.lanes() < width ? 1 : group.lanes() / width,
              step = group.lanes() / at_once;
    each_factors(group, a, b.offsets, i, table.staged, [&](Offset, int n) {
      for (int m = group.lane() / step; m < n; m += at_once) {
        Stretch const row = table.staged[m];
        for (Offset q = row.begin + group.lane() % step; q < row.end && known < limit; q += step)
          meet(b.columns[q]);
      }
    });
    group.sync();
    return glance(table.count);
  }
};

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
  PatternView a, b;
  ProductLimits limits;
  std::uint32_t* size;
  Index* columns;       ///< of the row of C; so far none
  Index const** lists;  ///< of those that are kept; so far none
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

/// The next size for a row that has not fitted; the others are done.
struct TryLarger {
  int sizes;
  Index const* columns;
  std::uint32_t* size;
  std::int32_t* again;  ///< set where there is one
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (size[i] >= long_rows) return;
    auto const now = static_cast<int>(size[i]);
    if (columns[i] < limit_of(now)) {
      size[i] = done_rows;
      return;
    }
    size[i] = now + 1 < sizes ? static_cast<std::uint32_t>(now + 2 < sizes ? now + 2 : sizes - 1)
                              : long_rows;
    if (glance(again) == 0) put(again, 1);
  }
};

struct SettleSize {
  PatternView a;
  ProductLimits limits;
  Index const* columns;
  std::uint32_t* size;
  Offset* length;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const there = i < a.rows;
    length[i] = there ? columns[i] : 0;
    if (!there) return;
    Offset const factors = a.offsets[i + 1] - a.offsets[i];
    size[i] = columns[i] == 0        ? done_rows
              : factors > limits.row ? long_rows
                                     : size_for(columns[i], factors, limits.sizes);
  }
};

struct Number {
  Index* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = static_cast<Index>(i); }
};
struct FindBounds {
  std::uint32_t const* sorted;
  std::int64_t n;
  Offset* begin;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    begin[s] = first_not_below(sorted, n, static_cast<std::uint32_t>(s));
  }
};

/// Rows in the order of `size`; where each size begins, those that are done behind all others.
template <class On>
std::array<Offset, table_sizes + 2> order_rows(On& on, std::uint32_t const* size,
                                               std::uint32_t* key, std::int64_t n, Index* order) {
  std::array<Offset, table_sizes + 2> begin;
  auto* const there = on.template take<Offset>(begin.size());
  on.each(n, Copy<std::uint32_t>{size, key});
  on.each(n, Number{order});
  on.sort(key, order, n, done_rows + 1);
  on.each(std::int64_t{done_rows} + 1, FindBounds{key, n, there});
  on.read(there, begin.data(), static_cast<std::int64_t>(begin.size()));
  return begin;
}

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
ProductPattern product_pattern(Fresh const& fresh, PatternView const& a, PatternView const& b,
                               ProductLimits const& limits) {
  auto on = fresh();
  std::int64_t const n = a.rows;
  auto* const size = on.template take<std::uint32_t>(n);
  auto* const key = on.template take<std::uint32_t>(n);
  auto* const columns = on.template take<Index>(n);
  auto* const length = on.template take<Offset>(n + 1);
  auto* const offsets = on.template take<Offset>(n + 1);
  auto* const again = on.template take<std::int32_t>(1);
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
  WeighRow const weigh{a, b, limits, size, columns, kept.lists};
  if (a.entries <= walked_by_one * n)
    on.each(n, weigh);
  else
    on.each_warp(n, weigh);
  for (std::int32_t more = 1; more != 0;) {
    auto sorting = fresh();
    auto const begin = order_rows(sorting, size, key, n, order);
    on.clear(again, 1);
    each_size(limits, pattern_by_threads, width, begin,
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
    on.each(n, TryLarger{limits.sizes, columns, size, again});
    on.read(again, &more, 1);
    if (more == 0)
      count_long_rows(
          fresh,
          LongRows(sorting, a, b, order + begin[long_rows], begin[done_rows] - begin[long_rows]),
          limits, columns);
  }

  on.each(n + 1, SettleSize{a, limits, columns, size, length});
  on.scan(length, offsets, n + 1, Plus{});
  made.pattern = with_offsets(on, a.rows, b.cols, offsets);
  auto sorting = fresh();
  made.begin = order_rows(sorting, size, key, n, order);
  Index* const to = made.pattern.columns.data();
  each_size(limits, pattern_by_threads, width, made.begin,
            [&](int s, int lanes, Offset first, Offset count) {
              std::size_t const bytes = Table::bytes(lanes, s, sizeof(Index));
              in_stretches(on, limits.cancel, count, lanes, bytes, [&](Offset from) {
                return FillColumns{
                    {a, b, s, width}, order + first + from, kept.lists, made.pattern.offsets(), to};
              });
            });
  fill_long_rows(fresh,
                 LongRows(sorting, a, b, order + made.begin[long_rows],
                          made.begin[done_rows] - made.begin[long_rows]),
                 limits, made.pattern.offsets(), to);
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
