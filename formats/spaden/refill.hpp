// SPDX-License-Identifier: Apache-2.0
/// New values for a bitBSR matrix, written once for both backends (kernels/convert.hpp): each lane
/// finds the entries of its row in a block, or the side entries, and writes their values.
#pragma once

#include <bit>

#include <tcsolve/formats/spaden/build.hpp>

namespace tcsolve::spaden {

/// Bits that are set.
TCSOLVE_HD int ones(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return std::popcount(bits);
#endif
}

/// New values where the pattern is the same. The entries of a row in a block are neighbours in CSR
/// too; the search for the first begins at that of the thread's last block. A matrix of another
/// pattern reads and writes nothing outside the row and the block.
template <class S>
struct Refill {
  CsrView<S> a;
  SpadenView<S> m;
  S *values, *side_values;

  /// Row `row` of the blocks begin, begin + step, ... before end.
  TCSOLVE_HD void blocks(Index row, std::uint32_t begin, std::uint32_t end, int step) const {
    int shift = 8 * (row % 8);
    Offset at = a.offsets[row], last = a.offsets[row + 1];
    for (std::uint32_t b = begin; b < end; b += step) {
      SpadenBlock block = m.blocks[b];
      int n = ones(block.bitmap >> shift & 255);
      if (n == 0) continue;
      at = find(at, last, 8 * block.column);
      S* to = values + block.offset + ones(block.bitmap & ((std::uint64_t{1} << shift) - 1));
      for (; n > 0 && at < last; --n) *to++ = a.values[at++];
    }
  }
  /// The row's side entries begin, begin + step, ... before end.
  TCSOLVE_HD void side(Index row, std::uint32_t begin, std::uint32_t end, int step) const {
    Offset at = a.offsets[row], last = a.offsets[row + 1];
    for (std::uint32_t e = begin; e < end; e += step) {
      at = find(at, last, m.side_columns[e]);
      if (at < last) side_values[e] = a.values[at];
    }
  }
  /// The first entry in [at, end) in `column` or behind it, in ever longer steps, then by
  /// bisection.
  TCSOLVE_HD Offset find(Offset at, Offset end, Index column) const {
    if (at == end || a.columns[at] >= column) return at;
    Offset step = 1;
    for (; at + step < end && a.columns[at + step] < column; step *= 2) at += step;
    if (at + step < end) end = at + step;
    for (++at; at < end;) {
      Offset middle = at + (end - at) / 2;
      if (a.columns[middle] < column)
        at = middle + 1;
      else
        end = middle;
    }
    return at;
  }
};

/// So many groups of eight lanes take a block row, lane r its row r; all but what is in pieces.
template <class S>
struct RefillRows : Refill<S> {
  int groups;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    SpadenView<S> const& m = this->m;
    std::int64_t I = i / (8 * groups);
    int group = static_cast<int>(i / 8 % groups);
    if (8 * I + i % 8 >= m.rows) return;
    Index row = static_cast<Index>(8 * I + i % 8);
    auto whole = [](std::uint32_t const* pieces, std::int64_t line) {
      return pieces == nullptr || pieces[line] == pieces[line + 1];
    };
    if (whole(m.piece_start, I)) this->blocks(row, m.start[I] + group, m.start[I + 1], groups);
    if (m.side_start != nullptr && whole(m.side_piece_start, row))
      this->side(row, m.side_start[row] + group, m.side_start[row + 1], groups);
  }
};

/// 32 threads take a piece.
template <class S>
struct RefillPieces : Refill<S> {
  TCSOLVE_HD void operator()(std::int64_t i) const {
    SpadenView<S> const& m = this->m;
    Index p = static_cast<Index>(i / 32);
    int lane = static_cast<int>(i % 32);
    SpadenPiece piece = m.piece[p];
    std::uint32_t begin = piece.first, end = begin + piece.count;
    auto line = [](std::uint32_t const* start, Index lines, Index of) {
      return last_before(
          0, lines, [&](Index i) { return Offset{start[i]}; }, of);
    };
    if (p >= m.pieces)
      return this->side(line(m.side_piece_start, m.rows, p - m.pieces), begin + lane, end, 32);
    Index row = 8 * line(m.piece_start, m.block_rows, p) + lane % 8;
    if (row < m.rows) this->blocks(row, begin + lane / 8, end, 4);
  }
};

/// The values of a in the place of those that m was built from.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, SpadenArrays<S>& m) {
  SpadenView<S> const& v = m.view;
  Refill<S> way{a, v, m.values.data(), m.side_values.data()};
  int groups = on.space() == Space::cuda ? 4 : 1;
  on.each(std::int64_t{v.block_rows} * 8 * groups, RefillRows<S>{way, groups});
  on.each((std::int64_t{v.pieces} + v.side_pieces) * 32, RefillPieces<S>{way});
}

}  // namespace tcsolve::spaden
