// SPDX-License-Identifier: Apache-2.0
/// A matrix by diagonals as kernels see it (drawn in formats/dia.hpp).
#pragma once

#include <cstring>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Entry (i, i + offset) is values[start + min(i, last)]. Beyond `last`, which is where a mirrored
/// diagonal ends, lies a hole.
struct DiaDiagonal {
  Offset start;
  Index offset;
  Index last;
};
static_assert(sizeof(DiaDiagonal) == 16);

template <class S>
struct DiaView {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  Index distinct = 0;  ///< diagonals
  Index count = 0;     ///< of the list, a multiple of four: the last ones are holes from end to end
  DiaDiagonal const* diagonals = nullptr;  // (count), by ascending offset
  S const* values = nullptr;
  Space space = Space::host;
};

/// Where no entry is: -0. (An entry of -0 is stored as 0.) What stands in x for it does not count.
template <class S>
TCSOLVE_HD S dia_hole() {
  return S(-0.0f);
}
template <class S>
TCSOLVE_HD bool is_dia_hole(S const& v) {
  if constexpr (sizeof(S) == 8) {
    std::uint64_t bits;
    std::memcpy(&bits, &v, 8);
    return bits == std::uint64_t{1} << 63;
  } else if constexpr (sizeof(S) == 4) {
    std::uint32_t bits;
    std::memcpy(&bits, &v, 4);
    return bits == 0x80000000u;
  } else {
    std::uint16_t bits;
    std::memcpy(&bits, &v, 2);
    return bits == 0x8000u;
  }
}

}  // namespace tcsolve
