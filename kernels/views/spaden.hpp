// SPDX-License-Identifier: Apache-2.0
/// bitBSR as kernels see it (drawn in formats/spaden.hpp; Chen and Yu 2024, section 4.2).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// An 8 x 8 block: 16 bytes, one load.
struct alignas(16) SpadenBlock {
  std::uint64_t bitmap;  ///< bit 8 r + c: entry (r, c) is stored; the lowest bit is top left
  std::int32_t column;   ///< block column
  std::uint32_t offset;  ///< values before its first; entry (r, c) is popcount(lower bits) further
};

/// Part of a long block row, or of the side entries of a long row: the work of one warp.
struct SpadenPiece {
  std::uint32_t first, count;  ///< blocks, or side entries
};

template <class S>
struct SpadenView {
  static constexpr int side_length = 8;  ///< rows and columns of a block

  Index rows = 0, cols = 0, block_rows = 0;
  Offset entries = 0, block_count = 0, side_entries = 0;
  std::uint32_t const* start = nullptr;       ///< (block_rows + 1) first block of each
  SpadenBlock const* blocks = nullptr;        ///< (block_count + 1)
  S const* values = nullptr;                  ///< packed; 16 bytes more than needed
  std::uint32_t const* side_start = nullptr;  ///< (rows + 1); null: there are no side entries
  S const* side_values = nullptr;
  std::int32_t const* side_columns = nullptr;
  // Long block rows and long rows of side entries, by warps of their own. Null: there are none.
  Index pieces = 0, side_pieces = 0;
  std::uint32_t const* piece_start = nullptr;       ///< (block_rows + 1)
  std::uint32_t const* side_piece_start = nullptr;  ///< (rows + 1)
  SpadenPiece const* piece = nullptr;               ///< (pieces + side_pieces)
  Space space = Space::host;
};

}  // namespace tcsolve
