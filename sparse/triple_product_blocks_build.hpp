// SPDX-License-Identifier: Apache-2.0
/// The values of P^T A P without A P (triple_product_build.hpp) by blocks: nodes of b rows, of
/// which each aggregate has k columns of P. A group goes through the nodes of an aggregate, and
/// each of its lanes has one entry of the blocks of A P that a node has:
///
///     part_J = sum_{j in J} A_ij P_j     b x k, of node i, for each J that C has in the row
///     C_IJ  += P_i^T part_J              k x k, then the next node
///
/// The bits are those of P^T (A P) by blocks (product_blocks_build.hpp).
#pragma once

#include <tcsolve/sparse/product_blocks_build.hpp>
#include <tcsolve/sparse/triple_product_build.hpp>

namespace tcsolve::sparse {

/// b = B rows of a node, k = K columns of an aggregate; 0: as the sizes say.
template <class T, int B, int K>
struct SumAggregateBlocks {
  static constexpr int at_once = 32;  ///< blocks of A that are looked up
  static constexpr int most_rows = B > 0 ? B : most_node_rows;
  ProductBlocks sizes;
  CsrView<T> a;
  PatternView a_blocks, p_blocks, pt_blocks, c_blocks;
  Index const* aggregate;  ///< of nodes, -1: none
  T const* p;
  Index const* rows;  ///< of c_blocks
  T* c;
  Index window;  ///< blocks of C; where a row has more, A is walked again for the next ones

  TCSOLVE_HD int b() const { return B > 0 ? B : sizes.inner; }
  TCSOLVE_HD int k() const { return K > 0 ? K : sizes.cols; }

  /// The memory of a group: blocks of C and of A P, places of blocks, and columns of C.
  struct Sums {
    Strip<T> total, part;
    Strip<Index> slot, columns;
    Index n = 0;
  };
  static std::size_t bytes(ProductBlocks const& s, Index window) {
    return std::size_t(window) * (s.cols + s.inner) * s.cols * sizeof(T) +
           (std::size_t(window) + at_once) * sizeof(Index);
  }

  /// The block of P of a node that has one: b x k, by rows.
  TCSOLVE_HD T const* of_node(std::int64_t j) const { return p + p_blocks.offsets[j] * b() * k(); }

  /// Adds n blocks of node i, from block `first` of its row on, to entry e of those of A P.
  TCSOLVE_HD void add_entry(Sums const& sums, std::int64_t i, Offset first, int n, int e) const {
    constexpr int ahead = 4;  // blocks on their way
    int const entries = b() * k(), r = e / k(), s = e % k();
    Index const* const columns = a_blocks.columns + a_blocks.offsets[i] + first;
    RowInBlocks<T> const row(a, a_blocks, i * b() + r, i, b());
    for (int q = 0; q < n; q += ahead) {
      Index to[ahead];
      T term[ahead][most_rows];
      for (int u = 0; u < ahead; ++u) {
        to[u] = q + u < n ? sums.slot[q + u] : -1;
        if (to[u] < 0) continue;
        Index const j = columns[q + u];
        T const* const of_j = of_node(j);
        for (int t = 0; t < b(); ++t)
          term[u][t] = product_of(row.entry(first + q + u, j, b(), t), of_j[t * k() + s]);
      }
      for (int u = 0; u < ahead; ++u) {
        if (to[u] < 0) continue;
        T& sum = sums.part[to[u] * entries + e];
        T value = sum;
        for (int t = 0; t < b(); ++t) value = sum_of(value, term[u][t]);
        sum = value;
      }
    }
  }
  /// The same to all entries, by one lane.
  TCSOLVE_HD void add_by_one(Sums const& sums, std::int64_t i, Offset first, int n) const {
    Index const* const columns = a_blocks.columns + a_blocks.offsets[i] + first;
    for (int r = 0; r < b(); ++r) {
      RowInBlocks<T> const row(a, a_blocks, i * b() + r, i, b());
      for (int q = 0; q < n; ++q) {
        if (sums.slot[q] < 0) continue;
        T const* const of_j = of_node(columns[q]);
        Index const part = (sums.slot[q] * b() + r) * k();
        for (int t = 0; t < b(); ++t) {
          T const factor = row.entry(first + q, columns[q], b(), t);
          for (int s = 0; s < k(); ++s)
            sums.part[part + s] =
                sum_of(sums.part[part + s], product_of(factor, of_j[t * k() + s]));
        }
      }
    }
  }

