// SPDX-License-Identifier: Apache-2.0
/// Rows of C = A B that have no table (sparse/product_build.hpp): their products are listed, sorted
/// by column, stably by row, and those of one entry then stand together in the order of k.
///
///     factors   0        1     2           entries of A in these rows
///     products  0  1  2  3  4  5  6  7     of each factor with its row of B
///     sorted    0  3  1  5  4  6  2  7     by row and column
///     column    1  1  4  4  4  6  8  8
///     before    0  1  1  2  2  2  3  4  4  entries of C before; an entry begins where it grows
///
/// A stretch of rows has ProductLimits::products of them, or is one row.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/rounded.hpp>

namespace tcsolve::sparse {

/// How many products row i of A B sums.
template <class Warp>
TCSOLVE_HD Offset products_of_row(Warp const& warp, PatternView const& a, PatternView const& b,
                                  std::int64_t i) {
  Offset const begin = a.offsets[i], end = a.offsets[i + 1];
  typename Warp::template Of<std::uint32_t> low, high;
  warp.each([&](int lane) {
    Offset sum = 0;
    for (Offset p = begin + lane; p < end; p += 32) {
      Offset const k = a.columns[p];
      sum += b.offsets[k + 1] - b.offsets[k];
    }
    low[lane] = static_cast<std::uint32_t>(sum);
    high[lane] = static_cast<std::uint32_t>(sum >> 32);
  });
  return warp.sum(low) + (warp.sum(high) << 32);
}

struct LongRow {
  Offset factors, products;
};
struct WeighLongRow {
  PatternView a, b;
  Index const* rows;
  LongRow* weight;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t r) const {
    Index const i = rows[r];
    Offset const products = products_of_row(warp, a, b, i);
    warp.each([&](int lane) {
      if (lane == 0) weight[r] = {a.offsets[i + 1] - a.offsets[i], products};
    });
  }
};

/// Which rows of C are long, and what each of them takes.
struct LongRows {
  PatternView a;
  RightFactor b;
  Index const* rows;
  std::vector<LongRow> weight;

  template <class On>
  LongRows(On& on, PatternView const& a, RightFactor const& b, Index const* rows, Offset count)
      : a(a), b(b), rows(rows), weight(static_cast<std::size_t>(count)) {
    if (count == 0) return;
    auto* const there = on.template take<LongRow>(weight.size());
    on.each_warp(count, WeighLongRow{a, b, rows, there});
    on.read(there, weight.data(), count);
  }
};

/// A stretch of long rows with their products in order. The products of row r lie from
/// first_product[r] to first_product[r + 1], before and after sorting.
struct Expansion {
  PatternView a;
  RightFactor b;
  Index const* rows;              // (count)
  Offset const* first_factor;     // (count + 1)
  Offset const* first_product;    // (count + 1)
  Offset* factor;                 // (factors) where they lie in A
  Offset* start;                  // (factors + 1) their first products
  std::uint32_t *key, *number;    // (products)
  Index *column, *head, *before;  // (products), (products + 1) twice
  std::int64_t count, factors, products;

  TCSOLVE_HD std::int64_t row_of(std::int64_t t) const {
    return last_not_above(first_product, count, t);
  }
  /// Product `which`: where its factors lie in A and in B.
  struct Pair {
    Offset in_a, in_b;
  };
  TCSOLVE_HD Pair pair(std::int64_t which) const {
    std::int64_t const e = last_not_above(start, factors, which);
    Offset const p = factor[e];
    return {p, b.offsets[a.columns[p]] + (which - start[e])};
  }
  TCSOLVE_HD bool begins_entry(std::int64_t t) const { return before[t + 1] > before[t]; }
};

struct ListFactors {
  Expansion x;
  Offset* length;  ///< (factors + 1)
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t r) const {
    Index const i = x.rows[r];
    Offset const begin = x.a.offsets[i], n = x.a.offsets[i + 1] - begin, to = x.first_factor[r];
    warp.each([&](int lane) {
      for (Offset m = lane; m < n; m += 32) {
        Offset const k = x.a.columns[begin + m];
        x.factor[to + m] = begin + m;
        length[to + m] = x.b.offsets[k + 1] - x.b.offsets[k];
      }
    });
  }
};
struct ListProduct {
  Expansion x;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    Index const column = x.b.column(x.pair(t).in_b);
    x.key[t] = static_cast<std::uint32_t>(column < 0 ? x.b.cols : column);
    x.number[t] = static_cast<std::uint32_t>(t);
  }
};
struct KeyByRow {
  Expansion x;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    x.key[t] = static_cast<std::uint32_t>(x.row_of(x.number[t]));
  }
};
struct FindColumn {
  Expansion x;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    x.column[t] = x.b.column(x.pair(x.number[t]).in_b);
  }
};
struct FindHead {
  Expansion x;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    x.head[t] = t < x.products && x.column[t] >= 0 &&
                (t == 0 || x.column[t] != x.column[t - 1] || t == x.first_product[x.row_of(t)]);
  }
};

