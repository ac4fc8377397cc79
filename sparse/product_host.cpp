// SPDX-License-Identifier: Apache-2.0
/// A B on the host (sparse/product.hpp).
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/product_build.hpp>

#include <algorithm>

namespace tcsolve::host {

namespace {

/// f(column) for each column of row i of C, as they come. mark (columns of C) holds the last row
/// that had a column, at first -1.
template <class F>
void each_column(PatternView const& a, sparse::RightFactor const& b, Index i, Index* mark,
                 F const& f) {
  sparse::each_factor(a, b.offsets, i, [&](Offset, sparse::Stretch const& of_b) {
    for (Offset q = of_b.begin; q < of_b.end; ++q) {
      Index const column = b.column(q);
      if (column < 0 || mark[column] == i) continue;
      mark[column] = i;
      f(column);
    }
  });
}

/// The pattern of C, whose columns are still to be written, of so many in each row.
sparse::ProductPattern pattern_of_counts(Arena& arena, PatternView const& a, Index cols,
                                         sparse::ProductLimits const& limits, Index const* count) {
  GroupConverter on(arena);
  auto const n = static_cast<std::size_t>(a.rows);
  auto* const size = on.take<std::uint32_t>(n);
  sparse::RowsBySize const rows(on, a.rows);
  on.each(std::int64_t{a.rows} + 1,
          sparse::SettleSize{a, limits, count, nullptr, size, rows.length(), rows.counts()});
  sparse::ProductPattern made;
  made.limits = limits;
  made.order = Array<Index>(on.space(), n);
  sparse::RowsFound const found = rows.order(on, size, made.order.data(), true);
  made.begin = found.begin;
  made.pattern = sparse::with_offsets(on, a.rows, cols, rows.offsets(), found.entries);
  return made;
}

/// Counted, then written and sorted row by row. A thread has a stretch of rows of A with about as
/// many entries as others, and so many of these in turn that the flag is looked at often.
sparse::ProductPattern pattern_by_marks(Host const& on, Arena& arena, PatternView const& a,
                                        sparse::RightFactor const& b,
                                        sparse::ProductLimits const& limits) {
  constexpr Offset worth_a_thread = 10'000, rows_at_once = 2048;
  Offset const parts = std::clamp<Offset>(a.entries / std::max<Offset>(b.cols, worth_a_thread), 1,
                                          on.threads),
               turns = a.rows / (parts * rows_at_once) + 1, stretches = parts * turns;
  auto const first_of = [&](Offset stretch) {
    return stretch == stretches ? a.rows
                                : row_from(a.offsets, a.rows, a.entries * stretch / stretches);
  };
  auto scope = arena.scope();
  auto* const marks = scope.take<Index>(static_cast<std::size_t>(b.cols * parts));
  auto* const count = scope.take<Index>(static_cast<std::size_t>(a.rows));
  auto const each_row = [&](auto const& f) {
    for (Offset turn = 0; turn < turns; ++turn) {
      limits.cancel.check();
      parallel(parts, 2, [&](std::int64_t part) {
        Index* const mark = marks + b.cols * part;
        if (turn == 0) std::fill(mark, mark + b.cols, -1);
        Index const last = first_of(turn * parts + part + 1);
        for (Index i = first_of(turn * parts + part); i < last; ++i) f(i, mark);
      });
    }
  };
  each_row([&](Index i, Index* mark) {
    Index columns = 0;
    each_column(a, b, i, mark, [&](Index) { ++columns; });
    count[i] = columns;
  });
  sparse::ProductPattern made = pattern_of_counts(arena, a, b.cols, limits, count);
  OffsetsView const offsets = made.pattern.offsets();
  each_row([&](Index i, Index* mark) {
    Index* const row = made.pattern.columns.data() + offsets[i];
    Index* to = row;
    each_column(a, b, i, mark, [&](Index column) { *to++ = column; });
    std::sort(row, to);
  });
  return made;
}

/// Rows of C one after another, each of whose columns has a place in `place` (columns of C): where
/// the row has it. The sums are those of tables (sparse/product_build.hpp), in the same order.
template <class T>
void rows_by_places(sparse::ProductPattern const& made, CsrView<T> const& a, CsrView<T> const& b,
                    Index first, Index last, Index* place, T* c) {
  PatternView const pattern = made.pattern.view();
  for (Index i = first; i < last; ++i) {
    Offset const begin = pattern.offsets[i], end = pattern.offsets[std::int64_t{i} + 1];
    T* const row = c + begin;
    for (Offset k = begin; k < end; ++k) {
      place[pattern.columns[k]] = static_cast<Index>(k - begin);
      c[k] = T(0);
    }
    sparse::each_factor(a, b.offsets, i, [&](Offset p, sparse::Stretch const& of_b) {
      T const factor = a.values[p];
      for (Offset q = of_b.begin; q < of_b.end; ++q) {
        T& sum = row[place[b.columns[q]]];
        sum = sparse::sum_of(sum, sparse::product_of(factor, b.values[q]));
      }
    });
  }
}

/// In stretches of rows with about as many entries, whose places are no more than C has entries.
template <class T>
void product_by_places(Host const& on, Arena& arena, sparse::ProductPattern const& made,
                       CsrView<T> const& a, CsrView<T> const& b, T* c) {
  sparse::OwnedPattern const& pattern = made.pattern;
  constexpr Offset worth_a_thread = 10'000;
  Offset const columns = pattern.cols, stretch = std::max(columns, worth_a_thread),
               parts = std::clamp<Offset>(pattern.entries / stretch, 1, 4 * Offset{on.threads});
  auto scope = arena.scope();
  auto* const places = scope.take<Index>(static_cast<std::size_t>(columns * parts));
  parallel(parts, 2, [&](std::int64_t part) {
    rows_by_places(made, a, b,
                   row_from(pattern.offsets(), pattern.rows, pattern.entries * part / parts),
                   row_from(pattern.offsets(), pattern.rows, pattern.entries * (part + 1) / parts),
                   places + columns * part, c);
  });
}

}  // namespace

sparse::ProductPattern product_pattern(Host& on, Arena& arena, PatternView const& a,
                                       sparse::RightFactor const& b,
                                       sparse::ProductLimits const& limits) {
  if (limits.places && b.cols <= a.entries) return pattern_by_marks(on, arena, a, b, limits);
  return sparse::product_pattern([&] { return GroupConverter(arena); }, a, b, limits);
}

template <class T>
void product_values(Host& on, Arena& arena, sparse::ProductPattern const& made, CsrView<T> const& a,
                    CsrView<T> const& b, T* c) {
  if (made.limits.places && made.pattern.cols <= made.pattern.entries)
    return product_by_places(on, arena, made, a, b, c);
  sparse::product_values([&] { return GroupConverter(arena); }, made, a, b, c);
}

#define TCSOLVE_PRODUCT(T)                                                                         \
  template void product_values<T>(Host&, Arena&, sparse::ProductPattern const&, CsrView<T> const&, \
                                  CsrView<T> const&, T*);
TCSOLVE_PRODUCT(double)
TCSOLVE_PRODUCT(float)
#undef TCSOLVE_PRODUCT

}  // namespace tcsolve::host
