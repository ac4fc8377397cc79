// SPDX-License-Identifier: Apache-2.0
/// An 8 x 8 block as 64 bits: bit 8 r + c says that entry (r, c) is stored, the lowest is top left.
/// Its values are packed row by row.
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

TCSOLVE_HD int set_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

/// What row r of a block has: its bits, the leftmost lowest, and the values before its first.
struct BitRow {
  unsigned bits;
  std::uint32_t first;
};
/// offset: the values before the block's first.
TCSOLVE_HD BitRow row_of(std::uint64_t bitmap, std::uint32_t offset, int r) {
  std::uint64_t const before = bitmap & ((std::uint64_t{1} << (8 * r)) - 1);
  return {static_cast<unsigned>(bitmap >> (8 * r)) & 255u,
          offset + static_cast<std::uint32_t>(set_bits(before))};
}

}  // namespace tcsolve
