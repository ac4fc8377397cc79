// SPDX-License-Identifier: Apache-2.0
/// IEEE 754 binary16 as a storage type: 11 significant bits, 6.0e-8 (subnormal) to 65504.
/// Arithmetic is never done in it; values widen to float.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

struct half {
  std::uint16_t bits = 0;

  half() = default;
  /// Nearest half, ties to even; beyond 65520 infinite.
  TCSOLVE_HD explicit half(float f);
  TCSOLVE_HD explicit half(double d) : half(round_to_odd(d)) {}
  TCSOLVE_HD explicit operator float() const;
  TCSOLVE_HD explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
  friend bool operator==(half const&, half const&) = default;

 private:
  /// double -> float with round-to-odd, so that the second rounding to half cannot be a double one.
  TCSOLVE_HD static float round_to_odd(double d);
};

static_assert(sizeof(half) == 2);

TCSOLVE_HD float half::round_to_odd(double d) {
  float f = static_cast<float>(d);
  double back = static_cast<double>(f);
  if (back == d || back != back || back - back != 0) return f;
#if defined(__CUDA_ARCH__)
  std::uint32_t u = __float_as_uint(f);
#else
  std::uint32_t u = std::bit_cast<std::uint32_t>(f);
#endif
  if (u & 1u) return f;                       // already odd
  bool away = (d > 0) ? back > d : back < d;  // f lies beyond d: step towards zero
  u = away ? u - 1u : u + 1u;
#if defined(__CUDA_ARCH__)
  return __uint_as_float(u);
#else
  return std::bit_cast<float>(u);
#endif
}

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
