// SPDX-License-Identifier: Apache-2.0
/// bitBSR by lines (kernels/lines.hpp): rows; of long rows what is not in pieces, and the pieces.
#pragma once

#include <tcsolve/formats/spaden/spaden.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

TCSOLVE_HD int bits_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

template <class S>
TCSOLVE_HD std::int64_t lines(SpadenView<S> const& a) {
  return std::int64_t{a.rows} + std::int64_t{a.pieces} * 8 + a.side_pieces;
}
/// Where there are pieces, every row that has some leaves a part of its own as well.
template <class S>
TCSOLVE_HD std::int64_t parts(SpadenView<S> const& a) {
  return a.pieces + a.side_pieces > 0 ? lines(a) : 0;
}
template <class S>
TCSOLVE_HD bool in_pieces(SpadenView<S> const& a, std::int64_t row) {
  return a.pieces > 0 && a.piece_start[row / 8] < a.piece_start[row / 8 + 1];
}
template <class S>
TCSOLVE_HD bool side_in_pieces(SpadenView<S> const& a, std::int64_t row) {
  return a.side_pieces > 0 && a.side_piece_start[row] < a.side_piece_start[row + 1];
}
/// Row r of blocks [begin, end).
template <class S, class F>
TCSOLVE_HD void walk_blocks(SpadenView<S> const& a, std::uint32_t begin, std::uint32_t end, int r,
                            F& entry) {
  for (std::uint32_t k = begin; k < end; ++k) {
    SpadenBlock const block = a.blocks[k];
    std::uint64_t const below = block.bitmap & ((std::uint64_t{1} << (8 * r)) - 1);
    S const* value = a.values + block.offset + bits_of(below);
    unsigned const row = static_cast<unsigned>(block.bitmap >> (8 * r)) & 255u;
    for (int c = 0; c < 8; ++c)
      if ((row >> c & 1u) != 0) entry(8 * block.column + c, *value++);
  }
}
template <class S, class F>
TCSOLVE_HD void walk_side(SpadenView<S> const& a, std::uint32_t begin, std::uint32_t end,
                          F& entry) {
  for (std::uint32_t e = begin; e < end; ++e) entry(a.side_columns[e], a.side_values[e]);
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(SpadenView<S> const& a, std::int64_t line, F& entry) {
  if (line < a.rows) {
    bool const cut = in_pieces(a, line), side_cut = side_in_pieces(a, line);
    if (!cut)
      walk_blocks(a, a.start[line / 8], a.start[line / 8 + 1], static_cast<int>(line % 8), entry);
    if (a.side_start != nullptr && !side_cut)
      walk_side(a, a.side_start[line], a.side_start[line + 1], entry);
    if (cut || side_cut) return {-1, line};
    return {static_cast<Index>(line), -1};
  }
  std::int64_t const at = line - a.rows;
  if (at < std::int64_t{a.pieces} * 8) {
    SpadenPiece const piece = a.piece[at / 8];
    walk_blocks(a, piece.first, piece.first + piece.count, static_cast<int>(at % 8), entry);
  } else {
    SpadenPiece const piece = a.piece[a.pieces + (at - std::int64_t{a.pieces} * 8)];
    walk_side(a, piece.first, piece.first + piece.count, entry);
  }
  return {-1, line};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(SpadenView<S> const& a) {
  return a.pieces + a.side_pieces > 0 ? a.rows : 0;
}
template <class S, class F>
TCSOLVE_HD Index join(SpadenView<S> const& a, std::int64_t row, F& part) {
  bool const cut = in_pieces(a, row), side_cut = side_in_pieces(a, row);
  if (!cut && !side_cut) return -1;
  part(row);
  if (cut)
    for (auto p = a.piece_start[row / 8]; p < a.piece_start[row / 8 + 1]; ++p)
      part(a.rows + std::int64_t{p} * 8 + row % 8);
  if (side_cut)
    for (auto p = a.side_piece_start[row]; p < a.side_piece_start[row + 1]; ++p)
      part(a.rows + std::int64_t{a.pieces} * 8 + p);
  return static_cast<Index>(row);
}

}  // namespace tcsolve
