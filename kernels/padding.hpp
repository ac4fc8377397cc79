// SPDX-License-Identifier: Apache-2.0
/// Padding, where a format stores a position without an entry: the value -0. The element of x at
/// that position has no effect, even if it is Inf or NaN. An entry of -0 is stored as 0.
#pragma once

#include <cstring>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Whether a format may store so many positions: two per entry plus `spare`, a million where the
/// user names the format, few where the fastest one is sought.
constexpr bool padding_pays(double positions, Offset entries, double spare = 1 << 20) {
  return positions <= 2 * double(entries) + spare;
}

template <class S>
TCSOLVE_HD S padding() {
  return S(-0.0f);
}
// By value: bytes of a reference to memory would be loaded one by one on the device.
template <class S>
TCSOLVE_HD bool is_padding(S v) {
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
/// What an entry of value v is stored as.
template <class S>
TCSOLVE_HD S as_entry(S v) {
  return is_padding(v) ? S(0.0f) : v;
}

}  // namespace tcsolve
