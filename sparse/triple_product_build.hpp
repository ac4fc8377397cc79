// SPDX-License-Identifier: Apache-2.0
/// P^T A P where a row of P has one entry at most, written once for both backends
/// (sparse/groups.hpp). The rows of A that have theirs in column I are aggregate I, and
///
///     c_IJ = sum_{i in I} p_i ( sum_{j in J} a_ij p_j )       i and j ascending
///
/// has an entry where a row of I has one in a column of J. So A P, which has nearly the entries of
/// A, need not be made: the pattern is that of P^T A with each column of A taken for its aggregate
/// (product_build.hpp), and a row of C is summed by a group. Each of its lanes takes a row of A:
///
///     columns of C          2    5    9   11
///     lane 0, row i0 of I   .    s    .    s      s: sum of a_ij p_j over j in J
///     lane 1, row i1 of I   s    s    .    .
///     sum                   S    S    S    S      S += p_i0 s, then p_i1 s, then the next rows
///
/// The bits are those of P^T (A P), for any number of lanes: a row of A without an entry in J adds
/// p_i times +0.
#pragma once

#include <optional>

#include <tcsolve/sparse/product_build.hpp>
#include <tcsolve/sparse/triple_product.hpp>

namespace tcsolve::sparse {

/// Sets `found` where row i of P has several entries, or row i of A more than `most`.
struct FindLongRow {
  PatternView a, p;
  Offset most;
  std::int32_t* found;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (p.offsets[i + 1] - p.offsets[i] <= 1 && a.offsets[i + 1] - a.offsets[i] <= most) return;
    if (glance(found) == 0) put(found, 1);
  }
};
/// The same for the rows of an aggregate.
struct FindLargeAggregate {
  PatternView pt;
  Offset most;
  std::int32_t* found;
  TCSOLVE_HD void operator()(std::int64_t I) const {
    if (pt.offsets[I + 1] - pt.offsets[I] > most && glance(found) == 0) put(found, 1);
  }
};

/// The column of P that row i has its entry in, -1 for none, and that entry.
template <class T>
struct FindAggregate {
  CsrView<T> p;
  Index* aggregate;
  T* weight;  ///< or null
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const at = p.offsets[i];
    bool const has = at < p.offsets[i + 1];
    aggregate[i] = has ? p.columns[at] : -1;
    if (weight != nullptr) weight[i] = has ? p.values[at] : T(0);
  }
};

/// What a row of A is in, and the entries of P.
template <class T>
struct AggregatesOfRows {
  Index const* aggregate;
  T const* weight;
};
template <class T, class On>
AggregatesOfRows<T> aggregates_of_rows(On& on, CsrView<T> const& p) {
  if (p.entries == p.rows) return {p.columns, p.values};
  auto* const aggregate = on.template take<Index>(p.rows);
  T* const weight = p.values != nullptr ? on.template take<T>(p.rows) : nullptr;
  on.each(p.rows, FindAggregate<T>{p, aggregate, weight});
  return {aggregate, weight};
}

/// Of C, by make(P^T, A) where columns of A stand for aggregates; nothing where a row of P has
/// several entries, or a lane or a group would have to walk too many.
template <class On, class Make>
std::optional<ProductPattern> aggregate_pattern(On& on, PatternView const& a, PatternView const& p,
                                                PatternView const& pt, ProductLimits const& limits,
                                                Make const& make) {
  if (p.entries > p.rows || limits.walked == 0) return std::nullopt;
  auto* const there = on.template take<std::int32_t>(1);
  std::int32_t found = 0;
  on.clear(there, 1);
  on.each(p.rows, FindLongRow{a, p, limits.walked, there});
  on.each(pt.rows, FindLargeAggregate{pt, limits.row, there});
  on.read(there, &found, 1);
  if (found != 0) return std::nullopt;
  CsrView<double> const of_p{p.rows, p.cols, p.entries, p.offsets, p.columns, nullptr, on.space()};
  return make(pt, RightFactor(a, aggregates_of_rows(on, of_p).aggregate, p.cols));
}

/// Where J is in n ascending columns; -1: nowhere.
TCSOLVE_HD Index place_of(Strip<Index> const& columns, Index n, Index J) {
  Index const at = first_not_below(columns, n, J);
  return at < n && columns[at] == J ? at : -1;
}

/// f(first, count, columns) for the rows of C, in their order, that have so many columns at most,
/// or, the last ones, any number.
template <class F>
void each_class(ProductPattern const& made, F const& f) {
  each_size(made.limits, 0, 32, made.begin,
            [&](int s, int, Offset first, Offset count) { f(first, count, limit_of(s) - 1); });
  Offset const first = made.begin[long_rows];
  if (Offset const count = made.begin[done_rows] - first; count > 0)
    f(first, count, limit_of(table_sizes - 1) - 1);
}

