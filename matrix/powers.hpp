// SPDX-License-Identifier: Apache-2.0
/// Exponents of FP64 numbers, and exact products with powers of two, on host and device alike.
#pragma once

#include <bit>
#include <cstdint>

#include <tcsolve/core/portable.hpp>

namespace tcsolve::powers {

TCSOLVE_HD std::uint64_t bits_of(double v) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(v));
#else
  return std::bit_cast<std::uint64_t>(v);
#endif
}
TCSOLVE_HD double double_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

/// e where 2^e <= |v| < 2^(e + 1); v is finite and not zero.
TCSOLVE_HD int exponent(double v) {
  auto const raw = [](double of) { return static_cast<int>(bits_of(of) >> 52 & 0x7ff); };
  int const e = raw(v);
  return e > 0 ? e - 1023 : raw(v * 0x1p54) - 1023 - 54;
}
TCSOLVE_HD bool finite_nonzero(double v) { return v != 0 && v - v == 0; }

/// v 2^e for |e| <= 2000, exact if the result is normal: the two factors have the same sign of
/// exponent, so the intermediate product lies between v and the result.
TCSOLVE_HD double times_power(double v, int e) {
  auto const power = [](int of) { return double_of(static_cast<std::uint64_t>(of + 1023) << 52); };
  return v * power(e / 2) * power(e - e / 2);
}

}  // namespace tcsolve::powers
