// SPDX-License-Identifier: Apache-2.0
/// The strength graph, written once for both backends (kernels/convert.hpp). The blocks of a node's
/// rows are met in ascending order by walking these rows side by side.
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

/// f(J, squares, k) for each node J whose block in the rows of node I has entries, ascending;
/// squares: the sum of those of the entries times scale^2, 0 where there are no values; k: one of
/// these entries.
template <class F>
TCSOLVE_HD void each_block(CsrView<double> const& a, Index block, double scale, std::int64_t I,
                           F const& f) {
  Offset at[most_node_rows], end[most_node_rows];
  for (Index r = 0; r < block; ++r) {
    at[r] = a.offsets[I * block + r];
    end[r] = a.offsets[I * block + r + 1];
  }
  for (;;) {
    Index next = -1;
    for (Index r = 0; r < block; ++r)
      if (at[r] < end[r] && (next < 0 || a.columns[at[r]] / block < next))
        next = a.columns[at[r]] / block;
    if (next < 0) return;
    double squares = 0;
    Offset one = 0;
    for (Index r = 0; r < block; ++r)
      for (; at[r] < end[r] && a.columns[at[r]] / block == next; ++at[r]) {
        one = at[r];
        if (a.values == nullptr) continue;
        double const v = a.values[at[r]] * scale;
        squares += v * v;
      }
    f(next, squares, one);
  }
}

template <class F>
struct OfNode {
  CsrView<double> a;
  F f;
  TCSOLVE_HD void operator()(std::int64_t I) const { f(a, I); }
};
/// f(a, I) for nodes; where a node is a row its entries lie near.
template <class On, class F>
void each_node(On& on, std::int64_t n, CsrView<double> const& a, Index block, F const& f) {
  if (block == 1)
    on.each_row(n, a, f);
  else
    on.each(n, OfNode<F>{a, f});
}

struct CountNodeBlocks {
  Index block, nodes;
  Offset* count;  // (nodes + 1)
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t I) const {
    Offset here = 0;
    if (I < nodes) each_block(a, block, 1, I, [&](Index, double, Offset) { ++here; });
    count[I] = here;
  }
};

/// N_II^2
struct SquareOfNode {
  Index block;
  double scale;
  double* square;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t I) const {
    double own = 0;
    each_block(a, block, scale, I, [&](Index J, double s, Offset) { own = J == I ? s : own; });
    square[I] = own;
  }
};

struct StrongRows {
  Index block, nodes;
  double scale, theta;
  double const* square;
  /// The test of both sides' ratios: N_IJ^2 / N_II^2 N_IJ^2 / N_JJ^2 > theta^4.
  TCSOLVE_HD bool strong(std::int64_t I, Index J, double s) const {
    if (J == I || s == 0) return false;
    double const bound = theta * theta;
    return !((s / square[I]) * (s / square[J]) <= bound * bound);
  }
};
struct CountStrong {
  StrongRows rows;
  Offset* count;       // (nodes + 1)
  std::int32_t* weak;  // (nodes + 1)
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t I) const {
    Offset here = 0;
    bool coupled = false;
    if (I < rows.nodes)
      each_block(a, rows.block, rows.scale, I, [&](Index J, double s, Offset) {
        here += rows.strong(I, J, s);
        coupled = coupled || (J != I && s != 0);
      });
    count[I] = here;
    weak[I] = coupled && here == 0;
  }
};
struct FillStrong {
  StrongRows rows;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t I) const {
    Offset to = offsets[I];
    each_block(a, rows.block, rows.scale, I, [&](Index J, double s, Offset) {
      if (rows.strong(I, J, s)) columns[to++] = J;
    });
  }
};
struct KeepStrong {
  Index block;
  OffsetsView offsets;  // of the graph
  Index const* columns;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    auto const I = static_cast<Index>(i / block);
    Offset at = offsets[I], stop = offsets[std::int64_t{I} + 1];
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const J = a.columns[k] / block;
      while (at < stop && columns[at] < J) ++at;
      keep[k] = J == I || (at < stop && columns[at] == J);
    }
  }
};

template <class On>
StrengthGraph strength_graph(On& on, CsrView<double> const& a, Index block, double theta,
                             double scale) {
  Index const nodes = a.rows / block;
  std::int64_t const n = std::int64_t{nodes} + 1;
  auto* const square = on.template take<double>(n);
  auto* const count = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  auto* const weak = on.template take<std::int32_t>(n);
  auto* const before = on.template take<std::int32_t>(n);
  each_node(on, nodes, a, block, SquareOfNode{block, scale, square});
  StrongRows const rows{block, nodes, scale, theta, square};
  each_node(on, n, a, block, CountStrong{rows, count, weak});
  on.scan(count, offsets, n, Plus{});
  on.scan(weak, before, n, Plus{});
  StrengthGraph made;
  made.strong = sparse::with_offsets(on, nodes, nodes, offsets);
  made.keep = Array<std::uint8_t>(on.space(), static_cast<std::size_t>(a.entries));
  on.read(before + nodes, &made.weak, 1);
  each_node(on, nodes, a, block,
            FillStrong{rows, made.strong.offsets(), made.strong.columns.data()});
  on.each_row(
      a.rows, a,
      KeepStrong{block, made.strong.offsets(), made.strong.columns.data(), made.keep.data()});
  return made;
}

template <class On>
Offset count_blocks(On& on, CsrView<double> const& a, Index block) {
  Index const nodes = a.rows / block;
  std::int64_t const n = std::int64_t{nodes} + 1;
  auto* const count = on.template take<Offset>(n);
  auto* const before = on.template take<Offset>(n);
  CsrView<double> pattern = a;
  pattern.values = nullptr;
  on.each(n, OfNode<CountNodeBlocks>{pattern, {block, nodes, count}});
  on.scan(count, before, n, Plus{});
  Offset blocks = 0;
  on.read(before + nodes, &blocks, 1);
  return blocks;
}

/// An entry is kept within a node and between strongly coupled ones.
struct SeekDifference {
  StrongRows rows;
  std::uint8_t const* keep;
  std::int32_t* differs;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t I) const {
    each_block(a, rows.block, rows.scale, I, [&](Index J, double s, Offset k) {
      bool const kept = J == I || rows.strong(I, J, s);
      if ((keep[k] != 0) != kept) put(differs, 1);
    });
  }
};
template <class On>
bool same_couplings(On& on, CsrView<double> const& a, Index block, double theta, double scale,
                    std::uint8_t const* keep) {
  Index const nodes = a.rows / block;
  auto* const square = on.template take<double>(nodes);
  auto* const flag = on.template take<std::int32_t>(1);
  on.clear(flag, 1);
  each_node(on, nodes, a, block, SquareOfNode{block, scale, square});
  each_node(on, nodes, a, block, SeekDifference{{block, nodes, scale, theta, square}, keep, flag});
  std::int32_t differs = 0;
  on.read(flag, &differs, 1);
  return differs == 0;
}

}  // namespace tcsolve