template <class T>
struct SumAggregate {
  CsrView<T> a;
  PatternView pt, c;
  AggregatesOfRows<T> of;
  Index const* rows;  ///< of C
  T* values;
  int at_once;   ///< rows of A
  Index window;  ///< columns of C; where a row has more, A is walked again for the next ones

  static std::size_t bytes(int at_once, Index window) {
    std::size_t const rows = static_cast<std::size_t>(at_once),
                      columns = static_cast<std::size_t>(window);
    return (columns * (rows + 1) + rows) * sizeof(T) + columns * sizeof(Index);
  }
  /// As many rows of A as there are lanes, where their sums fit.
  static int most_at_once(int lanes, Index window) {
    int rows = lanes;
    while (rows > 1 && bytes(rows, window) > most_scratch_of(lanes)) rows /= 2;
    return rows;
  }

  /// The memory of a group. Sums of a column lie together, those of rows before the total.
  struct Sums {
    Strip<T> all, weight;
    Strip<Index> columns;
    int rows;     // at once
    Index n = 0;  // columns
    TCSOLVE_HD T& of(int row, Index k) const { return all[k * (rows + 1) + row]; }
    TCSOLVE_HD T& total(Index k) const { return of(rows, k); }
  };

  /// The sums of row i of A, some entries of which are on their way together.
  TCSOLVE_HD void walk(Sums const& sums, int lane, Index i) const {
    constexpr int ahead = 4;
    for (Index k = 0; k < sums.n; ++k) sums.of(lane, k) = T(0);
    for (Offset p = a.offsets[i], end = a.offsets[std::int64_t{i} + 1]; p < end; p += ahead) {
      Index to[ahead];
      T term[ahead];
      for (int u = 0; u < ahead; ++u) {
        Index const j = p + u < end ? a.columns[p + u] : -1;
        to[u] = j >= 0 ? of.aggregate[j] : -1;
        term[u] = to[u] >= 0 ? product_of(a.values[p + u], of.weight[j]) : T(0);
      }
      for (int u = 0; u < ahead; ++u) {
        if (to[u] < 0) continue;
        Index const k = place_of(sums.columns, sums.n, to[u]);
        if (k >= 0) sums.of(lane, k) = sum_of(sums.of(lane, k), term[u]);
      }
    }
  }

  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const I = rows[at];
    Offset const begin = c.offsets[I], first = pt.offsets[I];
    auto const count = static_cast<Index>(c.offsets[std::int64_t{I} + 1] - begin),
               members = static_cast<Index>(pt.offsets[std::int64_t{I} + 1] - first);
    int const lane = group.lane(), lanes = group.lanes();
    auto const columns = static_cast<std::size_t>(window);
    std::size_t const weights = columns * (at_once + 1) * sizeof(T);
    Sums sums{group.template strip<T>(0), group.template strip<T>(weights),
              group.template strip<Index>(weights + at_once * sizeof(T)),
              lanes < at_once ? lanes : at_once};
    for (Index from = 0, last = group.most(count); from < last; from += window) {
      Index const left = count > from ? count - from : 0;
      sums.n = left < window ? left : window;
      for (Index k = lane; k < sums.n; k += lanes) {
        sums.columns[k] = c.columns[begin + from + k];
        sums.total(k) = T(0);
      }
      for (Index done = 0, most = group.most(members); done < most; done += sums.rows) {
        Index const more = members > done ? members - done : 0;
        int const n = more < sums.rows ? static_cast<int>(more) : sums.rows;
        group.sync();
        if (lane < n) {
          Index const i = pt.columns[first + done + lane];
          sums.weight[lane] = of.weight[i];
          walk(sums, lane, i);
        }
        group.sync();
        for (Index k = lane; k < sums.n; k += lanes) {
          T total = sums.total(k);
          for (int m = 0; m < n; ++m)
            total = sum_of(total, product_of(sums.weight[m], sums.of(m, k)));
          sums.total(k) = total;
        }
      }
      for (Index k = lane; k < sums.n; k += lanes) values[begin + from + k] = sums.total(k);
    }
  }
};

template <class T, class On>
void aggregate_values(On& on, ProductPattern const& made, CsrView<T> const& a, CsrView<T> const& p,
                      PatternView const& pt, T* c) {
  using Sum = SumAggregate<T>;
  bool const parts = has_short_rows(pt);
  Sum const sum{a, pt, made.pattern.view(), aggregates_of_rows(on, p), made.order.data(), c, 1, 0};
  each_class(made, [&](Offset first, Offset count, Index window) {
    Sum own = sum;
    // The groups of a warp share what a warp may have.
    bool const fit = Sum::bytes(part_lanes, window) <= most_scratch_of(part_lanes);
    int const lanes = parts && fit ? part_lanes : 32;
    own.rows += first, own.window = window, own.at_once = Sum::most_at_once(lanes, window);
    on.each_group(count, lanes, Sum::bytes(own.at_once, window), own);
  });
}

}  // namespace tcsolve::sparse
