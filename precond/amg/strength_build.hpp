// SPDX-License-Identifier: Apache-2.0
/// The strength graph, written once for both backends (kernels/convert.hpp). It is found in the
/// matrix of nodes: where a node is a row that is A, else the blocks of A, each with the square of
/// its norm as value.
#pragma once

#include <array>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/sparse/blocks_build.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

/// The squares of the norms of the blocks of node I, the sum of those of its entries times scale^2,
/// a block by a lane.
struct SquareBlocks {
  CsrView<double> a;
  PatternView blocks;
  Index block;
  double scale;
  double* square;
  TCSOLVE_HD double of(std::int64_t I, Offset m, Offset blocks_here, Index J) const {
    double sum = 0;
    for (Index r = 0; r < block; ++r) {
      std::int64_t const row = I * block + r;
      Offset const begin = a.offsets[row], end = a.offsets[row + 1];
      bool const full = end - begin == blocks_here * block;
      Offset k = full ? begin + m * block
                      : begin + sparse::first_not_below(a.columns + begin, end - begin, J * block);
      Offset const stop = full ? k + block : end;
      for (; k < stop && (full || a.columns[k] / block == J); ++k) {
        double const v = a.values[k] * scale;
        sum += v * v;
      }
    }
    return sum;
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t I) const {
    Offset const begin = blocks.offsets[I], n = blocks.offsets[I + 1] - begin;
    warp.each([&](int lane) {
      for (Offset m = lane; m < n; m += 32)
        square[begin + m] = of(I, m, n, blocks.columns[begin + m]);
    });
  }
};

/// The matrix of nodes; blocks: its pattern, where a node has several rows.
template <class On>
CsrView<double> node_matrix(On& on, CsrView<double> const& a, Index block, double scale,
                            PatternView const& blocks) {
  if (block == 1) return a;
  auto* const square = on.template take<double>(static_cast<std::size_t>(blocks.entries));
  on.each_warp(blocks.rows, SquareBlocks{a, blocks, block, scale, square});
  return {blocks.rows,    blocks.cols, blocks.entries, blocks.offsets,
          blocks.columns, square,      on.space()};
}

struct StrongRows {
  Index nodes;
  bool squared;  ///< values are squares already
  double scale, theta;
  double const* own;  ///< (nodes) N_II^2
  /// N_IJ^2 of a value.
  TCSOLVE_HD double size(double v) const {
    if (squared) return v;
    double const scaled = v * scale;
    return scaled * scaled;
  }
  /// The test of both sides' ratios: N_IJ^2 / N_II^2 N_IJ^2 / N_JJ^2 > theta^4.
  TCSOLVE_HD bool strong(std::int64_t I, Index J, double s) const {
    if (J == I || s == 0) return false;
    double const bound = theta * theta;
    return !((s / own[I]) * (s / own[J]) <= bound * bound);
  }
};

/// N_II^2
struct SquareOfNode {
  StrongRows rows;
  double* own;
  TCSOLVE_HD void operator()(CsrView<double> const& m, std::int64_t I) const {
    double square = 0;
    for (Offset k = m.offsets[I], end = m.offsets[I + 1]; k < end; ++k)
      if (m.columns[k] == I) square = rows.size(m.values[k]);
    own[I] = square;
  }
};
/// Strong couplings, and nodes that have none among theirs, are counted in one word.
constexpr Offset weak_node = Offset{1} << 40;
struct StrongOffsets {
  Offset const* sums;
  TCSOLVE_HD Offset operator[](std::int64_t I) const { return sums[I] % weak_node; }
};
/// Where a node is a row `keep` is that of A at once.
struct CountStrong {
  StrongRows rows;
  Offset* count;          // (nodes + 1)
  std::uint8_t* keep;     ///< (entries) or null
  std::int32_t* dropped;  ///< set where an entry is not kept
  TCSOLVE_HD void operator()(CsrView<double> const& m, std::int64_t I) const {
    Offset here = 0;
    bool coupled = false;
    if (I < rows.nodes)
      for (Offset k = m.offsets[I], end = m.offsets[I + 1]; k < end; ++k) {
        double const s = rows.size(m.values[k]);
        bool const strong = rows.strong(I, m.columns[k], s);
        here += strong;
        coupled = coupled || (m.columns[k] != I && s != 0);
        if (keep == nullptr) continue;
        keep[k] = strong || m.columns[k] == I;
        if (keep[k] == 0 && glance(dropped) == 0) put(dropped, 1);
      }
    count[I] = coupled && here == 0 ? weak_node : here;
  }
};
struct FillStrong {
  StrongRows rows;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& m, std::int64_t I) const {
    Offset to = offsets[I];
    for (Offset k = m.offsets[I], end = m.offsets[I + 1]; k < end; ++k)
      if (rows.strong(I, m.columns[k], rows.size(m.values[k]))) columns[to++] = m.columns[k];
  }
};
/// The same of what is kept, where a node is a row.
struct FillKeptNeighbours {
  std::uint8_t const* keep;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    Offset to = offsets[i];
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (keep[k] != 0 && a.columns[k] != i) columns[to++] = a.columns[k];
  }
};
struct KeepStrong {
  PatternView a, strong;
  Index block;
  std::uint8_t* keep;
  std::int32_t* dropped;
  TCSOLVE_HD void operator()(std::int64_t i, Offset k) const {
    auto const I = static_cast<Index>(i / block);
    Index const J = a.columns[k] / block;
    Offset const begin = strong.offsets[I], n = strong.offsets[std::int64_t{I} + 1] - begin;
    Offset const at = sparse::first_not_below(strong.columns + begin, n, J);
    keep[k] = J == I || (at < n && strong.columns[begin + at] == J);
    if (keep[k] == 0 && glance(dropped) == 0) put(dropped, 1);
  }
};