/// The products of rows first to last - 1 of the long ones, sorted.
template <class On>
Expansion expand(On& on, LongRows const& all, std::size_t first, std::size_t last) {
  std::vector<Offset> factors(1), products(1);
  for (std::size_t r = first; r < last; ++r) {
    factors.push_back(factors.back() + all.weight[r].factors);
    products.push_back(products.back() + all.weight[r].products);
  }
  auto const there = [&](std::vector<Offset> const& list) {
    auto* const to = on.template take<Offset>(list.size());
    on.write(list.data(), to, static_cast<std::int64_t>(list.size()));
    return to;
  };
  Expansion x;
  x.a = all.a, x.b = all.b, x.rows = all.rows + first;
  x.count = static_cast<std::int64_t>(last - first);
  x.factors = factors.back(), x.products = products.back();
  x.first_factor = there(factors), x.first_product = there(products);
  x.factor = on.template take<Offset>(x.factors);
  x.start = on.template take<Offset>(x.factors + 1);
  x.key = on.template take<std::uint32_t>(x.products);
  x.number = on.template take<std::uint32_t>(x.products);
  x.column = on.template take<Index>(x.products);
  x.head = on.template take<Index>(x.products + 1);
  x.before = on.template take<Index>(x.products + 1);
  auto* const length = on.template take<Offset>(x.factors + 1);
  on.clear(length + x.factors, 1);
  on.each_warp(x.count, ListFactors{x, length});
  on.scan(length, x.start, x.factors + 1, Plus{});
  on.each(x.products, ListProduct{x});
  on.sort(x.key, x.number, x.products, static_cast<std::uint32_t>(all.b.cols) + 1);
  if (x.count > 1) {
    on.each(x.products, KeyByRow{x});
    on.sort(x.key, x.number, x.products, static_cast<std::uint32_t>(x.count));
  }
  on.each(x.products, FindColumn{x});
  on.each(x.products + 1, FindHead{x});
  on.scan(x.head, x.before, x.products + 1, Plus{});
  return x;
}

/// f(on, Expansion) for all long rows, a stretch after another.
template <class Fresh, class F>
void each_expansion(Fresh const& fresh, LongRows const& all, ProductLimits const& limits,
                    F const& f) {
  constexpr Offset most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t first = 0, last; first < all.weight.size(); first = last) {
    limits.cancel.check();
    auto on = fresh();
    Offset products = all.weight[first].products;
    if (products > most) {
      Index i = 0;
      on.read(all.rows + first, &i, 1);
      throw SizeError(cat("row ", i + 1, " of a product of sparse matrices sums ", products,
                          " products; at most ", most, " fit"));
    }
    for (last = first + 1; last < all.weight.size(); ++last) {
      products += all.weight[last].products;
      if (products > std::min(limits.products, most)) break;
    }
    f(on, expand(on, all, first, last));
  }
}

struct CountLongRow {
  Expansion x;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t r) const {
    columns[x.rows[r]] = x.before[x.first_product[r + 1]] - x.before[x.first_product[r]];
  }
};
template <class Fresh>
void count_long_rows(Fresh const& fresh, LongRows const& all, ProductLimits const& limits,
                     Index* columns) {
  each_expansion(fresh, all, limits, [&](auto& on, Expansion const& x) {
    on.each(x.count, CountLongRow{x, columns});
  });
}

struct FillLongEntry {
  Expansion x;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    if (!x.begins_entry(t)) return;
    std::int64_t const r = x.row_of(t);
    columns[offsets[x.rows[r]] + x.before[t] - x.before[x.first_product[r]]] = x.column[t];
  }
};
template <class Fresh>
void fill_long_rows(Fresh const& fresh, LongRows const& all, ProductLimits const& limits,
                    OffsetsView const& offsets, Index* columns) {
  each_expansion(fresh, all, limits, [&](auto& on, Expansion const& x) {
    on.each(x.products, FillLongEntry{x, offsets, columns});
  });
}

template <class T>
struct MultiplyPair {
  Expansion x;
  T const *a, *b;
  T* term;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    auto const [in_a, in_b] = x.pair(x.number[t]);
    term[t] = product_of(a[in_a], b[in_b]);
  }
};
template <class T>
struct SumLongEntry {
  Expansion x;
  OffsetsView offsets;
  T const* term;
  T* values;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    if (!x.begins_entry(t)) return;
    std::int64_t const r = x.row_of(t);
    std::int64_t const end = x.first_product[r + 1];
    std::int64_t u = t;
    T sum = 0;
    do sum = sum_of(sum, term[u]);
    while (++u < end && !x.begins_entry(u));
    values[offsets[x.rows[r]] + x.before[t] - x.before[x.first_product[r]]] = sum;
  }
};
template <class Fresh, class T>
void sum_long_rows(Fresh const& fresh, LongRows const& all, ProductLimits const& limits,
                   CsrView<T> const& a, CsrView<T> const& b, OffsetsView const& offsets,
                   T* values) {
  each_expansion(fresh, all, limits, [&](auto& on, Expansion const& x) {
    T* const term = on.template take<T>(x.products);
    on.each(x.products, MultiplyPair<T>{x, a.values, b.values, term});
    on.each(x.products, SumLongEntry<T>{x, offsets, term, values});
  });
}

}  // namespace tcsolve::sparse
