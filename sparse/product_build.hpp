// SPDX-License-Identifier: Apache-2.0
/// C = A B, written once for both backends (sparse/groups.hpp).
///
///     weigh    how many products a row of C sums; from them a guess how many columns it has
///     count    its columns, by a table of that size; rows that do not fit try one four times as large
///     order    rows by the size of table that they need; long rows last (product_long_build.hpp)
///     fill     the columns once more, sorted
///     values   products in the order of k, added up at the slots of a table of the row's columns
///
/// A table has 64 << s slots, s the size of the row; a row has fewer columns than limit_of(s).
///
///     slot   0   1   2   3   4   5   6   7          hash of 9: 2; of 4: 2, taken, so 3
///            .   .   9   4   .   .  17   .          list: 9 4 17, as they came
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/product_long_build.hpp>
#include <tcsolve/sparse/rounded.hpp>

namespace tcsolve::sparse {

constexpr int table_sizes = ProductPattern::sizes;
constexpr std::uint32_t long_rows = table_sizes, done_rows = table_sizes + 1;

TCSOLVE_HD Index slots_of(int size) { return Index{64} << size; }
/// A table of this size is given up when it holds so many: each of 32 lanes may add one more before
/// it sees that, and one slot stays empty for searches to end at.
TCSOLVE_HD Index limit_of(int size) {
  Index const slots = slots_of(size);
  return 3 * slots / 4 < slots - 32 ? 3 * slots / 4 : slots - 32;
}
/// The least size, of `sizes`, for so many columns.
TCSOLVE_HD std::uint32_t size_for(Offset columns, int sizes) {
  int size = 0;
  while (size < sizes && columns >= limit_of(size)) ++size;
  return size < sizes ? static_cast<std::uint32_t>(size) : long_rows;
}

/// column to an empty slot: -1, else what is there. A host looks first, since a locked instruction
/// is dear to it; the device does not, whose lanes write at the same time.
TCSOLVE_HD Index claim(Index* slot, Index column) {
#if !defined(__CUDA_ARCH__)
  if (Index const seen = glance(slot); seen != -1) return seen;
#endif
  return atomic_replace(slot, -1, column);
}
/// Where the search for a column begins.
TCSOLVE_HD Index first_slot(Index column, int size) {
  return static_cast<Index>(static_cast<std::uint32_t>(column) * 2654435769u >> (26 - size));
}
/// Where a column is that the table has; one that it has not ends at an empty slot.
TCSOLVE_HD Index slot_with(Index const* slots, int size, Index column) {
  Index const last = slots_of(size) - 1;
  Index s = first_slot(column, size);
  while (slots[s] != column && slots[s] != -1) s = (s + 1) & last;
  return s;
}

/// Where row k of B lies.
struct Stretch {
  Offset begin, end;
};

/// f(p, s) for the entries p of row i of A in their order: s is the row of B that they multiply.
/// The lanes look up as many as they are at once, into `staged` (lanes).
template <class Group, class A, class F>
TCSOLVE_HD void each_factor(Group const& group, A const& a, OffsetsView const& b, Index i,
                            Stretch* staged, F const& f) {
  Offset const end = a.offsets[i + 1];
  int const lane = group.lane(), lanes = group.lanes();
  for (Offset p = a.offsets[i]; p < end; p += lanes) {
    group.sync();
    if (p + lane < end) {
      Index const k = a.columns[p + lane];
      staged[lane] = {b[k], b[std::int64_t{k} + 1]};
    }
    group.sync();
    for (int m = 0; m < lanes && p + m < end; ++m) f(p + m, staged[m]);
  }
}

/// What a group needs to collect the columns of a row: at most 32 stretches, a counter, the slots,
/// and as much for a list of what they hold.
struct Table {
  static std::size_t bytes(int size, bool listed) {
    return 32 * sizeof(Stretch) + 16 +
           (listed ? 2 : 1) * static_cast<std::size_t>(slots_of(size)) * sizeof(Index);
  }
  Stretch* staged;
  Index *count, *slots, *list;
  int size;