template <class On>
StrongRows strong_rows(On& on, CsrView<double> const& m, Index block, double theta, double scale) {
  Index const nodes = m.rows;
  auto* const own = on.template take<double>(static_cast<std::size_t>(nodes));
  StrongRows const rows{nodes, block > 1, scale, theta, own};
  on.each_row(nodes, m, SquareOfNode{rows, own});
  return rows;
}

template <class On>
StrengthGraph strength_graph(On& on, CsrView<double> const& a, Index block, double theta,
                             double scale) {
  StrengthGraph made;
  if (block > 1) made.blocks = sparse::blocks_of(on, a, block, block);
  CsrView<double> const m = node_matrix(on, a, block, scale, made.blocks.view());
  StrongRows const rows = strong_rows(on, m, block, theta, scale);
  sparse::RowLengths lengths(on, rows.nodes);
  std::int32_t* const dropped = lengths.word();
  made.keep = Array<std::uint8_t>(on.space(), static_cast<std::size_t>(a.entries));
  std::uint8_t* const keep = made.keep.data();
  on.each_row(std::int64_t{rows.nodes} + 1, m,
              CountStrong{rows, lengths.length(), block == 1 ? keep : nullptr, dropped});
  auto found = lengths.sum();
  made.weak = static_cast<std::int32_t>(found.entries / weak_node);
  made.strong = sparse::with_offsets(on, rows.nodes, rows.nodes, StrongOffsets{lengths.offsets()},
                                     found.entries % weak_node);
  OffsetsView const of = made.strong.offsets();
  Index* const columns = made.strong.columns.data();
  if (block == 1) {
    on.each_rows_of_columns(rows.nodes, 1, a, FillKeptNeighbours{keep, of, columns});
  } else {
    on.each_row(rows.nodes, m, FillStrong{rows, of, columns});
    sparse::each_entry(on, a, KeepStrong{a, made.strong.view(), block, keep, dropped});
    on.read(dropped, &found.word, 1);
  }
  made.keeps_all = found.word == 0;
  return made;
}

struct CountOfRows {
  PatternView a;
  Offset const* blocks;
  Offset* counted;  ///< entries, blocks
  TCSOLVE_HD void operator()(std::int64_t) const {
    counted[0] = a.offsets[a.rows] - a.offsets[0], counted[1] = *blocks;
  }
};
template <class On>
double share_of_places(On& on, CsrView<double> const& a, Index block, Index first, Index rows) {
  PatternView part = a;
  part.rows = rows, part.entries = a.entries / a.rows * rows;  // about
  std::size_t const each = a.offsets.wide ? sizeof(std::int64_t) : sizeof(std::int32_t);
  part.offsets.data = static_cast<std::byte const*>(a.offsets.data) + std::size_t(first) * each;
  Offset const* const before = sparse::offsets_of_blocks(on, part, block, block);
  auto* const there = on.template take<Offset>(2);
  on.each(1, CountOfRows{part, before + rows / block, there});
  std::array<Offset, 2> counted{};
  on.read(there, counted.data(), 2);
  auto const [entries, blocks] = counted;
  return blocks == 0 ? 1.0 : double(entries) / (double(blocks) * block * block);
}

/// An entry is kept within a node and between strongly coupled ones.
struct SeekDifference {
  StrongRows rows;
  Index block;
  CsrView<double> m;
  std::uint8_t const* keep;
  std::int32_t* differs;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    std::int64_t const I = i / block;
    Offset at = m.offsets[I];
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const J = a.columns[k] / block;
      while (m.columns[at] < J) ++at;
      bool const kept = J == I || rows.strong(I, J, rows.size(m.values[at]));
      if ((keep[k] != 0) != kept) put(differs, 1);
    }
  }
};
template <class On>
bool same_couplings(On& on, CsrView<double> const& a, Index block, double theta, double scale,
                    PatternView const& blocks, std::uint8_t const* keep) {
  CsrView<double> const m = node_matrix(on, a, block, scale, blocks);
  StrongRows const rows = strong_rows(on, m, block, theta, scale);
  auto* const flag = on.template take<std::int32_t>(1);
  on.clear(flag, 1);
  on.each_row(a.rows, a, SeekDifference{rows, block, m, keep, flag});
  std::int32_t differs = 0;
  on.read(flag, &differs, 1);
  return differs == 0;
}

}  // namespace tcsolve
