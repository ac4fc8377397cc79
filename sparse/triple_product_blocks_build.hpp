// SPDX-License-Identifier: Apache-2.0
/// The values of P^T A P without A P (triple_product_build.hpp) by blocks: nodes of b rows, of
/// which each aggregate has k columns of P. A block of lanes takes some nodes of an aggregate at a
/// time, and each lane has one entry of the blocks of A P that one of them has:
///
///     part_iJ = sum_{j in J} A_ij P_j    b x k, for each J that C has in the row
///     C_IJ   += P_i^T part_iJ            k x k, node after node
///
/// The bits are those of P^T (A P) by blocks (product_blocks_build.hpp).
#pragma once

#include <tcsolve/sparse/product_blocks_build.hpp>
#include <tcsolve/sparse/triple_product_build.hpp>

namespace tcsolve::sparse {

/// b = B rows of a node, k = K columns of an aggregate; 0: as the sizes say.
template <class T, int B, int K>
struct SumAggregateBlocks {
  static constexpr int at_once = 32;  ///< blocks of a row of A that are looked up
  static constexpr int most_rows = B > 0 ? B : most_node_rows;
  ProductBlocks sizes;
  CsrView<T> a;
  PatternView a_blocks, p_blocks, pt_blocks, c_blocks;
  Index const* aggregate;  ///< of nodes, -1: none
  T const* p;
  Index const* rows;  ///< of c_blocks
  T* c;
  int nodes;     ///< at a time
  Index window;  ///< blocks of C; where a row has more, A is walked again for the next ones

  TCSOLVE_HD int b() const { return B > 0 ? B : sizes.inner; }
  TCSOLVE_HD int k() const { return K > 0 ? K : sizes.cols; }

  /// Of a block of A: the place of its aggregate in the row of C, -1 for none, and its node's block
  /// of P.
  struct Found {
    Index place, from;
  };
  /// The memory of a group.
  struct Sums {
    T *total, *part, *own;  ///< blocks of C, of A P and of P
    Found* found;           ///< (nodes, at_once)
    Found* node;            ///< (nodes) {which, its block of P}
    Index* there;           ///< (nodes, n) whether a node has a block of A P
    Strip<Index> columns;   ///< (n) of C
    Index n = 0;
  };
  static std::size_t bytes(ProductBlocks const& s, int nodes, Index window) {
    auto const width = std::size_t(window), height = std::size_t(nodes);
    std::size_t const entries = std::size_t(s.inner) * s.cols;
    return (width * s.cols * s.cols + height * (width + 1) * entries) * sizeof(T) +
           height * (at_once + 1) * sizeof(Found) + (height + 1) * width * sizeof(Index);
  }
  TCSOLVE_HD static Sums sums_of(auto const& group, ProductBlocks const& s, int nodes,
                                 Index window) {
    auto const width = std::size_t(window), height = std::size_t(nodes);
    std::size_t const entries = std::size_t(s.inner) * s.cols,
                      part = width * s.cols * s.cols * sizeof(T),
                      own = part + height * width * entries * sizeof(T),
                      found = own + height * entries * sizeof(T),
                      node = found + height * at_once * sizeof(Found),
                      there = node + height * sizeof(Found),
                      columns = there + height * width * sizeof(Index);
    return {&group.template strip<T>(0)[0],        &group.template strip<T>(part)[0],
            &group.template strip<T>(own)[0],      &group.template strip<Found>(found)[0],
            &group.template strip<Found>(node)[0], &group.template strip<Index>(there)[0],
            group.template strip<Index>(columns)};
  }

  /// Adds n blocks of row i of A, from block `first` on, to entry e of node m's blocks of A P.
  TCSOLVE_HD void add_entry(Sums const& sums, int m, Offset first, int n, int e) const {
    std::int64_t const i = sums.node[m].place;
    int const r = e / k(), s = e % k();
    RowInBlocks<T> const row(a, a_blocks, i * b() + r, i, b());
    if (row.full)
      return add_entry(
          sums, m, n, e, [&](int q, int t) { return row.values[(first + q) * b() + t]; }, s);
    Index const* const columns = a_blocks.columns + a_blocks.offsets[i] + first;
    add_entry(
        sums, m, n, e, [&](int q, int t) { return row.entry(first + q, columns[q], b(), t); }, s);
  }
  template <class Entry>
  TCSOLVE_HD void add_entry(Sums const& sums, int m, int n, int e, Entry const& entry,
                            int s) const {
    constexpr int ahead = 4;  // blocks on their way
    int const entries = b() * k();
    for (int q = 0; q < n; q += ahead) {
      Index to[ahead];
      T term[ahead][most_rows];
      for (int u = 0; u < ahead; ++u) {
        Found const of = q + u < n ? sums.found[m * at_once + q + u] : Found{-1, 0};
        T const* const of_j = p + Offset{of.from} * entries + s;
        to[u] = of.place;
        for (int t = 0; t < b(); ++t)
          term[u][t] = to[u] >= 0 ? product_of(entry(q + u, t), of_j[t * k()]) : T(0);
      }
      for (int u = 0; u < ahead; ++u) {
        if (to[u] < 0) continue;
        T& sum = sums.part[(m * sums.n + to[u]) * entries + e];
        T value = sum;
        for (int t = 0; t < b(); ++t) value = sum_of(value, term[u][t]);
        sum = value;
      }
    }
  }
  /// The same to all entries, by one lane.
  TCSOLVE_HD void add_by_one(Sums const& sums, int m, Offset first, int n) const {
    std::int64_t const i = sums.node[m].place;
    Index const* const columns = a_blocks.columns + a_blocks.offsets[i] + first;
    for (int r = 0; r < b(); ++r) {
      RowInBlocks<T> const row(a, a_blocks, i * b() + r, i, b());
      for (int q = 0; q < n; ++q) {
        Found const of = sums.found[m * at_once + q];
        if (of.place < 0) continue;
        T const* const of_j = p + Offset{of.from} * b() * k();
        T* const part = sums.part + ((m * sums.n + of.place) * b() + r) * k();
        T sum[K > 0 ? K : most_node_vectors];
        for (int s = 0; s < k(); ++s) sum[s] = part[s];
        for (int t = 0; t < b(); ++t) {
          T const factor = row.entry(first + q, columns[q], b(), t);
          for (int s = 0; s < k(); ++s)
            sum[s] = sum_of(sum[s], product_of(factor, of_j[t * k() + s]));
        }
        for (int s = 0; s < k(); ++s) part[s] = sum[s];
      }
    }
  }

