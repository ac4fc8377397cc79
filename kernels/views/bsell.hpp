// SPDX-License-Identifier: Apache-2.0
/// Slices of dense blocks as kernels see them (drawn in formats/bsell.hpp).
#pragma once

#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/views/hole.hpp>

namespace tcsolve {

/// 32 block rows, stored step by step: the first block of each, then the second, ...
struct BsellSlice {
  std::int32_t first;     ///< steps before it
  std::uint32_t numbers;  ///< column numbers before it, in units of 64 bytes
  std::int32_t steps;     ///< blocks of its longest block row
  std::int32_t base;      ///< 16-bit numbers are counted from it; -1: numbers have 32 bits
};
static_assert(sizeof(BsellSlice) == 16);

template <class S>
struct BsellView {
  static constexpr int C = 32;  ///< block rows of a slice

  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index block = 0;                        ///< b: rows and columns of a block
  Index block_rows = 0;                   ///< rows / b, rounded up
  Index count = 0;                        ///< slices
  Index steps = 0;                        ///< of all slices
  BsellSlice const* slices = nullptr;     // (count)
  std::uint8_t const* numbers = nullptr;  // (steps, 32), 2 or 4 bytes each
  S const* values = nullptr;              // (steps, b, b, 32)
  Index const* order = nullptr;           // (block_rows) the one in each place; null: as they come
  Space space = Space::host;

  /// The block column of a lane in step j of a slice; where the lane has no block, some other's.
  TCSOLVE_HD Index column(BsellSlice const& slice, Index j, int lane) const {
    std::uint8_t const* const here = numbers + Offset{slice.numbers} * 64;
    Offset const at = Offset{j} * C + lane;
    if (slice.base < 0) return read_only(reinterpret_cast<std::int32_t const*>(here) + at);
    return slice.base + read_only(reinterpret_cast<std::uint16_t const*>(here) + at);
  }
};

}  // namespace tcsolve
