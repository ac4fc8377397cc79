// SPDX-License-Identifier: Apache-2.0
/// SELL-32-sigma with compressed column numbers as kernels see it (drawn in formats/csell.hpp).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// A few slices of 32 lines, stored step by step, one slice after another: what one warp takes.
struct CsellStrip {
  std::int32_t first;     ///< steps before it
  std::uint32_t numbers;  ///< column numbers before it, in units of 64 bytes
  std::int32_t steps;     ///< of all its slices, made even
  std::int32_t bytes;     ///< of a column number, counted from the base of its step: 1, 2 or 4
};

/// The column number of type I of a line without an entry in a step.
template <class I>
constexpr I csell_hole = static_cast<I>(-1);

template <class S>
struct CsellView {
  static constexpr int C = 32;      ///< lines of a slice
  static constexpr int slack = 16;  ///< steps after the last strip that may be read

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index lines = 0;                      ///< rows, or pieces of long rows
  Index parts = 0;                      ///< pieces of long rows
  Index long_rows = 0;                  ///< rows in more than one piece
  Index count = 0;                      ///< strips
  Index depth = 1;                      ///< slices of a strip; the last may have fewer
  CsellStrip const* strips = nullptr;   // (count)
  std::int32_t const* ends = nullptr;   // (slices) the step of its strip after its last
  std::int32_t const* bases = nullptr;  // (steps)
  std::uint8_t const* numbers = nullptr;
  S const* values = nullptr;            // (steps, 32), placed
  std::int32_t const* order = nullptr;  // (lines) its row, or ~part; null: line i is row i
  Index const* long_row = nullptr;      // (long_rows)
  Index const* long_start = nullptr;    // (long_rows + 1) first part of each
  Space space = Space::host;

  /// Where step j of lane l lies among the positions of a strip: two steps side by side, so that a
  /// lane reads them with one load.
  TCSOLVE_HD static Offset place(Index j, int lane) {
    return (Offset{j / 2} * C + lane) * 2 + j % 2;
  }
};

}  // namespace tcsolve