  template <class Group>
  TCSOLVE_HD static Table of(Group const& group, int size) {
    auto* const staged = reinterpret_cast<Stretch*>(group.scratch());
    auto* const count = reinterpret_cast<Index*>(staged + 32);
    return {staged, count, count + 4, count + 4 + slots_of(size), size};
  }

  /// Collects the columns of row i of A B, and returns how many there are; limit_of(size) or more
  /// where they do not fit. Where `listed` they are in `list`.
  template <class Group>
  TCSOLVE_HD Index collect(Group const& group, PatternView const& a, PatternView const& b, Index i,
                           bool listed) const {
    Index const limit = limit_of(size), last = slots_of(size) - 1;
    if (group.lane() == 0) *count = 0;
    for (Index s = group.lane(); s <= last; s += group.lanes()) slots[s] = -1;
    Index known = 0;  // how many there were when this lane added its last one
    each_factor(group, a, b.offsets, i, staged, [&](Offset, Stretch const& row) {
      for (Offset q = row.begin + group.lane(); q < row.end && known < limit; q += group.lanes()) {
        Index const column = b.columns[q];
        for (Index s = first_slot(column, size);; s = (s + 1) & last) {
          Index const seen = claim(slots + s, column);
          if (seen == column) break;
          if (seen != -1) continue;
          Index const before = atomic_add(count, 1);
          if (listed) list[before] = column;
          known = before + 1;
          break;
        }
      }
    });
    group.sync();
    return glance(count);
  }
};

/// The size of table to begin with, by the number of products in a row of C.
struct WeighRow {
  PatternView a, b;
  ProductLimits limits;
  std::uint32_t* size;
  Index* columns;  ///< of the row of C; so far none
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Offset const all = products_of_row(warp, a, b, i), factors = a.offsets[i + 1] - a.offsets[i];
    warp.each([&](int lane) {
      if (lane != 0) return;
      columns[i] = 0;
      Offset const most = all < b.cols ? all : Offset{b.cols};
      // Several products make a column of C, as a rule: a try with an eighth of them is cheap.
      Offset const guess = most < limit_of(2) || all / 8 >= most ? most
                           : all / 8 < limit_of(2)               ? limit_of(2) - 1
                                                                 : all / 8;
      size[i] = all == 0               ? done_rows
                : factors > limits.row ? long_rows
                                       : size_for(guess, limits.sizes);
    });
  }
};

struct CountColumns {
  PatternView a, b;
  int size;
  Index const* rows;
  Index* columns;
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at], count = Table::of(group, size).collect(group, a, b, i, false);
    if (group.lane() == 0) columns[i] = count;
  }
};

/// The next size for a row that has not fitted; the others are done.
struct TryLarger {
  int sizes;
  Index const* columns;
  std::uint32_t* size;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (size[i] >= long_rows) return;
    auto const now = static_cast<int>(size[i]);
    if (columns[i] < limit_of(now))
      size[i] = done_rows;
    else
      size[i] =
          now + 1 < sizes ? static_cast<std::uint32_t>(std::min(now + 2, sizes - 1)) : long_rows;
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
    size[i] = columns[i] == 0                                ? done_rows
              : a.offsets[i + 1] - a.offsets[i] > limits.row ? long_rows
                                                             : size_for(columns[i], limits.sizes);
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

/// Lanes that go along a row of B together: as many as an average one has entries.
inline int lanes_for(PatternView const& b) {
  Offset const mean = b.rows > 0 ? (b.entries + b.rows - 1) / b.rows : 0;
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint32_t>(std::clamp<Offset>(mean, 4, 32))));
}
/// A table that few rows of a block can have at a time is worth a whole warp.
inline int lanes_for(PatternView const& b, int size) { return size >= 4 ? 32 : lanes_for(b); }

