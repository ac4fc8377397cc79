// SPDX-License-Identifier: Apache-2.0
/// DASP as kernels see it (drawn in formats/dasp.hpp; Lu and Liu 2023, section 3.2).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// The work of one warp: consecutive blocks of 8 x 4 slots. In a long unit all slots belong to one
/// row; in a medium unit line r of each block belongs to one row; in a short unit each line of each
/// block is a piece.
struct DaspUnit {
  std::int32_t blocks;      ///< blocks before this unit: its values start at slot 32 blocks
  std::int32_t indices;     ///< 64-byte lines of column numbers before it
  std::int32_t base;        ///< what 16-bit distances count from; -1: its columns have 32 bits
  std::uint32_t irregular;  ///< irregular entries before it; of a long unit, the place of its row
};

enum class DaspKind { long_row, medium, four, one_three, two_two };

template <class S>
struct DaspView {
  static constexpr int lines = 8;        ///< lines of a block: M of the FP64 instruction
  static constexpr int slots = 4;        ///< entries of a line: K of the FP64 instruction
  static constexpr int block = 32;       ///< slots of a block, one for each lane
  static constexpr int pieces = 32;      ///< lines of a short unit, four blocks
  static constexpr int index_line = 32;  ///< 16-bit words of a 64-byte line

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index long_rows = 0, medium_rows = 0;
  Index with[5] = {};  ///< rows of 0, 1, 2, 3 and 4 entries
  Index long_units = 0;
  Offset irregular = 0;               ///< irregular entries of medium rows
  Index const* order = nullptr;       ///< (rows) long, medium by length, 4, 3, 2, 1, 0 entries
  DaspUnit const* units = nullptr;    ///< (units + 1)
  Index const* long_start = nullptr;  ///< (long_rows + 1) first unit of each
  Index const* long_order = nullptr;  ///< (long_units) by their first column, as they are taken
  S const* values = nullptr;          ///< (blocks, 32) in the order of place()
  std::uint16_t const* indices = nullptr;          ///< the same order
  std::uint32_t const* irregular_start = nullptr;  ///< (medium_rows + 1)
  S const* irregular_values = nullptr;             ///< then those of rows with one entry
  std::int32_t const* irregular_columns = nullptr;
  Space space = Space::host;

  // Rows of three are pieced with rows of one; what is left of them becomes pieces of four.
  TCSOLVE_HD Index pairs_13() const { return with[1] < with[3] ? with[1] : with[3]; }
  TCSOLVE_HD Index pairs_22() const { return (with[2] + 1) / 2; }
  TCSOLVE_HD Index fours() const { return with[4] + with[3] - pairs_13(); }
  TCSOLVE_HD Index singles() const { return with[1] - pairs_13(); }

  TCSOLVE_HD Index medium_units() const { return (medium_rows + lines - 1) / lines; }
  TCSOLVE_HD Index four_units() const { return (fours() + pieces - 1) / pieces; }
  TCSOLVE_HD Index units_13() const { return (pairs_13() + pieces - 1) / pieces; }
  TCSOLVE_HD Index units_22() const { return (pairs_22() + pieces - 1) / pieces; }
  TCSOLVE_HD Index short_units() const { return four_units() + units_13() + units_22(); }
  TCSOLVE_HD Index unit_count() const { return long_units + medium_units() + short_units(); }

  TCSOLVE_HD Index first_medium() const { return long_rows; }
  TCSOLVE_HD Index first_four() const { return long_rows + medium_rows; }
  TCSOLVE_HD Index first_three() const { return first_four() + fours(); }  ///< pieced with ones
  TCSOLVE_HD Index first_two() const { return first_four() + with[4] + with[3]; }
  TCSOLVE_HD Index first_one() const { return first_two() + with[2]; }
  TCSOLVE_HD Index first_single() const { return first_one() + pairs_13(); }
  TCSOLVE_HD Index first_empty() const { return first_one() + with[1]; }

  TCSOLVE_HD DaspKind kind(Index unit) const {
    if (unit < long_units) return DaspKind::long_row;
    unit -= long_units;
    if (unit < medium_units()) return DaspKind::medium;
    unit -= medium_units();
    if (unit < four_units()) return DaspKind::four;
    return unit - four_units() < units_13() ? DaspKind::one_three : DaspKind::two_two;
  }

  /// Slots [0, split) of a line belong to row `first`, the others to `second`; -1: there is none.
  struct Line {
    Index first, second;
    int split;
  };
  /// Line l, 0 <= l < 32, of short unit u, counted from the first unit of its kind.
  TCSOLVE_HD Line line(DaspKind kind, Index u, int l) const {
    Index p = u * pieces + l;
    if (kind == DaspKind::four) return {p < fours() ? order[first_four() + p] : -1, -1, 4};
    if (kind == DaspKind::one_three)
      return p < pairs_13() ? Line{order[first_one() + p], order[first_three() + p], 1}
                            : Line{-1, -1, 1};
    Index i = 2 * p;
    return {i < with[2] ? order[first_two() + i] : -1,
            i + 1 < with[2] ? order[first_two() + i + 1] : -1, 2};
  }
  /// Unit u of short kind, counted from the first unit of that kind.
  TCSOLVE_HD Index within_kind(DaspKind kind, Index u) const {
    u -= long_units + medium_units();
    if (kind == DaspKind::four) return u;
    return kind == DaspKind::one_three ? u - four_units() : u - four_units() - units_13();
  }

  /// Where slot `lane` of block b lies in a unit of `count` blocks: two blocks are interleaved, so
  /// that a lane reads its slots of both with one load.
  TCSOLVE_HD static Offset place(Index count, Index b, int lane) {
    return b < count / 2 * 2 ? (Offset{b / 2} * block + lane) * 2 + b % 2
                             : Offset{b} * block + lane;
  }
  TCSOLVE_HD Index column(DaspUnit const& unit, Offset at) const {
    std::uint16_t const* words = indices + Offset{unit.indices} * index_line;
    return unit.base < 0 ? reinterpret_cast<std::int32_t const*>(words)[at] : unit.base + words[at];
  }
};

}  // namespace tcsolve
