// SPDX-License-Identifier: Apache-2.0
/// The tables that the rows of a product of sparse matrices are made in, and how a group of lanes
/// (sparse/groups.hpp) goes through the rows of B that a row of A multiplies.
///
/// A table has 16 << s slots, s the size of the row; a row has fewer columns than limit_of(s).
///
///     slot   0   1   2   3   4   5   6   7          hash of 9: 2; of 4: 2, taken, so 3
///            .   .   9   4   .   .  17   .          list: 9 4 17, as they came
///
/// On a device many rows of the first sizes have a thread each: their chains of look-ups are short,
/// and what hides their latency is other rows. The lanes of a warp share the entries of a larger
/// one; where rows of B are short, four rows have eight lanes each.
#pragma once

#include <algorithm>
#include <bit>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>

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
    }
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
  PatternView a;
  RightFactor b;
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
      if (column < 0) return;
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
        for (Offset q = row.begin; q < row.end && known < limit; ++q) meet(b.column(q));
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
          meet(b.column(q));
      }
    });
    group.sync();
    return glance(table.count);
  }
};

}  // namespace tcsolve::sparse
