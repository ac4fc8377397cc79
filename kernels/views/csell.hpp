// SPDX-License-Identifier: Apache-2.0
/// SELL-32-sigma with compressed column numbers as kernels see it (drawn in formats/csell.hpp).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// 32 lines, stored step by step.
struct CsellSlice {
  Offset values;        ///< positions before it
  Offset indices;       ///< bytes of column numbers before it
  std::int32_t step;    ///< bases before it, a multiple of 4
  std::int32_t width;   ///< steps: the entries of its longest line, or, in 8 bits, a few more
  std::int32_t bytes;   ///< of a column number: 1 or 2, counted from the base of its step; or 4
  std::int32_t unused;  ///< 0, so that host and device arrays are the same bit for bit
};

/// The column number of type I of a line without an entry in a step.
template <class I>
constexpr I csell_hole = static_cast<I>(-1);

template <class S>
struct CsellView {
  static constexpr int C = 32;                           ///< lines of a slice
  static constexpr int quad = 4;                         ///< column numbers that one load brings
  static constexpr int packet = sizeof(S) == 8 ? 2 : 4;  ///< values that one load brings

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index lines = 0;                      ///< rows, or pieces of long rows
  Index parts = 0;                      ///< pieces of long rows
  Index long_rows = 0;                  ///< rows in more than one piece
  CsellSlice const* slices = nullptr;   // (ceil(lines / 32))
  std::int32_t const* bases = nullptr;  // (steps, each slice filled up to a multiple of 4)
  std::uint8_t const* indices = nullptr;
  S const* values = nullptr;
  std::int32_t const* order = nullptr;  // (lines) its row, or ~part; null: line i is row i
  Index const* long_row = nullptr;      // (long_rows)
  Index const* long_start = nullptr;    // (long_rows + 1) first part of each
  bool streams = false;  ///< larger than the cache: entries are read once and should not stay
  Space space = Space::host;

  /// Where step j of lane l lies among the positions of a slice that is `width` steps long: groups
  /// of `together` steps side by side, so that a lane reads them with one load, then single steps.
  TCSOLVE_HD static Offset place(Index width, int together, Index j, int lane) {
    Index const grouped = width / together * together;
    return j < grouped ? (Offset{j / together} * C + lane) * together + j % together
                       : Offset{j} * C + lane;
  }
};

}  // namespace tcsolve
