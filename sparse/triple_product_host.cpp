// SPDX-License-Identifier: Apache-2.0
/// P^T A P without A P on the host (sparse/triple_product.hpp).
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/triple_product_blocks_build.hpp>

#include <algorithm>

namespace tcsolve::host {

std::optional<sparse::ProductPattern> aggregate_pattern(Host& host, Arena& arena,
                                                        PatternView const& a, PatternView const& p,
                                                        PatternView const& pt,
                                                        sparse::ProductLimits const& limits) {
  GroupConverter on(arena);
  return sparse::aggregate_pattern(on, a, p, pt, limits,
                                   [&](PatternView const& left, sparse::RightFactor const& right) {
                                     return product_pattern(host, arena, left, right, limits);
                                   });
}

namespace {

/// Rows of C one after another, each of whose columns has a place in `place` (columns of C): where
/// the row has it, and in `sums`, which are 0 but while a row of A is walked. In the order of
/// triple_product_build.hpp.
template <class T>
void aggregates_by_places(PatternView const& c, CsrView<T> const& a, PatternView const& pt,
                          sparse::AggregatesOfRows<T> const& of, Index first, Index last,
                          Index* place, T* sums, T* values) {
  for (Index I = first; I < last; ++I) {
    Offset const begin = c.offsets[I];
    auto const count = static_cast<Index>(c.offsets[std::int64_t{I} + 1] - begin);
    T* const row = values + begin;
    for (Index k = 0; k < count; ++k) place[c.columns[begin + k]] = k, row[k] = T(0);
    for (Offset m = pt.offsets[I]; m < pt.offsets[std::int64_t{I} + 1]; ++m) {
      Index const i = pt.columns[m];
      for (Offset p = a.offsets[i]; p < a.offsets[std::int64_t{i} + 1]; ++p) {
        Index const j = a.columns[p], J = of.aggregate[j];
        if (J < 0) continue;
        T& sum = sums[place[J]];
        sum = sparse::sum_of(sum, sparse::product_of(a.values[p], of.weight[j]));
      }
      for (Index k = 0; k < count; ++k) {
        row[k] = sparse::sum_of(row[k], sparse::product_of(of.weight[i], sums[k]));
        sums[k] = T(0);
      }
    }
  }
}

/// In stretches of rows with about as many entries, whose places are no more than C has entries.
template <class T>
void aggregates_by_places(Host const& on, Arena& arena, sparse::ProductPattern const& made,
                          CsrView<T> const& a, CsrView<T> const& p, PatternView const& pt, T* c) {
  PatternView const pattern = made.pattern.view();
  constexpr Offset worth_a_thread = 10'000;
  Offset const columns = pattern.cols, stretch = std::max(columns, worth_a_thread),
               parts = std::clamp<Offset>(pattern.entries / stretch, 1, 4 * Offset{on.threads});
  GroupConverter converter(arena);
  auto const of = sparse::aggregates_of_rows(converter, p);
  auto* const places = converter.take<Index>(static_cast<std::size_t>(columns * parts));
  T* const sums = converter.take<T>(static_cast<std::size_t>(columns * parts));
  parallel(parts, 2, [&](std::int64_t part) {
    std::fill(sums + columns * part, sums + columns * (part + 1), T(0));
    aggregates_by_places(
        pattern, a, pt, of, row_from(pattern.offsets, pattern.rows, pattern.entries * part / parts),
        row_from(pattern.offsets, pattern.rows, pattern.entries * (part + 1) / parts),
        places + columns * part, sums + columns * part, c);
  });
}

}  // namespace

template <class T>
void aggregate_values(Host& host, Arena& arena, sparse::AggregateProduct const& plan,
                      CsrView<T> const& a, CsrView<T> const& p, PatternView const& pt, T* c) {
  GroupConverter on(arena);
  sparse::OwnedPattern const& made = plan.made.pattern;
  if (plan.factors)
    sparse::block_aggregate_values(on, plan, a, p, c);
  else if (plan.made.limits.places && made.cols <= made.entries)
    aggregates_by_places(host, arena, plan.made, a, p, pt, c);
  else
    sparse::aggregate_values(on, plan.made, a, p, pt, c);
}

#define TCSOLVE_AGGREGATES(T)                                                       \
  template void aggregate_values<T>(Host&, Arena&, sparse::AggregateProduct const&, \
                                    CsrView<T> const&, CsrView<T> const&, PatternView const&, T*);
TCSOLVE_AGGREGATES(double)
TCSOLVE_AGGREGATES(float)
#undef TCSOLVE_AGGREGATES

}  // namespace tcsolve::host