  /// The blocks of A P that node i has.
  template <class Group>
  TCSOLVE_HD void walk(Group const& group, Sums const& sums, std::int64_t i) const {
    int const lane = group.lane(), lanes = group.lanes(), entries = b() * k();
    for (Index e = lane; e < sums.n * entries; e += lanes) sums.part[e] = T(0);
    Offset const begin = a_blocks.offsets[i], end = a_blocks.offsets[i + 1];
    for (Offset first = begin; first < end; first += at_once) {
      int const n = end - first < at_once ? static_cast<int>(end - first) : at_once;
      group.sync();
      for (int q = lane; q < n; q += lanes) {
        Index const J = aggregate[a_blocks.columns[first + q]];
        sums.slot[q] = J < 0 ? -1 : place_of(sums.columns, sums.n, J);
      }
      group.sync();
      if (lanes == 1)
        add_by_one(sums, i, first - begin, n);
      else
        for (int e = lane; e < entries; e += lanes) add_entry(sums, i, first - begin, n, e);
    }
    group.sync();
  }

  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const I = rows[at];
    Offset const begin = c_blocks.offsets[I];
    auto const count = static_cast<Index>(c_blocks.offsets[std::int64_t{I} + 1] - begin);
    int const lane = group.lane(), lanes = group.lanes(), square = k() * k();
    std::size_t const totals = std::size_t(window) * square * sizeof(T),
                      parts = std::size_t(window) * b() * k() * sizeof(T);
    Sums sums{group.template strip<T>(0), group.template strip<T>(totals),
              group.template strip<Index>(totals + parts),
              group.template strip<Index>(totals + parts + at_once * sizeof(Index))};
    for (Index from = 0; from < count; from += window) {
      sums.n = count - from < window ? count - from : window;
      for (Index m = lane; m < sums.n; m += lanes)
        sums.columns[m] = c_blocks.columns[begin + from + m];
      for (Index e = lane; e < sums.n * square; e += lanes) sums.total[e] = T(0);
      for (Offset m = pt_blocks.offsets[I]; m < pt_blocks.offsets[std::int64_t{I} + 1]; ++m) {
        Index const i = pt_blocks.columns[m];
        T const* const of_i = of_node(i);
        walk(group, sums, i);
        for (Index e = lane; e < sums.n * square; e += lanes) {
          Index const J = e / square, of_row = e / k() % k(), s = e % k();
          T total = sums.total[e];
          for (int r = 0; r < b(); ++r)
            total = sum_of(total,
                           product_of(of_i[r * k() + of_row], sums.part[(J * b() + r) * k() + s]));
          sums.total[e] = total;
        }
        group.sync();
      }
      for (Index e = lane; e < sums.n * square; e += lanes) {
        Index const J = e / square, of_row = e / k() % k(), s = e % k();
        c[begin * square + (Offset{of_row} * count + from + J) * k() + s] = sums.total[e];
      }
      group.sync();
    }
  }
};

template <int B, int K, class T, class On>
void sum_aggregate_blocks(On& on, AggregateProduct const& plan, CsrView<T> const& a,
                          CsrView<T> const& p, T* c) {
  using Sum = SumAggregateBlocks<T, B, K>;
  BlockFactors const& factors = *plan.factors;
  PatternView const nodes = factors.b.view();
  CsrView<T> const of_nodes = factors.b.template with<T>(nullptr);
  Sum const sum{factors.sizes,
                a,
                factors.a.view(),
                nodes,
                plan.pt.view(),
                plan.made.pattern.view(),
                aggregates_of_rows(on, of_nodes).aggregate,
                p.values,
                plan.made.order.data(),
                c,
                0};
  Index fits = 1;
  while (Sum::bytes(factors.sizes, 2 * fits) <= most_scratch) fits *= 2;
  each_class(plan.made, [&](Offset first, Offset count, Index columns) {
    Sum own = sum;
    own.rows += first, own.window = columns < fits ? columns : fits;
    on.each_group(count, 32, Sum::bytes(factors.sizes, own.window), own);
  });
}

template <class T, class On>
void block_aggregate_values(On& on, AggregateProduct const& plan, CsrView<T> const& a,
                            CsrView<T> const& p, T* c) {
  ProductBlocks const& s = plan.factors->sizes;
  auto const is = [&](Index rows, Index vectors) { return s.inner == rows && s.cols == vectors; };
  if (is(3, 3)) return sum_aggregate_blocks<3, 3>(on, plan, a, p, c);
  if (is(3, 6)) return sum_aggregate_blocks<3, 6>(on, plan, a, p, c);
  if (is(6, 6)) return sum_aggregate_blocks<6, 6>(on, plan, a, p, c);
  sum_aggregate_blocks<0, 0>(on, plan, a, p, c);
}

}  // namespace tcsolve::sparse
