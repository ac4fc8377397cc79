// SPDX-License-Identifier: Apache-2.0
/// The types that values are stored and computed in, by name.
#pragma once

#include <cstddef>
#include <type_traits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>

namespace tcsolve {

enum class Real { f64, f32, f16, bf16 };
constexpr char const* name(Real r) {
  return r == Real::f64 ? "fp64" : r == Real::f32 ? "fp32" : r == Real::f16 ? "fp16" : "bf16";
}
constexpr std::size_t size_of(Real r) { return r == Real::f64 ? 8 : r == Real::f32 ? 4 : 2; }
/// The type of |v|, of norms and of all that is compared; of a complex T its parts'.
template <class T>
using real_t = T;
/// The conjugate of v, by which inner products are <x, y> = sum of conjugate(x_i) y_i.
template <class T>
TCSOLVE_HD T conjugate(T v) {
  return v;
}

/// Unit roundoff of a format: 2^-53, 2^-24, 2^-11, 2^-8.
constexpr double roundoff(Real r) {
  return r == Real::f64 ? 0x1p-53 : r == Real::f32 ? 0x1p-24 : r == Real::f16 ? 0x1p-11 : 0x1p-8;
}
template <class T>
constexpr Real real_of = std::is_same_v<T, double>  ? Real::f64
                         : std::is_same_v<T, float> ? Real::f32
                         : std::is_same_v<T, half>  ? Real::f16
                                                    : Real::bf16;

struct Precision {
  Real storage = Real::f64, multiply = Real::f64, accumulate = Real::f64;
};

}  // namespace tcsolve