  /// The blocks of A P that n nodes have, and theirs of P.
  template <class Group>
  TCSOLVE_HD void walk(Group const& group, Sums const& sums, Index const* which, int n) const {
    int const lane = group.lane(), lanes = group.lanes(), entries = b() * k();
    for (int m = lane; m < n; m += lanes)
      sums.node[m] = {which[m], static_cast<Index>(p_blocks.offsets[which[m]])};
    group.sync();
    for (Index e = lane; e < n * sums.n * entries; e += lanes) sums.part[e] = T(0);
    for (Index e = lane; e < n * sums.n; e += lanes) sums.there[e] = 0;
    for (int e = lane; e < n * entries; e += lanes)
      sums.own[e] = p[Offset{sums.node[e / entries].from} * entries + e % entries];
    Offset longest = 0;
    for (int m = 0; m < n; ++m) {
      Stretch const row = stretch_of(a_blocks.offsets, sums.node[m].place);
      longest = longest < row.end - row.begin ? row.end - row.begin : longest;
    }
    for (Offset first = 0; first < longest; first += at_once) {
      auto const blocks = [&](int m) {
        Stretch const row = stretch_of(a_blocks.offsets, sums.node[m].place);
        Offset const left = row.end - row.begin - first;
        return static_cast<int>(left < at_once ? left : Offset{at_once});
      };
      group.sync();
      for (int x = lane; x < n * at_once; x += lanes) {
        int const m = x / at_once, q = x % at_once;
        if (q >= blocks(m)) continue;
        Index const j = a_blocks.columns[a_blocks.offsets[sums.node[m].place] + first + q],
                    J = aggregate[j];
        Index const place = J < 0 ? -1 : place_of(sums.columns, sums.n, J);
        if (place >= 0) put(sums.there + m * sums.n + place, 1);
        sums.found[x] = {place, static_cast<Index>(p_blocks.offsets[j])};
      }
      group.sync();
      if (lanes == 1)
        for (int m = 0; m < n; ++m) add_by_one(sums, m, first, blocks(m));
      else
        for (int e = lane; e < n * entries; e += lanes)
          add_entry(sums, e / entries, first, blocks(e / entries), e % entries);
    }
    group.sync();
  }

  template <class Group>
  TCSOLVE_HD void operator()(Group const& group, std::int64_t at) const {
    Index const I = rows[at];
    Offset const begin = c_blocks.offsets[I];
    auto const count = static_cast<Index>(c_blocks.offsets[std::int64_t{I} + 1] - begin);
    int const lane = group.lane(), lanes = group.lanes(), square = k() * k();
    Stretch const members = stretch_of(pt_blocks.offsets, I);
    Sums sums = sums_of(group, sizes, nodes, window);
    for (Index from = 0; from < count; from += window) {
      sums.n = count - from < window ? count - from : window;
      for (Index m = lane; m < sums.n; m += lanes)
        sums.columns[m] = c_blocks.columns[begin + from + m];
      for (Index e = lane; e < sums.n * square; e += lanes) sums.total[e] = T(0);
      for (Offset m = members.begin; m < members.end; m += nodes) {
        int const n = members.end - m < nodes ? static_cast<int>(members.end - m) : nodes;
        walk(group, sums, pt_blocks.columns + m, n);
        for (Index e = lane; e < sums.n * square; e += lanes) {
          Index const J = e / square, of_row = e / k() % k(), s = e % k();
          T total = sums.total[e];
          for (int of = 0; of < n; ++of) {
            if (sums.there[of * sums.n + J] == 0) continue;
            T const* const own = sums.own + of * b() * k() + of_row;
            T const* const part = sums.part + (of * sums.n + J) * b() * k() + s;
            for (int r = 0; r < b(); ++r)
              total = sum_of(total, product_of(own[r * k()], part[r * k()]));
          }
          sums.total[e] = total;
        }
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
  ProductBlocks const& s = factors.sizes;
  CsrView<T> const of_nodes = factors.b.template with<T>(nullptr);
  Sum const sum{s,
                a,
                factors.a.view(),
                factors.b.view(),
                plan.pt.view(),
                plan.made.pattern.view(),
                aggregates_of_rows(on, of_nodes).aggregate,
                p.values,
                plan.made.order.data(),
                c,
                1,
                1};
  constexpr int most_nodes = 16;
  each_class(plan.made, [&](Offset first, Offset count, Index columns) {
    Sum own = sum;
    own.rows += first;
    while (own.window < columns && Sum::bytes(s, 1, 2 * own.window) <= most_scratch)
      own.window *= 2;
    own.window = std::min(own.window, columns);
    own.nodes = std::clamp(block_lanes / (s.inner * s.cols), 1, most_nodes);
    while (own.nodes > 1 && Sum::bytes(s, own.nodes, own.window) > most_scratch) --own.nodes;
    on.each_block(count, Sum::bytes(s, own.nodes, own.window), own);
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
