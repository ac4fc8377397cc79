// SPDX-License-Identifier: Apache-2.0
/// The storage types of 16 bits. Arithmetic is never done in them; values widen to float.
///
///               significant bits   smallest, subnormal   largest
///     half                    11   2^-24                 65504      IEEE 754 binary16
///     bfloat16                 8   2^-133                3.39e38    the upper half of a float
#pragma once

#include <bit>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

namespace detail {

TCSOLVE_HD std::uint32_t bits_of(float f) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(f);
#else
  return std::bit_cast<std::uint32_t>(f);
#endif
}
TCSOLVE_HD float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// double -> float with round-to-odd, so that a second rounding to 16 bits cannot be a double one.
TCSOLVE_HD float round_to_odd(double d) {
  float f = static_cast<float>(d);
  double back = static_cast<double>(f);
  if (back == d || back != back || back - back != 0) return f;
  std::uint32_t u = bits_of(f);
  if (u & 1u) return f;                       // already odd
  bool away = (d > 0) ? back > d : back < d;  // f lies beyond d: step towards zero
  return float_of(away ? u - 1u : u + 1u);
}

}  // namespace detail

struct half {
  std::uint16_t bits = 0;

  half() = default;
  /// Nearest half, ties to even; from 65520 on infinite.
  TCSOLVE_HD explicit half(float f);
  TCSOLVE_HD explicit half(double d) : half(detail::round_to_odd(d)) {}
  TCSOLVE_HD explicit operator float() const;
  TCSOLVE_HD explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
  friend bool operator==(half const&, half const&) = default;
};

struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Nearest bfloat16, ties to even; from 2^128 - 2^119 on infinite. Every NaN is the same one, so
  /// that the host and the device give the same bits.
  TCSOLVE_HD explicit bfloat16(float f) {
    std::uint32_t const u = detail::bits_of(f);
    bool const nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(nan ? 0x7fc0u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  TCSOLVE_HD explicit bfloat16(double d) : bfloat16(detail::round_to_odd(d)) {}
  TCSOLVE_HD explicit operator float() const { return detail::float_of(std::uint32_t{bits} << 16); }
  TCSOLVE_HD explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
  friend bool operator==(bfloat16 const&, bfloat16 const&) = default;
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);

TCSOLVE_HD half::half(float f) {
#if defined(__CUDA_ARCH__)
  bits = __half_as_ushort(__float2half_rn(f));
#else
  std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  std::uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
  } else if (magnitude >= 0x477ff000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds beyond 65504
  } else if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 ulp-aligns the value
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  } else {
    std::uint32_t odd = (magnitude >> 13) & 1u;
    bits = static_cast<std::uint16_t>(sign | ((magnitude + 0xc8000fffu + odd) >> 13));
  }
#endif
}

TCSOLVE_HD half::operator float() const {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(bits));
#else
  std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1fu,
                mantissa = bits & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    float f = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -f : f;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
#endif
}

}  // namespace tcsolve
