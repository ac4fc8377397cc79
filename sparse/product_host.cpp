// SPDX-License-Identifier: Apache-2.0
/// A B on the host (sparse/product.hpp).
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/product_build.hpp>

namespace tcsolve::host {

sparse::ProductPattern product_pattern(Host&, Arena& arena, PatternView const& a,
                                       PatternView const& b, sparse::ProductLimits const& limits) {
  return sparse::product_pattern([&] { return GroupConverter(arena); }, a, b, limits);
}

namespace {

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

/// The least row that begins at an entry or behind it.
Index row_from(sparse::OwnedPattern const& pattern, Offset entry) {
  OffsetsView const offsets = pattern.offsets();
  Index low = 0;
  for (Index n = pattern.rows; n > 0;) {
    Index const half = n / 2;
    bool const before = offsets[low + half] < entry;
    low = before ? low + half + 1 : low;
    n = before ? n - half - 1 : half;
  }
  return low;
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
    rows_by_places(made, a, b, row_from(pattern, pattern.entries * part / parts),
                   row_from(pattern, pattern.entries * (part + 1) / parts), places + columns * part,
                   c);
  });
}

}  // namespace

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
