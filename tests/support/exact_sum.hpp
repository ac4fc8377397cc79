// SPDX-License-Identifier: Apache-2.0
/// Sums of products of two doubles without any rounding: a fixed-point number that holds every bit
/// from 2^-2148, the least product of two denormal numbers, to 2^2048 and some carries above it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace tcsolve::test {

class ExactSum {
 public:
  /// += a b; a and b are finite.
  void add(double a, double b = 1) {
    int ea = 0, eb = 0;
    auto const ma = static_cast<std::int64_t>(std::ldexp(std::frexp(a, &ea), 53));
    auto const mb = static_cast<std::int64_t>(std::ldexp(std::frexp(b, &eb), 53));
    if (ma == 0 || mb == 0) return;
    bool const negative = (ma < 0) != (mb < 0);
    __extension__ using Wide = unsigned __int128;
    Wide const product = Wide(ma < 0 ? -ma : ma) * Wide(mb < 0 ? -mb : mb);
    int const place = ea + eb - 106 + least;
    // 106 bits, pushed up by at most 31: five limbs.
    int const limb = place / 32, shift = place % 32;
    Wide const low = product << shift;
    auto const high = static_cast<std::uint64_t>(shift == 0 ? 0 : product >> (128 - shift));
    for (int k = 0; k < 5; ++k) {
      auto const part =
          static_cast<std::int64_t>(k < 4 ? std::uint64_t(low >> (32 * k)) & mask : high & mask);
      limbs_[std::size_t(limb + k)] += negative ? -part : part;
    }
  }
  /// Rounded once; a long double holds the range of products.
  long double value() const {
    auto limbs = carried(limbs_);
    bool const negative = limbs.back() < 0;
    if (negative) {
      for (std::int64_t& l : limbs) l = -l;
      limbs = carried(limbs);
    }
    long double sum = 0;
    int used = 0;
    for (int k = count - 1; k >= 0 && used < 4; --k) {
      if (used == 0 && limbs[std::size_t(k)] == 0) continue;
      sum += std::ldexp(static_cast<long double>(limbs[std::size_t(k)]), 32 * k - least);
      ++used;
    }
    return negative ? -sum : sum;
  }

 private:
  static constexpr int least = 2148 + 106, count = (least + 2048) / 32 + 8;
  static constexpr std::uint64_t mask = 0xffffffffu;
  using Limbs = std::array<std::int64_t, std::size_t(count)>;
  /// Every limb but the last in [0, 2^32).
  static Limbs carried(Limbs limbs) {
    for (std::size_t k = 0; k + 1 < limbs.size(); ++k) {
      limbs[k + 1] += limbs[k] >> 32;
      limbs[k] = static_cast<std::int64_t>(std::uint64_t(limbs[k]) & mask);
    }
    return limbs;
  }
  Limbs limbs_{};
};

}  // namespace tcsolve::test