struct FillColumns {
  PatternView a, b;
  int size;
  Index const* rows;
  OffsetsView offsets;
  Index* columns;
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at];
    Table const table = Table::of(group, size);
    Index const count = table.collect(group, a, b, i, true);
    Index padded = 1;
    while (padded < count) padded *= 2;
    for (Index k = count + group.lane(); k < padded; k += group.lanes())
      table.list[k] = std::numeric_limits<Index>::max();
    sort_keys(group, table.list, padded);
    Offset const begin = offsets[i];
    for (Index k = group.lane(); k < count; k += group.lanes()) columns[begin + k] = table.list[k];
  }
};

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
  ProductPattern made;
  made.limits = limits;
  made.order = Array<Index>(on.space(), static_cast<std::size_t>(n));
  Index* const order = made.order.data();

  on.each_warp(n, WeighRow{a, b, limits, size, columns});
  for (;;) {
    auto sorting = fresh();
    auto const begin = order_rows(sorting, size, key, n, order);
    if (begin[long_rows] == 0) {  // none left with a table
      count_long_rows(fresh, LongRows(sorting, a, b, order, begin[done_rows]), limits, columns);
      break;
    }
    for (int s = 0; s < limits.sizes; ++s)
      on.each_group(begin[s + 1] - begin[s], lanes_for(b, s), Table::bytes(s, false),
                    CountColumns{a, b, s, order + begin[s], columns});
    on.each(n, TryLarger{limits.sizes, columns, size});
  }

  on.each(n + 1, SettleSize{a, limits, columns, size, length});
  on.scan(length, offsets, n + 1, Plus{});
  made.pattern = with_offsets(on, a.rows, b.cols, offsets);
  auto sorting = fresh();
  made.begin = order_rows(sorting, size, key, n, order);
  Index* const to = made.pattern.columns.data();
  for (int s = 0; s < limits.sizes; ++s)
    on.each_group(made.begin[s + 1] - made.begin[s], lanes_for(b, s), Table::bytes(s, true),
                  FillColumns{a, b, s, order + made.begin[s], made.pattern.offsets(), to});
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
  int size;
  PatternView c;
  Index const* rows;
  T* values;
  static std::size_t bytes(int size) {
    return 32 * sizeof(Stretch) +
           static_cast<std::size_t>(slots_of(size)) * (sizeof(T) + sizeof(Index));
  }
  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const i = rows[at], all = slots_of(size);
    Offset const begin = c.offsets[i], end = c.offsets[i + 1];
    auto* const staged = reinterpret_cast<Stretch*>(group.scratch());
    auto* const sum = reinterpret_cast<T*>(staged + 32);
    auto* const slots = reinterpret_cast<Index*>(sum + all);
    for (Index s = group.lane(); s < all; s += group.lanes()) slots[s] = -1, sum[s] = T(0);
    group.sync();
    for (Offset k = begin + group.lane(); k < end; k += group.lanes()) {
      Index s = first_slot(c.columns[k], size);
      while (claim(slots + s, c.columns[k]) != -1) s = (s + 1) & (all - 1);
    }
    each_factor(group, a, b.offsets, i, staged, [&](Offset p, Stretch const& row) {
      T const factor = a.values[p];
      for (Offset q = row.begin + group.lane(); q < row.end; q += group.lanes()) {
        T& here = sum[slot_with(slots, size, b.columns[q])];
        here = sum_of(here, product_of(factor, b.values[q]));
      }
      group.sync();  // the columns of a row of B differ, those of the next may be the same
    });
    for (Offset k = begin + group.lane(); k < end; k += group.lanes())
      values[k] = sum[slot_with(slots, size, c.columns[k])];
  }
};

template <class T, class Fresh>
void product_values(Fresh const& fresh, ProductPattern const& made, CsrView<T> const& a,
                    CsrView<T> const& b, T* c) {
  auto on = fresh();
  PatternView const pattern = made.pattern.view();
  for (int s = 0; s < made.limits.sizes; ++s)
    on.each_group(made.begin[s + 1] - made.begin[s], lanes_for(b, s), SumRow<T>::bytes(s),
                  SumRow<T>{a, b, s, pattern, made.order.data() + made.begin[s], c});
  sum_long_rows(fresh,
                LongRows(on, a, b, made.order.data() + made.begin[long_rows],
                         made.begin[done_rows] - made.begin[long_rows]),
                made.limits, a, b, pattern.offsets, c);
}

}  // namespace tcsolve::sparse
