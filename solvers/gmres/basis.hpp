// SPDX-License-Identifier: Apache-2.0
/// How a Krylov basis is stored: n x m, column after column, in the type of the vectors or in a
/// narrower one (Aliaga, Anzt, Gruetzmacher, Quintana-Orti, Tomas 2022, "Compressed basis GMRES").
/// The entries of a column of norm 1 are at most 1; what reads them computes in FP64.
///
///     fp64, fp32, bf16   the entry, rounded                                   error u |v_i|
///     fp16               2^15 times the entry, which keeps entries down to    u |v_i| + 2^-40
///                        2^-29 normal
///     frsz16             15 bits and a sign of fixed point, with one exponent u max |v| of the 32
///                        for 32 rows (Gruetzmacher, Anzt, Quintana-Orti
///                        2024, "FRSZ2"): twice 2^e / 2^15 apart
///
/// u = 2^-53, 2^-24, 2^-8; 2^-11; 2^-15.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/precision.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

enum class BasisType { fp64, fp32, fp16, bf16, frsz16 };
constexpr auto names(BasisType) {
  return std::array{std::pair{BasisType::fp64, "fp64"}, std::pair{BasisType::fp32, "fp32"},
                    std::pair{BasisType::fp16, "fp16"}, std::pair{BasisType::bf16, "bf16"},
                    std::pair{BasisType::frsz16, "frsz16"}};
}

/// A number of fixed point, whose exponent its 32 rows share.
struct Fixed16 {
  std::int16_t bits;
};

/// The error of a stored column, over the norm of each 32 rows of it.
template <class S>
constexpr double basis_roundoff = std::is_same_v<S, Fixed16>  ? 0x1p-15
                                  : std::is_same_v<S, double> ? 0x1p-53
                                  : std::is_same_v<S, float>  ? 0x1p-24
                                  : std::is_same_v<S, half>   ? 0x1p-11
                                                              : 0x1p-8;

/// The columns. S: double, float, half, bfloat16.
template <class S>
struct Basis {
  /// Rows that are written together.
  static constexpr Index together = 1;
  /// What a stored entry is exactly.
  using Value = std::conditional_t<std::is_same_v<S, double>, double, float>;
  static constexpr double scale = std::is_same_v<S, half> ? 0x1p15 : 1;

  S* data = nullptr;
  std::int64_t n = 0;

  static std::size_t bytes(std::int64_t n, Index m) {
    return sizeof(S) * static_cast<std::size_t>(n) * static_cast<std::size_t>(m);
  }
  static Basis of(std::byte* room, std::int64_t n, Index /*m*/) {
    return {reinterpret_cast<S*>(room), n};
  }
  TCSOLVE_HD Value at(std::int64_t column, std::int64_t i) const {
    if constexpr (scale != 1)
      return Value(data[column * n + i]) * Value(1 / scale);
    else
      return Value(data[column * n + i]);
  }
  /// Stores v; what is stored.
  TCSOLVE_HD Value put(std::int64_t column, std::int64_t i, double v) const {
    data[column * n + i] = S(v * scale);
    return at(column, i);
  }
};

template <>
struct Basis<Fixed16> {
  static constexpr Index together = 32;
  using Value = float;

  Fixed16* data = nullptr;
  std::int64_t n = 0;
  std::int8_t* exponents = nullptr;  ///< (n / 32, rounded up; m)

  static constexpr std::int64_t blocks(std::int64_t n) { return (n + 31) / 32; }
  static std::size_t bytes(std::int64_t n, Index m) {
    return static_cast<std::size_t>(2 * n + blocks(n)) * static_cast<std::size_t>(m);
  }
  static Basis of(std::byte* room, std::int64_t n, Index m) {
    return {reinterpret_cast<Fixed16*>(room), n, reinterpret_cast<std::int8_t*>(room + 2 * n * m)};
  }
  /// The least e with |v| < 2^e, kept within what a float's exponent can say of 2^(e - 15).
  TCSOLVE_HD static int exponent(double largest) {
    if (!(largest >= 0x1p-100)) return -99;  // NaN too, which ends the loop elsewhere
    return largest < 0x1p99 ? ilogb(largest) + 1 : 100;
  }
  /// 2^k as a float, -126 <= k <= 127.
  TCSOLVE_HD static float power(int k) {
    return detail::float_of(static_cast<std::uint32_t>(k + 127) << 23);
  }
  TCSOLVE_HD Value at(std::int64_t column, std::int64_t i) const {
    int const e = exponents[column * blocks(n) + i / 32];
    return static_cast<float>(data[column * n + i].bits) * power(e - 15);
  }
  /// Stores v, which with the others of its 32 rows is below 2^e; what is stored. Who stores the
  /// first of these rows stores e as well.
  TCSOLVE_HD Value put(std::int64_t column, std::int64_t i, double v, int e) const {
    double const fixed = v * static_cast<double>(power(15 - e));
    double const nearest = rint(fixed), most = 32767;
    double const kept = nearest >= -most ? (nearest < most ? nearest : most) : -most;
    data[column * n + i].bits = static_cast<std::int16_t>(kept);
    if (i % 32 == 0) exponents[column * blocks(n) + i / 32] = static_cast<std::int8_t>(e);
    return static_cast<float>(kept) * power(e - 15);
  }
};

/// f(S{}) for the type of that name.
template <class F>
decltype(auto) with_basis_type(BasisType type, F const& f) {
  switch (type) {
    case BasisType::fp32: return f(float{});
    case BasisType::fp16: return f(half{});
    case BasisType::bf16: return f(bfloat16{});
    case BasisType::frsz16: return f(Fixed16{});
    case BasisType::fp64: break;
  }
  return f(double{});
}

}  // namespace tcsolve
