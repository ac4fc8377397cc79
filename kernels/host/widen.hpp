// SPDX-License-Identifier: Apache-2.0
/// Stored values as those of a product, for loops that become vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <tcsolve/core/half.hpp>

namespace tcsolve::host {

/// T(value), bit for bit. A half comes without branches, which compilers make no vectors of (one at
/// a time, T(value) is faster), and without subnormal floats, which a process may have switched
/// off: m 2^-24 = 2^-14 (1 + m / 2^10) - 2^-14.
template <class T, class S>
T widen(S value) {
  if constexpr (std::is_same_v<S, half>) {
    std::uint32_t const sign = (value.bits & 0x8000u) << 16;
    std::uint32_t const magnitude = (value.bits & 0x7fffu) << 13;
    std::uint32_t const normal = magnitude + (112u << 23);
    float const subnormal = std::bit_cast<float>(normal + (1u << 23)) - 0x1p-14f;
    std::uint32_t const tiny = 0u - (magnitude < 1u << 23);
    std::uint32_t const special = 0u - (magnitude >= 31u << 23);
    return T(std::bit_cast<float>(sign | (normal & ~tiny) |
                                  (std::bit_cast<std::uint32_t>(subnormal) & tiny) |
                                  (special & 255u << 23)));
  } else {
    return T(value);
  }
}

}  // namespace tcsolve::host
